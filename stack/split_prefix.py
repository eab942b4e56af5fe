# SPDX-License-Identifier: BSD-3-Clause
"""Gives each MPI of Debian or Ubuntu a prefix of its own, as an external needs one.

Both have Open MPI's and MPICH's programs in /usr/bin, and only the endings of their
names differ. `mpicc` there belongs to the MPI that the system prefers, so that with
the prefix /usr two MPIs would be one. Prints the entries of the site's mpis.yaml.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from reframe_tests.harness.machine import removal  # noqa: E402

# Package -> command and regular expression of its version; from the MPI families.
SHARED = json.loads((pathlib.Path(__file__).parent / "shared_prefix.json").read_text())
VERSION = {name: (words.split(), pattern) for name, (words, pattern) in SHARED["version"].items()}
NEEDED = ["mpicc", "mpicxx", "mpiexec", "mpirun"]


def version_of(name):
    """Version of an installed MPI, or None."""
    command, pattern = VERSION[name]
    try:
        words = subprocess.run(command, text=True, capture_output=True, timeout=60).stdout
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    found = re.search(pattern, words)
    return found and found[1]


def libraries_of(program):
    """The MPI libraries that a program loads, by the dynamic linker's words."""
    words = subprocess.run(["ldd", program], text=True, capture_output=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"=> (/\S*/lib\w*mpi\S*)", words)]


def split(name, programs, prefix):
    """Writes PREFIX/bin/X, which starts X.NAME, and links the libraries into PREFIX/lib; returns
    the names that are lacking.

    The program that reports the build has no ending, since only one MPI has it. A launch must
    load a library of its prefix (`model.installation`).
    """
    for folder in ("bin", "lib"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    for library in libraries_of(programs / VERSION[name][0][0]):
        link = prefix / "lib" / library.name
        link.unlink(missing_ok=True)
        link.symlink_to(library)
    for program in [*programs.glob(f"mpi*.{name}"), programs / VERSION[name][0][0]]:
        path = prefix / "bin" / program.name.removesuffix(f".{name}")
        removal.write_starter(path, f'"{program}"')
    return [wanted for wanted in NEEDED if not (prefix / "bin" / wanted).exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the prefixes go")
    folder = parser.parse_args().folder.resolve()
    versions = {name: version for name in VERSION if (version := version_of(name))}
    if not versions:
        programs = " and no ".join(words[0] for words, _ in VERSION.values())
        return f"split: no {programs} on PATH"
    for name, version in versions.items():
        lacking = split(name, pathlib.Path("/usr/bin"), folder / name)
        if lacking:
            return (f"split: /usr/bin has no {lacking[0]}.{name}; install {name} and its "
                    "development package from the system")
        print(json.dumps({name: {"home": str(folder / name), "version": version}})[1:-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
