# SPDX-License-Identifier: BSD-3-Clause
"""What accidents cost: a hundred kills of studies at random moments, and writers that fail.

`make bench PART=faults` prints its tables; every number of what was lost or left must be 0.
"""

import collections
import os
import pathlib
import shutil
import signal
import sys
import tempfile

from reframe_tests.harness import clusters, families
from tests import (
    bench_setup,
    faulty_writers,
    injected,
    kills,
    plain_user,
    slurm_machine,
    slurm_studies,
)
from tests.benching import say, skip

#: Of all kills, those of a study on virtual hosts, in per cent: the switch is there alone.
ON_HOSTS = 20


def table(rows, heads):
    """Prints rows of cells under their heads, each column as wide as it must be."""
    wide = [max(len(str(cell)) for cell in column) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = (str(cell).ljust(w) for cell, w in zip(row, wide, strict=True))
        print("bench:   " + "  ".join(cells), flush=True)


def strike(folder, stack, count, seed, site):
    """Kills a study of a site so often; returns its account."""
    local = site == "local"
    roles = [role for role in kills.ROLES if role != "switch" or not local]
    drawn, draw = kills.drawn(roles, count, seed)
    cells = (r"^pingpong_smoke\." if local
             else r"^pingpong_smoke\..*\.tcp\..*fast-ethernet-2$")
    study = kills.Study(folder, stack, cells, max(3, count // 8), site=site)
    hit, status, found, log = kills.run(study, drawn, draw)
    table([[role, *(sum(h == (role, number) for h in hit) for number in kills.SIGNALS)]
           for role in roles], ["killed", *(number.name for number in kills.SIGNALS)])
    (pathlib.Path(tempfile.gettempdir()) / f"cotejo-faults-{site}.log").write_text(log)
    return len(hit), status, found


def kill_studies(folder, stack, count, seed):
    total, accounts, sites = 0, {}, ["local"]
    if os.geteuid() == 0 and os.access("/dev/net/tun", os.R_OK | os.W_OK):
        sites.append("virtual-ethernet")
    else:
        skip("kills of the switch", "virtual hosts need root and /dev/net/tun")
    for site in sites:
        share = count * ON_HOSTS // 100 if site != "local" else (
            count - (count * ON_HOSTS // 100 if len(sites) > 1 else 0))
        hits, status, accounts[site] = strike(folder / site, stack, share, seed, site)
        total += hits
        say(f"study on {site} complete after {hits} kills", f"status {status}", status == 0)
    table([[line, *(accounts[site][line] for site in sites)] for line in kills.LOSSES],
          ["lost or left", *sites])
    lost = sum(sum(found.values()) for found in accounts.values())
    say(f"{total} kills cost nothing", f"{lost} things lost or left", lost == 0 and total >= count)


def fail_writers(folder, stack):
    outcomes = collections.defaultdict(dict)
    for writer, fault, reason in faulty_writers.every(folder, stack):
        outcomes[writer][fault] = reason
    faults = list(faulty_writers.FAULTS)
    table([[writer, *("0" if not found.get(f) else found[f] for f in faults)]
           for writer, found in outcomes.items()], ["half files of", *faults])
    wrong = sum(bool(reason) for found in outcomes.values() for reason in found.values())
    say(f"{len(outcomes)} writers leave what was there, or the whole", f"{wrong} half files",
        wrong == 0)


def let_happen(folder, stack):
    """Every kind of accident, for real: a table of what each was told as."""
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
    table([[kind, *(told[kind, f.title] or "-" for f in present)]
           for kind in injected.SURROUNDINGS], ["happened", *(f.title for f in present)])
    far = {}
    if clusters.lacking():
        skip("a host that dies", clusters.lacking())
    else:
        far["a virtual host dies: node"] = injected.host_dies(stack, folder)
    if reason := slurm_machine.why_not():
        skip("a node of Slurm that dies, a job that is cancelled", reason)
    else:
        far.update({f"Slurm, {what}": slurm_studies.wrong(what) for what in slurm_studies.CAUSES})
    table([[what, "as it must be" if not said else "wrong"] for what, said in far.items()],
          ["happened", "recorded, and measured again"])
    wrong += [said for said in far.values() if said]
    for said in wrong:
        print(said[-2000:], file=sys.stderr)
    say("accidents that happen are told as what they are", f"{len(told) + len(far)} happened, "
        f"{len(wrong)} told otherwise", not wrong)


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
            said = str(err)[:500]
    say("launches in an allocation, every MPI and placement", said or "as asked", not said)


def as_plain_user(stack):
    """A study, figures and report as a user who is not root (tests/plain_user.py)."""
    with tempfile.TemporaryDirectory(prefix="cotejo-user-") as name:
        pathlib.Path(name).chmod(0o755)
        if os.geteuid() != 0 or not (plain_user.reachable(name) and plain_user.reachable(
                plain_user.REPO)):
            skip("an ordinary user", "only root can try it, in a checkout that others may read")
            return
        wrong = plain_user.wrong(stack, pathlib.Path(name))
    say("study, figures and report as an ordinary user", wrong or "as for root", not wrong)


def hold(stack, count, seed):
    """Kills studies so often, lets every writer fail and every accident happen."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no study outlives it
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cotejo-faults-"))
    try:
        let_happen(folder, stack)
        fail_writers(folder, stack)
        as_plain_user(stack)
        kill_studies(folder, stack, count, seed)
        allocate(folder)
        (folder / "setup").mkdir()
        bench_setup.hold(5, seed, folder / "setup")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
