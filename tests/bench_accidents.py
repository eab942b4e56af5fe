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

from tests import faulty_writers, kills
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


def hold(stack, count, seed):
    """Kills studies so often, and lets every writer fail."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no study outlives it
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cotejo-faults-"))
    try:
        kill_studies(folder, stack, count, seed)
        fail_writers(folder, stack)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
