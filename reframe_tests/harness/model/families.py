# SPDX-License-Identifier: BSD-3-Clause
"""The MPI families that are declared (`mpi_families/*.yaml`), and the stack that has them.

It imports nothing of ReFrame, so the stack's own scripts use it too.
"""

import collections
import dataclasses
import functools
import hashlib
import os
import pathlib

from . import REPO, ROOTS, declarations, declared, family, sites, stack_prefix
from .problems import there_are

#: Colours of installations beside the first of their family (Tol's muted scheme).
FURTHER = ("#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255",
           "#AA4499")
FOLDERS = tuple(root / "reframe_tests/mpi_families" for root in ROOTS)


@functools.cache
def _declared(folders):
    return {name: declarations.read(path, "family") for name, path in declared(folders).items()}


@functools.cache
def _all(folders):
    found = _declared(folders)
    return {name: family.made(name, found, path) for name, path in declared(folders).items()}


def _chosen(found, simulators, layers):
    return {name: f for name, f in found.items()
            if (simulators or not f.simulator) and (layers or not f.layer)}


def load(*folders, simulators=False, layers=False):
    """All declared families by name, in the order of their names; simulators and layers, which are
    no MPI, only if requested."""
    return _chosen(_all(folders or FOLDERS), simulators, layers)


def of_site(folder, simulators=False, layers=False):
    """The families of a site: those that its `mpis.yaml` lists, with what it says of them; all
    where it has no such file. A study of others has a file of them (`COTEJO_MPIS`)."""
    here, path = sites.read(folder, "mpis.yaml"), folder / "mpis.yaml"
    if given := os.environ.get("COTEJO_MPIS"):
        return _chosen(declared_in(given, here), simulators, layers)
    return _chosen(_listed(here, here, path, folder.name), simulators, layers) if here else load(
        simulators=simulators, layers=layers)


def with_site(simulators=False):
    """All declared families and those of the site in use, as it says of them: what is built."""
    return {**load(simulators=simulators), **of_site(sites.site_folder(), simulators)}


def installed(name):
    """The family of an MPI library in the stack; ValueError names those that are there."""
    stack = stack_prefix()
    there = {key: f for key, f in with_site(simulators=True).items() if f.installed(stack)}
    if name not in there:
        raise ValueError(f"{name!r} is not installed in {stack}; {there_are(name, there)}")
    return there[name]


def set_of(name):
    """The file of a set of MPIs: one of reframe_tests/mpi_sets by its name, or any by its path."""
    path = REPO / "reframe_tests/mpi_sets" / f"{name}.yaml"
    path = path if path.exists() else pathlib.Path(name).absolute()
    if not path.is_file():
        known = sorted(p.stem for p in (REPO / "reframe_tests/mpi_sets").glob("*.yaml"))
        raise ValueError(f"MPIS={name}: no such file, and no set; {there_are(name, known)}")
    return str(path)


def declared_in(path, site_wide=None):
    """The families that a file lists, in the keys of a site's `mpis.yaml`; `site_wide`: what the
    site says of those that they are like."""
    listed = sites.with_environment_names(declarations.read(pathlib.Path(path), "mpis"), path)
    said = {**(site_wide or {}),
            **{name: declarations.merged((site_wide or {}).get(name, {}), entry)
               for name, entry in listed.items()}}
    return _listed(listed, said, path, sites.site_name())


def _listed(listed, said, path, site):
    below = _declared(FOLDERS)
    unknown = [name for name in listed if name not in below and "like" not in listed[name]]
    if unknown:
        raise declarations.DeclarationError(
            path, [f"no MPI {name!r} is declared; say which of them it is `like`: "
                   f"{there_are(name, below)}" for name in unknown])
    above = {**below, **{name: declarations.merged(below.get(name, {}), entry)
                         for name, entry in said.items()}}
    made = {name: told_apart(family.made(name, above, path, site, said[name]), said[name], number)
            for number, name in enumerate(listed)}
    titles = collections.Counter(one.title for one in made.values())
    return {name: dataclasses.replace(one, title=f"{one.title} ({name})")
            if titles[one.title] > 1 and "like" in said[name] and "title" not in said[name]
            else one for name, one in made.items()}


def told_apart(one, entry, number):
    """A further installation of a family, whose title and colour on figures are its own."""
    if "like" not in entry:
        return one
    version = f" {one.version}" if one.version else f" ({one.name})"
    own = {"title": f"{one.title}{version}", "colour": FURTHER[number % len(FURTHER)],
           "order": 50 + number}
    return dataclasses.replace(one, **{k: v for k, v in own.items() if k not in entry})


def shown(families):
    """How figures show families: the member `families` of a session."""
    return [{"name": name, "title": f.title, "colour": f.colour, "order": f.order}
            for name, f in families.items()]


def srun_interfaces(families, extras):
    """By which interface srun starts each MPI: a partition's `srun_mpi`, else the family's."""
    return {**{name: f.srun for name, f in families.items() if f.srun},
            **extras.get("srun_mpi", {})}


def helper(name):
    """A program of cotejo that needs no MPI: the same in every MPI's installation.

    FileNotFoundError where none is installed.
    """
    for folder in ("mpi", "sites/*"):
        for path in sorted(stack_prefix().glob(f"{folder}/*/bin/{name}")):
            return str(path)
    raise FileNotFoundError(f"no {name} in {stack_prefix()}; run `make stack`")


def preloaded(library, prefix):
    """Path of libcotejo_LIBRARY.so, which a program of an installation has before all others."""
    return f"{prefix}/lib/libcotejo_{library}.so"


def stack_identity(stack):
    """The provider of a stack, and the hash of the files that fix its versions: Spack's lock, or
    the locks of the wheels."""
    spack = stack.name == ".spack-env"
    wheels = sorted((REPO / "requirements").glob("*.txt"))
    locks = [stack.parent / "spack.lock"] if spack else wheels
    text = b"".join(path.read_bytes() for path in locks if path.exists())
    return {"provider": "spack" if spack else "wheels",
            "lock_sha256": hashlib.sha256(text).hexdigest()}
