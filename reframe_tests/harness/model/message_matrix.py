# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of messages, and forms: functions that yield the matrices of an algorithm.

A form takes the number of ranks, the bytes and the root. It yields every matrix that the algorithm
can have, since libraries draw the same tree in different ways.
"""


class Matrix(dict):
    """(source, destination) -> number of messages and their bytes; `segmented`: messages may be
    cut into more."""

    def __init__(self, sends=(), segmented=False):
        super().__init__()
        self.segmented = segmented
        for source, to, size in sends:
            self.add((source, to), 1, size)

    def add(self, link, messages, size):
        if link[0] != link[1]:
            had = self.get(link, (0, 0))
            self[link] = (had[0] + messages, had[1] + size)

    def plus(self, other):
        both = Matrix(segmented=self.segmented or other.segmented)
        for one in (self, other):
            for link, value in one.items():
                both.add(link, *value)
        return both

    def turned(self):
        """The same with all messages in the other direction."""
        back = Matrix(segmented=self.segmented)
        back.update({(to, source): value for (source, to), value in self.items()})
        return back


def same(seen, form, tolerance=0, sized=True):
    """Whether a matrix that was seen is one of a form."""
    return seen.keys() == form.keys() and all(
        (form.segmented or seen[link][0] == form[link][0])
        and (not sized or abs(seen[link][1] - form[link][1]) <= tolerance) for link in form)


def of_record(sends):
    """The matrix of a launch's record: source, destination, messages, bytes."""
    found = Matrix()
    found.update({(source, to): (messages, size) for source, to, messages, size in sends})
    return found


def turned(form):
    """Towards the root in place of away from it, or the reverse."""
    return lambda *where: [one.turned() for one in form(*where)]


def either(*forms):
    return lambda *where: [one for form in forms for one in form(*where)]


def followed(first, second):
    """Each matrix of the first form, followed by each of the second one."""
    return lambda *where: [a.plus(b) for a in first(*where) for b in second(*where)]


def both_ways(form):
    """Towards the root, and back along the same links."""
    return lambda *where: [one.turned().plus(one) for one in form(*where)]


def of_all_blocks(form):
    """The messages of a form whose vector has one block for each rank."""
    return lambda p, n, root: form(p, n * p, root)
