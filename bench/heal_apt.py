# SPDX-License-Identifier: BSD-3-Clause
"""Kills the set-up of the system's packages at random moments and starts it again.

setup.py starts this program in a separate system, whose changes are lost at its end. Some packages
are removed first. In the end the faults are printed, or nothing.
"""

import os
import random
import signal
import subprocess
import sys
import time

from stack import wheels

#: Packages with daemons. The daemons must not be started, and not be blocked afterwards.
PACKAGES = ["slurmd", "slurmctld", "munge", "libsimgrid-dev"]
LONGEST_S = 12


def begin():
    return subprocess.Popen(
        [sys.executable, "stack/wheels.py", "--test-packages", "/tmp/none"], cwd=wheels.REPO,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True)


def heal():
    kills, draw = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    wheels.POLICY.unlink(missing_ok=True)  # a container has one, so that no service starts
    subprocess.run(["apt-get", "remove", "-y", "-q", *PACKAGES], check=True, capture_output=True,
                   env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    hits = 0
    for _ in range(kills):
        running = begin()
        time.sleep(draw.uniform(0, LONGEST_S))
        hits += running.poll() is None
        if running.poll() is None:
            os.killpg(running.pid, draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        running.communicate()
    done = begin()
    said = done.communicate(timeout=600)[0]
    audit = subprocess.run(["dpkg", "--audit"], text=True, capture_output=True).stdout
    wrong = [words for words, is_so in (
        (f"status {done.returncode}: {said[-300:]}", done.returncode),
        (f"not installed: {wheels.missing_packages('debian-tests')}",
         wheels.missing_packages("debian-tests")),
        (f"half configured: {audit[:300]}", audit),
        ("services are held back", wheels.POLICY.exists())) if is_so]
    print(hits, "; ".join(wrong).replace("\n", " "))


if __name__ == "__main__":
    heal()
