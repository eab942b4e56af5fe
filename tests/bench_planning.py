# SPDX-License-Identifier: BSD-3-Clause
"""Holds what comes before the first launch against its goals, in seconds of one core."""

import os
import re
import resource
import subprocess
import tempfile

from reframe_tests.harness import families
from tests.benching import say


def took(*words, **variables):
    """Processor time (s) and output of a ReFrame that launches nothing."""
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    done = subprocess.run(
        [str(families.stack_prefix() / "tools/bin/reframe"), *words], text=True,
        capture_output=True, timeout=600, cwd=families.REPO, env={
            **os.environ, "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py"),
            **variables})
    return spent() - before, done.stdout


def hold():
    wall, _ = took("-l")
    say("the list of a bare reframe under 5 s", f"{wall:.1f} s", wall < 5)
    wall, output = took("--dry-run", "-n", ".")
    count = re.search(r"Ran (\d+)/(\d+) test case.*?\((\d+) failure", output)
    say("a dry run of everything under 60 s, none fails",
        f"{wall:.1f} s, {count[2]} cases, {count[3]} failures", wall < 60 and count[3] == "0")
    with tempfile.NamedTemporaryFile("r") as cells:
        wall, _ = took("--dry-run", "-n", ".", COTEJO_CELLS=cells.name, COTEJO_BLOCK="1")
        planned = len(cells.read().splitlines())
    share = wall * 1000 / max(planned, 1)
    say("1,000 cells planned under 10 s", f"{share:.1f} s ({planned} cells in {wall:.1f} s)",
        share < 10)


if __name__ == "__main__":
    hold()
