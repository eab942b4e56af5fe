# SPDX-License-Identifier: BSD-3-Clause
"""Whether a quota of a core's time is a slower processor: short pieces of work, with and without.

The hub's hosts have equal processors (`clusters.yaml`). This is the reason. On a processor of half
the speed each piece takes twice as long. Under a quota each piece takes as long as without one,
except those in which the process is stopped, and these take milliseconds.
"""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys

from bench.common import check_goals, say

#: The folders where Linux has the quotas of version 1 and version 2 of its control groups.
FIRST, SECOND = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
#: Periods in us: the shortest of which half can be given, and the usual one.
PERIODS = 2000, 100000

#: As long as a rank works for a small message. Each piece has the same number of rounds, so that
#: only the processor makes a difference.
WORK = """
import json, os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def piece():
    begin = time.perf_counter()
    for _ in range(600):
        pass
    return time.perf_counter() - begin
for _ in range(1000):
    piece()
end = time.monotonic() + 2
times = []
while time.monotonic() < end:
    times.append(piece())
json.dump(times, sys.stdout)
"""


@contextlib.contextmanager
def quota(period_us, share):
    """A group of processes with a share of one core's time; gives the file that takes members, or
    None where groups cannot be made."""
    name = f"cotejo-quota.{os.getpid()}"
    first = (FIRST / "cpu.cfs_quota_us").exists() or (FIRST / "cpu.shares").exists()
    group = (FIRST if first else SECOND) / name
    try:
        group.mkdir()
        if first:
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(int(period_us * share)))
        else:
            (group / "cpu.max").write_text(f"{int(period_us * share)} {period_us}")
    except OSError:
        yield None
    else:
        yield group / "cgroup.procs"
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def pieces(members=None):
    """Times (s) of pieces of work, by a process that is a member of a group where one is given."""
    def join():
        if members:
            members.write_text(str(os.getpid()))

    done = subprocess.run([sys.executable, "-c", WORK], text=True, capture_output=True, check=True,
                          preexec_fn=join)
    return json.loads(done.stdout)


def hold():
    alone = statistics.median(pieces())
    for period_us in PERIODS:
        with quota(period_us, 0.5) as members:
            if not members:
                print("bench: skipped: quota: no groups of processes can be made here")
                return
            found = pieces(members)
        middle, mean = statistics.median(found) / alone, statistics.fmean(found) / alone
        say(f"half of a core by a quota, period {period_us / 1000:g} ms, is no core of half the "
            "speed: the median piece of work within 10 % of one without a quota",
            f"{1e6 * alone:.1f} us; median {middle:.2f}, mean {mean:.2f} of it, longest "
            f"{1000 * max(found):.1f} ms", abs(middle - 1) < 0.1)


if __name__ == "__main__":
    check_goals(hold)
