# SPDX-License-Identifier: BSD-3-Clause
"""Identifies the sources, the stack and the machine of a measurement by comparable values."""

import functools
import hashlib
import os
import pathlib
import re

from .. import backends
from ..foreign import any_program
from ..machine import allocation, disk
from ..model import ROOTS, families, sites

#: Written by us, and read by nothing that measures.
BESIDE = {"references.json"}


def measuring_files(site=None):
    """All that measures: benchmarks, harness, tests, families and the files of the sites that a
    launch of this one uses."""
    folder = sites.site_folder(site)
    places = {*(root / name for root in ROOTS for name in ("src", "reframe_tests")), folder,
              *backends.tools(site)}
    return sorted(path for place in places for path in place.rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts
                  and path.suffix != ".md" and path.name not in BESIDE)


@functools.cache
def measuring_sha256():
    """One hash over names and contents of `measuring_files()`, and a program that is compared."""
    whole = hashlib.sha256()
    for path in measuring_files():
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{os.path.relpath(path, families.REPO)} {content}\n".encode())
    whole.update(any_program.digest())
    return whole.hexdigest()


def _text(path):
    try:
        return pathlib.Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


@functools.cache
def machine_id():
    """Distinguishes machines by data that every user can read. A name alone is not enough, since
    images are copied and hosts renamed. Nodes of a cluster are alike: a study may continue in
    another allocation on other nodes, and each launch names its own nodes."""
    model = re.search(r"model name\s*:\s*(.*)", _text("/proc/cpuinfo"))
    here = [_text("/etc/machine-id"), os.uname().nodename]
    if allocation.current():
        here = [sites.site_name(), os.environ.get("SLURM_CLUSTER_NAME", "")]
    said = [*here, model[1] if model else "", str(os.cpu_count())]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


@functools.cache
def stack():
    """Provider and lock of the stack in use."""
    # Without it nobody verified the stack: `spack install`, and then a bare `reframe -r`.
    verified = families.stack_prefix() / "stack.json"
    found = (disk.read_json(verified) if verified.exists()
             else families.stack_identity(families.stack_prefix()))
    return {name: found[name] for name in ("provider", "lock_sha256")}


def state():
    """The state of a session: launches in two states do not belong to one session."""
    return {"measuring_sha256": measuring_sha256(), "stack": stack(), "machine": machine_id()}


def changes(plan):
    """The parts of `state()` that changed since the plan was begun, in words; '' if none."""
    words = {"measuring_sha256": "what measures (sources, tests or site)", "stack": "the stack",
             "machine": "the machine"}
    return " and ".join(said for name, said in words.items() if plan.get(name) != state()[name])
