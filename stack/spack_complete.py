# SPDX-License-Identifier: BSD-3-Clause
"""Completes what Spack installed into the shape of a stack: STACK/mpi/NAME/{bin,lib,...}.

Spack leaves externals out of its views, and Intel MPI lies two folders below its
prefix; either way STACK/mpi/NAME has the benchmarks but no `mpirun`. This script
adds the missing files from the real place of the MPI, which Spack recorded with
the benchmarks. Spack replaces a view when its content changes; the script is then
run again. It starts no Spack, uses the standard library alone, does nothing if
nothing is missing, and may run at every start of ReFrame.
"""

import argparse
import json
import os
import pathlib
import re
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
from reframe_tests.harness.machine import removal  # noqa: E402
from stack import spack_lock  # noqa: E402

#: Our package in a view -> the programs that the view must have. Only the benchmarks of an MPI
#: library may lack some, which come from where the library is.
NEEDED = {"cotejo-bench": ["mpicc", "mpirun", "cotejo", "cotejo-guard"],
          "cotejo-layers": ["mpirun", "cotejo-transport"],
          "cotejo-simulator": ["mpicc", "mpirun", "cotejo"]}
#: Programs of a Python environment in which an MPI library may lie.
OF_PYTHON = re.compile("python|pip|[aA]ctivate")
# Programs of an MPI in a `bin` that it shares with the system; from the MPI families.
SHARED = json.loads((pathlib.Path(__file__).parent / "shared_prefix.json").read_text())
OF_AN_MPI = re.compile("|".join(["mpi", *map(re.escape, SHARED["programs"])]))
SYSTEM = [pathlib.Path("/usr"), pathlib.Path("/usr/local"), pathlib.Path("/")]


def read_provider(record):
    """Prefix (None: in the view) and version of the `mpi` in a recorded concrete spec."""
    nodes = json.loads(record.read_text())["spec"]["nodes"]
    edges = nodes[0]["dependencies"]
    wanted = [e["hash"] for e in edges if "mpi" in e["parameters"].get("virtuals", ())]
    mpi = next(node for node in nodes if node["hash"] in wanted)
    return (mpi.get("external") or {}).get("path"), mpi["version"]


def find_home(prefix, version):
    """The folder of an MPI's `bin` and `lib`: the prefix, or a version's folder in it."""
    short = ".".join(version.split(".")[:2])
    places = [prefix, *(prefix / "mpi" / name for name in (version, short, "latest"))]
    return next((place for place in places if (place / "bin/mpicc").exists()), None)


def merge(source, target, depth=4):
    """Links what `target` lacks; where both have a folder, what that folder lacks."""
    for entry in sorted(source.iterdir()):
        place = target / entry.name
        if place.is_symlink() and not place.exists():
            place.unlink()
        if not place.exists():
            place.symlink_to(entry)
        elif depth and entry.is_dir() and place.is_dir() and not place.is_symlink():
            merge(entry, place, depth - 1)


def take(home, folder):
    """Gives a folder what it lacks of the MPI in `home`."""
    shared = home in SYSTEM
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for program in sorted((home / "bin").iterdir()):
        path = folder / "bin" / program.name
        wanted = os.access(program, os.X_OK) and program.is_file()
        if wanted and not path.exists() and (OF_AN_MPI.match(program.name) if shared
                                             else not OF_PYTHON.match(program.name)):
            removal.write_starter(path, f'"{program}"')
    if not shared:
        for name in ("lib", "include", "etc", "opt", "share"):
            if (home / name).is_dir():
                (folder / name).mkdir(exist_ok=True)
                merge(home / name, folder / name)


def added(environment, name):
    """Whether the environment has the package of a view. Spack makes a folder for every view, also
    for a library, layer or simulator that nobody added."""
    spec = SHARED["optional"].get(name)
    if spec is None:
        return True
    try:
        roots = json.loads((environment / "spack.lock").read_text())["roots"]
    except OSError:
        return False
    return any(spec in root["spec"] for root in roots)


def switched_on(environment, there):
    """One line for each name in COTEJO_SPACK_ADD that adds nothing to the environment."""
    for name in filter(None, os.environ.get("COTEJO_SPACK_ADD", "").split(",")):
        spec = SHARED["optional"].get(name)
        if spec is None and name not in there:
            known = [one for one in SHARED["optional"] if is_switched(one)]
            yield f"COTEJO_SPACK_ADD: no library {name!r}; there are {', '.join(known)}"
        elif not added(environment, name):
            command = f"spack -e {environment} "
            add = "" if is_switched(name) else f"{command}add {spec} && "
            yield f"{name} of COTEJO_SPACK_ADD is missing; run `{add}{command}install`"


def is_switched(name):
    """Whether COTEJO_SPACK_ADD adds this family. Our own packages are added by `spack add`."""
    return not SHARED["optional"][name].startswith("cotejo-")


def complete(folder):
    """Completes STACK/mpi/NAME; returns what is wrong with it, or nothing."""
    places = [folder / f".spack/{ours}/spec.json" for ours in NEEDED]
    records = [place for place in places if place.exists()]
    if not records and not added(folder.parents[2], folder.name):
        return ""
    if not records:
        return f"no cotejo-bench in {folder}; does `spack install` end without errors?"
    ours = records[0].parent.name
    missing = [name for name in NEEDED[ours] if not (folder / "bin" / name).exists()]
    if not missing or ours != "cotejo-bench":
        return f"{folder}/bin has no {', '.join(missing)}; run `spack install`" if missing else ""
    external, version = read_provider(records[0])
    prefix = pathlib.Path(external) if external else folder
    home = find_home(prefix, version)
    if home is None:
        return f"no bin/mpicc in {prefix} nor in its mpi/{version}; is the site's prefix right?"
    take(home, folder)
    missing = [name for name in missing if not (folder / "bin" / name).exists()]
    return f"{folder}/bin has no {', '.join(missing)}" if missing else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environment", type=pathlib.Path, help="folder of spack.yaml")
    environment = parser.parse_args().environment.resolve()
    stack = environment / ".spack-env"
    folders = sorted(p for p in stack.glob("mpi/*") if not p.name.startswith("._"))
    if not folders:
        return f"spack: no MPI in {stack}/mpi; run `spack install` in the environment first"
    try:
        wrong = [f"{folder.name}: {reason}" for folder in folders if (reason := complete(folder))]
    except OSError as err:
        return f"spack: {err}; complete the stack as the user who installed it"
    added_names = switched_on(environment, {folder.name for folder in folders})
    for line in filter(None, [*wrong, *added_names, spack_lock.outdated(environment)]):
        print(f"spack: {line}", file=sys.stderr)
    return 1 if len(wrong) == len(folders) else 0


if __name__ == "__main__":
    sys.exit(main())
