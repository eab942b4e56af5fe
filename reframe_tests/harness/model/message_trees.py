# SPDX-License-Identifier: BSD-3-Clause
"""Messages of collective operations along trees and chains of ranks."""

import math

from .message_matrix import Matrix, turned

# Trees: the parent of each rank but the root, as if the root were rank 0, and the number of ranks.


def _levels(r, _):
    """Binary, as Open MPI draws it: the children of a rank are 2^level and 2 * 2^level ahead."""
    return next(q for q in range(r) for level in [(q + 1).bit_length() - 1]
                if r - q in (1 << level, 2 << level))


def _chains(fanout):
    def parent(r, p):
        chains = min(fanout, p - 1)
        longest, long_ones = -(-(p - 1) // chains), (p - 1) % chains or chains
        first = [1 + chain * longest - max(0, chain - long_ones) for chain in range(chains)]
        return 0 if r in first else r - 1
    return parent


def _knomial_4(r, _):
    mask = 1
    while r % (mask * 4) == 0:
        mask *= 4
    return r - r % (mask * 4)


def _preorder(r, p):
    """Binomial, each subtree in consecutive ranks, the largest first. The last ones may lack
    ranks."""
    start, at, part = 0, 1, 1 << ((p - 1).bit_length() - 1)
    while r != at:
        if at < r < at + part:
            start, at = at, at + 1
        else:
            at += part
        part //= 2
    return start


PARENTS = {"flat": lambda r, _: 0, "heap": lambda r, _: (r - 1) // 2,
           "lowest bit": lambda r, _: r & (r - 1),
           "highest bit": lambda r, _: r - (1 << (r.bit_length() - 1)),
           "levels": _levels, "chain": _chains(1), "4 chains": _chains(4),
           "4-nomial": _knomial_4, "preorder": _preorder}
#: Name of a form -> its trees; and the forms whose messages may be cut into more.
TREES = {"linear": ["flat"], "binomial": ["lowest bit", "highest bit"], "binary": ["levels"],
         "chain_1": ["chain"], "chain_4": ["4 chains"], "knomial_4": ["4-nomial"],
         "tree": ["heap", "preorder"]}
COMPLETE = ("linear", "binomial")


def _spread(tree, p, n, root, segmented):
    parent = PARENTS[tree]
    return Matrix((((root + parent(r, p)) % p, (root + r) % p, n) for r in range(1, p)), segmented)


def along(*trees, segmented=False):
    """The form of a message from the root to all ranks along one of the trees."""
    return lambda p, n, root: [_spread(tree, p, n, root, segmented) for tree in trees]


BROADCASTS = {name: along(*trees, segmented=name not in COMPLETE)
              for name, trees in TREES.items()}
#: Towards the root; binomial trees of reductions have the lowest bits first.
REDUCTIONS = {name: turned(form)
              for name, form in {**BROADCASTS, "binomial": along("lowest bit")}.items()}


def in_order(p, n, root):
    """A binary tree that keeps the order of operands, as Open MPI draws it, below the last rank,
    which sends the result to the root."""
    sends = [(p - 1, root, n)]
    waiting = [(0, p)]  # first rank and size of a subtree, whose last rank is its parent
    while waiting:
        first, size = waiting.pop()
        right = size // 2
        for start, part in ((first, right), (first + right, size - right - 1)):
            if part > 0:
                sends.append((start + part - 1, first + size - 1, n))
                waiting.append((start, part))
    return [Matrix(sends, segmented=True)]


def split_binary(p, n, root):
    """Halves of the message down the two halves of a binary tree, then exchanged between them."""
    if p < 3:
        return []
    swaps = [pair for left in range(1, p - 1, 2)
             for pair in ((left, left + 1), (left + 1, left))]
    swaps += [(0, p - 1)] if p % 2 == 0 else []
    return [_spread("levels", p, n // 2, root, segmented=True).plus(
        Matrix(((root + a) % p, (root + b) % p, n // 2) for a, b in swaps))]


def blocks_down(p, block, root, limit=math.inf):
    """A scatter along a binomial tree: each rank gets the blocks of its subtree, if it has any
    below the `limit` (B) of the message."""
    return Matrix(((root + (r & (r - 1))) % p, (root + r) % p,
                   min(min(r & -r, p - r) * block, limit - r * block))
                  for r in range(1, p) if r * block < limit)


def scatter_binomial(p, n, root):
    return [blocks_down(p, n, root)]


def gather_linear_sync(p, n, root):
    """The root asks each rank with an empty message, and the block comes in two parts."""
    return [Matrix(send for r in range(p)
                   for send in ((root, r, 0), (r, root, 0), (r, root, n)))]
