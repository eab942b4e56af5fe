# SPDX-License-Identifier: BSD-3-Clause
"""Was the machine busy, or is the benchmark wrong? The same waits without the benchmark decide.

Two processes on two cores begin together, by the clock, and wait as long as the ranks of the
benchmark; nothing else. They yield their core meanwhile, as ranks of MPICH and Intel MPI do
that poll if nothing keeps them from it. So a process of the lowest priority is seen, too. If even
the best of many rounds takes too long for these processes, it must for the ranks as well.
"""

import os
import subprocess
import sys

import pytest

ROUNDS = """
import os, sys, time
core, begin, wait, rounds = int(sys.argv[1]), *map(float, sys.argv[2:])
os.sched_setaffinity(0, {core})
for i in range(int(rounds)):
    target = begin + i * (2 * wait + 1e-3)
    while time.monotonic() < target:
        os.sched_yield()
    end = time.monotonic() + wait
    while time.monotonic() < end:
        os.sched_yield()
    print(time.monotonic() - target)
"""


#: The number of attempts to get a correct result. A real fault is there each time, while the best
#: of several attempts survives a disturbance of some of them.
TRIES = 5


def rounds_of(wait_s, rounds):
    """How long two processes that wait at the same time take, in s, the shortest round first."""
    begin = float(subprocess.run(
        [sys.executable, "-c", "import time; print(time.monotonic() + 1)"], text=True,
        capture_output=True, check=True).stdout)
    both = [subprocess.Popen([sys.executable, "-c", ROUNDS, str(core), str(begin), str(wait_s),
                              str(rounds)], text=True, stdout=subprocess.PIPE)
            for core in sorted(os.sched_getaffinity(0))[:2]]
    told = [list(map(float, process.communicate(timeout=120)[0].split())) for process in both]
    return sorted(map(max, *told))


def busy(wait_s, most, rounds=100, at=0):
    """How busy the machine is, in words, where the control takes over `most` times the wait;
    else ''. `at`: the share of rounds that may be no longer, if the test judges a quantile."""
    found = rounds_of(wait_s, rounds)[int(at * rounds)]
    return "" if found <= most * wait_s else (
        f"busy: two processes that only wait {1e6 * wait_s:g} us take {1e6 * found:.0f} us "
        + (f"in {100 - 100 * at:g} % of their rounds" if at else "at least"))


def asked(attempt, wait_s, most, at=0):
    """Repeats `attempt` until its result is correct. `attempt` returns whether it is, and the
    result. If it never is, the test fails, or is skipped where the control was off, too."""
    tries, words = [], ""
    while len(tries) < TRIES:
        try:
            good, found = attempt()
        except subprocess.TimeoutExpired as err:
            good, found = False, f"no end within {err.timeout:g} s"
        if good:
            return
        tries.append(found)
        words = words or busy(wait_s, most, at=at)
    if words:
        pytest.skip(words)
    pytest.fail(f"{len(tries)} times, on a quiet machine: {tries}")
