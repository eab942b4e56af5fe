# SPDX-License-Identifier: BSD-3-Clause
"""Compares the virtual Ethernet and the simulated machines with their goals.

Prints one line per goal, met or not met. Goals that cannot be measured here are skipped with the
reason.
"""

import concurrent.futures
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from bench import dilation, planning, quota
from bench.common import beyond_launches, check_goals, harness, parser_of, say
from bench.launching import launch_on_hosts, simulate
from reframe_tests.harness.backends import clusters, network_check
from reframe_tests.harness.model import families
from tests import slurm_machine, slurm_studies
from tests.test_simulated import why_not as no_simulation
from tests.test_sites import lines_of_data
from tests.virtual_clusters import why_not as no_clusters

LAUNCHES = 10
TURNS = 3
CORES = 2
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")


def times_to_bring_up():
    for verb, goal in (("up", 2), ("down", 2)):
        began = time.monotonic()
        if verb == "up":
            clusters.up("gigabit", "sixteen", hosts=16, verified=False)
        else:
            clusters.down("sixteen")
        wall = time.monotonic() - began
        say(f"16 virtual hosts {verb} under {goal} s", f"{wall:.2f} s", wall < goal)


def many(samples):
    return ["--max-repetitions", str(samples), "--budget", "3"]


def one_way(family, found, folder, size):
    """Median (s) of a launch at one size."""
    words = ["--sizes", str(size), *many(20000 if size == 1 else 100), "--rse", "0.001"]
    return launch_on_hosts(family, found, folder, "pingpong", *words)["summary"][0]["median_s"]


def frame_length(family, found, folder):
    """Mean length of the frames that carry 1 B, over so many that start-up does not count."""
    def totals(name):
        rows = [line.split(":")[1].split() for line in (folder / name).read_text().splitlines()]
        return sum(int(r[0]) for r in rows), sum(int(r[1]) for r in rows)

    launch_on_hosts(family, found, folder, "pingpong", "--sizes", "1", *many(20000), "--rse",
                    "1e-9")
    (bytes_before, frames_before), (bytes_after, frames_after) = (
        totals(n) for n in ("wire.before", "wire.after"))
    return (bytes_after - bytes_before) / (frames_after - frames_before)


def say_spread(what, values):
    spread = max(values) / min(values) - 1
    say(f"{LAUNCHES} launches of {what} within 5 %", f"{100 * spread:.1f} %", spread <= 0.05)


def pingpong(family, folder):
    """1 MiB against the rate, 1 B against the model, and how far launches agree.

    The time in hosts and switch without any wire changes with the machine. So each launch of 1 B
    is compared with a launch on the ideal network in the same round.
    """
    names = ("ideal", "fast-ethernet", "gigabit")
    found = {name: clusters.up(name, name, hosts=2, verified=name != "ideal") for name in names}
    cells = [(name, 1) for name in names] + [(name, 1 << 20) for name in names[1:]]
    try:
        frame = frame_length(family, found["ideal"], folder)
        rounds = [[one_way(family, found[name], folder, size) for name, size in cells]
                  for _ in range(LAUNCHES)]
    finally:
        for name in names:
            clusters.down(name)
    times = dict(zip(cells, zip(*rounds, strict=True), strict=True))
    for name in names[1:]:
        entry = clusters.declared()[name]
        rate = float(entry["rates"][0])
        what = f"{family.title} over {name}"
        reached = (1 << 23) / statistics.median(times[name, 1 << 20]) / rate
        say(f"{what}: 1 MiB at 88 to 100 % of the rate", f"{100 * reached:.1f} %",
            0.88 <= reached <= 1)
        # Two links of a frame with preamble and check sequence, the switch between.
        wire = 2 * 8 * (max(frame, 60) + 12) / rate + float(entry["latency"])
        shares = [time / (host + wire)
                  for time, host in zip(times[name, 1], times["ideal", 1], strict=True)]
        say(f"{what}: 1 B within 15 % of the model",
            f"{1e6 * statistics.median(times[name, 1]):.1f} us, {statistics.median(shares):.2f} "
            "of the model", abs(statistics.median(shares) - 1) < 0.15)
        say_spread(f"1 MiB, {what}", times[name, 1 << 20])
        say_spread(f"1 B, {what}", times[name, 1])
        say_spread(f"1 B over the model, {what}", shares)


def new_site():
    """Every file of the example of a cluster; test_sites counts the same."""
    lines = lines_of_data(families.REPO / "site_configs/example-slurm")
    say("a new site by hand takes at most 40 lines of data", f"{lines} lines", lines <= 40)


def way_to_a_report(folder):
    """A new site from `make site` to the report, on a node of a Slurm of four (docs/sites.md)."""
    if reason := slurm_machine.why_not():
        print(f"bench: skipped: a site of Slurm from nothing to a report: {reason}")
        return
    name = f"slurm-{os.getpid()}"
    try:
        with slurm_machine.running() as slurm:
            said, plans = slurm_studies.whole_way(slurm, name, folder / "way/results")
    finally:
        shutil.rmtree(families.REPO / "site_configs" / name, ignore_errors=True)
    for _, words in (one for one in said if one[0]):
        print(words[-1500:], file=sys.stderr)
    ended = [plan["ended"] for plan in plans]
    say("a new site over 4 nodes: a complete report by 3 commands and no edited line",
        f"statuses {[status for status, _ in said]}, study {ended}",
        not any(status for status, _ in said) and ended == ["complete"])
    beyond, launches = beyond_launches(folder / "way/results")
    if launches:
        say("in one allocation the harness takes at most 0.1 s a launch, beside the launch itself",
            f"{beyond / launches:.2f} s, {launches} launches", beyond / launches <= 0.1)


def beside_a_busy_core(folder):
    """The smoke study of the virtual Ethernet, while one core computes for somebody else."""
    spin = subprocess.Popen(["taskset", "-c", str(min(os.sched_getaffinity(0))),
                             sys.executable, "-c", "while True: pass"])
    try:
        for turn in range(1, TURNS + 1):
            results = folder / f"beside-{turn}"
            done = harness("study", "--tag", "smoke", COTEJO_SITE="virtual-ethernet",
                           COTEJO_RESULTS=str(results))
            records = slurm_studies.records_of(results)
            lost = {r["id"]: r["reason"] for r in records if r["status"] != "ok"}
            say(f"virtual-ethernet, smoke, turn {turn} beside a busy core: no launch lost",
                f"status {done.returncode}, {len(lost)} of {len(records)} lost {lost or ''}",
                done.returncode == 0 and records and not lost)
    finally:
        spin.kill()
        spin.wait()


def forwarding():
    """The switch is one thread: whatever it forwards, it does on one core."""
    found = clusters.up("ideal", "forward", hosts=2, verified=False)
    peer = {**found["hosts"][1], "payload_rate": 2e9}  # bytes to send follow from it
    rates = [network_check.probe(found, peer, 0.1)["rate"] for _ in range(5)]
    clusters.down("forward")
    share = statistics.median(rates) / (1e9 * 1448 / 1538)
    say("the switch forwards 1 Gbit/s of 1500 B frames on one core",
        f"{statistics.median(rates) / 1e6:.0f} Mbit/s of payload", share >= 1)


def simulate_one(folder, selector, operation, sizes):
    """One simulated launch of 1024 ranks."""
    line = simulate(folder, "finis-terrae", 1024, "collective --timer wtime",
                    f"--operation {operation} --sizes {sizes} --start mpi-barrier",
                    "--sync none --topology grid --stage 3 --max-repetitions 3")
    done = subprocess.run(["sh", "-c", line], cwd=folder, text=True, capture_output=True,
                          env={**os.environ, "COTEJO_COLL_SELECTOR": selector})
    if done.returncode:
        sys.exit(f"bench: {line}: {done.stderr[-500:]}")


def simulate_all(folder):
    """Bcast and Alltoall by size at 1024 ranks, by four selectors; a simulation takes one core."""
    cells = [(selector, operation, sizes) for selector in SELECTORS
             for operation, sizes in (("alltoall", "1,16"), ("bcast", "1,16,256,4Ki"))]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max_workers=CORES) as pool:
        places = [folder / f"simulated-{number}" for number in range(len(cells))]
        for place in places:
            place.mkdir()
        for done in [pool.submit(simulate_one, place, *cell)
                     for place, cell in zip(places, cells, strict=True)]:
            done.result()
    wall = time.monotonic() - began
    peak = CORES * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    say(f"simulated Bcast and Alltoall, 1024 ranks, 4 selectors, {CORES} cores, under 10 min",
        f"{wall:.0f} s", wall < 600)
    say("and under 4 GiB", f"at most {peak:.2f} GiB", peak < 4)


def main():
    os.environ["COTEJO_STACK"] = str(parser_of(__doc__).parse_args().stack)
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        folder = pathlib.Path(name)
        os.environ["COTEJO_RUN"] = str(folder / "run")
        new_site()
        planning.hold()
        quota.hold()
        if reason := no_clusters():
            print(f"bench: skipped: virtual Ethernet: {reason}")
        else:
            times_to_bring_up()
            forwarding()
            beside_a_busy_core(folder)
            dilation.hold(folder)
            for family in families.load().values():
                if family.installed(families.stack_prefix()):
                    pingpong(family, folder)
        if reason := no_simulation():
            print(f"bench: skipped: simulated machines: {reason}")
        else:
            simulate_all(folder)
        way_to_a_report(folder)


if __name__ == "__main__":
    check_goals(main)
