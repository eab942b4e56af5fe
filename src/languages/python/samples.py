# SPDX-License-Identifier: BSD-3-Clause
"""Runs a NAS kernel of this folder and writes its samples; docs/data.md has the format."""

import os
import sys
import time

from mpi4py import MPI

COLUMNS = "operation,bytes,repetition,calls,time_s,valid,threads,mop,rate_mops"
MULTIPLIER, MASK = 5 ** 13, 2 ** 46 - 1


def power(exponent, multiplier=MULTIPLIER):
    """The factor that jumps `exponent` steps of the NAS generator at once."""
    return pow(multiplier, exponent, 2 ** 46)


def share(total, comm):
    """The part [first, end) of `total` things that this rank has."""
    return total * comm.rank // comm.size, total * (comm.rank + 1) // comm.size


def measure(name, classes, kernel):
    """Runs `kernel(problem, comm)` as the command line says.

    The kernel has `mop`, `warm()`, `run()` and `departure()`: how far the last run's result is
    from the published one, over what is allowed.
    """
    comm = MPI.COMM_WORLD
    if len(sys.argv) != 5 or sys.argv[1] not in classes or sys.argv[2] != "1":
        sys.exit(f"nas_{name}.py: usage: nas_{name}.py {'|'.join(classes)} 1 RUNS FILE "
                 "(one thread: Python's take turns)")
    letter, runs, path = sys.argv[1], int(sys.argv[3]), sys.argv[4]
    this = kernel(classes[letter], comm)
    this.warm()
    rows = []
    for repetition in range(runs):
        comm.Barrier()
        begin = time.perf_counter()
        this.run()
        slowest = comm.allreduce(time.perf_counter() - begin, MPI.MAX)
        departure = this.departure()
        if not departure <= 1:
            if comm.rank == 0:
                print(f"error: nas_{name}.py: wrong result: class {letter} departs from the "
                      f"published one by {departure:.3g} times what is allowed", file=sys.stderr)
            sys.exit(1)
        rows.append(f"nas-{name}-{letter},0,{repetition},1,{slowest:.10e},1,1,"
                    f"{this.mop:.10g},{this.mop / slowest:.10g}")
    if comm.rank == 0:
        temporary = f"{path}.tmp"
        with open(temporary, "w") as file:
            file.write("\n".join(["# cotejo-samples/1", COLUMNS, *rows, ""]))
        os.replace(temporary, path)
