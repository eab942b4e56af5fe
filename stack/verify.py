# SPDX-License-Identifier: BSD-3-Clause
"""Verifies that each MPI library compiles and runs a program of 2 ranks, and audits the builds.

Writes STACK/audit.json (how each library was built, and which libraries it loads) and
STACK/stack.json (provider, versions, hash of the lock, packages of the system). Results contain
both.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families, problems
from reframe_tests.harness.model.installation import alike
from stack.build import environment, note_version, own_temporary_folder

# Prints the size of the communicator and the version of the library from every rank: a launcher
# of another library starts two programs of one rank each, which would seem to work.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int size, length;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    printf("size %d library %s\n", size, version);
    MPI_Finalize();
    return 0;
}
"""


def words(command, env, timeout=60):
    """The output of a command; exits with one line if it fails or takes too long."""
    command = [str(w) for w in command]
    try:
        with own_temporary_folder(env) as own:
            done = subprocess.run(command, env=own, text=True, timeout=timeout,
                                  stdin=subprocess.DEVNULL, capture_output=True)
    except subprocess.TimeoutExpired:
        sys.exit(f"stack: '{' '.join(command)}' did not end within {timeout} s")
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        sys.exit(f"stack: '{' '.join(command)}' failed with status {done.returncode}")
    return done.stdout


def compiled(family, stack, program, text=PROGRAM, *more):
    """Compiles the text of a program with the compiler of a library, with more options if given;
    returns its path."""
    source = program.with_suffix(".c")
    source.write_text(text)
    words([family.compiler_in(stack), "-O2", *more, source, "-o", program],
          environment(family, stack))
    return program


def check(family, stack, folder):
    """Compiles and runs a program of 2 ranks; returns the version of the library."""
    program = compiled(family, stack, folder / f"check-{family.name}")
    seen = version_of(family, words([*family.start(2), program], environment(family, stack)))
    if not alike(family.version or seen, seen):
        sys.exit(f"stack: {family.name}: version {family.version} was requested, but the library "
                 f"in {family.home_in(stack)} is version {seen}; correct `version`, `modules` or "
                 "`home`")
    return seen


def version_of(family, out):
    """The version of the library in the output of 2 ranks; exits with one line for others."""
    found = re.findall(r"size (\d+) library (.*)", out)
    version = re.search(family.library, found[0][1]) if found else None
    if [size for size, _ in found] != ["2", "2"] or not version:
        sys.exit(f"stack: {family.name}: 2 ranks of {family.title} expected, the program saw "
                 f"{found or 'nothing'}; does {family.start(2)[0]} on PATH belong to another "
                 "library?")
    return version["version"]


def compiler_of(library, inside):
    """The compilers that a shared library names in its .comment section. `inside`: the command
    that runs a program in the container of the library."""
    out = subprocess.run([*inside, "readelf", "-p", ".comment", str(library)], text=True,
                         capture_output=True).stdout
    return "; ".join(dict.fromkeys(re.findall(r"\]\s+(.*\S)", out))) or "not told"


def loaded(program, env, inside):
    """Shared libraries that the dynamic linker loads for a program: name and path."""
    out = words([*inside, "ldd", program], env)
    return dict(re.findall(r"(\S+) => (\S+)", out))


def audit(family, stack, version):
    """Records of the build of a library: mpi, item, value."""
    env, prefix, inside = environment(family, stack), family.prefix(stack), family.container
    wrapper = words([family.compiler_in(stack), "-show"], env).strip()
    items = {"version": version, "wrapper": wrapper}
    for item, (command, pattern) in family.audit.items():
        program, *arguments = command.split()
        line = re.search(pattern, words(
            [*inside, pathlib.Path(family.home_in(stack)) / "bin" / program, *arguments], env))
        items[item] = line[1].strip() if line else "not told"
    libraries = loaded(prefix / "bin/cotejo", env, inside)
    mpi = [path for name, path in libraries.items() if name.startswith("libmpi.so")]
    items["library compiled with"] = compiler_of(mpi[0], inside) if mpi else "no shared libmpi"
    items["libraries loaded"] = " ".join(sorted(libraries))
    for name, path in libraries.items():
        if re.match(r"lib(mpi|fabric|ucp|hwloc|pmix)\.", name):
            items[name] = path.replace(str(prefix), "PREFIX")
    return [{"mpi": family.name, "item": i, "value": v.replace(str(prefix), "PREFIX")}
            for i, v in items.items()]


def write(path, value):
    removal.write_whole(path, json.dumps(value, indent=1, sort_keys=True) + "\n")


def verify(stack):
    """Checks and audits every library; writes the records."""
    present = [f for f in families.with_site().values() if f.installed(stack)]
    if not present:
        sys.exit(f"stack: no MPI in {stack}/mpi; run `make stack` first")
    versions, records = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for family in present:
            versions[family.name] = check(family, stack, pathlib.Path(folder))
            note_version(family, stack, versions[family.name])
            records += audit(family, stack, versions[family.name])
            print(f"stack: {family.title} {versions[family.name]} compiles and runs 2 ranks",
                  flush=True)
    packages = stack / "packages.json"
    system = json.loads(packages.read_text()) if packages.exists() else {}
    write(stack / "audit.json", records)
    write(stack / "stack.json", {**families.stack_identity(stack), "versions": versions,
                                 "system": system})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    try:
        verify(parser.parse_args().stack.resolve())
    except ValueError as err:
        sys.exit(f"stack: {err}")
    except OSError as err:
        sys.exit(f"stack: {err.filename}: {err.strerror}; run `make stack`, or give a STACK that "
                 "you may write to")


if __name__ == "__main__":
    problems.run(main)
