# SPDX-License-Identifier: BSD-3-Clause
"""Was the machine busy, or is the benchmark wrong? The same waits without the benchmark decide.

Two processes on two cores begin together, by the clock, and wait as long as the ranks of the
benchmark do; nothing else. Where even the best of many rounds takes them longer, so must it take
the ranks.
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
        pass
    end = time.monotonic() + wait
    while time.monotonic() < end:
        pass
    print(time.monotonic() - target)
"""


def least_round(wait_s, rounds):
    """The shortest of some rounds in which two processes wait at the same time, in s."""
    begin = float(subprocess.run(
        [sys.executable, "-c", "import time; print(time.monotonic() + 1)"], text=True,
        capture_output=True, check=True).stdout)
    both = [subprocess.Popen([sys.executable, "-c", ROUNDS, str(core), str(begin), str(wait_s),
                              str(rounds)], text=True, stdout=subprocess.PIPE)
            for core in sorted(os.sched_getaffinity(0))[:2]]
    told = [list(map(float, process.communicate(timeout=120)[0].split())) for process in both]
    return min(map(max, *told))


def holds(good, wait_s, most, rounds=100):
    """Whether what a test found holds. Where it does not, and the control is as far off (over
    `most` times the wait), the test is skipped: the machine is busy."""
    if not good:
        found = least_round(wait_s, rounds)
        if found > most * wait_s:
            pytest.skip(f"busy: two processes that only wait {1e6 * wait_s:g} us take "
                        f"{1e6 * found:.0f} us at least")
    return good
