# SPDX-License-Identifier: BSD-3-Clause
"""Writes Spack's environments from the MPI families and from the `mpis.yaml` of a site, and the
table of families of docs/mpi-families.md.

`spack.yaml` builds this checkout in place. It includes the MPI libraries that are built by
default (`spack_repo/mpis.yaml`), or those of the site in use (`SITE/spack/mpis.yaml`). Run this
program after a family or the `mpis.yaml` of a site was changed; it needs no Spack.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import re
import sys

import yaml

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families, sites
from stack import spack_specs

REPO = families.REPO
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
#: Spack's own recipes, pinned by their tag. Spack never moves a clone that is there, and by
#: default keeps one clone for each URL, in its first state. So each tag has its own clone.
TAG = "v2026.03.0"
BUILTIN = {"git": "https://github.com/spack/spack-packages.git", "tag": TAG,
           "destination": f"$user_cache_path/package_repos/spack-packages-{TAG}"}
NOTE = """\
# SPDX-License-Identifier: BSD-3-Clause
# Written by `python3 -m stack.spack_environments` from {source}: edit that.
# docs/spack.md explains.
"""
#: The rows of the table of families in a page.
PAGE = "docs/mpi-families.md"
ROWS = re.compile(r"(?<=\| family \| colour \| order \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")


#: Condition that switches on an MPI that is not built by default.
ADDED = "'{}' in env.get('COTEJO_SPACK_ADD', '').split(',')"
#: The site's folder, by the variables that ReFrame reads as well.
SITE = [{"path": "${COTEJO_SITES}/${COTEJO_SITE}/spack",
         "when": "'COTEJO_SITE' in env and 'COTEJO_SITES' in env"},
        {"path": "site_configs/${COTEJO_SITE}/spack",
         "when": "'COTEJO_SITE' in env and 'COTEJO_SITES' not in env"},
        {"path": "${COTEJO_SITES}/local/spack",
         "when": "'COTEJO_SITE' not in env and 'COTEJO_SITES' in env"},
        {"path": "site_configs/local/spack",
         "when": "'COTEJO_SITE' not in env and 'COTEJO_SITES' not in env"}]
#: Named once more, because Spack accepts a folder that lacks the file.
PACKAGES = [{**one, "path": f"{one['path']}/packages.yaml"} for one in SITE]
#: The MPI libraries that a site lists, in place of those of `spack_repo/mpis.yaml`.
OF_SITE = [{**one, "path": f"{one['path']}/mpis.yaml", "optional": True} for one in SITE]


def package(spec):
    return re.match(r"[a-z0-9-]+", spec)[0]


def is_mpi(family):
    return bool(family.spack) and not family.layer and not family.simulator


def own_specs(found):
    """Specs that need no MPI, and the matrix of every program and every MPI."""
    beside = [f.spack for f in found
              if f.spack and (f.layer or f.simulator) and f.spack not in OPTIONAL]
    return ["cotejo", *beside, {"matrix": [["$programs"], ["$^mpis"]]}]


def view(name, *select, root=".spack-env"):
    return {"root": f"{root}/{name}", "select": [*select]}


def views(found, root=".spack-env"):
    """A view for each family, in the shape of a stack."""
    return {f.name: view(f"mpi/{f.name}", f.spack, *([f"^{f.spack}"] if is_mpi(f) else []),
                         root=root) for f in found if f.spack}


def by_default(found):
    """The MPI libraries that are built where a site lists no others, with networks of clusters.
    A view's root is relative to the file."""
    found = [f for f in found if is_mpi(f) and f.default]
    networks = {package(f.spack): {"variants": f.cluster["default"]} for f in found
                if "default" in f.cluster}
    return {"packages": networks, "definitions": [{"mpis": [f.spack for f in found]}],
            "view": views(found, root="../.spack-env")}


def checkout(found):
    """The environment of a checkout: its own sources in place, the site's externals."""
    added = [f for f in found if is_mpi(f) and not f.default]
    return {
        "definitions": [*({"mpis": [f.spack], "when": ADDED.format(f.name)} for f in added),
                        {"programs": PROGRAMS}],
        "specs": own_specs(found),
        # Every root for itself: unified, the MPIs would exclude each other.
        "concretizer": {"unify": False},
        # Built from this checkout, so that an edit is picked up by `spack install`.
        "develop": {name: {"spec": f"{name}@=main", "path": path} for name, path in OWN.items()},
        "repos": {"cotejo": "spack_repo/cotejo"},
        # Packages of the machine come first, and may replace pinned packages. SITE is not
        # `optional`: a mistyped site must be an error, not a silent build of everything.
        "include": [*SITE, *PACKAGES, *OF_SITE, {"path": "spack_repo/mpis.yaml"},
                    {"path": "spack_repo/pinned"}],
        # `spack containerize > Dockerfile`, and then `docker build .` in the checkout.
        "config": {"template_dirs": ["$env/spack_repo/templates"]},
        "container": {"format": "docker", "template": "cotejo.dockerfile", "strip": False,
                      "images": {"os": "ubuntu:24.04", "spack": "1.1"},
                      "os_packages": {"final": ["libc6-dev", "gcc"]}},
        # The view that activation puts on PATH, and those of all but the default MPIs.
        "view": {"default": view("tools", "cotejo"),
                 **views(f for f in found if not (is_mpi(f) and f.default)),
                 **{name: view(name, spec) for name, spec in ALONE.items()}}}


def text(data, source="reframe_tests/mpi_families"):
    return NOTE.format(source=source) + yaml.safe_dump(data, sort_keys=False, width=99)


def installed_at(family):
    """The external of an installation that the site has: its spec has the exact version."""
    name, place = package(family.spack), family.home.rstrip("/")
    if not family.version:
        raise ValueError(f"site {family.site}: mpis.yaml: {family.name} lacks the version, which "
                         "Spack needs")
    version = family.version
    if place and name.startswith("intel-oneapi-"):  # Spack's prefix holds all products of oneAPI
        # Folders have two parts of the version since 2021.11.
        if spack_specs.numbers(version) >= (2021, 11):
            version = ".".join(version.split(".")[:2])
        below = re.fullmatch(rf"(/.+)/mpi/({re.escape(version)}|latest)", place)
        if not below:
            raise ValueError(f"site {family.site}: mpis.yaml: Spack needs {family.name} in a "
                             f"folder mpi/{version}, and not in {place}")
        place = below[1]
    variants = re.sub(r"@[^\s~+]+", "", family.spack[len(name):]).strip()
    where = {"prefix": place, "modules": family.modules}
    return {"spec": f"{name}@={version} {variants}".strip(),
            **{key: value for key, value in where.items() if value}}


def of_site(folder):
    """What Spack reads of the `mpis.yaml` of a site; {} where the site has none. An installation
    of the site is an external. Spack builds every other library, but none that the site has."""
    listed = sites.read(folder, "mpis.yaml")
    if not listed:
        return {}
    known = {name: f for name, f in families.of_site(folder).items()
             if is_mpi(f) and not f.container}
    externals = {name: installed_at(f) for name, f in known.items() if f.installation.own}
    found = {name: dataclasses.replace(f, spack=externals[name]["spec"])
             for name, f in known.items() if name in externals}
    there = [f.spack for f in found.values()]
    found |= {name: f for name, f in known.items() if name not in found and not f.home and (
        "spack" in listed[name] or not any(spack_specs.may_be_one(f.spack, s) for s in there))}
    if wrong := spack_specs.overlaps({name: f.spack for name, f in found.items()}):
        raise ValueError(f"{folder}/mpis.yaml: {'; '.join(wrong)}")
    built = {package(f.spack) for name, f in found.items() if name not in externals}
    packages = {}
    for external in externals.values():
        name = package(external["spec"])
        packages.setdefault(name, {"buildable": name in built, "externals": []})
        packages[name]["externals"].append(external)
    root = os.path.relpath(REPO, folder / "spack") if REPO in folder.parents else str(REPO)
    return {"packages": packages,
            # Two colons: instead of the libraries of `spack_repo/mpis.yaml`.
            "definitions:": [{"mpis": [f.spack for f in found.values()]}],
            "view:": views(found.values(), root=f"{root}/.spack-env")}


def write_site(folder):
    """Writes `spack/mpis.yaml` of a site, or removes it where the site lists no libraries. The
    sum is that of `mpis.yaml`: `reframe` names a file that is older (stack/spack_complete.py)."""
    path, data = folder / "spack/mpis.yaml", of_site(folder)
    if data:
        digest = hashlib.sha256((folder / "mpis.yaml").read_bytes()).hexdigest()
        path.parent.mkdir(exist_ok=True)
        removal.write_whole(path, text(data, f"../mpis.yaml, sha256 {digest}"))
        print(f"spack: {path}")
    else:
        path.unlink(missing_ok=True)


def selected():
    """The families that Spack builds; ValueError where one build could be that of two families."""
    found = [f for f in families.load(simulators=True, layers=True).values()
             if f.default or is_mpi(f)]
    if wrong := spack_specs.overlaps({f.name: f.spack for f in found if is_mpi(f)}):
        raise ValueError("; ".join(wrong))
    return found


def taken():
    """The rows of the table of families: the colours and orders that a new one cannot have."""
    known = sorted((f["order"], path.stem, f["colour"]) for path in
                   families.FOLDERS[0].glob("*.yaml") for f in [yaml.safe_load(path.read_text())])
    return "".join(f"| `{name}` | `{colour}` | {order} |\n" for order, name, colour in known)


def wanted():
    """Path below the repository -> text, of each file that follows from the families."""
    found = selected()
    out = {"spack.yaml": text({"spack": checkout(found)}),
           "spack_repo/mpis.yaml": text(by_default(found)),
           "spack_repo/pinned/repos.yaml": text({"repos": {"builtin:": BUILTIN}},
                                                "stack/spack_environments.py"),
           PAGE: ROWS.sub(taken(), (REPO / PAGE).read_text())}
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
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    try:
        write(wanted())
        write_site(sites.site_folder())
    except ValueError as err:
        return f"spack: {err}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
