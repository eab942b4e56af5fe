# SPDX-License-Identifier: BSD-3-Clause
"""Accidents that really happen: no memory, no disk, no shared memory, a host that dies.

The first three are launches of two ranks under the guard, in surroundings that lack a resource.
The reason for their end is recorded as for every launch (harness/launch/accidents.py).
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from reframe_tests.harness.launch import launches
from stack.build import environment
from tests import kills

MIB = 1 << 20
#: The memory of the process group that must not suffice: launchers take a fifth of it.
GROUP_BYTES = 160 * MIB
MESSAGE = "256Mi"


def memory_groups():
    """The folder of this process's group of processes that limits memory, and the name of the
    file with its limit; None where this user may make none below."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            place = pathlib.Path("/sys/fs/cgroup/memory") / path.lstrip("/")
            limit = "memory.limit_in_bytes"
        elif not controllers:
            place = pathlib.Path("/sys/fs/cgroup") / path.lstrip("/")
            limit = "memory.max"
        else:
            continue
        if (place / limit).exists() and os.access(place, os.W_OK):
            return place, limit
    return None


@contextlib.contextmanager
def little_memory():
    """Words that run a command with little memory; None where this is not possible."""
    found = memory_groups()
    if not found:
        yield None
        return
    place, limit = found[0] / f"cotejo-test-{os.getpid()}", found[1]
    try:
        place.mkdir()
        (place / limit).write_text(str(GROUP_BYTES))
        words = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(place)]
        tried = subprocess.run([*words, "true"], capture_output=True).returncode
        yield words if tried == 0 else None
    except OSError:
        yield None
    finally:
        with contextlib.suppress(OSError):
            place.rmdir()


@contextlib.contextmanager
def small_disk(place, size):
    """Words that run a command where a folder is a disk of so little room."""
    mount = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             f'mount -t tmpfs -o size={size} none "$0" && cd "$PWD" && exec "$@"', str(place)]
    tried = subprocess.run([*mount, "true"], capture_output=True).returncode
    yield mount if tried == 0 else None


#: Kind of the accident -> its surrounding, for a launch in a folder that writes to `out` there.
SURROUNDINGS = {
    "memory": lambda folder: little_memory(),
    "disk": lambda folder: small_disk(folder / "out", "4k"),
    "shared-memory": lambda folder: small_disk("/dev/shm", "16k")}


def happen(kind, family, stack, folder):
    """Lets an accident happen to a launch of an MPI. Returns its kind as recorded and all output.
    The kind is '' if the launch failed by itself or went well, and None if impossible here."""
    (folder / "out").mkdir(exist_ok=True)
    bin_ = family.prefix(stack) / "bin"
    size = ["--sizes", MESSAGE, "--min-repetitions", "3"] if kind == "memory" else ["--sizes", "1"]
    with SURROUNDINGS[kind](folder) as words:
        if words is None:
            return None, ""
        done = subprocess.run(
            [*words, str(bin_ / "cotejo-guard"), "60", "-r", "guard.json", str(bin_ / "mpirun"),
             "-np", "2", str(bin_ / "cotejo"), "pingpong", *size, "--budget", "0.05", "--output",
             "out/samples"], cwd=folder, text=True, capture_output=True, timeout=120,
            stdin=subprocess.DEVNULL,
            env={**environment(family, stack), **family.transports["shm"].environment})
    said = done.stdout + done.stderr
    accident = launches.accident_of(launches.read_guard(folder / "guard.json"), said, "",
                                    done.stderr)
    return (accident or {"kind": ""})["kind"], f"status {done.returncode}: {said}"


def kill_a_host(study, patience_s=240):
    """Kills a virtual host of a running study as soon as a launch is on it; False: none was seen.
    Ranks of a short launch are gone before a busy machine has looked through its processes."""
    end = time.monotonic() + patience_s
    while not {"launcher", "rank"} & {*study.processes().values()}:
        if time.monotonic() > end or study.process.poll() is not None:
            return False
        time.sleep(0.01)
    found = [json.loads(path.read_text()) for path in study.folder.glob("run/*/cluster.json")]
    os.kill(next(h["pid"] for h in found[0]["hosts"] if h["name"] == "host2"), signal.SIGKILL)
    return True


def host_dies(stack, folder, tries=3):
    """Why a study does not survive the end of a virtual host, in words, or ''. The launch must be
    lost with its node, and measured again on a complete cluster. If the launch ends while its host
    is killed, nothing happened, and the study is tried again."""
    for number in range(tries):
        said, happened = one_host_dies(stack, folder / f"host{number}")
        if happened:
            break
    return said


def one_host_dies(stack, folder):
    """One such study: the description of a fault, and whether a launch was lost."""
    blocks = 4
    study = kills.Study(folder, stack, r"^pingpong_smoke\.mpich\.tcp\..*fast-ethernet-2$", blocks,
                        site="virtual-ethernet")
    study.start()
    killed = kill_a_host(study)
    status = study.finish(300)
    study.look()
    records = sorted((json.loads(text) for text in study.published.values()),
                     key=lambda r: r["id"])
    found = [(r["status"], (r["accident"] or {}).get("kind")) for r in records]
    # The machine may have been too busy for a cluster before. This is a different accident.
    found = [what for what in found if what != ("accident", "cluster")]
    if killed and not status and sorted(found, key=str) == [
            ("accident", "node"), *[("ok", None)] * blocks]:
        return "", True
    said = (f"killed {killed}, status {status}, {found}: "
            f"{(study.folder / 'log').read_text()[-1500:]}")
    return said, "accident" in dict(found)
