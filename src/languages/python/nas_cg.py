# SPDX-License-Identifier: BSD-3-Clause
"""NAS CG with mpi4py and NumPy: rows by rank, and each product gathers a complete vector."""

import numpy
from mpi4py import MPI
from samples import MASK, MULTIPLIER, measure, share

STEPS = 25  # of conjugate gradients in an iteration
CONDITION = 0.1  # ratio of the last weight to the first
# Class -> rows, elements of a random vector, iterations, shift of the diagonal, published zeta.
CLASSES = {
    "S": (1400, 7, 15, 10, 8.5971775078648),
    "W": (7000, 8, 15, 12, 10.362595087124),
    "A": (14000, 11, 15, 20, 17.130235054029),
    "B": (75000, 13, 75, 60, 22.712745482631),
    "C": (150000, 15, 75, 110, 28.973605592845),
}


def random_numbers():
    """The numbers of the generator, the first one skipped."""
    x = 314159265 * MULTIPLIER & MASK
    while True:
        x = x * MULTIPLIER & MASK
        yield x * 2.0 ** -46


def random_vectors(rows, nonzeros):
    """For each row a sparse vector: places and values, with 1/2 at the row's own place."""
    number, places = random_numbers(), 1 << (rows - 1).bit_length()
    for own in range(rows):
        vector = {}
        while len(vector) < nonzeros:
            value = next(number)
            place = int(places * next(number))
            if place < rows and place not in vector:
                vector[place] = value
        vector[own] = 0.5
        yield (numpy.fromiter(vector.keys(), numpy.int64, len(vector)),
               numpy.fromiter(vector.values(), float, len(vector)))


class Matrix:
    """The rows [first, end) of the weighted sum of the vectors' outer products."""

    def __init__(self, rows, nonzeros, shift, first, end):
        diagonal = numpy.arange(first, end)
        found = [(diagonal, diagonal, numpy.full(end - first, CONDITION - shift))]
        weight, ratio = 1.0, CONDITION ** (1 / rows)
        for place, value in random_vectors(rows, nonzeros):
            here = (first <= place) & (place < end)
            if here.any():
                found.append((numpy.repeat(place[here], len(place)),
                              numpy.tile(place, here.sum()),
                              weight * numpy.outer(value[here], value).ravel()))
            weight *= ratio
        row, column, value = map(numpy.concatenate, zip(*found, strict=True))
        order = numpy.lexsort((column, row))
        row, column, value = row[order], column[order], value[order]
        new = numpy.flatnonzero(numpy.diff(row, prepend=-1) | numpy.diff(column, prepend=-1))
        self.values = numpy.add.reduceat(value, new)
        self.columns = column[new]
        self.begins = numpy.searchsorted(row[new], diagonal)

    def times(self, x):
        return numpy.add.reduceat(self.values * x[self.columns], self.begins)


class Cg:
    def __init__(self, problem, comm):
        self.rows, nonzeros, self.iterations, self.shift, self.published = problem
        self.comm = comm
        each = nonzeros * (nonzeros + 1)
        self.mop = 2e-6 * self.iterations * self.rows * (3 + each + STEPS * (5.0 + each) + 3)
        first, end = share(self.rows, comm)
        self.count = end - first
        self.counts = comm.allgather(self.count)
        self.whole = numpy.empty(self.rows)
        self.matrix = Matrix(self.rows, nonzeros, self.shift, first, end)

    def multiply(self, x):
        self.comm.Allgatherv(x, (self.whole, self.counts))
        return self.matrix.times(self.whole)

    def sums(self, *mine):
        both = numpy.empty(len(mine))
        self.comm.Allreduce(numpy.array(mine), both, MPI.SUM)
        return both

    def solve(self, x):
        """About the inverse of the matrix times x."""
        z, r, p = numpy.zeros(self.count), x.copy(), x.copy()
        rho, = self.sums(r @ r)
        for _ in range(STEPS):
            q = self.multiply(p)
            alpha = rho / self.sums(p @ q)[0]
            z += alpha * p
            r -= alpha * q
            before, (rho,) = rho, self.sums(r @ r)
            p = r + rho / before * p
        # The residual is part of what is timed, and nothing else.
        self.residual = self.sums(((x - self.multiply(z)) ** 2).sum())[0] ** 0.5
        return z

    def iterate(self, iterations):
        x = numpy.ones(self.count)
        for _ in range(iterations):
            z = self.solve(x)
            xz, zz = self.sums(x @ z, z @ z)
            self.zeta = self.shift + 1 / xz
            x = z / zz ** 0.5

    def warm(self):
        self.iterate(1)

    def run(self):
        self.iterate(self.iterations)

    def departure(self):
        return abs((self.zeta - self.published) / self.published) / 1e-10


if __name__ == "__main__":
    measure("cg", CLASSES, Cg)
