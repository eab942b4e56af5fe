# SPDX-License-Identifier: BSD-3-Clause
"""cotejo's NAS kernels against NAS's own programs, interleaved, with the same MPI and cores.

`COTEJO_NPB` has the form `FAMILY=FOLDER`: the MPI that NAS's programs were built with and the
folder of `NPB3.4-MPI` and `NPB3.4-OMP`, each with `bin/ep.A.x` and so on. The multi-zone kernels
are compared where there is `NPB3.3-MZ-MPI` or `NPB3.4-MZ-MPI`, with `bin/sp-mz.W.RANKS` or `.x`.
"""

import functools
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from bench.common import skip
from bench.comparing import in_turns, ratio_within
from reframe_tests.harness.model import families
from stack.build import environment
from tests.launching import rows_of

#: Kernel and class; class A of those with several zones takes minutes.
CASES = ["ep.A", "is.A", "cg.A", "mg.A", "ft.A", "sp-mz.W", "bt-mz.W", "lu-mz.W"]
BLOCKS = 7


def run(family, stack, split, words, folder):
    """Output of a program on ranks x threads cores of this process, `split` the two."""
    ranks, threads = split
    cores = sorted(os.sched_getaffinity(0))[:ranks * threads]
    cpus = cores if threads == 1 else [cores[i * threads:][:threads] for i in range(ranks)]
    env = {**environment(family, stack), **family.transports["shm"].environment,
           "OMP_NUM_THREADS": str(threads), "OMP_PLACES": "cores", "OMP_PROC_BIND": "close",
           "OMP_WAIT_POLICY": "active"}
    done = subprocess.run(
        ["mpirun", *family.flags("mpirun", cpus), "-np", str(ranks), *words],
        env=env, cwd=folder, text=True, capture_output=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def ours(family, stack, case, split):
    """Rate of one run of cotejo's kernel, Mop/s."""
    kernel, letter = case.split(".")
    with tempfile.TemporaryDirectory() as folder:
        run(family, stack, split,
            [str(family.prefix(stack) / "bin/cotejo"), f"nas-{kernel}", "--class", letter,
             "--threads", str(split[1]), "--min-repetitions", "1", "--max-repetitions", "1",
             "--output", "s"], folder)
        return float(rows_of(pathlib.Path(folder, "s.csv"))[0]["rate_mops"])


def find(case, split, root):
    """NAS's own program, or None."""
    kind = "MZ-MPI" if "-mz" in case else "OMP" if split[1] > 1 else "MPI"
    return next((path for name in ("x", split[0])
                 for path in sorted(root.glob(f"NPB3.?-{kind}/bin/{case}.{name}"))), None)


def theirs(family, stack, split, program):
    """Rate of one run of NAS's own program, Mop/s."""
    output = run(family, stack, split, [str(program)], program.parent)
    found = re.search(r"Mop/s total\s*=\s*([\d.]+)", output)
    if not found or not re.search(r"Verification\s*=\s*SUCCESSFUL", output):
        raise RuntimeError(f"{program} did not verify")
    return float(found[1])


def measure(stack, say):
    """Reports, for each kernel by ranks and by threads on 2 cores, how cotejo's rate compares."""
    name, _, folder = os.environ.get("COTEJO_NPB", "").partition("=")
    if name not in families.load() or not pathlib.Path(folder).is_dir():
        print("bench: skipped: NAS's own programs (COTEJO_NPB=FAMILY=FOLDER is not set)")
        return
    family, root = families.load()[name], pathlib.Path(folder)
    for case in CASES:
        for split in ((2, 1), (1, 2)):
            program = find(case, split, root)
            goal = f"NAS {case}, {split[0]} x {split[1]}, at least 0.95 of NPB"
            if not program:
                skip(goal, f"no {case} in {root}")
                continue
            ways = in_turns({"ours": functools.partial(ours, family, stack, case, split),
                             "theirs": functools.partial(theirs, family, stack, split, program)},
                            BLOCKS)
            mine, peers = ways["ours"], ways["theirs"]
            found = ratio_within({block: rate / peers[block] for block, rate in mine.items()})
            say(goal, f"{found}; {statistics.median(mine.values()):.0f} Mop/s against "
                f"{statistics.median(peers.values()):.0f}", found.value >= 0.95)
