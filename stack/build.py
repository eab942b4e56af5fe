# SPDX-License-Identifier: BSD-3-Clause
"""Builds the benchmarks for each MPI library of the stack, and installs the R package.

CMake rebuilds only changed files, so this takes seconds if nothing changed.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from stack import analysis, spack_complete

REPO = families.REPO


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


def test_launcher(family):
    """The launcher of the C tests: that of the library, with two ranks on two cores."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    flags = family.flags("mpirun", cpus) if len(cpus) == 2 else []
    return ";".join(["mpirun", *flags])


def compile_benchmarks(family, stack, folder, options):
    """Configures and compiles src/ for one MPI in `folder`; returns the log's path."""
    prefix, log = family.prefix(stack), folder / "cotejo-build.log"
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    env = environment(family, stack)
    run(["cmake", "-S", REPO / "src", "-B", folder, "-G", "Ninja",
         f"-DCMAKE_C_COMPILER={prefix}/bin/{family.compiler}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
         f"-DCOTEJO_MPIEXEC={test_launcher(family)}",
         f"-DCOTEJO_WRONG={';'.join(family.wrong)}", *options], log, env=env)
    run(["cmake", "--build", folder], log, env=env)
    return log


def build_benchmarks(family, stack, options):
    folder = stack / "build" / family.name
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


def link_homes(known, stack):
    """Links each MPI library that a site declares elsewhere (`home`) below STACK/mpi."""
    for family in known:
        home = pathlib.Path(family.home_in(stack))
        if not family.installed(stack) and (home / "bin" / family.compiler).exists():
            spack_complete.take(home, family.prefix(stack))


def compile_java(family, stack):
    """Compiles the kernels in Java, if the library has bindings and a JDK is installed."""
    prefix = family.prefix(stack)
    jar, log = prefix / "share/java/mpi.jar", stack / "build" / family.name / "java.log"
    if not jar.exists() or not shutil.which("javac"):
        return
    log.unlink(missing_ok=True)
    run(["javac", "-Xlint:all", "-cp", jar, "-d", prefix / "share/cotejo/java",
         *sorted((REPO / "src/languages/java").glob("*.java"))], log)
    say(f"kernels in Java are in {prefix}/share/cotejo/java")


def compile_fortran(family, stack):
    """Compiles the kernels with coarrays, if the library has the compiler of OpenCoarrays."""
    prefix, folder = family.prefix(stack), stack / "build" / family.name
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


def build_layers(stack):
    """Builds the layers below and beside MPI into STACK/mpi/sockets, pvm and lam."""
    folder = stack / "build/layers"
    log = folder / "cotejo-build.log"
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    run(["cmake", "-S", REPO / "src/transport", "-B", folder, "-G", "Ninja",
         f"-DCMAKE_INSTALL_PREFIX={stack}/mpi"], log)
    run(["cmake", "--build", folder], log)
    run(["cmake", "--install", folder], log)
    say(f"layers below and beside MPI are in {stack}/mpi: " + ", ".join(
        f.title for f in families.load(layers=True).values()
        if f.layer and f.installed(stack)))


def make_all(stack, options):
    """Compiles and installs everything for which compilers and libraries are installed."""
    link_simulators(stack)
    known = families.with_site(simulators=True).values()
    link_homes(known, stack)
    present = [f for f in known if f.installed(stack)]
    if not [f for f in present if not f.simulator]:
        sys.exit(f"build: no MPI in {stack}/mpi; run `make stack` first")
    removal.claim(stack / "build")
    for family in present:
        simulated = ["-DCOTEJO_SIMULATED=ON"] if family.simulator else []
        build_benchmarks(family, stack, [*options, *simulated])
        compile_java(family, stack)
        compile_fortran(family, stack)
    build_layers(stack)
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
    main()
