# SPDX-License-Identifier: BSD-3-Clause
"""The state in which a launch was measured, from its observations. Launches of one cell whose
fingerprints differ are no replicates, even if their requests are equal."""

import ctypes
import functools
import hashlib
import json
import os
import pathlib
import re

from ..machine.inventory import cpu_list
from ..model import plain

#: Files below the folder of an installation in which parameters of a library may be set.
PARAMETER_FILES = ("etc/*-mca-params.conf", "etc/*/*-mca-params.conf", "etc/ucx/ucx.conf")
#: Libraries of the system, and those of the kernel and of Python that have no folder.
OF_THE_SYSTEM = re.compile(r"/(?:usr/)?(?:local/)?lib(?:32|64|x32)?/.*|[^/]*")
#: `prctl` lets any process of the same user read the memory of this one, as libraries ask for.
PR_SET_PTRACER, ANY = 0x59616D61, ctypes.c_ulong(-1)

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
    shared memory; containers and the kernel's `ptrace_scope` deny it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "process_vm_readv"):
        return "unknown"
    data, copy = ctypes.create_string_buffer(b"x", 1), ctypes.create_string_buffer(1)
    vector, one = (ctypes.c_void_p * 2), ctypes.c_ulong(1)
    here, there = (vector(ctypes.addressof(buffer), 1) for buffer in (copy, data))
    libc.prctl(PR_SET_PTRACER, ANY)
    parent, child = os.getpid(), os.fork()
    if not child:
        done = libc.process_vm_readv(parent, here, one, there, one, ctypes.c_ulong(0))
        os._exit(0 if done == 1 else ctypes.get_errno() or 255)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(0))
    return f"denied ({os.strerror(number)})" if number > 0 else "allowed" if number == 0 else (
        "denied (the process was ended)")


def steering(record):
    """Variables that the ranks had without a request: name -> value."""
    seen = record["observed"].get("environment") or {}
    return {name: value for name, value in sorted(seen.items())
            if name not in record["environment"] and not OF_A_MOMENT.search(name)}


def parameter_files(folder):
    """Files of an installation that set parameters of a library: path -> hash of the file."""
    found = {}
    for path in sorted(path for pattern in PARAMETER_FILES for path in folder.glob(pattern)):
        try:
            data = plain.read_plain(path, plain.MOST_JSON)
        except plain.FileError:
            continue
        if any(line.strip() and line.strip()[:1] not in b"#;[" for line in data.splitlines()):
            found[str(path)] = hashlib.sha256(data).hexdigest()[:16]
    return found


def ranks_of(observed):
    """The ranks of a description, which lists their cores and places apart beyond 256 ranks."""
    shared = {}
    for entry in [*observed.get("cores", []), *observed.get("places", [])]:
        for rank in cpu_list(entry["ranks"]):
            shared.setdefault(rank, {"rank": rank}).update(
                {name: value for name, value in entry.items() if name != "ranks"})
    return [{**entry, **shared.get(entry["rank"], {})}
            for entry in observed.get("ranks") or [shared[rank] for rank in sorted(shared)]]


def traps(record, folders, exported):
    """Influences on the library of a launch that were not requested, as entries of
    `observed.machine.traps`. `folders`: the launch may load libraries of these folders;
    `exported`: variables of the job script. Only these count, since launchers and libraries set
    more for the ranks. Each entry has `trap`, `found` and `cure`."""
    seen = record["observed"]
    found = [(f"variable {name}={value}", "not requested, and in the environment of the ranks",
              "declare the variable in the files of the site, or unset it there")
             for name, value in steering(record).items() if name in exported]
    found += [(f"parameter file {path}", "sets parameters of the library",
               "move the lines to the files of the site, which are recorded")
              for path in seen.get("parameter_files", {})]
    found += [(f"library {path}", "loaded from outside the stack and the system",
               "check the library path of the modules and of the site")
              for path in (seen.get("build") or {}).get("libraries", [])
              if not OF_THE_SYSTEM.fullmatch(path)
              and not path.startswith(tuple(f"{folder}/" for folder in folders))]
    ranks = ranks_of(seen)
    if single_copies().startswith("denied") and len(ranks) > len(
            {rank.get("host") for rank in ranks}):
        found.append(("copies between processes", single_copies(),
                      "large messages in shared memory are copied twice: allow process_vm_readv "
                      "(in a container: --cap-add=SYS_PTRACE)"))
    return [{name: re.sub(r"[^ -{}\xa1-\uffff]", "?", text)[:200]
             for name, text in zip(("trap", "found", "cure"), words, strict=True)}
            for words in found]


def observe(record, family, stack, exported):
    """Completes the record of a launch that ran: files that set parameters, the fingerprint, and
    what influences the library without a request; `exported`: variables of the job script."""
    home = pathlib.Path(family.home_in(stack) or family.prefix(stack))
    seen = record["observed"]
    seen["parameter_files"] = {} if family.container else parameter_files(home)
    record["fingerprint"] = of(record)
    if new := traps(record, (stack, stack.resolve(), home, home.resolve()), exported):
        machine = seen.get("machine") or {}
        seen["machine"] = {**machine, "traps": [*(machine.get("traps") or []), *new]}


def parts(record):
    """The parts of a state: name -> text."""
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
        "parameter files": seen.get("parameter_files") or {},
        "timer": (seen.get("timer") or {}).get("name", ""), "huge pages": machine.get("thp") or "",
        "quota": machine.get("quota_cores"),
        "scheduling": sorted({rank.get("policy", "") for rank in ranks_of(seen)}),
        "nice": os.getpriority(os.PRIO_PROCESS, 0), "single copies": single_copies(),
        "cores": [rank.get("cpus", "") for rank in ranks_of(seen)],
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
