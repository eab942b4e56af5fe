# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI Benchmarks: where they are for an MPI, and their tables as samples."""

import re

from ..machine import disk
from ..model import families
from . import adapter

COLUMNS = adapter.columns(
    operation="benchmark of IMB-MPI1, in lower case",
    bytes="message size", repetition="always 0: IMB prints one mean a launch",
    calls="repetitions that IMB averaged", time_s="mean time of one message, one way",
    valid="1: IMB does not judge its samples")


def find(family, stack, name="IMB-MPI1"):
    """The program for a family, from its own prefix or one of the same ABI; None if none."""
    same_abi = [f for f in families.load().values() if family.abi and f.abi == family.abi]
    for owner in [family, *same_abi]:
        program = owner.prefix(stack) / "bin" / name
        if program.exists():
            return program
    return None


def find_or_skip(test):
    """IMB-MPI1 for a test's MPI; where there is none the test is skipped."""
    found = find(test.family, families.stack_prefix())
    test.skip_if(found is None, f"no IMB-MPI1 for {test.family.title}: the wheels carry it "
                                "for the MPICH ABI only; Spack's intel-mpi-benchmarks has it")
    return found


def seconds(size, microseconds, rate):
    """Time in s from the two printed columns, by the one with more digits.

    Both have two decimals: 0.13 us is three times as coarse as 7.76 MB/s.
    """
    if rate > microseconds:
        return size / (rate * 1e6)
    return microseconds * 1e-6


#: Messages of a rank in one operation, in and out, by which IMB multiplies a rate.
MESSAGES = {"imb-sendrecv": 2, "imb-exchange": 4}


def rows(output):
    """The tables of a run: list of (operation, bytes, calls, time in s).

    If a table has the smallest, the largest and the average of the ranks' mean times, the largest
    counts. A rate follows from it where all ranks send and receive. A barrier has no bytes.
    """
    found, operation = [], None
    for line in output.splitlines():
        heading = re.match(r"# Benchmarking (\w+)", line)
        if heading:
            operation = f"imb-{heading[1].lower()}"
        numbers = re.match(r"\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*$", line)
        if operation and numbers:
            size, calls = int(numbers[1]), int(numbers[2])
            found.append((operation, size, calls,
                          seconds(size, float(numbers[3]), float(numbers[4]))))
        ranks = re.match(r"\s+(?:(\d+)\s+)?(\d+)\s+\d+\.\d+\s+(\d+\.\d+)\s+\d+\.\d+"
                         r"(?:\s+(\d+\.\d+))?\s*$", line)
        if operation and ranks:
            size = int(ranks[1] or 0)
            moved = MESSAGES.get(operation, 1) * size
            found.append((operation, size, int(ranks[2]),
                          seconds(moved, float(ranks[3]), float(ranks[4] or 0))))
    return found


def messages(operation, stage):
    """Messages of a repetition: there and back, or both ways at once; of a broadcast to each."""
    if operation in ("imb-pingpong", "imb-pingping"):
        return 2
    return disk.read_json(stage / "samples.json")["observed"]["size"] - 1


def write_samples(stage, output):
    """Completes a launch from what IMB printed; why there is none, or ''."""
    table = rows(output)
    payload = sum(messages(operation, stage) * size * calls for operation, size, calls, _ in table)
    return adapter.complete(stage, [
        {"operation": operation, "bytes": size, "calls": calls, "time_s": time_s}
        for operation, size, calls, time_s in table], COLUMNS, "IMB-MPI1", payload_bytes=payload)
