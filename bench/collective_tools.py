# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the tools that time collectives: cotejo in several ways, IMB and MPIPerf.

Each `by_TOOL(family, cells)` is one launch: (operation, size in B) -> time in s of the cells that
it found. MPIPerf is not part of the stack. It takes part if COTEJO_MPIPERF names a program built
for an MPI ({mpi} in it stands for the MPI's name).
"""

import json
import os
import pathlib
import re
import statistics
import tempfile

from reframe_tests.harness.foreign import imb_tables, mpiperf
from tests.launching import PRESENT, STACK, interposer, launch_once, rows_of

# Effort and summary of IMB, so that cotejo does the same.
LIKE_IMB = ["--element", "float", "--per-rank", "yes", "--rse", "0",
            "--max-repetitions", "1000", "--stage", "1000", "--budget", "1"]
# Buffers as malloc returns them, which nothing writes to before the first call.
LIKE_MPIPERF = ["--layout", "16", "--written", "no"]


def present():
    """The MPIs of the stack; `make bench MPI=NAME`: that one."""
    return [f for f in PRESENT if f.name == (os.environ.get("MPI") or f.name)]


def attempt(family, *words, **variables):
    """One launch of the benchmark: its description and samples, or None; its messages."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        folder = pathlib.Path(name)
        done = launch_once(family, *words, "--output", "samples", folder=folder, timeout=120,
                           **variables)
        if done.returncode:
            print(f"bench: {family.title}: {done.stderr.strip()[-200:]}", flush=True)
            return None, done.stderr
        return (json.loads((folder / "samples.json").read_text()),
                rows_of(folder / "samples.csv")), done.stderr


def ours(family, *words, **variables):
    """Description and samples of one launch of the benchmark; None when it failed."""
    return attempt(family, *words, **variables)[0]


def theirs(family, *words, folder=None, **variables):
    """The output of another tool, or '' when it failed."""
    program, *options = map(str, words)
    done = launch_once(family, *options, program=program, folder=folder,
                       **{"LD_LIBRARY_PATH": f"{family.prefix(STACK)}/lib", **variables})
    return done.stdout if done.returncode == 0 else ""


def interposed(family, otherwise):
    """Variables that run a launch with a word of src/tests/otherwise.c, if any."""
    return {"COTEJO_OTHERWISE": otherwise,
            "LD_PRELOAD": interposer(family, "otherwise")} if otherwise else {}


def kept(family):
    """Variables that make the ranks of a launch keep their cores."""
    return {"LD_PRELOAD": interposer(family, "keep")}


def times_of(samples, operation, size):
    return [float(row["time_s"]) for row in samples if row["operation"] == operation
            and int(row["bytes"]) == size and row["valid"] == "1"]


def operations(cells):
    return list(dict.fromkeys(name for name, _ in cells))


def collective(family, cells, *words):
    """Samples of one launch of cotejo; [] when it failed."""
    sizes = sorted({size for _, size in cells} - {0}) or [8]
    done = ours(family, "collective", "--operation", ",".join(operations(cells)),
                "--sizes", ",".join(map(str, sizes)), *words)
    return done[1] if done else []


def by_windows(family, cells, *words):
    """In windows, as MPIPerf does it: the median."""
    samples = collective(family, cells, "--start", "windows", *words)
    times = {cell: times_of(samples, *cell) for cell in cells}
    return {cell: statistics.median(found) for cell, found in times.items() if found}


def by_barrier(family, cells, start="mpi-barrier"):
    """As IMB does it: the slowest rank's mean, each call begun after the library's barrier."""
    samples = collective(family, cells, "--start", start, *LIKE_IMB)
    return {(name, size): max(statistics.fmean(times_of(samples, f"{name}.rank{rank}", size))
                              for rank in (0, 1)) for name, size in cells} if samples else {}


def by_loop(family, cells):
    """As IMB times a barrier: one loop of calls, with nothing between them."""
    return by_barrier(family, cells, start="loop")


def by_imb(family, cells):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        # The first size is there to warm up.
        file.write("\n".join(map(str, (4, *sorted({size for _, size in cells} - {0})))) + "\n")
        file.flush()
        printed = theirs(
            family, imb_tables.find(family, STACK), *map(str.capitalize, operations(cells)),
            "-msglen", file.name, "-iter", "1000,2000", "-iter_policy", "off")
    found = {(name.removeprefix("imb-"), size): time_s
             for name, size, _, time_s in imb_tables.rows(printed)}
    return {cell: found[cell] for cell in cells if cell in found}


def by_mpiperf(family, cells, *words):
    """One launch of it for each operation, sizes doubled from the least to the largest."""
    found = {}
    for name in operations(cells):
        unit = 8 if name == "allreduce" else 1  # it counts doubles
        sizes = [size for other, size in cells if other == name]
        printed = theirs(family, mpiperf.find(family), "-p", 2, "-P", 2, "-x",
                         max(1, min(sizes) // unit), "-X", max(1, max(sizes) // unit), "-S", 2,
                         *words, name.capitalize())
        found.update(((name, size * unit), time_s)
                     for size, _, time_s in mpiperf.rows(printed, name, 2))
    return {cell: found[cell] for cell in cells if cell in found}


def mpiperf_clock(family):
    printed = theirs(family, mpiperf.find(family), "-p", 2, "-P", 2, "-x", 8, "-X", 8, "Barrier")
    return re.search(r"# Timer: (.*)|$", printed)[1] or "an unknown clock"
