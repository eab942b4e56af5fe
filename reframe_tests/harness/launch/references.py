# SPDX-License-Identifier: BSD-3-Clause
"""Times of a launch that are outside of the references of its site, and by how much.

A reference is the interval in which the median of a further launch is expected, from the site's
earlier launches (`fit-references.R`, which also defines its error). References of one session do
not know how sessions differ, and call nothing a regression. How much slower a launch is has an
interval, too: its time over the upper and over the lower end.
"""

import collections
import functools

from ..machine import disk
from ..model import sites

SCHEMA = "cotejo-references/1"
#: The reach of an interval of identical launches, as of a simulation.
LEAST_REACH = 1e-6
# Properties of a launch that must be unchanged for a reference to hold.
STATE = ("kernel", "cpu_model", "lock_sha256")
#: Names of the values of a group; its other names are factors.
VALUES = ("operation", "bytes", "n", "median_s", "min_s", "p95_s", "p99_s", "p999_s", "max_s")


def group_name(row):
    """Name of a group of samples within a launch, as `fit-references.R` names it: operation, bytes
    and factors."""
    factors = sorted((k, f"{v:.15g}" if isinstance(v, float) else v)
                     for k, v in row.items() if k not in VALUES)
    return " ".join([row["operation"], f"{row['bytes']} B", *(f"{k}={v}" for k, v in factors)])


def state_of(record):
    seen = record["observed"]
    # Version 2 has an entry for each kind of host, the one of rank 0 first.
    node = seen["nodes"][0] if "nodes" in seen else seen["node"]
    return {"kernel": node["kernel"], "cpu_model": node["cpu_model"],
            "lock_sha256": record["provenance"]["stack"]["lock_sha256"]}


def _groups(record):
    return {group_name(row): row["median_s"] for row in record["summary"]
            if row["n"] and row["median_s"] and row["median_s"] > 0}


@functools.cache
def load(site, kind="cells"):
    """The site's references of a kind, `cells` or `ratios`: cell -> entry; {} if it has none."""
    path = sites.site_folder(site) / "references.json"
    return disk.read_json(path).get(kind, {}) if path.exists() else {}


def against(record, cell, site=None):
    """Compares a launch that is ok with its references; None if there are none.

    `stale`: the changes since then, in words, or ''; `slower`, `faster`: one line for each group.
    """
    entry = load(site).get(cell)
    if not entry:
        return None
    lines = {way: [line for _, line in _outside(record, entry, way)]
             for way in ("slower", "faster")}
    return {"stale": _stale(record, entry), **lines}


def _stale(record, entry):
    """Why references are not used, or ''. References of one session do not show how days differ,
    unless they are of a simulation, whose launches are identical."""
    was, now = entry["state"], state_of(record)
    changed = ", ".join(f"{k} was {was[k]}" for k in STATE if was[k] != now[k])
    alone = any(known.get("sessions", 1) == 1
                and known["high_s"] > known["low_s"] * (1 + 4 * LEAST_REACH)
                for known in entry["groups"].values())
    return changed or ("of one session, which does not show how days differ" if alone else "")


def _outside(record, entry, way):
    """(group, line) of those whose median is outside of its interval, `slower` or `faster`."""
    for name, median in _groups(record).items():
        known = entry["groups"].get(name)
        if known and (median > known["high_s"] if way == "slower" else median < known["low_s"]):
            share, least, most = (f"{100 * (median / known[key] - 1):+.3g}"
                                  for key in ("median_s", "high_s", "low_s"))
            yield name, (
                f"{name}: {1e6 * median:.4g} us, {share} % [{least}, {most}] of "
                f"{1e6 * known['median_s']:.4g} us [{1e6 * known['low_s']:.4g}, "
                f"{1e6 * known['high_s']:.4g}], {known['launches']} launches of "
                f"{known.get('sessions', 1)} sessions to {entry['date']}")


def slower(record, cell, site=None):
    """Group -> a line, of those that are slower than references which hold for the launch."""
    entry = load(site).get(cell)
    return dict(_outside(record, entry, "slower")) if entry and not _stale(record, entry) else {}


def lasting(record, others, cell, slower):
    """The lines of a launch that `slower(record, cell)` also returns, by name, for more than half
    of its cell's launches in this session, at least two. One disturbed launch is no regression.
    """
    lines = slower(record, cell)
    count = collections.Counter([*lines, *(name for one in others for name in slower(one, cell))])
    return [line for name, line in lines.items()
            if count[name] > max(1, (1 + len(others)) / 2)]


def unusual(beside):
    """The times of a launch that are unusually long compared with its references, and were so in
    earlier launches, or ''."""
    lines = beside["lasting"] if beside else []
    return f"slower than the references: {'; '.join(lines)}" if lines else ""


def figures(record, cell, site=None):
    """The times (us) of a launch that have a reference, and ReFrame's references: two dictionaries
    by group. An entry of the second is the usual time, no lower bound, the upper bound (as a share
    of the usual time; None: it is exceeded for the first time) and the unit. Both are empty if the
    launch is not compared with references."""
    beside, entry = record["references"], load(site).get(cell)
    if not beside or beside["stale"] or not entry:
        return {}, {}
    times = {name: median for name, median in _groups(record).items() if name in entry["groups"]}
    alone = excused(record, slower(record, cell, site))
    known = {name: entry["groups"][name] for name in times}
    return {name: 1e6 * median for name, median in times.items()}, {
        name: (1e6 * one["median_s"], None,
               None if name in alone else one["high_s"] / one["median_s"] - 1, "us")
        for name, one in known.items()}


def excused(record, lines):
    """Names of what is slower in a launch, as `lines` by name, and is not lasting."""
    return {name for name, line in lines.items() if line not in record["references"]["lasting"]}


def summed(records):
    """Results of comparing launches with their references: lines for the user."""
    beside = [(r["id"], r["references"]) for r in records if r.get("references")]
    stale = collections.Counter(said["stale"] for _, said in beside if said["stale"])
    return [f"slower than the reference: {name}: {line}" for name, said in beside
            for line in said.get("lasting", [])] + [
        f"references of {count} launches are stale ({what}); `make references` renews them"
        for what, count in stale.items()]
