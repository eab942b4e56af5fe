# SPDX-License-Identifier: BSD-3-Clause
"""Adds an MPI library to the installations of a site, and builds the benchmarks for it.

`make mpi NAME=x FROM=module WHERE=MODULE/VERSION SITE=y` compiles and runs a program with the
library, and writes the entry into `mpis.yaml` of the site. A failed check leaves the file as it
was.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import yaml

from reframe_tests.harness.machine import inventory, removal
from reframe_tests.harness.model import families, installation, problems, sites
from reframe_tests.harness.model.installation import (
    Installation,
    InstallationError,
    version_in,
    with_modules,
)
from stack import build, releases, spack_environments, verify

KINDS = ("wheel", "module", "spack", "prefix", "container")
HEAD = ("# SPDX-License-Identifier: BSD-3-Clause\n"
        "# The MPI libraries of this site (docs/mpi-families.md). {} is the library of the "
        "stack.\n")


@dataclass(frozen=True)
class Seen:
    """A library that a program reported: its family and version."""

    family: str
    version: str


def family_of(library, wanted=""):
    """The family whose expression matches the library's own words, `wanted` first; '' for none."""
    known = families.load()
    return next((name for name in sorted(known, key=lambda name: name != wanted)
                 if re.search(known[name].library, library)), "")


def probe(entry, stack, wanted=""):
    """Compiles and runs a program of one rank with a library; InstallationError says why not.

    `entry`: the keys `home`, `modules` and `container` of the library.
    """
    place = Installation("probe", "probe", **entry)
    try:
        found = place.find(stack, "mpicc")
    except InstallationError:
        if place.container:  # every image may have a `cc`
            raise
        found = place.find(stack, "cc")  # of HPE Cray
    environ = with_modules(place.modules, os.environ)
    compiler = pathlib.Path(found["compiler"])
    if place.container:
        compiler = pathlib.Path(found["home"], "bin", compiler.name)
    else:
        environ["PATH"] = f"{found['home']}/bin:{environ['PATH']}"
        environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [
            f"{found['home']}/lib", environ.get("LD_LIBRARY_PATH")]))
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "probe.c"), pathlib.Path(folder, "probe")
        source.write_text(verify.PROGRAM)
        for command in ([compiler, source, "-o", program], [program]):
            try:
                done = subprocess.run([*place.container, *map(str, command)], env=environ,
                                      text=True, timeout=60, capture_output=True,
                                      stdin=subprocess.DEVNULL, cwd=folder)
            except (OSError, subprocess.TimeoutExpired) as err:
                raise InstallationError(f"{command[0]}: {err}") from None
            if done.returncode:
                said = " ".join((done.stderr or done.stdout).split())
                raise InstallationError(f"{pathlib.Path(command[0]).name} failed: {said[:160]}")
    library = " ".join(done.stdout.partition("library ")[2].split("\n")[:1])
    family = family_of(library, wanted)
    if not family:
        raise InstallationError(f"no MPI family is declared for {library[:60]!r}")
    return Seen(family, version_in(families.load()[family].library, library))


def place_of_spack(where):
    """The keys of a library that Spack installed, by its prefix or its spec."""
    if pathlib.Path(where).is_dir():
        if not pathlib.Path(where, installation.OF_SPACK).is_dir():
            raise ValueError(f"{where} is no prefix of Spack; use FROM=prefix")
        return {"home": where.rstrip("/")}
    try:
        done = subprocess.run(["spack", "-E", "location", "-i", *shlex.split(where)], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
    except OSError:
        raise InstallationError("no spack on PATH; give the prefix as WHERE=/FOLDER") from None
    if done.returncode:
        raise InstallationError(
            f"spack location -i {where}: {' '.join(done.stderr.split())[:160]}")
    home = {"home": done.stdout.strip()}
    return home if where.startswith("/") else {"spack": where, **home}  # /HASH is no spec


def place_of(name, kind, where, stack):
    """The keys `home`, `modules` and `container` of a library, and the family that its name
    begins with."""
    word, version = re.fullmatch(r"(.*?)(?:[-_@/]?([0-9][0-9.]*))?", name).groups()
    if kind == "module":
        if not (where or version):
            raise ValueError("give the modules as WHERE=MODULE/VERSION (several with commas)")
        return {"modules": re.split(r"[, ]+", where or f"{word}/{version}")}, word
    if kind == "prefix":
        if not where.startswith("/"):
            raise ValueError("give the folder of the library as WHERE=/FOLDER")
        return {"home": where.rstrip("/")}, word
    if kind == "container":
        if not where:
            raise ValueError("give the command that runs a program in the image as "
                             "WHERE='apptainer exec /FOLDER/IMAGE'")
        return {"container": shlex.split(where)}, word
    if kind == "spack":
        return place_of_spack(where or f"{word}@{version or ''}".rstrip("@")), word
    version = where or version
    if not version:
        known = ", ".join(releases.locked(word))
        raise ValueError(f"give a release of {word} as WHERE: there are {known}")
    if version not in releases.locked(word):
        raise ValueError(f"{word} {version}: {problems.there_are(version, releases.locked(word))}")
    releases.install(stack, word, version)
    return {"home": f"{{stack}}/mpi/{releases.family_name(word, version)}"}, word


def entry_of(name, place, seen):
    """The entry of `mpis.yaml`: what it is like, where it is, and its version."""
    like = {} if name == seen.family else {"like": seen.family}
    return {**like, **place, "version": seen.version}


def lines_of(entries):
    return "".join(yaml.safe_dump({name: entry}, default_flow_style=None, sort_keys=False,
                                  width=10_000) for name, entry in entries.items())


def beginning(stack):
    """The file of a site that had none: the libraries of the stack remain."""
    return HEAD + lines_of({name: {} for name, family in families.load().items()
                            if family.installed(stack)})


def add(name, kind, where, stack):
    """Adds a library to the site in use, builds and checks it; returns its family object."""
    folder = sites.site_folder()
    path, given, name = folder / "mpis.yaml", name, sites.environment_name(name)
    before = path.read_text() if path.exists() else None
    if name in sites.read(folder, "mpis.yaml"):
        raise ValueError(f"{path} has {name} already; remove its entry to write it anew")
    place, word = place_of(given, kind, where, stack)
    seen = probe({**{key: value for key, value in place.items() if key != "spack"},
                  "home": place.get("home", "").replace("{stack}", str(stack))}, stack, word)
    text = beginning(stack) if before is None else before.rstrip("\n") + "\n"
    removal.write_whole(path, text + lines_of({name: entry_of(name, place, seen)}))
    try:
        family = families.of_site(folder)[name]
        if family.installation.apart(stack):
            build.find_installation(family, stack)
        removal.claim(stack / "build")
        build.build_benchmarks(family, stack, [])
        with tempfile.TemporaryDirectory() as work:
            build.note_version(family, stack, verify.check(family, stack, pathlib.Path(work)))
    except BaseException:
        path.unlink() if before is None else removal.write_whole(path, before)
        raise
    if stack.name == ".spack-env":
        try:
            spack_environments.write_site(folder)
        except ValueError as err:
            print(f"mpi: Spack cannot use it: {err}")
    return family


def found(stack):
    """The libraries of this machine as entries of `mpis.yaml`, the newest of each family first,
    and lines on those that do not work."""
    entries, wrong, homes = [], [], set()
    for place in inventory.places():
        try:
            seen = probe(place, stack)
        except InstallationError as err:
            wrong.append(f"{' '.join(place.get('modules', [place.get('home', '')]))}: {err}")
            continue
        home = os.path.realpath(place.get("home") or str(place["modules"]))
        if (seen, home) in homes:
            continue
        homes.add((seen, home))
        entries.append((seen, place))
    entries.sort(key=lambda one: (one[0].family, [-int(n) for n in re.findall(
        r"\d+", one[0].version)]))
    named = {}
    for seen, place in entries:
        name = sites.environment_name(f"{seen.family}-{seen.version}")
        while name in named:
            name += "-b"
        named[name] = entry_of(name, place, seen)
    return named, wrong


def mpis_yaml(stack):
    """Text of `mpis.yaml` for a new site; '' where the machine has no library of its own."""
    entries, wrong = found(stack)
    if not entries and not wrong:
        return ""
    used = {}
    for name, entry in entries.items():
        used.setdefault(entry["like"], name)
    further = {name: entry for name, entry in entries.items() if name not in used.values()}
    text = beginning(stack) + lines_of({name: entries[name] for name in used.values()})
    if further:
        text += "# Further releases; remove the # to measure them too.\n" + "".join(
            f"# {line}\n" for line in lines_of(further).splitlines())
    if wrong:
        text += "# Found, but not usable:\n" + "".join(f"# {line}\n" for line in wrong)
    return text if entries or len(text.splitlines()) > 2 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("where", nargs="?", default="")
    args = parser.parse_args()
    try:
        family = add(args.name, args.kind, args.where, args.stack.resolve())
    except (ValueError, RuntimeError) as err:
        return f"mpi: {args.name}: {err}"
    except OSError as err:
        return f"mpi: {err.filename}: {err.strerror}"
    print(f"mpi: {family.title} runs 2 ranks; it is {family.name} in "
          f"{sites.site_folder()}/mpis.yaml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
