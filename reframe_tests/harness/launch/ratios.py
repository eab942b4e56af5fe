# SPDX-License-Identifier: BSD-3-Clause
"""Ratios between times of two libraries, whose references hold across machines.

A ratio is the shortest time of one launch over that of a launch of another library, or of the
layer below, in the same block (`fit-references.R`). A launch is compared by its deviation:
the median, over the sizes of a range, of its ratios over the usual ones. Both depend less on a
busy machine than medians and single sizes do. They do depend on the processor.
"""

import statistics

from . import references, sessions

#: Layers below MPI, whose groups have no factors.
LAYERS = ("sockets",)
#: The limit on processors that the reference does not name is so many times wider. Between AMD
#: EPYC and Intel Xeon, ratios of two libraries in shared memory changed by factors up to 2.7.
ELSEWHERE = 3.0
#: The size (B) at which the range of large messages begins.
LARGE = 4096
RANGES = {"small": f"messages below {LARGE} B", "large": f"messages from {LARGE} B on"}


def _deviations(record, other, usual):
    """Range of sizes -> median of the ratios of two launches over the usual ones. A layer has an
    operation without the factors that a library has it with."""
    layer = other["asked"].get("mpi") in LAYERS

    def of(row):
        return (row["operation"], row["bytes"]) if layer else references.group_name(row)

    below = {of(row): row["min_s"] for row in other["summary"] if row["n"]}
    shares = {part: [] for part in RANGES}
    for row in record["summary"]:
        name, other_s = references.group_name(row), below.get(of(row))
        if row["n"] and row["min_s"] and other_s and name in usual:
            part = "small" if row["bytes"] < LARGE else "large"
            shares[part].append(row["min_s"] / other_s / usual[name])
    return {part: statistics.median(values) for part, values in shares.items() if values}


def compared(record, cell, site=None):
    """The deviations of a launch from its references: (name, deviation, limit, the line for a
    deviation above it). Later launches of the block are compared with this launch."""
    processor = references.state_of(record)["cpu_model"]
    for over, known in references.load(site, "ratios").get(cell, {}).items():
        wider = 1 if processor in known.get("processors", ()) else ELSEWHERE
        other, _ = sessions.read_one(sessions.session_folder() / (
            f"{sessions.launch_name(over, record['asked']['launch'])}.json"))
        if not other or other["status"] != "ok":
            continue
        mpi = other["asked"]["mpi"]
        for part, deviation in _deviations(record, other, known["usual"]).items():
            limit = wider * known["limits"][part]
            yield (f"{part} messages beside {mpi}", deviation, limit,
                   f"{RANGES[part]} take {deviation:.2f} times their usual share of the time of "
                   f"{mpi}, at most {limit:.2f} is usual ({known['launches']} launches of "
                   f"{known['sessions']} sessions)")


def slower(record, cell, site=None):
    """Name -> a line, of each deviation of a launch above its limit."""
    return {name: line for name, deviation, limit, line in compared(record, cell, site)
            if deviation > limit}


def figures(record, cell, site=None):
    """The deviations of a launch, and their limits, as ReFrame takes them: none for a deviation
    that is above its limit for the first time."""
    found = [*compared(record, cell, site)]
    excused = references.excused(record, slower(record, cell, site))
    return ({name: deviation for name, deviation, *_ in found},
            {name: (1, None, None if name in excused else limit - 1, "1")
             for name, _, limit, _ in found})
