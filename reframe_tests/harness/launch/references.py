# SPDX-License-Identifier: BSD-3-Clause
"""References of a site: intervals computed from its launches, and what is outside of them.

An interval is where the median of one launch of a further session falls with a
probability of 99 % for all groups of the launch together, if nothing has changed: a
prediction interval on the logarithm, Bonferroni over the groups. Sessions differ by
more than their launches do, so that a new session's launch has the variance between
sessions and that within. References of one session do not know the first, and call
nothing a regression. How much slower a launch is has an interval, too: its time over
the upper and over the lower end.
"""

import collections
import functools
import math
import statistics

from ..machine import disk
from ..model import sites
from . import sessions

SCHEMA = "cotejo-references/1"
FEWEST = 5
ALPHA = 0.01
# Launches of a simulation are identical, and rounding alone would put the next one beside an
# interval without width. Times are written with 9 digits and more.
LEAST_REACH = 1e-6
# Limit of the reach in logarithms: two sessions that differ leave the interval nearly open.
MOST_REACH = 20.0
# Properties of a launch that must be unchanged for a reference to hold.
STATE = ("kernel", "cpu_model", "lock_sha256")


def _probability_beyond(t, freedom):
    """P(T > t) of Student's distribution (t >= 0), by Simpson's rule over the angle whose tangent
    is t by the root of the degrees of freedom: the tail is finite there."""
    gammas = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = math.exp(gammas) / math.sqrt(math.pi)
    steps = 400
    begin = math.atan(t / math.sqrt(freedom))
    width = (math.pi / 2 - begin) / steps
    return scale * width / 3 * sum(
        (1 if i in (0, steps) else 4 if i % 2 else 2)
        * max(0.0, math.cos(begin + i * width)) ** (freedom - 1) for i in range(steps + 1))


@functools.cache
def t_quantile(beyond, freedom):
    """The t that is exceeded with probability `beyond` (below 0.5)."""
    low, high = 0.0, 1.0
    while _probability_beyond(high, freedom) > beyond and high < 1e6:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = ((middle, high) if _probability_beyond(middle, freedom) > beyond
                     else (low, middle))
    return high


def interval(by_session, groups):
    """Centre and prediction interval (s) from medians of launches, one list for each session.

    The interval is for a launch of a further session. Its variance is the sum of the variances
    between and within sessions. With one session, the interval is for a further launch of it.
    """
    logs = [[math.log(value) for value in medians] for medians in by_session]
    means = [statistics.fmean(values) for values in logs]
    sessions_seen, launches = len(logs), sum(map(len, logs))
    centre = statistics.fmean(means)
    freedom = launches - sessions_seen
    within = sum((x - mean) ** 2 for values, mean in zip(logs, means, strict=True)
                 for x in values) / freedom if freedom else 0.0
    if sessions_seen > 1:
        # Means differ by the sessions, and by their launches.
        each = statistics.fmean([1 / len(values) for values in logs])
        parts = [(statistics.variance(means) * (1 + 1 / sessions_seen), sessions_seen - 1),
                 (within * (1 - each), max(1, freedom))]
    else:
        parts = [(within * (1 + 1 / launches), freedom)]
    # Each part at the quantile of its own degrees of freedom: what few sessions say of the
    # variance between them may be far too little.
    tail = ALPHA / groups / 2
    reach = max(LEAST_REACH, math.sqrt(sum(
        part * t_quantile(tail, degrees) ** 2 for part, degrees in parts if part)))
    # Wider than any launch can be: what is not known has no end.
    reach = min(reach, MOST_REACH)
    return {"median_s": math.exp(centre), "low_s": math.exp(centre - reach),
            "high_s": math.exp(centre + reach), "launches": launches, "sessions": sessions_seen}


#: Names of the values of a group; its other names are factors.
VALUES = ("operation", "bytes", "n", "median_s", "min_s", "p95_s", "p99_s", "p999_s", "max_s")


def group_name(row):
    """Name of a group of samples within a launch: operation, bytes and factors."""
    factors = {k: v for k, v in row.items() if k not in VALUES}
    return " ".join([row["operation"], f"{row['bytes']} B",
                     *(f"{k}={v}" for k, v in sorted(factors.items()))])


def state_of(record):
    seen = record["observed"]
    # Version 2 has an entry for each kind of host, the one of rank 0 first.
    node = seen["nodes"][0] if "nodes" in seen else seen["node"]
    return {"kernel": node["kernel"], "cpu_model": node["cpu_model"],
            "lock_sha256": record["provenance"]["stack"]["lock_sha256"]}


def usable(records):
    """Descriptions that references are computed from."""
    return [r for r in records if r["status"] == "ok" and r["asked"]["scale"] != "smoke"]


def _groups(record):
    return {group_name(row): row["median_s"] for row in record["summary"]
            if row["n"] and row["median_s"] and row["median_s"] > 0}


def _alike(records):
    """Cell -> its launches in the state of its newest one."""
    by_cell = collections.defaultdict(list)
    for record in sorted(records, key=lambda r: r["started"]):
        by_cell[sessions.cell_of(record)].append(record)
    return {cell: [r for r in launches if state_of(r) == state_of(launches[-1])]
            for cell, launches in sorted(by_cell.items())}


def compute(records):
    """Cell -> its references, from descriptions that are ok; the newest launch's state decides."""
    found = {}
    for cell, launches in _alike(records).items():
        times = collections.defaultdict(lambda: collections.defaultdict(list))
        for record in launches:
            for name, median in _groups(record).items():
                times[name][record["asked"]["session"]].append(median)
        enough = {name: [*t.values()] for name, t in times.items()
                  if sum(map(len, t.values())) >= FEWEST}
        if enough:
            found[cell] = {"date": launches[-1]["started"], "state": state_of(launches[-1]),
                           "groups": {n: interval(t, len(enough)) for n, t in enough.items()}}
    return found


def too_few(site, records):
    """Why no reference can be computed from a site's usable launches, and what to do."""
    most = max(map(len, _alike(records).values()), default=0)
    return (f"site {site} has at most {most} usable launches of a cell in "
            f"{sessions.results_folder()}, an interval takes {FEWEST}: "
            f"COTEJO_SITE={site} make study LAUNCHES={FEWEST}")


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
    return {"stale": _stale(record, entry) or _one_session(entry),
            "slower": [*_outside(record, entry, lambda median, known: median > known["high_s"])
                       .values()],
            "faster": [*_outside(record, entry, lambda median, known: median < known["low_s"])
                       .values()]}


def _stale(record, entry):
    now = state_of(record)
    return ", ".join(f"{k} was {entry['state'][k]}" for k in STATE if entry["state"][k] != now[k])


def _outside(record, entry, is_outside):
    """Group -> a line, of those whose median is outside of its interval."""
    found = {}
    for name, median in _groups(record).items():
        known = entry["groups"].get(name)
        if known and is_outside(median, known):
            found[name] = (
                f"{name}: {1e6 * median:.4g} us, {by_how_much(median, known)} of "
                f"{1e6 * known['median_s']:.4g} us [{1e6 * known['low_s']:.4g}, "
                f"{1e6 * known['high_s']:.4g}], {known['launches']} launches of "
                f"{known.get('sessions', 1)} sessions to {entry['date']}")
    return found


def slower(record, cell, site=None):
    """Group -> a line, of those that are slower than references which hold for the launch."""
    entry = load(site).get(cell)
    if not entry or _stale(record, entry) or _one_session(entry):
        return {}
    return _outside(record, entry, lambda median, known: median > known["high_s"])


def lasting(record, others, cell, slower):
    """The lines of a launch that `slower(record, cell)` also returns, by name, for more than half
    of its cell's launches in this session, at least two. One disturbed launch is no regression.
    """
    lines = slower(record, cell)
    count = collections.Counter([*lines, *(name for one in others for name in slower(one, cell))])
    return [line for name, line in lines.items()
            if count[name] > max(1, (1 + len(others)) / 2)]


def _one_session(entry):
    """Why references of only one session are not used, or ''. Launches of a simulation are
    identical, and so are its sessions."""
    alone = [g for g in entry["groups"].values() if g.get("sessions", 1) == 1
             and g["high_s"] > g["low_s"] * (1 + 4 * LEAST_REACH)]
    return "of one session, which does not show how days differ" if alone else ""


def by_how_much(median, known):
    """A time over its reference, less one: in percent, with the interval of that."""
    share, least, most = (f"{100 * (median / known[key] - 1):+.3g}"
                          for key in ("median_s", "high_s", "low_s"))
    return f"{share} % [{least}, {most}]"


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
    times = {name: 1e6 * median for name, median in _groups(record).items()
             if name in entry["groups"]}
    known = {name: entry["groups"][name] for name in times}
    alone = excused(record, slower(record, cell, site))
    return times, {
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
