# SPDX-License-Identifier: BSD-3-Clause
"""Kills the set-up at random moments and starts it again, also on a disk that is too small.

It must end with the same files as a set-up without kills. The same applies to the installation of
the system's packages. `make bench PART=setup` runs this bench, and PART=faults with fewer kills.
The stack is a separate one. Earlier downloads come from pip's cache.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bench.common import check_goals, parser_of, say, skip
from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families

REPO = families.REPO
#: The commands of `make stack` in their order, each with the longest time before it is killed (s)
#: and how often among the others.
STEPS = {"wheels": (["stack/wheels.py"], 40, 3), "R package": (["stack/analysis.py"], 15, 1),
         "build": (["-m", "stack.build"], 40, 1)}
SMALL = "40m"


def begin(step, stack):
    python = stack / "tools/bin/python"  # as make takes it
    python = python if python.exists() and step == "build" else sys.executable
    return subprocess.Popen([python, *STEPS[step][0], str(stack)], cwd=REPO, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, start_new_session=True)


def kill(step, stack, draw):
    """Begins a step and kills all of it at a random moment; False: it had ended before."""
    running = begin(step, stack)
    time.sleep(draw.uniform(0, STEPS[step][1]))
    there = running.poll() is None
    if there:
        os.killpg(running.pid, draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
    running.communicate()
    return there


def contents(stack):
    """The files of a stack by size, without files that carry a time, are compiled on use, or serve
    to compile."""
    return {str(path.relative_to(stack)): path.stat().st_size
            for path in sorted(stack.rglob("*")) if path.is_file() and not path.is_symlink()
            and "__pycache__" not in path.parts and path.relative_to(stack).parts[0] != "build"
            and path.suffix not in (".pyc", ".rds", ".rdb", ".rdx", ".json")
            and path.name not in ("DESCRIPTION", "MD5")}


def left_over(stack):
    """The files that a killed set-up may leave, and that a complete set-up must not leave."""
    names = ("wheels/*", f"**/{removal.WAITING}*", "**/00LOCK*")
    return [str(path.relative_to(stack)) for name in names for path in stack.glob(name)]


def heal(stack, kills, seed):
    """Kills the set-up of a stack so often, then lets it end. Returns hits and the last words."""
    draw, hits = random.Random(seed), 0
    for _ in range(kills):
        weights = [often for _, _, often in STEPS.values()]
        hits += kill(draw.choices(list(STEPS), weights)[0], stack, draw)
    said = []
    for step in STEPS:
        done = begin(step, stack)
        said.append(done.communicate(timeout=900)[0])
        if done.returncode:
            return hits, f"{step}: status {done.returncode}: {said[-1][-500:]}"
    return hits, ""


def on_a_small_disk(folder):
    """Whether `make stack` reports a full disk in one line and without a traceback. Returns '' if
    so, else the reason."""
    place = folder / "small"
    place.mkdir()
    script = (f'mount -t tmpfs -o size={SMALL} none "$0" && cd "$1" && '
              '"$2" stack/wheels.py "$0/stack"; status=$?; ls "$0/stack/mpi" 2>/dev/null >&2; '
              'exit $status')
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(place),
         str(REPO), sys.executable], text=True, capture_output=True, timeout=600,
        stdin=subprocess.DEVNULL)
    said = done.stdout + done.stderr
    if done.returncode == 0 or "Traceback" in said or not any(
            line.startswith("stack: ") and ("failed" in line or "space" in line)
            for line in said.splitlines()):
        return f"status {done.returncode}: {said[-800:]}"
    return ""


#: A separate system: its files are in memory, and its processes end with it.
OWN_SYSTEM = """\
mount -t tmpfs none "$0" && mkdir "$0/upper" "$0/work" "$0/root" &&
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root" &&
mount -t proc none "$0/root/proc" && mount --rbind /dev "$0/root/dev" &&
cd "$1" && exec chroot "$0/root" sh -c 'cd "$0" && exec "$@"' "$1" "$2" -m bench.heal_apt "$3" "$4"
"""


def kill_apt(folder, kills, seed):
    """Kills the installation of packages in a separate system. Returns the hits and the faults,
    or None where such a system is not possible."""
    place = folder / "system"
    place.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "sh",
         "-c", OWN_SYSTEM, str(place), str(REPO), sys.executable, str(kills), str(seed)],
        text=True, capture_output=True, timeout=1800, stdin=subprocess.DEVNULL)
    if "mount:" in done.stderr:
        return None
    hits, _, wrong = done.stdout.strip().partition(" ")
    return (int(hits), wrong) if hits.isdigit() else (0, done.stderr[-800:] or "no word")


def hold(kills, seed, folder):
    # Scripts name their folder: both have as long a name.
    whole, killed = folder / "whole", folder / "kills"
    began = time.monotonic()
    _, wrong = heal(whole, 0, seed)
    if wrong:
        skip("a set-up that is killed", f"one that is left alone fails here: {wrong}")
        return
    once = time.monotonic() - began
    hits, wrong = heal(killed, kills, seed)
    left = left_over(killed)
    missing = contents(whole).items() ^ contents(killed).items()
    names = sorted({name for name, _ in missing})
    say(f"set-up of {once:.0f} s is complete after {hits} kills",
        wrong or f"{len(names)} files otherwise, {len(left)} left over"
        + "".join(f"; {name}" for name in (left + names)[:5]), not (wrong or names or left))
    if os.geteuid() == 0:
        if not shutil.which("dpkg") or not (found := kill_apt(folder, kills, seed)):
            skip("a killed apt", "no dpkg, or no file system over another")
        else:
            say(f"packages are complete after {found[0]} kills", found[1] or "all of them",
                not found[1])
        wrong = on_a_small_disk(folder)
        say("set-up on a full disk ends in one line", wrong or "as it must", not wrong)
    else:
        skip("set-up on a full disk", "a disk of its own needs root")


def main():
    parser = parser_of(__doc__)  # the stack is not touched
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cotejo-setup-") as name:
        hold(args.kills, args.seed, pathlib.Path(name))


if __name__ == "__main__":
    check_goals(main)
