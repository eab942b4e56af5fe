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
    "reduce_scatter_allgather": "rabenseifner",
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
    """A scatter along a binomial tree: each rank gets the blocks of its subtree, if it has any."""
    sends = (((root + (r & (r - 1))) % p, (root + r) % p,
              min(min(r & -r, p - r) * block, limit - r * block)) for r in range(1, p))
    return Matrix(send for send in sends if send[2] > 0)


def _doubling_of_trees(p):
    """Recursive doubling on any number of ranks: source, destination, and the tree whose data
    have been collected by the source, as its first rank and the number of ranks.

    A rank without a partner gets the data of the partner's tree from a rank of its own tree."""
    for mask in _powers(p):
        for v in range(p):
            tree = v & -mask
            if v ^ mask < p:
                yield v, v ^ mask, tree, min(mask, p - tree)
            away = tree ^ mask
            partners = p - away  # in the tree of `v`, the first ones
            if 0 < partners < mask:
                for near in _powers(mask):
                    end = (v & -(2 * near)) + partners
                    if v < end <= v ^ near:
                        yield v, v ^ near, away, partners


def _scatter_allgather(p, n, root):
    block = -(-n // p)
    return [_blocks_down(p, block, root, n).plus(Matrix(
        ((root + source) % p, (root + to) % p,
         max(0, min(count * block, n - first * block)))
        for source, to, first, count in _doubling_of_trees(p)))]


def _scatter_ring(p, n, root):
    block = -(-n // p)
    return [_blocks_down(p, block, root, n).plus(Matrix(
        (r, (r + 1) % p, block) for _ in range(p - 1) for r in range(p)))]


# Algorithms for powers of two on any number of ranks: of the first ranks every second one is a
# "spare" that hands its vector to its neighbour. The neighbours and the last ranks are the core.

def _spares(p):
    return p - (1 << (p.bit_length() - 1))


def _core(p, second=1):
    """Ranks of the core; `second`: the second rank of a pair is in it."""
    spares = _spares(p)
    return [2 * v + second if v < spares else v + spares for v in range(p - spares)]


def _pairs(p, second=1):
    """Spares, and their neighbours in the core."""
    return [(2 * v + 1 - second, 2 * v + second) for v in range(_spares(p))]


def _of_core(core, sends):
    """A matrix from messages between positions in the core."""
    return Matrix((core[source], core[to], size) for source, to, size in sends)


def _blocks(p, first, count):
    """The number of blocks that belong to positions of the core: those of a spare, too."""
    return count + max(0, min(first + count, _spares(p)) - first)


def _handed(p, n, second):
    """The vectors of the spares, each in one message."""
    return Matrix((spare, kept, n) for spare, kept in _pairs(p, second))


def _handed_in_halves(p, n):
    """The second ranks of pairs swap halves with the first ranks, add them, and hand the sum."""
    return Matrix(send for spare, kept in _pairs(p, second=0) for send in (
        (spare, kept, n // 2), (kept, spare, n // 2), (spare, kept, n - n // 2)))


def _doubling(p, n, root=0):  # noqa: ARG001
    core = _core(p)
    inner = [(v, v ^ mask, n) for mask in _powers(len(core)) for v in range(len(core))]
    return [_of_core(core, inner).plus(_handed(p, n, 1)).plus(_handed(p, n, 1).turned())]


def _multiplying(p, n, root=0):  # noqa: ARG001
    """Recursive doubling whose spares are the last ranks."""
    power = p - _spares(p)
    found = Matrix((v, v ^ mask, n) for mask in _powers(power) for v in range(power))
    for spare in range(power, p):
        found.add(spare, spare - power, n).add(spare - power, spare, n)
    return [found]


def _rabenseifner(p, n, root=0):  # noqa: ARG001
    found, power = [], p - _spares(p)
    for size in (lambda mask: n // (2 * mask), lambda mask: n * mask // power):
        inner = [(v, v ^ mask, size(mask)) for mask in _powers(power)
                 for v in range(power) for _ in range(2)]
        for second, handed in ((1, _handed(p, n, 1)), (0, _handed_in_halves(p, n))):
            back = _handed(p, n, second).turned()
            found.append(_of_core(_core(p, second), inner).plus(handed).plus(back))
    return found


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
    """Recursive halving, then a gather along a binomial tree; second ranks are the spares."""
    core = _core(p, second=0)
    power = len(core)
    found = _of_core(core, ((v, v ^ mask, n // (2 * mask))
                            for mask in _powers(power) for v in range(power)))
    if root not in core:  # a spare takes the place of rank 0 after the halving
        found.add(0, root, n // power)
        core[0] = root
    at = core.index(root)
    for v in range(power):
        if v != at:
            mask = 1 << ((v ^ at).bit_length() - 1)
            found.add(core[v], core[v ^ mask], n // (2 * mask))
    return [found.plus(handed) for handed in (_handed(p, n, 0), _handed_in_halves(p, n))]


def _ring_of_blocks(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way) % p, n) for _ in range(p - 1) for r in range(p))
            for way in (1, -1)]


def _bruck_allgather(p, n, root=0):  # noqa: ARG001
    return [Matrix((r, (r + way * mask) % p, n * min(mask, p - mask))
                   for mask in _powers(p) for r in range(p)) for way in (1, -1)]


def _gathered_in_core(p, n, inner):
    """Messages between positions of the core; the spares hand their block and get all blocks."""
    return _of_core(_core(p), inner).plus(_handed(p, n, 1)).plus(_handed(p, n * p, 1).turned())


def _doubling_allgather(p, n, root=0):  # noqa: ARG001
    """Ranks without a partner get its blocks from other ranks, or they are spares."""
    positions = range(p - _spares(p))
    return [Matrix((source, to, n * count) for source, to, _, count in _doubling_of_trees(p)),
            _gathered_in_core(p, n, ((v, v ^ mask, n * _blocks(p, v & -mask, mask))
                                     for mask in _powers(len(positions)) for v in positions))]


def _mirrored(v, power):
    """The position with the bits in the reverse order."""
    return int(f"{v:0{power.bit_length() - 1}b}"[::-1], 2) if power > 1 else v


def _halving_allgather(p, n, root=0):  # noqa: ARG001
    """Positions swap blocks with their mirrored positions; then the first exchange is far."""
    power = p - _spares(p)
    inner = [(v, _mirrored(v, power), n * _blocks(p, v, 1)) for v in range(power)]
    for mask in _powers(power):
        held = power // (2 * mask)
        inner += [(v, v ^ mask, n * _blocks(p, _mirrored(v, power) & -held, held))
                  for v in range(power)]
    return [_gathered_in_core(p, n, inner)]


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
    """Largest distance first. After a distance, ranks have the blocks at its multiples."""
    return [Matrix((r, (r + mask) % p, n) for mask in _powers(p) for r in range(p)
                   for _ in range(-(-p // mask) - -(-p // (2 * mask))))]


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


def _halving(p, n, root=0):  # noqa: ARG001
    """Blocks of `n` for every rank, in halves: the first half goes far."""
    core = _core(p)
    inner = [(v, v ^ mask, n * _blocks(p, (v ^ mask) & -mask, mask))
             for mask in _powers(len(core)) for v in range(len(core))]
    return [_of_core(core, inner).plus(_handed(p, n * p, 1)).plus(_handed(p, n, 1).turned())]


def _halving_near(p, n, root=0):  # noqa: ARG001
    """The same, but the first half goes near, and the blocks lie in another order."""
    return [Matrix((r, r ^ mask, n * (p // (2 * mask))) for mask in _powers(p) for r in range(p))
            ] if _is_power(p) else []


def _butterfly(p, n, root=0):  # noqa: ARG001
    """Recursive halving that leaves each position the blocks of its mirrored position."""
    core, spare_of = _core(p), {kept: spare for spare, kept in _pairs(p)}
    power, found = len(core), _handed(p, n * p, 1)
    for v in range(power):
        for mask in _powers(power):
            half = power // (2 * mask)
            first = _mirrored((v ^ mask) & (2 * mask - 1), power)
            found.add(core[v], core[v ^ mask], n * _blocks(p, first, half))
        owner = core[_mirrored(v, power)]
        found.add(core[v], owner, n)
        if owner in spare_of:
            found.add(core[v], spare_of[owner], n)
    return [found]


def _butterflies(p, n, root=0):
    """Powers of two may have the blocks in the mirrored order before, and nothing to exchange."""
    return [*_butterfly(p, n, root), *_halving_near(p, n, root)]


def _reduce_then_scatter(p, n, root=0):
    up = [one for name in ("linear", "binomial", "binary", "chain_1", "chain_4")
          for one in _reduces(name)(p, n * p, root)]
    down = [*_scatter(_gather_linear)(p, n, root), *_scatter(_gather_binomial)(p, n, root)]
    return [a.plus(b) for a, b in itertools.product(up, down)]


def _doubling_scatter(p, n, root=0):  # noqa: ARG001
    """Ranks send all blocks but those of the tree that they have collected."""
    return [Matrix((source, to, n * (p - count))
                   for source, to, _, count in _doubling_of_trees(p))]


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
                  "recursive_multiplying": _multiplying,
                  "ring": _ring_of_vectors, "rabenseifner": _rabenseifner,
                  "tree": _tree_both_ways, "reduce_bcast": _reduce_bcast},
    "allgather": {"linear": _gather_bcast, "sparbit": _sparbit, "ring": _ring_of_blocks,
                  "bruck": _bruck_allgather, "recursive_doubling": _doubling_allgather,
                  "neighbor": _neighbor, "butterfly": _halving_allgather,
                  "direct": _direct},
    "alltoall": {"direct": _direct, "bruck": _bruck_alltoall},
    "gather": {"linear": _gather_linear, "binomial": _gather_binomial,
               "linear_sync": _gather_linear_sync},
    "scatter": {"linear": _scatter(_gather_linear), "binomial": _scatter(_gather_binomial)},
    "reduce_scatter_block": {"direct": _direct, "recursive_halving": _halving,
                             "halving_near": _halving_near,
                             "butterfly": _butterflies, "recursive_doubling": _doubling_scatter,
                             "ring": _ring_of_blocks,
                             "reduce_scatter": _reduce_then_scatter},
    "scan": {"linear": _scan_linear, "recursive_doubling": _scan_doubling},
    "exscan": {"linear": _scan_linear, "recursive_doubling": _scan_doubling}}
#: The same of forms that one library's trees alone have, which its declaration names (`forms`).
OF_LIBRARY = {"bcast": {
    "binomial_by_lowest_bit": lambda p, n, root: [_spread(_lowest_bit, p, n, root)],
    "tree_of_complete_messages": lambda p, n, root: [_spread(_heap, p, n, root)]}}


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
    form = {**FORMS.get(plain, {}), **OF_LIBRARY.get(plain, {})}.get(wanted)
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
