# SPDX-License-Identifier: BSD-3-Clause
"""Builds the benchmarks for each MPI library of the stack, and installs the R package.

CMake rebuilds only changed files, so this takes seconds if nothing changed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import (
    ROOTS,
    declared,
    families,
    installation,
    problems,
    sites,
)
from stack import analysis

REPO, ARCHAEOLOGY = ROOTS


def say(text):
    print(f"build: {text}", flush=True)


def run(command, log, **kwargs):
    """Runs a command with its output in `log`; on failure prints the last lines and exits."""
    with open(log, "a") as out:
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **kwargs).returncode
    if status:
        sys.stderr.write("\n".join(log.read_text().splitlines()[-25:]) + "\n")
        sys.exit(f"build: '{' '.join(map(str, command[:5]))} ...' failed; see {log}")


def environment(family, stack):
    """The environment of this process, with the variables of the family."""
    return family.process_environment(stack, dict(os.environ))


@contextlib.contextmanager
def own_temporary_folder(env):
    """`env` with an empty TMPDIR, which is removed afterwards.

    prterun does not start where one that was killed left a folder with the same process number
    (https://github.com/openpmix/openpmix, ptl_base_listener.c: files are made with O_EXCL)."""
    with tempfile.TemporaryDirectory(prefix="cotejo-") as folder:
        yield {**env, "TMPDIR": folder}


def test_launcher(family):
    """The launcher of the C tests: that of the library, with two ranks on two cores."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    flags = family.flags("mpirun", cpus) if len(cpus) == 2 else []
    return ";".join(["mpirun", *flags])


def build_folder(family, stack):
    """The build folder of a family: STACK/build/NAME, or STACK/build/sites/SITE/NAME."""
    return stack / "build" / family.prefix(stack).relative_to(
        stack if family.installation.apart(stack) else stack / "mpi")


def begin(folder, log):
    """The folder of a build; of another place, where a checkout or stack was moved from, nothing
    is of use any more."""
    cache = folder / "CMakeCache.txt"
    if cache.exists():
        text = cache.read_text(errors="replace")
        places = re.findall(r"^(?:CMAKE_CACHEFILE_DIR|CMAKE_HOME_DIRECTORY):INTERNAL=(.*)$", text,
                            re.MULTILINE)
        if str(folder) not in places or not all(
                os.path.realpath(place).startswith((str(folder), str(REPO))) for place in places):
            say(f"{folder} was made at another place, and is made anew")
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)


def compile_benchmarks(family, stack, folder, options):
    """Configures and compiles src/ for one MPI in `folder`; returns the log's path."""
    prefix, log = family.prefix(stack), folder / "cotejo-build.log"
    begin(folder, log)
    env = environment(family, stack)
    run(["cmake", "-S", REPO / "src", "-B", folder, "-G", "Ninja",
         f"-DCMAKE_C_COMPILER={family.compiler_in(stack)}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
         f"-DCOTEJO_MPIEXEC={test_launcher(family)}",
         f"-DCOTEJO_WRONG={';'.join(family.wrong)}", *options], log, env=env)
    run(["cmake", "--build", folder], log, env=env)
    return log


def build_benchmarks(family, stack, options):
    folder = build_folder(family, stack)
    log = compile_benchmarks(family, stack, folder, options)
    # A benchmark that Spack installed is replaced by Spack only: its views are links.
    if not (family.prefix(stack) / ".spack/cotejo-bench").exists():
        run(["cmake", "--install", folder], log)
    say(f"benchmarks for {family.title} are in {family.prefix(stack)}/bin")


def link_simulators(stack):
    """Links the compiler and launcher of each installed simulator below STACK/mpi."""
    for family in families.load(simulators=True).values():
        if family.simulator and not family.installed(stack):
            compiler, launcher = (shutil.which(p) for p in ("smpicc", "smpirun"))
            if not compiler or not launcher:
                say(f"no {family.title}: smpicc is not on PATH (Debian: libsimgrid-dev); "
                    "the site `simulated` has nothing to run")
                continue
            (family.prefix(stack) / "bin").mkdir(parents=True, exist_ok=True)
            for name, program in (("mpicc", compiler), ("mpirun", launcher)):
                link = family.prefix(stack) / "bin" / name
                if not link.is_symlink():  # left by a killed build
                    link.symlink_to(program)


def find_installation(family, stack):
    """Finds a site's own installation and notes what its benchmarks are built with. They are
    rebuilt if that has changed."""
    found = family.installation.find(stack, family.compiler)
    prefix = family.prefix(stack)
    known = family.installation.built(stack)
    if {**known, "version": ""} == {**found, "version": ""}:
        return
    removal.claim(stack / "build")
    for folder in (build_folder(family, stack), prefix):
        removal.renewed(stack, folder)
    if family.container:
        enter_container(family, found)
    removal.write_whole(prefix / installation.STAMP, json.dumps(found, indent=1) + "\n")


def enter_container(family, found):
    """Writes starters of the compiler and the launcher in the image of an installation."""
    compiler = pathlib.Path(found["compiler"])
    compiler.parent.mkdir(exist_ok=True)
    for name in filter(None, (compiler.name, family.launcher)):
        command = shlex.join([*family.container, f"{found['home']}/bin/{name}"])
        removal.write_starter(compiler.with_name(name), command)


def note_version(family, stack, version):
    """Notes the version of a site's own installation as its library reports it."""
    if family.installation.apart(stack):
        found = {**family.installation.built(stack), "version": version}
        removal.write_whole(family.prefix(stack) / installation.STAMP,
                            json.dumps(found, indent=1) + "\n")


def compile_java(family, stack):
    """Compiles the kernels in Java, if the library has bindings and a JDK is installed."""
    prefix = family.prefix(stack)
    jar, log = prefix / "share/java/mpi.jar", build_folder(family, stack) / "java.log"
    if not jar.exists() or not shutil.which("javac"):
        return
    log.unlink(missing_ok=True)
    run(["javac", "-Xlint:all", "-cp", jar, "-d", prefix / "share/cotejo/java",
         *sorted((REPO / "src/languages/java").glob("*.java"))], log)
    say(f"kernels in Java are in {prefix}/share/cotejo/java")


def compile_fortran(family, stack):
    """Compiles the kernels with coarrays, if the library has the compiler of OpenCoarrays."""
    prefix, folder = family.prefix(stack), build_folder(family, stack)
    compiler, log = prefix / "bin/caf", folder / "fortran.log"
    if not compiler.exists():
        return
    log.unlink(missing_ok=True)
    sources = REPO / "src/languages/fortran"
    for source in sorted(sources.glob("nas_*.f90")):
        program = prefix / f"bin/cotejo-{source.stem.replace('_', '-')}-caf"
        run([compiler, "-std=f2018", "-O3", "-J", folder, sources / "samples.f90", source,
             "-o", program], log, env=environment(family, stack))
    say(f"kernels in Fortran are in {prefix}/bin")


def archaeology(stack):
    """The option for CMake that builds archaeology/ too: if this command or the site requests it,
    or if the stack has one of its libraries. CMake keeps the option in its build folder."""
    there = declared([ARCHAEOLOGY / "reframe_tests/mpi_families"])
    wanted = (os.environ.get("ARCHAEOLOGY") or ARCHAEOLOGY in sites.site_folder().parents
              or any((stack / "mpi" / name).exists() for name in there))
    return ["-DCOTEJO_ARCHAEOLOGY=ON"] if wanted else []


def build_layers(stack, options):
    """Builds the layers below and beside MPI into STACK/mpi/NAME."""
    folder = stack / "build/layers"
    log = folder / "cotejo-build.log"
    begin(folder, log)
    run(["cmake", "-S", REPO / "src/transport", "-B", folder, "-G", "Ninja",
         f"-DCMAKE_INSTALL_PREFIX={stack}/mpi", *options], log)
    run(["cmake", "--build", folder], log)
    run(["cmake", "--install", folder], log)
    say(f"layers below and beside MPI are in {stack}/mpi: " + ", ".join(
        f.title for f in families.load(layers=True).values()
        if f.layer and f.installed(stack)))


def make_all(stack, options):
    """Compiles and installs everything for which compilers and libraries are installed."""
    link_simulators(stack)
    known = families.with_site(simulators=True).values()
    own = [f for f in known if f.installation.apart(stack)]
    for family in own:
        try:
            find_installation(family, stack)
        except installation.InstallationError as err:
            sys.exit(f"build: site {family.site}: mpis.yaml: {family.name}: {err}")
    present = [*own, *(f for f in known if f not in own and f.installed(stack))]
    for family in known:
        if family.site and family not in present:
            say(f"site {family.site}: mpis.yaml: {family.name} has no modules and no home, and "
                f"is not in {stack}/mpi")
    if not [f for f in present if not f.simulator]:
        sys.exit(f"build: no MPI in {stack}/mpi; run `make stack` first")
    removal.claim(stack / "build")
    old = archaeology(stack)
    for family in present:
        simulated = ["-DCOTEJO_SIMULATED=ON"] if family.simulator else []
        build_benchmarks(family, stack, [*options, *old, *simulated])
        compile_java(family, stack)
        compile_fortran(family, stack)
    build_layers(stack, old)
    try:
        if analysis.install(stack):
            say(f"R package is in {stack}/R")
    except (RuntimeError, removal.NotOursError) as err:
        sys.exit(f"build: {err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("options", nargs="*", help="more options for CMake")
    args = parser.parse_args()
    try:
        make_all(args.stack.resolve(), args.options)
    except ValueError as err:
        sys.exit(f"build: {err}")
    except OSError as err:
        sys.exit(f"build: {err.filename}: {err.strerror}; give a STACK that you may write to")


if __name__ == "__main__":
    problems.run(main)
