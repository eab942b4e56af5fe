# SPDX-License-Identifier: BSD-3-Clause
"""Finds MPIPerf, which is not part of the stack, and turns its output into samples. COTEJO_MPIPERF
names a program of MPIPerf that was built for an MPI ({mpi} in it stands for the MPI's name)."""

import os
import pathlib

from . import adapter

COLUMNS = adapter.columns(
    operation="operation of MPIPerf, in lower case",
    bytes="message size", repetition="always 0: MPIPerf prints one mean a launch",
    calls="runs that MPIPerf kept of those that it timed")


def find(family):
    """The program for an MPI, or '' where none is named or there."""
    path = os.environ.get("COTEJO_MPIPERF", "").replace("{mpi}", family.name)
    return path if pathlib.Path(path).is_file() else ""


def rows(output, operation, ranks):
    """(size, calls, mean in s) of each line for that many ranks: these, the size, the runs, the
    correct ones, those kept, the mean in us, and more."""
    sized = operation in ("bcast", "allreduce", "alltoall", "reduce", "gather", "allgather")
    for line in output.splitlines():
        row = line.split()
        if len(row) > 6 and row[0] == str(ranks) and row[1].isdigit():
            yield int(row[1]) if sized else 0, int(row[4]), float(row[5]) * 1e-6


def write_samples(stage, output, operation, ranks):
    """Completes a launch from what MPIPerf printed; why there is none, or ''."""
    table = list(rows(output, operation, ranks))
    return adapter.complete(stage, [
        {"operation": f"mpiperf-{operation}", "bytes": size, "calls": calls, "time_s": time_s}
        for size, calls, time_s in table], COLUMNS, "MPIPerf",
        payload_bytes=sum(size * calls * (ranks - 1) for size, calls, _ in table))
