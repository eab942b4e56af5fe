# SPDX-License-Identifier: BSD-3-Clause
"""Writes Spack's environments from the MPI families, and their locks.

`spack.yaml` builds this checkout in place. `spack_repo/environments/TARGET` holds the release:
nothing of the machine but the compiler and its C library, one lock a target, which goes with the
repository. Run after a family was added or changed; `--lock` needs Spack and takes minutes.
"""

import argparse
import json
import re
import subprocess
import sys

import yaml

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families

REPO = families.REPO
FOLDER = REPO / "spack_repo/environments"
PROGRAMS = ["cotejo-bench", "intel-mpi-benchmarks"]
#: Programs of no MPI that a user may add, and the folder of the stack where they are looked for.
#: They are no part of the environment: their sources are NAS's.
ALONE = {"npb-openmp": "npb implementation=openmp"}
#: Our own packages, and the folder of each's source.
OWN = {"cotejo-bench": "src", "cotejo-layers": "src", "cotejo-simulator": "src",
       "r-cotejo": "analysis"}
RELEASE = "0.1.0"
#: Micro-architectures that have a lock: any processor of the last ten years, and Arm's 64 bits.
TARGETS = ["x86_64_v3", "aarch64"]
#: What a lock takes from the machine: Debian 12's compiler, and with it the C library.
COMPILER = {"spec": "gcc@12.2.0 languages:='c,c++,fortran' os=debian12 target={target}",
            "prefix": "/usr",
            "extra_attributes": {"compilers": {"c": "/usr/bin/gcc", "cxx": "/usr/bin/g++",
                                               "fortran": "/usr/bin/gfortran"}}}
#: Spack's own recipes, pinned: their tag v2026.03.0.
BUILTIN = "0e093dad700a9be836b0d4aefc4bb5183e4990bd"
NOTE = """\
# SPDX-License-Identifier: BSD-3-Clause
# Written by `python3 -m stack.spack_environments` from reframe_tests/mpi_families: edit those.
# docs/spack.md explains.
"""


def package(spec):
    return re.match(r"[a-z0-9-]+", spec)[0]


def roots(found):
    """Specs of the environment: every program under every MPI, and what needs no MPI."""
    mpis = [f.spack for f in found if not f.layer and not f.simulator]
    beside = [f.spack for f in found if f.spack and (f.layer or f.simulator)]
    return ([{"mpis": mpis}, {"programs": PROGRAMS}],
            ["cotejo", *beside, {"matrix": [["$programs"], ["$^mpis"]]}])


def views(found, root):
    """One view a family in the shape of a stack, and the one that activation puts on PATH."""
    def view(name, select):
        return {"root": f"{root}/{name}", "select": select}
    out = {"default": view("tools", ["cotejo"])}
    for f in found:
        if f.spack:
            alone = f.layer or f.simulator
            out[f.name] = view(f"mpi/{f.name}", [f.spack] if alone
                               else [package(f.spack), f"^{package(f.spack)}"])
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
        # What is taken from the machine comes first, and may replace what is pinned. Not
        # `optional`: a mistyped site must be an error, not a silent build of everything.
        "include": [{"path": "site_configs/local/spack",
                     "path_override_env_var": "COTEJO_SPACK_SITE"},
                    {"path": "spack_repo/pinned"}],
        # `spack containerize > Dockerfile`, and then `docker build .` in the checkout.
        "config": {"template_dirs": ["$env/spack_repo/templates"]},
        "container": {"format": "docker", "template": "cotejo.dockerfile", "strip": False,
                      "images": {"os": "ubuntu:24.04", "spack": "1.1"},
                      "os_packages": {"final": ["libc6-dev", "gcc"]}},
        "view": views(found, ".spack-env")}


def release(found, target):
    """The environment of a release for one target: no path of this machine but the compiler's."""
    found = [f for f in found if target.startswith(f.architecture)]
    definitions, specs = roots(found)
    gcc = {**COMPILER, "spec": COMPILER["spec"].format(target=target)}
    released = {name: {"require": [f"@{RELEASE}", f"target={target}"]} for name in OWN}
    return {
        "definitions": definitions, "specs": specs,
        "concretizer": {"unify": False, "targets": {"host_compatible": False}},
        "packages": {"all": {"require": [f"target={target}"]}, **released,
                     "gcc": {"buildable": False, "require": ["os=debian12"],
                             "externals:": [gcc]}},
        "repos": {"cotejo": "../../cotejo"},
        "include": [{"path": "../../pinned"}],
        "view": views(found, ".spack-env")}


def text(environment):
    return NOTE + yaml.safe_dump({"spack": environment}, sort_keys=False, width=99)


def wanted():
    """Path below the repository -> text, of each file that follows from the families."""
    found = [f for f in families.load(simulators=True, layers=True).values() if f.default]
    out = {"spack.yaml": text(checkout(found)),
           "spack_repo/pinned/repos.yaml":
               NOTE + yaml.safe_dump({"repos": {"builtin": {"commit": BUILTIN}}})}
    out["stack/shared_prefix.json"] = json.dumps({
        "note": "Written by `python3 -m stack.spack_environments` from the MPI families.",
        "programs": sorted({begin for f in found for begin in f.shared.get("programs", [])}),
        "version": {package(f.spack): f.shared["version"] for f in found
                    if "version" in f.shared}}, indent=1) + "\n"
    out.update({f"spack_repo/environments/{target}/spack.yaml": text(release(found, target))
                for target in TARGETS})
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lock", action="store_true", help="concretize the releases anew")
    args = parser.parse_args()
    for name, content in wanted().items():
        path = REPO / name
        path.parent.mkdir(parents=True, exist_ok=True)
        removal.write_whole(path, content)
        print(f"spack: {name}")
    for target in TARGETS if args.lock else []:
        folder = FOLDER / target
        done = subprocess.run(["spack", "python", str(REPO / "stack/spack_lock.py"), str(folder),
                               target])
        if done.returncode:
            return f"spack: {folder} cannot be concretized (above)"
    return 0


if __name__ == "__main__":
    sys.exit(main())
