# SPDX-License-Identifier: BSD-3-Clause
"""Ratios between times of two libraries, whose references hold across machines.

A ratio is the shortest time of one launch over that of a launch of another library, or of the
layer below, in the same block with everything else equal. A launch is compared by its deviation:
the median, over the sizes of a range, of its ratios over the usual ones. Both depend less on a
busy machine than medians and single sizes do. They do depend on the processor.
"""

import collections
import itertools
import json
import statistics

from . import references, sessions

#: Layers below MPI: every test of a layer with the same operation is a denominator.
LAYERS = ("sockets",)
#: Sessions and launches that a reference needs.
FEWEST_SESSIONS, FEWEST = 3, 5
#: The limit of a deviation is so many times the largest one of the reference's launches.
FACTOR = 1.5
#: The limit on processors that the reference does not name is so many times wider. Between AMD
#: EPYC and Intel Xeon, ratios of two libraries in shared memory changed by factors up to 2.7.
ELSEWHERE = 3.0
#: The size (B) at which the range of large messages begins.
LARGE = 4096
RANGES = {"small": f"messages below {LARGE} B", "large": f"messages from {LARGE} B on"}


def _block(record):
    """The properties that two launches must have in common for a useful ratio."""
    asked = record["asked"]
    return json.dumps([asked.get(name) for name in (
        "session", "partition", "transport", "placement", "hosts", "ranks", "launch", "settings",
        "parameters")], sort_keys=True)


def _processor(record):
    return references.state_of(record)["cpu_model"]


def _comparable(record, other):
    (mpi, test), (other_mpi, other_test) = (
        (one["asked"].get("mpi"), one["asked"].get("test")) for one in (record, other))
    return mpi != other_mpi and mpi not in LAYERS and (test == other_test or other_mpi in LAYERS)


def _of(record, other):
    """The ratios of two launches: range of sizes -> name of the group -> ratio. A layer has an
    operation without the factors that a library has it with."""
    layer = other["asked"].get("mpi") in LAYERS

    def of(row):
        return (row["operation"], row["bytes"]) if layer else references.group_name(row)

    below = {of(row): row["min_s"] for row in other["summary"] if row["n"]}
    found = {name: {} for name in RANGES}
    for row in record["summary"]:
        other_s = below.get(of(row))
        if row["n"] and row["min_s"] and other_s:
            part = "small" if row["bytes"] < LARGE else "large"
            found[part][references.group_name(row)] = row["min_s"] / other_s
    return found


def _deviations(found, usual):
    """Range -> median of the ratios over the usual ones."""
    shares = {part: [ratio / usual[name] for name, ratio in ratios.items() if name in usual]
              for part, ratios in found.items()}
    return {part: statistics.median(values) for part, values in shares.items() if values}


def compute(records):
    """Cell -> cell of the denominator -> reference, from descriptions that are ok."""
    blocks, pairs = collections.defaultdict(list), collections.defaultdict(list)
    for record in records:
        blocks[_block(record)].append(record)
    for launches in blocks.values():
        for one, other in itertools.permutations(launches, 2):
            if _comparable(one, other):
                pairs[sessions.cell_of(one), sessions.cell_of(other)].append(
                    (one["asked"]["session"], _processor(one), _of(one, other)))
    known = collections.defaultdict(dict)
    for (cell, over), found in sorted(pairs.items()):
        of_sessions, processors, values = zip(*found, strict=True)
        seen = len(set(of_sessions))
        if seen >= FEWEST_SESSIONS and len(found) >= FEWEST:
            known[cell][over] = {**_reference(values), "launches": len(found), "sessions": seen,
                                 "processors": sorted(set(processors) - {None})}
    return dict(known)


def _reference(found):
    """The usual ratios, and the limits of deviations."""
    values = collections.defaultdict(list)
    for ratios in found:
        for name, ratio in (pair for part in ratios.values() for pair in part.items()):
            values[name].append(ratio)
    usual = {name: statistics.median(several) for name, several in sorted(values.items())}
    largest = dict.fromkeys(RANGES, 1.0)
    for ratios in found:
        for part, deviation in _deviations(ratios, usual).items():
            largest[part] = max(largest[part], deviation)
    return {"usual": usual, "limits": {part: FACTOR * most for part, most in largest.items()}}


def compared(record, cell, site=None):
    """The deviations of a launch from its references: (library of the denominator, range,
    deviation, limit, reference). Later launches of the block are compared with this launch."""
    for over, known in references.load(site, "ratios").get(cell, {}).items():
        wider = 1 if _processor(record) in known.get("processors", ()) else ELSEWHERE
        other, _ = sessions.read_one(sessions.session_folder() / (
            f"{sessions.launch_name(over, record['asked']['launch'])}.json"))
        if other and other["status"] == "ok":
            for part, deviation in _deviations(_of(record, other), known["usual"]).items():
                yield (other["asked"]["mpi"], part, deviation, wider * known["limits"][part],
                       known)


def _name(mpi, part):
    return f"{part} messages beside {mpi}"


def slower(record, cell, site=None):
    """Name -> a line, of each deviation of a launch above its limit."""
    return {_name(mpi, part):
            f"{RANGES[part]} take {deviation:.2f} times their usual share of the time of {mpi}, "
            f"at most {limit:.2f} is usual ({known['launches']} launches of "
            f"{known['sessions']} sessions)"
            for mpi, part, deviation, limit, known in compared(record, cell, site)
            if deviation > limit}


def figures(record, cell, site=None):
    """The deviations of a launch, and their limits, as ReFrame takes them: none for a deviation
    that is above its limit for the first time."""
    excused = references.excused(record, slower(record, cell, site))
    values, limits = {}, {}
    for mpi, part, deviation, limit, _ in compared(record, cell, site):
        name = _name(mpi, part)
        values[name] = deviation
        limits[name] = (1, None, None if name in excused else limit - 1, "1")
    return values, limits
