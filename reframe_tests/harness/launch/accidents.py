# SPDX-License-Identifier: BSD-3-Clause
"""Finds the launches that died of an outside cause. docs/data.md: Accidents.

A program that fails by itself would fail again: this is a failure. Accidents are a signal that no
program raises against itself, a full disk, and a node or scheduler that ended the launch. Such a
launch is measured again. The guard's observations and the messages of launcher and library prove
an accident. An accident that only an exit status suggests is `inferred`: SAME_END times in a row,
the same inferred accident is a failure of the cell itself.
"""

import collections
import os
import re

from ..machine import cores
from . import sessions

#: After so many in a row a study stops: whatever it is, it does not pass by itself.
MOST_IN_A_ROW = 5

#: Signals that come from outside; all others a program gets for what it does itself.
OUTSIDE = {1: "SIGHUP", 2: "SIGINT", 9: "SIGKILL", 15: "SIGTERM"}

#: How launchers say by which signal a rank ended.
SIGNALLED = re.compile(r"(?:exited on\s+signal|KILLED BY SIGNAL:|\(signal) *([0-9]+)"
                       r"|task [0-9, -]+: (Killed|Terminated)")

#: Messages that name an outside cause, in the order of the search: kind and words.
SAID = [(kind, re.compile(words, re.I)) for kind, words in (
    # A step that srun ends because a node is gone is said to be cancelled as well.
    ("node", r"slurmstepd(?:-\S+)?: error: .*NODE FAIL.*|srun: error: Node failure on .*"),
    ("scheduler", r"slurmstepd(?:-\S+)?: error: .*(?:CANCELLED|PREEMPT|TIME LIMIT).*"),
    ("node", r".*(?:NODE[ _]FAIL|lost communication with a remote daemon|"
             r"node failure).*"),
    ("memory", r".*(?:oom[-_]kill|out of memory handler|oom event).*"),
    ("shared-memory", r".*(?:/dev/shm|shared.memory|shmem).*"
                      r"(?:No space left|not enough space|enough space|Permission denied|"
                      r"Read-only).*|.*(?:No space left|not enough space).*"
                      r"(?:/dev/shm|shared.memory|shmem).*"),
    ("disk", r".*(?:No space left on device|Disk quota exceeded|Read-only file system).*"))]

#: So many of the first messages are from a scheduler, which also signals the guard to end.
SCHEDULERS = 2

BUS_ERROR = 7
#: A library may end by a bus error where /dev/shm has less room than this (B), before the launch
#: or after it: files there have their size before they have their memory. By default containers
#: have 64 MiB.
SHARED_ROOM = (64 << 20) + 1

#: So many launches of a cell that end in the same way are no accidents, where only their exit
#: status suggested one.
SAME_END = 3

#: Words of a library that gives up by itself. Its launcher may then end the other ranks by a
#: signal, and with that signal's status.
GIVES_UP = re.compile(r"\berror\b|\w+Error: |\bfatal|cannot|could not|denied|exceed|too many|"
                      r"maximal number|not enough|\bunable|\bfailed|failure|ulimit|refused", re.I)

#: Words of limits that a user can raise, and how.
LIMITS = [(re.compile(words, re.I), cure) for words, cure in (
    (r"too many open files|maximal number of files|\(ulimit -n\)", "raise it: `ulimit -n 4096`"),
    (r"memlock|locked memory|cannot allocate.*(?:pinned|registered)|ibv_reg_mr",
     "raise it: `ulimit -l unlimited`"),
    (r"file size limit|file too large|SIGXFSZ", "raise it: `ulimit -f unlimited`"),
    (r"stack size|stack overflow", "raise it: `ulimit -s unlimited`"),
    (r"resource temporarily unavailable|fork: retry|cannot fork",
     "raise the number of processes: `ulimit -u`"),
    (r"/dev/shm", "make room: `df -h /dev/shm`, `mount -o remount,size=2G /dev/shm`, or "
                  "`docker run --shm-size=2g`"),
    (r"No space left on device|Disk quota exceeded", "make room: `df -h`, `quota`"),
    (r"out of memory|oom[-_]kill|(?:cannot|unable to) allocate",
     "allow more memory: `ulimit -v unlimited`, or `--mem` of the scheduler"))]


def with_cure(reason, further=()):
    """A reason, and where it or `further` lines name such a limit, the command that raises it."""
    found = [cure for line in (reason, *further) for pattern, cure in LIMITS
             if pattern.search(line)]
    return f"{reason[:298 - len(found[0])]}; {found[0]}" if found else reason


#: Words by which program, library or launcher say that they failed by themselves.
FAILED = re.compile(r"^cotejo\b|error|fatal|abort|exited|terminat|detected|cannot|failed|usage|"
                    r"no such|not found|exception|traceback|assert", re.I | re.M)
#: Messages that a peer is gone, whatever ended it; and a line of MPICH about itself.
GONE = re.compile(r".*(?:PMIX_ERR_UNREACH|PMIX_ERR_LOST_CONNECTION|error checking +:).*")


def _by_the_study(guard):
    """Whether this process, or the first process of its study, signalled the guard to end the
    launch. Compares number and start: another process may have the number by now."""
    told = guard.get("sender"), guard.get("sender_start")
    return told in ((os.getpid(), cores.started_at(os.getpid())), cores.founder_named())


def _told(guard):
    """Kind and evidence of a launch that the guard ended because another process requested it."""
    if guard["end"] == "alone":
        return "cut", guard["reason"]
    if _by_the_study(guard):
        return "cut", f"ended by the study itself: {guard['reason']}"
    return "signal", f"{guard['reason']}, sent to the guard by process {guard.get('sender')}"


def _by_status(guard, output):
    """Whether a launcher ended with the status of a shell whose command was ended by a signal from
    outside, and no library said that it gives up."""
    return (guard.get("end") == "exit" and guard["exit"] is not None
            and guard["exit"] - 128 in OUTSIDE and not GIVES_UP.search(GONE.sub("", output)))


def _signals(guard, output):
    """Signals that ended launcher or ranks: number -> the words for it."""
    found = {}
    if guard.get("end") == "signal":
        found[guard["signal"]] = guard["reason"]
    if _by_status(guard, output):
        found[guard["exit"] - 128] = guard["reason"]
    for match in SIGNALLED.finditer(output):
        number = int(match[1] or {"Killed": 9, "Terminated": 15}[match[2]])
        found.setdefault(number, " ".join(match[0].strip("(").split()))
    return found


def _said(guard, output):
    """Kind and text of a message of launcher, library or scheduler about an outside cause."""
    for kind, words in SAID[:SCHEDULERS] if guard.get("end") in ("told", "alone") else SAID:
        if said := words.search(output):
            return kind, said[0]
    return None


def _ended(guard, _):
    """Kind and evidence of a signal that ended the guard, or made it end the launch."""
    if guard.get("end") in ("told", "alone"):
        return _told(guard)
    if guard["exit"] is None or guard.get("end") == "guard":
        return "signal", guard["reason"]
    return None


def _killed(guard, output):
    """Kind and evidence of the signals that ended launcher or ranks."""
    signals = _signals(guard, output)
    if BUS_ERROR in signals and guard.get("shared_room", SHARED_ROOM) < SHARED_ROOM:
        return "shared-memory", (f"{signals[BUS_ERROR]}, and /dev/shm had room for "
                                 f"{max(0, guard['shared_room']) / 2**20:.1f} MiB")
    # A launcher ends the others, too, when one rank fails by itself.
    if not signals or signals.keys() - OUTSIDE.keys():
        return None
    number = min(signals, key=lambda n: (n == 9, n))
    if number == 9 and guard.get("oom_kills"):
        return "memory", f"{signals[number]}; the kernel ended {guard['oom_kills']} processes"
    return "signal", f"{signals[number]} ({OUTSIDE[number]}), which no program raises by itself"


def _silent(guard, output, errors):
    """A launcher that a signal ends may print nothing; a program that fails by itself prints."""
    said = (_signals(guard, output) or FAILED.search(GONE.sub("", output))
            or GONE.sub("", errors).strip())
    if guard.get("end") != "exit" or said:
        return None
    return "signal", f"{guard['reason']} without a word, like a launcher that was ended"


def of(guard, output, errors=""):
    """`{"kind", "evidence"}` where a launch that did not end well died of something outside;
    `errors`: the part of its `output` that went to standard error."""
    if guard.get("end") == "time" or guard["exit"] == 0:
        return None
    seen = _said(guard, output) or _ended(guard, output) or _killed(guard, output)
    cause = seen or _silent(guard, output, errors)
    if not cause:
        return None
    inferred = not seen or (_by_status(guard, output) and not SIGNALLED.search(output))
    return {"kind": cause[0], "evidence": " ".join(cause[1].split())[:300],
            **({"inferred": True} if inferred else {})}


def is_own(accident, before):
    """Whether an accident that was inferred is the cell's own failure: those of its launches
    `before` (latest last) ended in the same way."""
    last = before[-(SAME_END - 1):]
    return bool(accident.get("inferred")) and len(last) == SAME_END - 1 and all(
        record["accident"] == accident for record in last)


def counted(records):
    """How many launches each configuration lost: cell -> number."""
    return dict(sorted(collections.Counter(
        sessions.cell_of(record) for record in records
        if record["status"] == "accident").items()))


def in_a_row(records):
    """Those of the last launches that were accidents without another between, latest last."""
    row = []
    for record in sorted(records, key=lambda r: (r["started"], r["id"])):
        row = [*row, record] if record["status"] == "accident" else []
    return row


#: Accidents in a row of this process, after too many of which it launches nothing more.
ROW = []


def note(status):
    """Counts a launch of this process that ended with this status."""
    ROW.append(status)
    if status != "accident":
        ROW.clear()
