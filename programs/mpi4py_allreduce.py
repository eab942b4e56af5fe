# SPDX-License-Identifier: BSD-3-Clause
"""Reduces Python objects over all ranks, and prints how many a second."""

from mpi4py import MPI

CALLS = 2000

world = MPI.COMM_WORLD
values = {"rank": world.rank, "text": "x" * 100}
for _ in range(CALLS // 10):  # the first calls set up what later ones use
    world.allreduce(1)
world.Barrier()
begun = MPI.Wtime()
total = sum(world.allreduce(values["rank"]) for _ in range(CALLS))
took = world.allreduce(MPI.Wtime() - begun, op=MPI.MAX)
if world.rank == 0:
    print(f"objects a second: {CALLS / took:.6e}")
    right = total == CALLS * sum(range(world.size))
    print("sum is right" if right else "sum is wrong")
