# SPDX-License-Identifier: BSD-3-Clause
"""Writes Spack's environments from the MPI families, and on request their locks.

`spack.yaml` builds this checkout in place. `spack_repo/environments/TARGET` holds a lock for one
target: it takes only the compiler and its C library from the machine. Run this program after a
family was added or changed. `--lock` needs Spack and takes minutes; a family can be added without.
"""

import argparse
import json
import re
import subprocess
import sys

import yaml

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from stack import spack_specs

REPO = families.REPO
FOLDER = REPO / "spack_repo/environments"
#: Only IMB-MPI1 of the Intel MPI Benchmarks is launched; other programs take most of the time.
PROGRAMS = ["cotejo-bench", "intel-mpi-benchmarks ~ext~io~mt~nbc~p2p~rma"]
#: Specs of families that few studies need: they have a view, and a user adds them (`spack add`).
OPTIONAL = {"cotejo-simulator", "cotejo-layers library=pvm"}
#: Programs of no MPI that a user may add, and the folder of the stack where they are looked for.
#: They are no part of the environment: their sources are NAS's.
ALONE = {"npb-openmp": "npb implementation=openmp"}
#: Our own packages, and the folder of each's source.
OWN = {"cotejo-bench": "src", "cotejo-layers": "src", "cotejo-simulator": "src",
       "r-cotejo": "analysis"}
#: Micro-architectures that have a lock: any processor of the last ten years, and Arm's 64 bits.
TARGETS = ["x86_64_v3", "aarch64"]
#: The external of a lock that comes from the machine: Debian 12's compiler, with the C library.
COMPILER = {"spec": "gcc@12.2.0 languages:='c,c++,fortran' os=debian12 target={target}",
            "prefix": "/usr",
            "extra_attributes": {"compilers": {"c": "/usr/bin/gcc", "cxx": "/usr/bin/g++",
                                               "fortran": "/usr/bin/gfortran"}}}
#: Spack's own recipes, pinned by their tag. Spack never moves a clone that is there, and by
#: default keeps one clone for each URL, in its first state. So each tag has its own clone.
TAG = "v2026.03.0"
BUILTIN = {"git": "https://github.com/spack/spack-packages.git", "tag": TAG,
           "destination": f"$user_cache_path/package_repos/spack-packages-{TAG}"}
NOTE = """\
# SPDX-License-Identifier: BSD-3-Clause
# Written by `python3 -m stack.spack_environments` from reframe_tests/mpi_families: edit those.
# docs/spack.md explains.
"""


#: Condition that switches on an MPI that is not built by default.
ADDED = "'{}' in env.get('COTEJO_SPACK_ADD', '').split(',')"
#: The site's folder, by the variables that ReFrame reads as well.
SITE = [{"path": "${COTEJO_SITES}/${COTEJO_SITE}/spack",
         "when": "'COTEJO_SITE' in env and 'COTEJO_SITES' in env"},
        {"path": "site_configs/${COTEJO_SITE}/spack",
         "when": "'COTEJO_SITE' in env and 'COTEJO_SITES' not in env"},
        {"path": "site_configs/local/spack", "when": "'COTEJO_SITE' not in env"}]


def package(spec):
    return re.match(r"[a-z0-9-]+", spec)[0]


def is_mpi(family):
    return bool(family.spack) and not family.layer and not family.simulator


def roots(found):
    """Specs of the environment: every program under every MPI, and what needs no MPI. An MPI
    that is not built by default is a definition that a variable switches on."""
    mpis = [f.spack for f in found if is_mpi(f) and f.default]
    added = [{"mpis": [f.spack], "when": ADDED.format(f.name)}
             for f in found if is_mpi(f) and not f.default]
    beside = [f.spack for f in found
              if f.spack and (f.layer or f.simulator) and f.spack not in OPTIONAL]
    return ([{"mpis": mpis}, *added, {"programs": PROGRAMS}],
            ["cotejo", *beside, {"matrix": [["$programs"], ["$^mpis"]]}])


def views(found, root):
    """One view a family in the shape of a stack, and the one that activation puts on PATH."""
    def view(name, select):
        return {"root": f"{root}/{name}", "select": select}
    out = {"default": view("tools", ["cotejo"])}
    for f in found:
        if f.spack:
            out[f.name] = view(f"mpi/{f.name}",
                               [f.spack, f"^{f.spack}"] if is_mpi(f) else [f.spack])
    return {**out, **{name: view(name, [spec]) for name, spec in ALONE.items()}}


def checkout(found):
    """The environment of a checkout: its own sources in place, the site's externals."""
    definitions, specs = roots(found)
    return {
        "definitions": definitions, "specs": specs,
        # Every root for itself: unified, the MPIs would exclude each other.
        "concretizer": {"unify": False},
        # Built from this checkout, so that an edit is picked up by `spack install`.
        "develop": {name: {"spec": f"{name}@=main", "path": path} for name, path in OWN.items()},
        "repos": {"cotejo": "spack_repo/cotejo"},
        # Packages of the machine come first, and may replace pinned packages. Not
        # `optional`: a mistyped site must be an error, not a silent build of everything.
        "include": [*SITE, {"path": "spack_repo/pinned"}],
        # `spack containerize > Dockerfile`, and then `docker build .` in the checkout.
        "config": {"template_dirs": ["$env/spack_repo/templates"]},
        "container": {"format": "docker", "template": "cotejo.dockerfile", "strip": False,
                      "images": {"os": "ubuntu:24.04", "spack": "1.1"},
                      "os_packages": {"final": ["libc6-dev", "gcc"]}},
        "view": views(found, ".spack-env")}


def locked(found, target):
    """The environment that is locked for a target: no path of this machine but the compiler's."""
    found = [f for f in found if target.startswith(f.architecture) and f.default]
    definitions, specs = roots(found)
    gcc = {**COMPILER, "spec": COMPILER["spec"].format(target=target)}
    return {
        "definitions": definitions, "specs": specs,
        "concretizer": {"unify": False, "targets": {"host_compatible": False}},
        "packages": {"all": {"require": [f"target={target}"]},
                     "gcc": {"buildable": False, "require": ["os=debian12"],
                             "externals:": [gcc]}},
        "repos": {"cotejo": "../../cotejo"},
        "include": [{"path": "../../pinned"}],
        "view": views(found, ".spack-env")}


def text(environment):
    return NOTE + yaml.safe_dump({"spack": environment}, sort_keys=False, width=99)


def selected():
    """The families that Spack builds; ValueError where one build could be that of two families."""
    found = [f for f in families.load(simulators=True, layers=True).values()
             if f.default or is_mpi(f)]
    if wrong := spack_specs.overlaps({f.name: f.spack for f in found if is_mpi(f)}):
        raise ValueError("; ".join(wrong))
    return found


def wanted():
    """Path below the repository -> text, of each file that follows from the families."""
    found = selected()
    out = {"spack.yaml": text(checkout(found)),
           "spack_repo/pinned/repos.yaml":
               NOTE + yaml.safe_dump({"repos": {"builtin:": BUILTIN}}, sort_keys=False)}
    out["stack/shared_prefix.json"] = json.dumps({
        "note": "Written by `python3 -m stack.spack_environments` from the MPI families.",
        "optional": {f.name: f.spack for f in found if f.spack in OPTIONAL or not f.default},
        "programs": sorted({begin for f in found if f.default
                            for begin in f.shared.get("programs", [])}),
        "version": {package(f.spack): f.shared["version"] for f in found
                    if f.default and "version" in f.shared}}, indent=1) + "\n"
    return out


def write(files):
    for name, content in files.items():
        path = REPO / name
        path.parent.mkdir(parents=True, exist_ok=True)
        removal.write_whole(path, content)
        print(f"spack: {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lock", action="store_true", help="concretize for each target as well")
    args = parser.parse_args()
    try:
        write(wanted())
    except ValueError as err:
        return f"spack: {err}"
    for target in TARGETS if args.lock else []:
        folder = FOLDER / target
        write({f"{folder.relative_to(REPO)}/spack.yaml": text(locked(selected(), target))})
        done = subprocess.run(["spack", "python", str(REPO / "stack/spack_lock.py"), str(folder),
                               target])
        if done.returncode:
            return f"spack: {folder} cannot be concretized (above)"
    return 0


if __name__ == "__main__":
    sys.exit(main())
