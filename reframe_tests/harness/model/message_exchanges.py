# SPDX-License-Identifier: BSD-3-Clause
"""Messages of collective operations in which the ranks exchange data in rounds."""

from .message_matrix import Matrix
from .message_trees import blocks_down


def _powers(p):
    mask = 1
    while mask < p:
        yield mask
        mask *= 2


def _rounds(p, rounds, ways=(1, -1)):
    """Each rank sends to the rank at the same distance: (distance, bytes) of every round; one
    matrix for each direction."""
    return [Matrix((r, (r + way * far) % p, size) for far, size in rounds for r in range(p))
            for way in ways]


def ring_of_vectors(p, n, _):
    found = Matrix(segmented=True)
    count = 2 * (p - 1)
    found.update({(r, (r + 1) % p): (count, count * n // p) for r in range(p)})
    return [found]


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


def scatter_allgather(p, n, root):
    block = -(-n // p)
    return [blocks_down(p, block, root, n).plus(Matrix(
        ((root + source) % p, (root + to) % p,
         max(0, min(count * block, n - first * block)))
        for source, to, first, count in _doubling_of_trees(p)))]


def scatter_ring(p, n, root):
    block = -(-n // p)
    return [blocks_down(p, block, root, n).plus(_rounds(p, [(1, block)] * (p - 1))[0])]


def _swaps(p, size):
    """Each rank swaps with the ranks whose number differs in one bit: `size(rank, bit)` B."""
    return [(v, v ^ mask, size(v, mask)) for mask in _powers(p) for v in range(p) if v ^ mask < p]


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


def _handed(p, n, second=1):
    """The vectors of the spares, each in one message."""
    return Matrix((spare, kept, n) for spare, kept in _pairs(p, second))


def _handed_in_halves(p, n):
    """The second ranks of pairs swap halves with the first ranks, add them, and hand the sum."""
    return Matrix(send for spare, kept in _pairs(p, second=0) for send in (
        (spare, kept, n // 2), (kept, spare, n // 2), (spare, kept, n - n // 2)))


def _in_core(p, sends, given, returned):
    """Messages between positions in the core; spares hand `given` B and get `returned` B."""
    return _of_core(_core(p), sends).plus(_handed(p, given)).plus(_handed(p, returned).turned())


def _mirrored(v, power):
    """The position with the bits in the reverse order."""
    return int(f"{v:0{power.bit_length() - 1}b}"[::-1], 2) if power > 1 else v


def multiplying(p, n, _):
    """Recursive doubling whose spares are the last ranks."""
    power = p - _spares(p)
    return [Matrix(_swaps(power, lambda *_: n) + [
        send for spare in range(power, p)
        for send in ((spare, spare - power, n), (spare - power, spare, n))])]


def rabenseifner(p, n, _):
    power = p - _spares(p)
    return [_of_core(_core(p, second), 2 * _swaps(power, size)).plus(handed).plus(
                _handed(p, n, second).turned())
            for size in (lambda _, mask: n // (2 * mask), lambda _, mask: n * mask // power)
            for second, handed in ((1, _handed(p, n)), (0, _handed_in_halves(p, n)))]


def reduce_rabenseifner(p, n, root):
    """Recursive halving, then a gather along a binomial tree; second ranks are the spares."""
    core = _core(p, second=0)
    halved = _of_core(core, _swaps(len(core), lambda _, mask: n // (2 * mask)))
    gathered = []
    if root not in core:  # a spare takes the place of rank 0 after the halving
        gathered.append((0, root, n // len(core)))
        core[0] = root
    at = core.index(root)
    for v in {*range(len(core))} - {at}:
        mask = 1 << ((v ^ at).bit_length() - 1)
        gathered.append((core[v], core[v ^ mask], n // (2 * mask)))
    return [halved.plus(Matrix(gathered)).plus(handed)
            for handed in (_handed(p, n, 0), _handed_in_halves(p, n))]


def doubling_allgather(p, n, _):
    """Ranks without a partner get its blocks from other ranks, or they are spares."""
    return [Matrix((source, to, n * count) for source, to, _, count in _doubling_of_trees(p)),
            _in_core(p, _swaps(p - _spares(p), lambda v, mask: n * _blocks(p, v & -mask, mask)),
                     n, n * p)]


def halving_allgather(p, n, _):
    """Positions swap blocks with their mirrored positions; then the first exchange is far."""
    power = p - _spares(p)

    def size(v, mask):
        held = power // (2 * mask)
        return n * _blocks(p, _mirrored(v, power) & -held, held)

    mirrored = [(v, _mirrored(v, power), n * _blocks(p, v, 1)) for v in range(power)]
    return [_in_core(p, mirrored + _swaps(power, size), n, n * p)]


def butterfly(p, n, _):
    """Recursive halving that leaves each position the blocks of its mirrored position, and of the
    spare there."""
    core, spare_of = _core(p), {kept: spare for spare, kept in _pairs(p)}
    power = len(core)

    def size(v, mask):
        first = _mirrored((v ^ mask) & (2 * mask - 1), power)
        return n * _blocks(p, first, power // (2 * mask))

    owners = [(v, core[_mirrored(v, power)]) for v in range(power)]
    return [_of_core(core, _swaps(power, size)).plus(_handed(p, n * p)).plus(Matrix(
        (core[v], to, n) for v, owner in owners
        for to in (owner, spare_of.get(owner)) if to is not None))]


#: Name -> a form with the messages of one kind of exchange.
EXCHANGES = {
    "ring": lambda p, n, _: _rounds(p, [(1, n)] * (p - 1)),
    "double ring": lambda p, *_: _rounds(p, [(1, 0)] * 2),
    "direct": lambda p, n, _: _rounds(p, [(far, n) for far in range(1, p)], [1]),
    "dissemination": lambda p, *_: _rounds(p, [(mask, 0) for mask in _powers(p)]),
    "Bruck's allgather": lambda p, n, _: _rounds(
        p, [(mask, n * min(mask, p - mask)) for mask in _powers(p)]),
    "Bruck's all-to-all": lambda p, n, _: _rounds(
        p, [(mask, n * sum(bool(b & mask) for b in range(p))) for mask in _powers(p)]),
    # Largest distance first. After a distance, ranks have the blocks at its multiples.
    "sparbit": lambda p, n, _: _rounds(
        p, [(mask, n) for mask in _powers(p)
            for _ in range(-(-p // mask) - -(-p // (2 * mask)))], [1]),
    # Even ranks begin with the next rank, the others with the one before; then both alternate.
    "neighbor": lambda p, n, _: [] if p % 2 else [Matrix(
        (r, (r + (-1) ** (r + step)) % p, 2 * n if step else n)
        for r in range(p) for step in range(p // 2))],
    # Ranks send all blocks but those of the tree that they have collected.
    "doubling of all blocks": lambda p, n, _: [Matrix(
        (source, to, n * (p - count)) for source, to, _, count in _doubling_of_trees(p))],
    "doubling": lambda p, n, _: [_in_core(p, _swaps(p - _spares(p), lambda *_: n), n, n)],
    # Blocks of `n` for every rank, in halves: the first half goes far.
    "halving": lambda p, n, _: [_in_core(p, _swaps(
        p - _spares(p), lambda v, mask: n * _blocks(p, (v ^ mask) & -mask, mask)), n * p, n)],
    # The same, but the first half goes near, and the blocks lie in another order.
    "halving near": lambda p, n, _: [] if _spares(p) else [
        Matrix(_swaps(p, lambda _, mask: n * (p // (2 * mask))))],
    "chain": lambda p, n, _: [Matrix((r, r + 1, n) for r in range(p - 1))],
    "doubling of prefixes": lambda p, n, _: [Matrix(_swaps(p, lambda *_: n))]}
