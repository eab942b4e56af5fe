# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks in the algorithms of collective operations, in closed form.

`FORMS` has named forms for each operation (`message_matrix`). Two algorithms with equal matrices
form one class: their messages cannot distinguish them.
"""

import re

from . import message_exchanges as exchanges
from . import message_trees as trees
from .message_exchanges import EXCHANGES
from .message_matrix import both_ways, either, followed, of_all_blocks, same, turned
from .message_trees import BROADCASTS, REDUCTIONS

#: Form -> names that libraries give to its algorithms.
NAMES = {
    "linear": "basic_linear linear_nb default", "chain_1": "pipeline", "chain_4": "chain",
    "tree": "pipelined_tree", "knomial_4": "knomial", "binary": "binary_tree",
    "binary_in_order": "in-order_binary", "ring": "segmented_ring",
    "bruck": "brucks k_brucks modified_bruck k_dissemination",
    "recursive_doubling": "recexch recexch_doubling recexch_single_buffer "
                          "recexch_multiple_buffer two_proc",
    "rabenseifner": "reduce_scatter_allgather k_reduce_scatter_allgather reduce_scatter_gather",
    "scatter_allgather": "scatter_recursive_doubling_allgather",
    "scatter_ring": "scatter_ring_allgather scatter_allgather_ring",
    "reduce_bcast": "nonoverlapping", "reduce_scatter": "non-overlapping",
    "direct": "pairwise_sendrecv_replace pairwise scattered permuted_sendrecv"}
SYNONYMS = {name: form for form, names in NAMES.items() for name in names.split()}
#: Names that mean another algorithm in one operation.
OF_OPERATION = {
    ("alltoall", "linear"): "direct", ("alltoall", "linear_sync"): "direct",
    ("ibcast", "chain"): "chain_1", ("ireduce", "chain"): "chain_1",
    ("iallreduce", "binomial"): "reduce_bcast", ("iallreduce", "sched_naive"): "reduce_bcast",
    ("reduce_scatter_block", "pairwise"): "direct",
    ("reduce_scatter_block", "basic_linear"): "reduce_scatter",
    ("reduce_scatter_block", "noncommutative"): "halving_near",
    ("allgather", "recexch_halving"): "butterfly"}
#: Trees that libraries use within another operation.
WITHIN = ("linear", "binomial", "binary", "chain_1", "chain_4", "knomial_4")
_down = either(*map(BROADCASTS.get, WITHIN), trees.split_binary,
               exchanges.scatter_allgather, exchanges.scatter_ring)
_up = either(*map(REDUCTIONS.get, WITHIN), trees.in_order, exchanges.reduce_rabenseifner)
_scatters = {"linear": BROADCASTS["linear"], "binomial": trees.scatter_binomial}
_gathers = {name: turned(form) for name, form in _scatters.items()}
_scans = {"linear": EXCHANGES["chain"], "recursive_doubling": EXCHANGES["doubling of prefixes"]}
#: Operation -> name of a form -> function of ranks, bytes and root, which yields its matrices.
FORMS = {
    "barrier": {
        "linear": both_ways(BROADCASTS["linear"]), "bruck": EXCHANGES["dissemination"],
        "recursive_doubling": EXCHANGES["doubling"], "double_ring": EXCHANGES["double ring"],
        "tree": both_ways(either(BROADCASTS["binomial"], BROADCASTS["binary"]))},
    "bcast": {
        **BROADCASTS, "scatter_allgather": exchanges.scatter_allgather,
        "scatter_ring": exchanges.scatter_ring, "split_binary_tree": trees.split_binary},
    "reduce": {
        **REDUCTIONS, "rabenseifner": exchanges.reduce_rabenseifner,
        "binary_in_order": trees.in_order},
    "allreduce": {
        "linear": both_ways(BROADCASTS["linear"]), "recursive_doubling": EXCHANGES["doubling"],
        "recursive_multiplying": exchanges.multiplying, "ring": exchanges.ring_of_vectors,
        "rabenseifner": exchanges.rabenseifner, "tree": both_ways(BROADCASTS["tree"]),
        "reduce_bcast": followed(_up, _down)},
    "allgather": {
        "linear": followed(either(*_gathers.values(), trees.gather_linear_sync),
                           of_all_blocks(_down)),
        "sparbit": EXCHANGES["sparbit"], "ring": EXCHANGES["ring"],
        "bruck": EXCHANGES["Bruck's allgather"],
        "recursive_doubling": exchanges.doubling_allgather,
        "neighbor": EXCHANGES["neighbor"], "butterfly": exchanges.halving_allgather,
        "direct": EXCHANGES["direct"]},
    "alltoall": {"direct": EXCHANGES["direct"], "bruck": EXCHANGES["Bruck's all-to-all"]},
    "gather": {**_gathers, "linear_sync": trees.gather_linear_sync},
    "scatter": _scatters,
    "reduce_scatter_block": {
        "direct": EXCHANGES["direct"], "recursive_halving": EXCHANGES["halving"],
        "halving_near": EXCHANGES["halving near"],
        # Powers of two may have the blocks in the mirrored order before, and swap nothing.
        "butterfly": either(exchanges.butterfly, EXCHANGES["halving near"]),
        "recursive_doubling": EXCHANGES["doubling of all blocks"], "ring": EXCHANGES["ring"],
        "reduce_scatter": followed(of_all_blocks(_up), either(*_scatters.values()))},
    "scan": _scans, "exscan": _scans}
#: The same of forms that one library's trees alone have, which its declaration names (`forms`).
OF_LIBRARY = {"bcast": {"binomial_by_lowest_bit": trees.along("lowest bit"),
                        "tree_of_complete_messages": trees.along("heap")}}


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
