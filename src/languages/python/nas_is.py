# SPDX-License-Identifier: BSD-3-Clause
"""NAS IS with mpi4py and NumPy: buckets to ranks, then counting."""

import numpy
from samples import MASK, measure, power, share

ITERATIONS, BUCKETS, CHUNK = 10, 1 << 10, 1 << 16
# Class -> log2 of keys, of their range; places of test keys; their ranks; what is added to each
# rank: (sign, shift) gives sign * (iteration + shift).
CLASSES = {
    "S": (16, 11, [48427, 17148, 23627, 62548, 4431], [0, 18, 346, 64917, 65463],
          [(1, 0), (1, 0), (1, 0), (-1, 0), (-1, 0)]),
    "W": (20, 16, [357773, 934767, 875723, 898999, 404505],
          [1249, 11698, 1039987, 1043896, 1048018],
          [(1, -2), (1, -2), (-1, 0), (-1, 0), (-1, 0)]),
    "A": (23, 19, [2112377, 662041, 5336171, 3642833, 4250760],
          [104, 17523, 123928, 8288932, 8388264],
          [(1, -1), (1, -1), (1, -1), (-1, -1), (-1, -1)]),
    "B": (25, 21, [41869, 812306, 5102857, 18232239, 26860214],
          [33422937, 10244, 59149, 33135281, 99],
          [(-1, 0), (1, 0), (1, 0), (-1, 0), (1, 0)]),
    "C": (27, 23, [44172927, 72999161, 74326391, 129606274, 21736814],
          [61147, 882988, 266290, 133997595, 133525895],
          [(1, 0), (1, 0), (1, 0), (-1, 0), (-1, 0)]),
}


class Is:
    def __init__(self, problem, comm):
        log2_keys, log2_range, self.places, self.ranks, self.moves = problem
        self.comm, self.total, self.range = comm, 1 << log2_keys, 1 << log2_range
        self.mop = 1e-6 * self.total * ITERATIONS
        self.shift = max(0, log2_range - 10)
        self.first, end = share(self.total, comm)
        self.keys = self.make_keys(end - self.first)
        self.made = self.keys[:2 * ITERATIONS + 1].copy()

    def make_keys(self, count):
        jumps = numpy.array([power(k) for k in range(1, 4 * CHUNK + 1)], dtype=numpy.uint64)
        keys = numpy.empty(count, dtype=numpy.int32)
        for at in range(0, count, CHUNK):
            few = min(CHUNK, count - at)
            seed = numpy.uint64(314159265 * power(4 * (self.first + at)) & MASK)
            numbers = ((jumps[:4 * few] * seed) & numpy.uint64(MASK)) * 2.0 ** -46
            keys[at:at + few] = numbers.reshape(few, 4).sum(axis=1) * (self.range // 4)
        return keys

    def change(self, iteration):
        for place, key in ((iteration, iteration),
                           (iteration + ITERATIONS, self.range - iteration)):
            if 0 <= place - self.first < len(self.keys):
                self.keys[place - self.first] = key

    def exchange(self, owner):
        """The keys of this rank's buckets from all ranks; `owner` has the rank of each bucket."""
        if self.comm.size == 1:
            return self.keys
        to = owner[self.keys >> self.shift]
        parts = [self.keys[to == rank] for rank in range(self.comm.size)]
        counts = numpy.array([len(part) for part in parts], dtype=numpy.int32)
        coming = numpy.empty_like(counts)
        self.comm.Alltoall(counts, coming)
        got = numpy.empty(coming.sum(), dtype=numpy.int32)
        self.comm.Alltoallv((numpy.concatenate(parts), counts), (got, coming))
        return got

    def rank_keys(self, iteration):
        self.change(iteration)
        mine = numpy.zeros(BUCKETS + 5, dtype=numpy.int64)
        mine[:BUCKETS] = numpy.bincount(self.keys >> self.shift, minlength=BUCKETS)
        for i, place in enumerate(self.places):
            if 0 <= place - self.first < len(self.keys):
                mine[BUCKETS + i] = self.keys[place - self.first]
        both = numpy.empty_like(mine)
        self.comm.Allreduce(mine, both)
        below = numpy.concatenate(([0], numpy.cumsum(both[:BUCKETS])))
        owner = numpy.minimum(below[:-1] * self.comm.size // self.total,
                              self.comm.size - 1).astype(numpy.int32)
        own = numpy.flatnonzero(owner == self.comm.rank)
        self.got = self.exchange(owner)
        self.low = int(own[0]) << self.shift if len(own) else 0
        values = len(own) << self.shift
        self.up_to = numpy.cumsum(numpy.bincount(self.got - self.low, minlength=values))
        self.before = int(below[own[0]]) if len(own) else 0
        self.test(both[BUCKETS:], iteration, values)

    def test(self, keys, iteration, values):
        for key, rank, (sign, shift) in zip(keys, self.ranks, self.moves, strict=True):
            at = int(key) - self.low
            if 0 <= at < values and key > 0:
                less = self.before + (int(self.up_to[at - 1]) if at else 0)
                self.passed += less == rank + sign * (iteration + shift)

    def iterate(self, iterations):
        self.passed = 0
        self.keys[:len(self.made)] = self.made  # as they were before iterations changed them
        for iteration in range(1, iterations + 1):
            self.rank_keys(iteration)

    def warm(self):
        self.iterate(1)

    def run(self):
        self.iterate(ITERATIONS)

    def departure(self):
        passed = self.comm.allreduce(int(self.passed))
        keys = self.comm.allreduce(len(self.got))
        # Each value as often as the ranks say, in order, is the sorted list.
        counts = numpy.diff(self.up_to, prepend=0)
        placed = numpy.repeat(numpy.arange(len(counts)) + self.low, counts)
        wrong = self.comm.allreduce(int((placed != numpy.sort(self.got)).sum()))
        right = passed == 5 * ITERATIONS and keys == self.total
        return wrong if right else float("inf")


if __name__ == "__main__":
    measure("is", CLASSES, Is)
