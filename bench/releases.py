# SPDX-License-Identifier: BSD-3-Clause
"""Goals of the search over releases: `make bench PART=releases`.

One wheel has eight names, and is slow from one of them on: in simulated studies, and measured,
with the calls of rank 0 delayed. The search must name the release at which it changed and no
other, and nothing without an injected slowdown. It may use at most 0.7 of the launches of the full
matrix. With `COTEJO_SITE=virtual-ethernet` it is measured between two virtual hosts, with
`COTEJO_RUNS` searches.
"""

import os
import pathlib
import random
import sys
import tempfile

import yaml

from bench.common import check_goals, harness, say
from reframe_tests.harness.commands import releases
from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import families

NAMES = [f"planted-{i}" for i in range(1, 9)]
#: Simulated: goal, injected slowdown, spread of launches.
SIMULATED = [("between hosts, 5 %", 0.05, 0.015), ("within a host, 20 %", 0.20, 0.04),
             ("nothing injected, between hosts", 0, 0.015), ("nothing injected, within", 0, 0.04)]
STUDIES = 100
#: Measured: injected slowdown at a site, and in which cells.
PLANTED = {"local": (0.20, "^pingpong_quick.*shm.near"),
           "virtual-ethernet": (0.05, "^pingpong_quick.*fast-ethernet-2")}


def simulated():
    for what, share, spread in SIMULATED:
        told = r.output_of(
            f"found <- cotejo:::prove_releases({STUDIES}L, {share}, {spread}); "
            "cat(sum(found$right), max(found$share))").split()
        right, most = int(told[0]), float(told[1])
        say(f"{what}: right in at least 95 of {STUDIES}, with at most 0.7 of the launches",
            f"{right}, {most:.2f}", right >= 95 and most <= 0.7)


def declare(stack, folder, like, k, share):
    """Eight names of one installation, delayed by `share` from the k-th on; 0: none."""
    prefix, found = families.load()[like].prefix(stack), {}
    for number, name in enumerate(NAMES, 1):
        link = stack / "mpi" / name
        if not link.is_symlink():
            link.symlink_to(prefix)
        slow = share if k and number >= k else 0
        found[name] = {
            "like": like, "title": f"release {number}", "order": number,
            "environment": {"LD_PRELOAD": f"{prefix}/lib/libcotejo_slow.so",
                            "COTEJO_SLOW": str(slow)}}
    path = folder / f"planted-{k}.yaml"
    path.write_text(yaml.safe_dump(found, sort_keys=False))
    return path


def search(stack, folder, k, site):
    """A real search; names of the releases at which a change is named, and share of launches."""
    like = next(f.name for f in families.load().values() if f.installed(stack))
    share, cells = PLANTED[site]
    path = declare(stack, folder, like, k, share)
    results = folder / f"results-{k}"
    done = harness("releases", "--declared", str(path), "--tag", "quick", "--cells", cells,
                   COTEJO_STACK=str(stack), COTEJO_RESULTS=str(results), COTEJO_SITE=site)
    if done.returncode:
        sys.exit(f"bench: the search ended with status {done.returncode}: {done.stderr[-500:]}")
    (session,) = results.glob("*/*/session.json")
    names = r.text(NAMES)
    told = r.output_of(
        f"s <- cotejo:::summary_of_session({r.text(session.parent)}); "
        f"f <- cotejo::find_changes(s, 'mpi', {names}); "
        "cat(unique(f[f$named]$after))").split()
    launches = len(sessions.launch_files(session.parent))
    return told, launches / (releases.BLOCKS * len(disk.read_json(session)["swept"]))


def measured(stack, runs, site):
    for run in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            k = random.SystemRandom().randrange(2, 9) if run < runs - 1 else 0
            told, share = search(stack, pathlib.Path(folder), k, site)
        wanted = [NAMES[k - 1]] if k else []
        say(f"measured, {site}, {PLANTED[site][0]:.0%} from the {k}-th on: it is named, and no "
            "other" if k else f"measured, {site}, nothing injected: nothing is named",
            f"{told or 'nothing'}, {share:.2f} of the launches", told == wanted and share <= 0.7)


def main():
    stack = pathlib.Path(sys.argv[1])
    os.environ["COTEJO_STACK"] = str(stack)
    simulated()
    try:
        measured(stack, int(os.environ.get("COTEJO_RUNS", "6")),
                 os.environ.get("COTEJO_SITE", "local"))
    finally:
        for name in NAMES:
            (stack / "mpi" / name).unlink(missing_ok=True)


if __name__ == "__main__":
    check_goals(main)
