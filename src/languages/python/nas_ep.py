# SPDX-License-Identifier: BSD-3-Clause
"""NAS EP with mpi4py and NumPy: Gaussian deviates, computed by vectors."""

import math

import numpy
from samples import MASK, measure, power, share

CHUNK = 1 << 14  # pairs whose vectors stay in the second cache
# Class -> log2 of the pairs, sum of x, sum of y as published.
CLASSES = {
    "S": (24, -3.247834652034740e3, -6.958407078382297e3),
    "W": (25, -2.863319731645753e3, -6.320053679109499e3),
    "A": (28, -4.295875165629892e3, -1.580732573678431e4),
    "B": (30, 4.033815542441498e4, -2.660669192809235e4),
    "C": (32, 4.764367927995374e4, -8.084072988043731e4),
}


class Ep:
    def __init__(self, problem, comm):
        self.log2, self.x, self.y = problem
        self.comm = comm
        self.mop = 2e-6 * 2 ** self.log2
        # Products wrap at 2^64, which leaves the low 46 bits right.
        self.jumps = numpy.array([power(k) for k in range(1, 2 * CHUNK + 1)], dtype=numpy.uint64)

    def add(self, chunk, sums):
        """Adds a chunk of pairs to sums of x, of y, and of pairs in each annulus."""
        seed = numpy.uint64(271828183 * power(2 * chunk * CHUNK) & MASK)
        numbers = ((self.jumps * seed) & numpy.uint64(MASK)) * (2.0 ** -45) - 1
        x, y = numbers[0::2], numbers[1::2]
        square = x * x + y * y
        inside = square <= 1
        x, y, square = x[inside], y[inside], square[inside]
        scale = numpy.sqrt(-2 * numpy.log(square) / square)
        x, y = x * scale, y * scale
        sums[0] += x.sum()
        sums[1] += y.sum()
        annuli = numpy.maximum(abs(x), abs(y)).astype(numpy.int64)
        sums[2:] += numpy.bincount(annuli, minlength=10)

    def count(self, chunks):
        sums, self.sums = numpy.zeros(12), numpy.zeros(12)
        for chunk in range(*share(chunks, self.comm)):
            self.add(chunk, sums)
        self.comm.Allreduce(sums, self.sums)

    def warm(self):
        self.count(4 * self.comm.size)

    def run(self):
        self.count(2 ** self.log2 // CHUNK)

    def departure(self):
        n, circle = 2 ** self.log2, math.pi / 4
        lost = abs(self.sums[2:].sum() - n * circle) / (6 * math.sqrt(n * circle * (1 - circle)))
        return max(lost, abs(self.sums[0] / self.x - 1) / 1e-8,
                   abs(self.sums[1] / self.y - 1) / 1e-8)


if __name__ == "__main__":
    measure("ep", CLASSES, Ep)
