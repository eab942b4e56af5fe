# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks in the algorithms of collective operations, in closed form.

A matrix maps (source, destination) to the number of messages and their bytes. `FORMS` has named
forms for each operation. A form yields every matrix that the algorithm can have, since libraries
draw the same tree in different ways. Two algorithms with equal matrices form one class: their
messages cannot distinguish them.
"""

import itertools
import re

#: Name that a library gives to an algorithm -> name of its form.
SYNONYMS = {
    "basic_linear": "linear", "linear_nb": "linear", "default": "linear",
    "pipeline": "chain_1", "chain": "chain_4", "pipelined_tree": "tree",
    "knomial": "knomial_4", "binary_tree": "binary", "in-order_binary": "binary_in_order",
    "bruck": "bruck", "brucks": "bruck", "k_brucks": "bruck", "modified_bruck": "bruck",
    "k_dissemination": "bruck", "recexch": "recursive_doubling",
    "recexch_doubling": "recursive_doubling",
    "recexch_single_buffer": "recursive_doubling", "recexch_multiple_buffer": "recursive_doubling",
    "recursive_multiplying": "recursive_doubling", "reduce_scatter_allgather": "rabenseifner",
    "k_reduce_scatter_allgather": "rabenseifner", "reduce_scatter_gather": "rabenseifner",
    "scatter_recursive_doubling_allgather": "scatter_allgather",
    "scatter_ring_allgather": "scatter_ring", "scatter_allgather_ring": "scatter_ring",
    "segmented_ring": "ring", "nonoverlapping": "reduce_bcast",
    "non-overlapping": "reduce_scatter",
    "pairwise_sendrecv_replace": "direct", "pairwise": "direct", "scattered": "direct",
    "linear_sync": "linear_sync", "neighbor": "neighbor", "two_proc": "recursive_doubling",
    "double_ring": "double_ring", "tree": "tree", "recursive_halving": "recursive_halving",
    "permuted_sendrecv": "direct"}
#: The same of names that mean another algorithm in one operation.
OF_OPERATION = {
    ("alltoall", "linear"): "direct", ("alltoall", "linear_sync"): "direct",
    ("ibcast", "chain"): "chain_1", ("ireduce", "chain"): "chain_1",
    ("iallreduce", "binomial"): "reduce_bcast", ("iallreduce", "sched_naive"): "reduce_bcast",
    ("reduce_scatter_block", "pairwise"): "direct",
    ("reduce_scatter_block", "basic_linear"): "reduce_scatter",
    ("reduce_scatter_block", "noncommutative"): "halving_near",
    ("allgather", "recexch_halving"): "butterfly"}


class Matrix(dict):
    """Messages and bytes from a rank to another; `segmented`: messages may be cut into more."""

    def __init__(self, sends=(), segmented=False):
        super().__init__()
        self.segmented = segmented
        for source, to, size in sends:
            self.add(source, to, size)

    def add(self, source, to, size):
        if source != to:
            messages, total = self.get((source, to), (0, 0))
            self[source, to] = (messages + 1, total + size)
        return self

    def plus(self, other):
        both = Matrix(segmented=self.segmented or other.segmented)
        for one in (self, other):
            for link, (messages, size) in one.items():
                had = both.get(link, (0, 0))
                both[link] = (had[0] + messages, had[1] + size)
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


def _powers(p):
    mask = 1
    while mask < p:
        yield mask
        mask *= 2


def _is_power(p):
    return p & (p - 1) == 0


# Trees: the parent of each rank but the root, as if the root were rank 0.

def _lowest_bit(r, p):  # noqa: ARG001 - all trees are called alike
    return r & (r - 1)


def _highest_bit(r, p):  # noqa: ARG001
    return r - (1 << (r.bit_length() - 1))


def _heap(r, p):  # noqa: ARG001
    return (r - 1) // 2


def _levels(r, p):
    """Binary, as Open MPI draws it: the children of a rank are 2^level and 2 * 2^level ahead."""
    return next(q for q in range(r) if r - q in (
        1 << ((q + 1).bit_length() - 1), 2 << ((q + 1).bit_length() - 1)) and r < p)


def _chains(fanout):
    def parent(r, p):
        chains = min(fanout, p - 1)
        longest, long_ones = -(-(p - 1) // chains), (p - 1) % chains or chains
        at = 1
        for chain in range(chains):
            length = longest if chain < long_ones else longest - 1
            if at <= r < at + length:
                return 0 if r == at else r - 1
            at += length
        raise ValueError(r)
    return parent


def _knomial(k):
    def parent(r, p):  # noqa: ARG001
        mask = 1
        while r % (mask * k) == 0:
            mask *= k
        return r - r % (mask * k)
    return parent


def _preorder(r, p):
    """Binomial, each subtree in consecutive ranks, the largest first."""
    start, size = 0, p
    while True:
        at, rest = start + 1, size - 1
        while rest:
            part = min(1 << max((rest + 1).bit_length() - 2, 0), rest)
            if r == at:
                return start
            if r < at + part:
                start, size = at, part
                break
            at, rest = at + part, rest - part


def _flat(r, p):  # noqa: ARG001
    return 0


def _spread(parent, p, n, root, segmented=False):
    return Matrix((((root + parent(r, p)) % p, (root + r) % p, n) for r in range(1, p)), segmented)


TREES = {"linear": [(_flat, False)], "binomial": [(_lowest_bit, False), (_highest_bit, False)],
         "binary": [(_levels, True)], "chain_1": [(_chains(1), True)],
         "chain_4": [(_chains(4), True)], "knomial_4": [(_knomial(4), True)],
         "tree": [(_heap, True), (_preorder, True)]}


def _bcasts(name):
    def forms(p, n, root):
        return [_spread(parent, p, n, root, segmented) for parent, segmented in TREES[name]]
    return forms


def _reduces(name):
    """Towards the root; binomial trees of reductions have the lowest bits first."""
    def forms(p, n, root):
        trees = TREES[name][:1] if name == "binomial" else TREES[name]
        return [_spread(parent, p, n, root, segmented).turned() for parent, segmented in trees]
    return forms


def _in_order(p, n, root):
    """A binary tree that keeps the order of operands, as Open MPI draws it, below the last rank,
    which sends the result to the root."""
    found = Matrix(segmented=True)
    if root != p - 1:
        found.add(p - 1, root, n)
    waiting = [(0, p)]  # first rank and size of a subtree, whose last rank is its parent
    while waiting:
        first, size = waiting.pop()
        right = size // 2
        for start, part in ((first, right), (first + right, size - right - 1)):
            if part > 0:
                found.add(start + part - 1, first + size - 1, n)
                waiting.append((start, part))
    return [found]


def _split_binary(p, n, root):
    """Halves of the message down the two halves of a binary tree, then exchanged between them."""
    if p < 3:
        return []
    half = n // 2
    found = _spread(_levels, p, half, root, segmented=True)
    for left in range(1, p - 1, 2):
        a, b = (root + left) % p, (root + left + 1) % p
        found.add(a, b, half).add(b, a, half)
    if p % 2 == 0:
        found.add(root, (root + p - 1) % p, half)
    return [found]


def _blocks_down(p, block, root, limit):
    """A scatter along a binomial tree: each rank gets the blocks of its subtree."""
    return Matrix(((root + (r & (r - 1))) % p, (root + r) % p,
                   min(min(r & -r, p - r) * block, max(0, limit - r * block)))
                  for r in range(1, p))


def _scatter_allgather(p, n, root):
    block = -(-n // p)
    if not _is_power(p):
        return []
    return [_blocks_down(p, block, root, n).plus(Matrix(
        ((root + r) % p, (root + (r ^ mask)) % p, mask * block)
        for mask in _powers(p) for r in range(p)))]


def _scatter_ring(p, n, root):
    block = -(-n // p)
    return [_blocks_down(p, block, root, n).plus(Matrix(
        (r, (r + 1) % p, block) for _ in range(p - 1) for r in range(p)))]


def _folded(p, n, inner):
    """An algorithm for powers of two on any number of ranks: of the first ones every second rank
    hands its vector to its neighbour, and gets the result back."""
    power = 1 << (p.bit_length() - 1)
    rest = p - power
    out = Matrix()
    real = [2 * v + 1 if v < rest else v + rest for v in range(power)]
    for source, to, size in inner(power):
        out.add(real[source], real[to], size)
    for r in range(rest):
        out.add(2 * r, 2 * r + 1, n).add(2 * r + 1, 2 * r, n)
    return [out]


def _doubling(p, n, root=0):  # noqa: ARG001
    return _folded(p, n, lambda power: [(v, v ^ mask, n) for mask in _powers(power)
                                        for v in range(power)])


def _rabenseifner(p, n, root=0):  # noqa: ARG001
    def near_first(power):
        return [(v, v ^ mask, n // (2 * mask)) for mask in _powers(power)
                for v in range(power) for _ in range(2)]

    def far_first(power):
        return [(v, v ^ mask, n * mask // power) for mask in _powers(power)
                for v in range(power) for _ in range(2)]
    return _folded(p, n, near_first) + _folded(p, n, far_first)


def _ring_of_vectors(p, n, root=0):  # noqa: ARG001
    found = Matrix(segmented=True)
    for r in range(p):
        found[r, (r + 1) % p] = (2 * (p - 1), 2 * (p - 1) * n // p)
    return [found] if p > 1 else []


def _reduce_bcast(p, n, root=0):
    trees = ("linear", "binomial", "binary", "chain_1", "chain_4")
    up = [*(one for name in trees for one in _reduces(name)(p, n, root)),
          *_reduce_rabenseifner(p, n, root)]
    down = [*(one for name in trees for one in _bcasts(name)(p, n, root)),
            *_scatter_allgather(p, n, root), *_scatter_ring(p, n, root)]
    return [a.plus(b) for a, b in itertools.product(up, down)]


def _tree_both_ways(p, n, root=0):
    return [one.turned().plus(one) for one in _bcasts("tree")(p, n, root)]


def _linear_both_ways(p, n, root=0):
    (down,) = _bcasts("linear")(p, n, root)
    return [down.turned().plus(down)]


def _reduce_rabenseifner(p, n, root):
    if not _is_power(p) or root:
        return []
    found = Matrix((v, v ^ mask, n // (2 * mask)) for mask in _powers(p) for v in range(p))
    active = list(range(p))
    for mask in reversed(list(_powers(p))):
        for v in active:
            if v & mask:
                found.add(v, v ^ mask, n // (2 * mask))
        active = [v for v in active if not v & mask]
    return [found]


def _ring_of_blocks(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way) % p, n) for _ in range(p - 1) for r in range(p))
            for way in (1, -1)]


def _bruck_allgather(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way * mask) % p, n * min(mask, p - mask))
                   for mask in _powers(p) for r in range(p)) for way in (1, -1)]


def _doubling_allgather(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, r ^ mask, n * mask) for mask in _powers(p) for r in range(p))
            ] if _is_power(p) else []


def _neighbor(p, n, root=0):  # noqa: ARG001
    if p % 2:
        return []
    found = Matrix()
    for r in range(p):
        ways = (1, -1) if r % 2 == 0 else (-1, 1)
        found.add(r, (r + ways[0]) % p, n)
        for step in range(1, p // 2):
            found.add(r, (r + ways[step % 2]) % p, 2 * n)
    return [found]


def _gather_bcast(p, n, root=0):
    up = [*_gather_linear(p, n, root), *_gather_binomial(p, n, root),
          *_gather_linear_sync(p, n, root)]
    down = [one for name in ("linear", "binomial", "binary", "chain_1", "chain_4")
            for one in _bcasts(name)(p, p * n, root)]
    return [a.plus(b) for a, b in itertools.product(up, down)]


def _sparbit(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, (r + mask) % p, n) for mask in _powers(p) for r in range(p)
                   for _ in range(p // (2 * mask)))] if _is_power(p) else []


def _direct(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, to, n) for r in range(p) for to in range(p))]


def _bruck_alltoall(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way * mask) % p, n * sum(bool(b & mask) for b in range(p)))
                   for mask in _powers(p) for r in range(p)) for way in (1, -1)]


def _gather_linear(p, n, root):
    return [Matrix((r, root, n) for r in range(p))]


def _gather_linear_sync(p, n, root):
    """The root asks each rank with an empty message, and the block comes in two parts."""
    found = Matrix((root, r, 0) for r in range(p))
    for r in range(p):
        found.add(r, root, 0).add(r, root, n)
    return [found]


def _gather_binomial(p, n, root):
    return [Matrix(((root + r) % p, (root + (r & (r - 1))) % p, n * min(r & -r, p - r))
                   for r in range(1, p))]


def _scatter(form):
    return lambda p, n, root: [one.turned() for one in form(p, n, root)]


def _dissemination(p, n=0, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way * mask) % p, 0) for mask in _powers(p) for r in range(p))
            for way in (1, -1)]


def _double_ring(p, n=0, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way) % p, 0) for r in range(p) for _ in range(2)) for way in (1, -1)]


def _barrier_tree(p, n=0, root=0):  # noqa: ARG001
    return [one.turned().plus(one) for name in ("binomial", "binary")
            for one in _bcasts(name)(p, 0, 0)]


def _halving(near):
    """Blocks of `n` for every rank, in halves: the first half goes near, or far."""
    def forms(p, n, root=0):  # noqa: ARG001
        return [Matrix((r, r ^ mask, n * (p // (2 * mask) if near else mask))
                       for mask in _powers(p) for r in range(p))] if _is_power(p) else []
    return forms


def _mirrored(r, p):
    """The rank with the bits in the reverse order."""
    return int(f"{r:0{p.bit_length() - 1}b}"[::-1], 2)


def _butterfly(p, n, root=0):  # noqa: ARG001
    """Recursive halving that leaves each rank the block of its mirrored rank."""
    if not _is_power(p):
        return []
    found = Matrix((r, r ^ mask, n * p // (2 * mask)) for mask in _powers(p) for r in range(p))
    for r in range(p):
        found.add(r, _mirrored(r, p), n)
    return [found]


def _reduce_then_scatter(p, n, root=0):
    up = [one for name in ("linear", "binomial", "binary", "chain_1", "chain_4")
          for one in _reduces(name)(p, n * p, root)]
    down = [*_scatter(_gather_linear)(p, n, root), *_scatter(_gather_binomial)(p, n, root)]
    return [a.plus(b) for a, b in itertools.product(up, down)]


def _doubling_scatter(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, r ^ mask, n * (p - mask)) for mask in _powers(p) for r in range(p))
            ] if _is_power(p) else []


def _scan_linear(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, r + 1, n) for r in range(p - 1))]


def _scan_doubling(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, r ^ mask, n) for mask in _powers(p) for r in range(p) if r ^ mask < p)]


#: Operation -> name of a form -> function of ranks, bytes and root, which yields its matrices.
FORMS = {
    "barrier": {"linear": _linear_both_ways, "bruck": _dissemination,
                "recursive_doubling": _doubling, "double_ring": _double_ring,
                "tree": _barrier_tree},
    "bcast": {**{name: _bcasts(name) for name in TREES}, "scatter_allgather": _scatter_allgather,
              "scatter_ring": _scatter_ring, "split_binary_tree": _split_binary},
    "reduce": {**{name: _reduces(name) for name in TREES}, "rabenseifner": _reduce_rabenseifner,
               "binary_in_order": _in_order},
    "allreduce": {"linear": _linear_both_ways, "recursive_doubling": _doubling,
                  "ring": _ring_of_vectors, "rabenseifner": _rabenseifner,
                  "tree": _tree_both_ways, "reduce_bcast": _reduce_bcast},
    "allgather": {"linear": _gather_bcast, "sparbit": _sparbit, "ring": _ring_of_blocks,
                  "bruck": _bruck_allgather, "recursive_doubling": _doubling_allgather,
                  "neighbor": _neighbor, "butterfly": _butterfly,
                  "direct": _direct},
    "alltoall": {"direct": _direct, "bruck": _bruck_alltoall},
    "gather": {"linear": _gather_linear, "binomial": _gather_binomial,
               "linear_sync": _gather_linear_sync},
    "scatter": {"linear": _scatter(_gather_linear), "binomial": _scatter(_gather_binomial)},
    "reduce_scatter_block": {"direct": _direct, "recursive_halving": _halving(False),
                             "halving_near": _halving(True),
                             "butterfly": _butterfly, "recursive_doubling": _doubling_scatter,
                             "ring": _ring_of_blocks,
                             "reduce_scatter": _reduce_then_scatter},
    "scan": {"linear": _scan_linear, "recursive_doubling": _scan_doubling},
    "exscan": {"linear": _scan_linear, "recursive_doubling": _scan_doubling}}


def form_of(name):
    """The name of the form of an algorithm that a library calls `name`."""
    bare = re.sub(r"^(sched|tsp)_", "", name.lower())
    return SYNONYMS.get(bare, bare)


def base(operation):
    """The operation that has the forms of `operation`: the blocking one with equal counts."""
    names = (operation, operation[1:], operation[:-1], operation[1:-1])
    block = operation.removeprefix("i") + "_block"
    return next((name for name in (*names, block) if name in FORMS), operation)


def matrices(operation, name, ranks, size, root=0):
    """The matrices of an algorithm; none where no closed form is known for it."""
    plain = base(operation)
    wanted = OF_OPERATION.get((operation, name), OF_OPERATION.get((plain, name), form_of(name)))
    if name == "two_proc" and ranks != 2:
        return []
    if plain == f"{operation.removeprefix('i')}_block":  # `size` is that of the complete vector
        size //= ranks
    form = FORMS.get(plain, {}).get(wanted)
    return form(ranks, size, max(root, 0)) if form and ranks > 1 else []


def runs_as(operation, name, where, seen):
    """Whether the messages that were seen are those of an algorithm; `where`: the number of ranks,
    the bytes of the call and its root."""
    ranks, size, _ = where
    # Vectors that cannot be cut into equal parts of doubles have parts of about that size.
    tolerance = 8 * ranks * ranks if size > 64 and size % (8 * ranks) else 0
    sized = base(operation) != "barrier"
    return any(same(seen, one, tolerance, sized)
               for one in matrices(operation, name, *where))


def matching(operation, where, seen):
    """Names of all forms whose messages are those that were seen."""
    return [name for name in FORMS.get(base(operation), {})
            if runs_as(operation, name, where, seen)]


def of_record(sends):
    """The matrix of what a launch recorded: source, destination, messages, bytes."""
    found = Matrix()
    for source, to, messages, size in sends:
        found[source, to] = (messages, size)
    return found
