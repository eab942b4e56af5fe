# SPDX-License-Identifier: BSD-3-Clause
"""The algorithm that each collective operation took, from the messages between its ranks.

A launch is repeated once, untimed, with `libcotejo_messages.so` preloaded (its twin). The messages
of each operation and size are compared with the closed forms of `model.message_forms`.
"""

import hashlib
import json

from ..model import message_forms, message_matrix, tuning_files

#: Pairs of ranks that a record keeps; of more it has the digest alone.
LINKS_MOST = 1024
REQUESTED, AS, ALIKE, NO_EVIDENCE = (
    "ran as requested", "ran as", "cannot be distinguished", "no evidence available")


def digest(call):
    """A short text that is the same for equal messages."""
    return hashlib.sha256(json.dumps(sorted(call["sends"])).encode()).hexdigest()[:8]


def _named(choice, call, seen, ranks):
    """Algorithms that the library offers and whose messages were seen; else the names of forms."""
    where = (ranks, call["bytes"], call["root"])
    names = [name for name in (choice.names if choice else ()) if message_forms.runs_as(
        call["operation"], choice.forms.get(name, name), where, seen)]
    return names or message_forms.matching(call["operation"], where, seen)


def verdict(call, ranks, source, choice=None, requested=""):
    """The algorithm of one operation: `verdict`, `algorithms` (all that send these messages), and
    whether the messages of the requested one are `known`.

    `choice`: what the library offers for the operation; `requested`: the algorithm that was set.
    """
    if not source or not call["sends"]:  # the messages take another way, such as shared memory
        kind, algorithms = NO_EVIDENCE, []
    else:
        found = _named(choice, call, message_matrix.of_record(call["sends"]), ranks)
        if requested in found:
            kind = ALIKE if len(found) > 1 else REQUESTED
            algorithms = [requested, *(name for name in found if name != requested)]
        else:
            kind, algorithms = AS, found or [f"an unnamed pattern ({digest(call)})"]
    return {"verdict": kind, "algorithms": algorithms, "known": bool(
        requested and message_forms.matrices(
            call["operation"], requested, ranks, call["bytes"], call["root"]))}


def replaced(one):
    """Whether another algorithm ran than the one that was set, whose messages are known."""
    return bool(one["requested"] and one["verdict"] == AS and one["known"])


def _either(names):
    """Names with "or" before the last one."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def words(one, requested=""):
    """A verdict in words."""
    if one["verdict"] == NO_EVIDENCE:
        return NO_EVIDENCE
    first, *others = one["algorithms"]
    ran = (f"ran as requested ({requested})" if one["verdict"] in (REQUESTED, ALIKE)
           else f"ran as {first}"
           + (f", {'not' if one['known'] else 'requested'} as {requested}" if requested else ""))
    return f"{ran}, cannot be distinguished from {_either(others)}" if others else ran


def of(counted, choices, requested=None):
    """A list of what ran in each operation and size of a twin.

    `counted`: what `libcotejo_messages.so` wrote; `choices`: operation -> what the library offers;
    `requested`: operation -> list of (smallest size, algorithm) that was set.
    """
    requested = requested or {}
    found = []
    for call in counted["calls"]:
        asked = tuning_files.algorithm_at(requested.get(call["operation"], []), call["bytes"])
        one = verdict(call, counted["ranks"], counted["source"], choices.get(call["operation"]),
                      asked)
        found.append({"operation": call["operation"], "bytes": call["bytes"],
                      "root": call["root"], "requested": asked or None, **one,
                      "words": words(one, asked), "unchanged_since_call": call["since"],
                      "digest": digest(call),
                      "sends": call["sends"] if len(call["sends"]) <= LINKS_MOST else None})
    return found
