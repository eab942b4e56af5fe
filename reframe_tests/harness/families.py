# SPDX-License-Identifier: BSD-3-Clause
"""The MPI families that are declared (`mpi_families/*.yaml`), and the stack that has them.

It imports nothing of ReFrame, so the stack's own scripts use it too.
"""

import functools
import hashlib
import os
import pathlib

from .model import family as declared

REPO = pathlib.Path(__file__).resolve().parents[2]
FOLDER = REPO / "reframe_tests/mpi_families"


@functools.cache
def _all(folder):
    return {path.stem: declared.read(path) for path in sorted(folder.glob("*.yaml"))}


def load(folder=FOLDER, simulators=False, layers=False):
    """All declared families by name, in the order of their names; simulators and what is no MPI
    only if asked for."""
    found = _all(pathlib.Path(folder))
    return {name: f for name, f in found.items()
            if (simulators or not f.simulator) and (layers or not f.layer)}


def srun_interfaces(extras):
    """By which interface srun starts each MPI: a partition's `srun_mpi`, else the family's."""
    declared = {name: family.srun for name, family in load().items() if family.srun}
    return {**declared, **extras.get("srun_mpi", {})}


def helper(name):
    """A program of ours that needs no MPI: the same in every MPI's installation.

    FileNotFoundError where none is installed.
    """
    for family in load().values():
        path = family.prefix(stack_prefix()) / "bin" / name
        if path.exists():
            return str(path)
    raise FileNotFoundError(f"no {name} in {stack_prefix()}; run `make stack`")


def stack_prefix():
    """The stack in use: `COTEJO_STACK`, else the active Spack environment, else `.stack`."""
    given = os.environ.get("COTEJO_STACK")
    if given:
        return pathlib.Path(given)
    spack = os.environ.get("SPACK_ENV")
    return pathlib.Path(spack) / ".spack-env" if spack else REPO / ".stack"


def stack_identity(stack):
    """Who provides a stack, and the hash of what fixes its versions: Spack's lock, or those of
    the wheels."""
    spack = stack.name == ".spack-env"
    wheels = sorted((REPO / "requirements").glob("*.txt"))
    locks = [stack.parent / "spack.lock"] if spack else wheels
    text = b"".join(path.read_bytes() for path in locks if path.exists())
    return {"provider": "spack" if spack else "wheels",
            "lock_sha256": hashlib.sha256(text).hexdigest()}
