# SPDX-License-Identifier: BSD-3-Clause
"""The state in which a launch was measured, from what was observed of it: launches of one cell
whose fingerprints differ are no replicates, whatever was asked for."""

import ctypes
import functools
import hashlib
import json
import os
import pathlib
import re

#: Variables that libraries set anew for each launch: numbers of jobs and places of a moment.
OF_A_MOMENT = re.compile(r"uuid|job_?id|vpid|uri|session|namespace|tmp|_pid\b|LD_PRELOAD", re.I)
#: Copies of the program that SimGrid loads once a rank; their names contain a process id. The
#: program itself is in the fingerprint.
PROGRAM_COPY = re.compile(r"_\d+_\d+\.so$")
#: Options that differ between the launches of a cell.
OF_A_LAUNCH = {"seed", "output", "order"}


@functools.cache
def _digest(path, *_):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:16]


def hashed(path):
    """The name of a library and the hash of what it holds, where it can be read here."""
    try:
        found = os.stat(path)
        return f"{os.path.basename(path)}={_digest(path, found.st_mtime_ns, found.st_size)}"
    except OSError:
        return os.path.basename(path)


@functools.cache
def single_copies():
    """Whether a process may read the memory of another one, as libraries do for large messages in
    shared memory; containers deny it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "process_vm_readv"):
        return "unknown"
    data, copy = ctypes.create_string_buffer(b"x", 1), ctypes.create_string_buffer(1)
    vector = (ctypes.c_void_p * 2)
    here, there = (vector(ctypes.addressof(one), 1) for one in (copy, data))
    done = libc.process_vm_readv(os.getpid(), here, ctypes.c_ulong(1), there, ctypes.c_ulong(1),
                                 ctypes.c_ulong(0))
    return "allowed" if done == 1 else f"denied ({os.strerror(ctypes.get_errno())})"


def steering(record):
    """Variables that the ranks had and nobody asked for: name -> value."""
    seen = record["observed"].get("environment") or {}
    return {name: value for name, value in sorted(seen.items())
            if name not in record["environment"] and not OF_A_MOMENT.search(name)}


def parts(record):
    """What a state is made of: name -> text."""
    seen = record["observed"]
    build, machine, nodes = (seen.get(name) or {} for name in ("build", "machine", "nodes"))

    def text(value):
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True)

    return {name: text(value) for name, value in {
        "program": record.get("provenance", {}).get("program_sha256") or "",
        "libraries": sorted({hashed(path) for path in build.get("libraries", [])
                             if not PROGRAM_COPY.search(path)}),
        "compiler": build.get("compiler", ""), "flags": build.get("flags", ""),
        "library": (seen.get("mpi") or {}).get("library", ""), "steering": steering(record),
        "timer": (seen.get("timer") or {}).get("name", ""), "huge pages": machine.get("thp") or "",
        "quota": machine.get("quota_cores"),
        "scheduling": sorted({rank.get("policy", "") for rank in seen.get("ranks", [])}),
        "nice": os.getpriority(os.PRIO_PROCESS, 0), "single copies": single_copies(),
        "cores": [rank.get("cpus", "") for rank in seen.get("ranks", [])],
        "kernel": sorted({node.get("kernel", "") for node in nodes}),
        "options": {name: value for name, value in (seen.get("options") or {}).items()
                    if name not in OF_A_LAUNCH}}.items()}


def of(record):
    """The member `fingerprint` of a description: one hash, and the parts that it is made of."""
    found = parts(record)
    whole = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    return {"sha256": whole, "parts": found}


def difference(one, other):
    """In what two fingerprints differ, in words; '' where they are equal."""
    a, b = one["parts"], other["parts"]
    return ", ".join(f"{name} ({str(a.get(name))[:80]}, not {str(b.get(name))[:80]})"
                     for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name))


def problem(found, before):
    """Why a launch is no replicate of those of its cell that were measured `before` in this
    session, or ''."""
    for record in before:
        known = record.get("fingerprint")
        if record["status"] == "ok" and known and known["sha256"] != found["sha256"]:
            return (f"the state is another one than that of {record['id']}: "
                    f"{difference(found, known)}")[:300]
    return ""
