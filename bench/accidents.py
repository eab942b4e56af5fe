# SPDX-License-Identifier: BSD-3-Clause
"""The cost of accidents: a hundred kills of studies at random moments, and writers that fail.

`make bench PART=faults` prints its tables; every number of what was lost or left must be 0.
"""

import collections
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

from bench import plain_user, setup
from bench.common import print_table, say, skip
from reframe_tests.harness.backends import clusters
from reframe_tests.harness.launch import measuring
from reframe_tests.harness.machine import disk
from reframe_tests.harness.model import families
from tests import faulty_writers, injected, kills, slurm_machine, slurm_studies

#: Share of all kills that hit a study on virtual hosts, in per cent. Only there is a switch.
ON_HOSTS = 20
#: The number of kills of one study, and how many times the needed number of studies a site has at
#: most: a study may be complete before all of its kills have hit.
PIECE, STUDIES = 20, 3


def cells_of(site):
    return (r"^pingpong_smoke\." if site == "local"
            else r"^pingpong_smoke\..*\.tcp\..*fast-ethernet-2$")


def strike(folder, stack, planned, draw, site):
    """One study of a site with these kills, as many as fit before it is complete. Returns the
    recorded results in plain words and numbers."""
    began = time.monotonic()

    def tell(words):
        print(f"bench: {site}, {time.monotonic() - began:.0f} s: {words}", flush=True)

    study = kills.Study(folder, stack, cells_of(site), max(3, len(planned) // 8), site=site)
    hit, status, found, log = kills.run(study, planned, draw, say=tell)
    if status or any(found.values()):
        place = pathlib.Path(tempfile.gettempdir()) / f"cotejo-faults-{folder.name}.log"
        place.write_text(log)
        print(f"bench: its log is {place}", file=sys.stderr)
    return {"hit": [[role, number.name] for role, number in hit], "status": status,
            "account": found}


def strike_site(folder, stack, site, kept, *, count, seed):
    """Studies of a site, one after the other, until so many kills have hit. Studies of an earlier
    run, which was interrupted, are taken from `kept`."""
    roles = [role for role in kills.ROLES if role != "switch" or site != "local"]
    planned, draw = kills.drawn(roles, count, seed)
    done = []
    while planned and len(done) < STUDIES * (1 + count // PIECE):
        name = f"{site}-{len(done)}"
        if not kept.has(name):
            kept.add(name, strike(folder / name, stack, planned[:PIECE], draw, site))
        done.append(kept.of(name))
        for hit in done[-1]["hit"]:
            planned.remove(next(kill for kill in planned if [kill[0], kill[1].name] == hit))
    return done


class Kept:
    """The results of a bench so far, in a file. An interrupted bench continues from this file as
    long as the sources and the request are the same. A complete bench deletes it."""

    def __init__(self, path, asked):
        self.path, self.asked = path, asked
        try:
            found = disk.read_json(path)
        except (OSError, ValueError):
            found = {}
        self.found = found["found"] if found.get("asked") == asked else {}

    def has(self, name):
        return name in self.found

    def of(self, name):
        return self.found[name]

    def add(self, name, what):
        self.found[name] = what
        disk.write_json(self.path, {"asked": self.asked, "found": self.found})

    def close(self):
        self.path.unlink(missing_ok=True)


def kill_studies(folder, stack, count, seed):
    sites = ["local"]
    if reason := clusters.lacking():
        skip("kills of the switch", reason)
    else:
        sites.append("virtual-ethernet")
    kept = Kept(stack / "bench-kills.json",
                {"count": count, "seed": seed, "sources": measuring.measuring_sha256()})
    done = {}
    for site in sites:
        share = count * ON_HOSTS // 100 if site != "local" else (
            count - (count * ON_HOSTS // 100 if len(sites) > 1 else 0))
        done[site] = strike_site(folder, stack, site, kept, count=share, seed=seed)
        status = [study["status"] for study in done[site]]
        say(f"{len(status)} studies on {site} complete after their kills", f"status {status}",
            not any(status))
    hits = collections.Counter(tuple(hit) for studies in done.values() for study in studies
                               for hit in study["hit"])
    print_table(["killed", *(number.name for number in kills.SIGNALS)],
                [[role, *(hits[role, number.name] for number in kills.SIGNALS)]
                 for role in kills.ROLES])
    print_table(["lost or left", *sites],
                [[line, *(sum(study["account"][line] for study in done[site]) for site in sites)]
                 for line in kills.LOSSES])
    lost = sum(sum(study["account"].values()) for studies in done.values() for study in studies)
    say(f"{hits.total()} kills cost nothing", f"{lost} things lost or left",
        lost == 0 and hits.total() >= count)
    kept.close()


def fail_writers(folder, stack):
    outcomes = collections.defaultdict(dict)
    for writer, fault, reason in faulty_writers.every(folder, stack):
        outcomes[writer][fault] = reason
    faults = list(faulty_writers.FAULTS)
    print_table(["half files of", *faults], [[writer, *(found.get(f) or "0" for f in faults)]
                                             for writer, found in outcomes.items()])
    wrong = sum(bool(reason) for found in outcomes.values() for reason in found.values())
    say(f"{len(outcomes)} writers leave what was there, or all of it", f"{wrong} half files",
        wrong == 0)


def let_happen(folder, stack):
    """Every kind of accident, for real: a table of the reason that was recorded for each."""
    present = [f for f in families.load().values() if (f.prefix(stack) / "bin/cotejo").exists()]
    told, wrong = {}, []
    for kind in injected.SURROUNDINGS:
        for family in present:
            place = folder / f"{kind}-{family.name}"
            place.mkdir()
            told[kind, family.title], said = injected.happen(kind, family, stack, place)
            if told[kind, family.title] not in (kind, None):
                wrong.append(said)
    if None in told.values():
        skip("no memory, no disk", "this user may not take them away")
    print_table(["happened", *(f.title for f in present)],
                [[kind, *(told[kind, f.title] or "-" for f in present)]
                 for kind in injected.SURROUNDINGS])
    far = {}
    if clusters.lacking():
        skip("a host that dies", clusters.lacking())
    else:
        far["a virtual host dies: node"] = injected.host_dies(stack, folder)
    if reason := slurm_machine.why_not():
        skip("a node of Slurm that dies, a job that is cancelled", reason)
    else:
        far.update({f"Slurm, {what}": slurm_studies.wrong(what) for what in slurm_studies.CAUSES})
    print_table(["happened", "recorded, and measured again"],
                [[what, "wrong" if said else "as it must be"] for what, said in far.items()])
    wrong += [said for said in far.values() if said]
    for said in wrong:
        print(said[-4000:], file=sys.stderr)
    say("accidents that happen are recorded with their kind", f"{len(told) + len(far)} happened, "
        f"{len(wrong)} recorded otherwise", not wrong)


def allocate(folder):
    """Slurm: every MPI, both ways, in every placement (tests/test_slurm.py has two of them)."""
    if reason := slurm_machine.why_not():
        skip("launches in an allocation", reason)
        return
    (folder / "allocation").mkdir()
    with slurm_machine.running() as slurm:
        try:
            slurm_studies.launch_in_allocation(slurm, folder / "allocation",
                                               slurm_studies.PLACEMENTS)
            said = ""
        except AssertionError as err:
            said = str(err)[-1500:]  # ReFrame reports failures last
    say("launches in an allocation, every MPI and placement", said or "as asked", not said)


def as_plain_user(stack):
    """A study, figures and report as a user who is not root (bench/plain_user.py)."""
    with tempfile.TemporaryDirectory(prefix="cotejo-user-") as name:
        pathlib.Path(name).chmod(0o755)
        if os.geteuid() != 0 or not (plain_user.reachable(name) and plain_user.reachable(
                plain_user.REPO)):
            skip("an ordinary user", "only root can try it, in a checkout that others may read")
            return
        wrong = plain_user.wrong(stack, pathlib.Path(name))
    say("study, figures and report as an ordinary user", wrong or "as for root", not wrong)


def set_up(folder, seed):
    (folder / "setup").mkdir()
    setup.hold(5, seed, folder / "setup")


#: The parts in their order, each called with the stack, its folder, the number of kills, the seed.
PARTS = {
    "accidents": lambda stack, folder, count, seed: let_happen(folder, stack),
    "writers": lambda stack, folder, count, seed: fail_writers(folder, stack),
    "user": lambda stack, folder, count, seed: as_plain_user(stack),
    "kills": lambda stack, folder, count, seed: kill_studies(folder, stack, count, seed),
    "allocation": lambda stack, folder, count, seed: allocate(folder),
    "setup": lambda stack, folder, count, seed: set_up(folder, seed),
}


def hold(stack, count, seed, parts=tuple(PARTS)):
    """Kills studies so often, lets every writer fail and every accident happen."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no study outlives it
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cotejo-faults-"))
    # The bench does not wait for a study of this machine, which would refuse its own studies. It
    # does not delay one either, since no measurement of the bench is kept.
    os.environ["COTEJO_LOCKS"] = str(folder / "locks")
    try:
        (folder / "locks").mkdir()
        for part in parts:
            PARTS[part](stack, folder, count, seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
