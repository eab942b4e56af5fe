# SPDX-License-Identifier: BSD-3-Clause
"""Launches of two ranks for the benches of point to point, on one host and on two."""

import contextlib
import os
import subprocess
import sys

from bench.common import skip
from reframe_tests.harness.backends import clusters
from stack import build
from tests.launching import rows_of
from tests.virtual_clusters import why_not

LIMIT_S = 60  # of a launch


class Lost(SystemExit):
    """A launch that did not end. The text names it; the error ends a bench that needs it."""


def launch(family, stack, transport, folder, *command):
    """Starts two ranks of a program on two cores, in a folder. Ends the bench if they fail, and
    raises Lost if they hang."""
    for left in ("samples.csv", "samples.json"):
        (folder / left).unlink(missing_ok=True)
    env = {**build.environment(family, stack), **family.transports[transport].environment}
    cpus = sorted(os.sched_getaffinity(0))[:2]
    try:
        done = subprocess.run(["mpirun", *family.flags("mpirun", cpus), "-np", "2", *command],
                              env=env, cwd=folder, text=True, capture_output=True,
                              timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Lost(f"bench: `{' '.join(map(str, command[:2]))}` under {family.title} over "
                   f"{transport} did not end within {LIMIT_S} s") from None
    if done.returncode:
        sys.exit(f"bench: {family.title}: `{' '.join(map(str, command[:2]))}` failed: "
                 f"{done.stderr.strip()[-300:]}")


@contextlib.contextmanager
def hosts_of(stack, root, goal):
    """Two hosts of a 100 Mbit/s Ethernet; None, and a word of why, where this machine cannot."""
    if reason := why_not():
        skip(goal, reason)
        yield None
        return
    os.environ.update(COTEJO_STACK=str(stack), COTEJO_RUN=str(root / "run"))
    try:
        yield clusters.up("fast-ethernet", "wire", hosts=2)
    finally:
        clusters.down("wire")


def times(folder):
    """Size in B -> times in s of its samples, in order, that `cotejo` left in a folder."""
    found = {}
    for row in rows_of(folder / "samples.csv"):
        found.setdefault(int(row["bytes"]), []).append(float(row["time_s"]))
    return found
