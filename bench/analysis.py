# SPDX-License-Identifier: BSD-3-Clause
"""Measures the analysis against its goals: ten million samples, and all outputs of the reference.

The ten million samples in 5,000 launches are SYNTHETIC. They are made here and deleted, and only
their number matters. To read, check, summarise and compare them must take under 20 s and 1 GiB
on 2 cores, and half the time of a plain read.csv.

The outputs of the reference dataset are written twice: first cold, with nothing but the dataset
and the package, then warm, with the cache that the first run left.
"""

import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from bench.common import check_goals, parser_of, run_r, say
from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import families
from stack import release
from tests import browser, figures

LAUNCHES, SIZES, REPETITIONS = 5000, 20, 100
MPIS = ("openmpi", "mpich")
SESSION = "20260101T000000Z"
#: A description of a real launch, of version 1.
REAL = families.REPO / ("analysis/tests/testthat/fixtures/v1/local/20261121T200219Z/"
                        "pingpong_quick.openmpi.shm.near.001.json")
#: The outputs of `make figures`, `report`, `paper` and `proof-page` of the reference, and the
#: seconds that each may take with nothing cached.
COLD_S = {"all exhibits": 120, "the report": 60, "the paper": 60, "the page of the proof": 60}
WARM_S, MOST_GIB = 10, 2
MOST_WORDS, MOST_FIGURES = 8000, 30
#: MB of each page of the report, and seconds until a browser has loaded it.
MOST_MB, OPENED_S = 8, 3


def in_r(stack, *words, **options):
    return run_r(stack, families.REPO / "bench/analysis.R", *words, **options)


def description(real, number, test, mpi, launch):
    """The description of a launch that was not measured, like that of a real one."""
    name = f"{test}.{mpi}.shm.near.{launch:03d}"
    return {
        **real, "id": name, "simulated": "SYNTHETIC, for a benchmark",
        "asked": {**real["asked"], "site": "synthetic", "session": SESSION, "test": test,
                  "scale": "full", "launch": launch, "seed": number, "mpi": mpi},
        "samples": {"file": f"{name}.csv", "rows": SIZES * REPETITIONS,
                    "columns": real["samples"]["columns"][:6]},  # without those of ping-pong
        "summary": [{"operation": "pingpong", "bytes": 1 << k, "n": REPETITIONS, "median_s": 1e-6,
                     "min_s": 1e-6, "p95_s": 1e-6} for k in range(SIZES)]}


def write_synthetic(folder):
    """Writes the launches with few distinct sample files, so that writing takes little time.
    Returns the folder and the numbers of samples and comparisons."""
    draw = random.Random(1)
    texts = []
    for _ in range(40):
        level = draw.lognormvariate(0, 0.05)
        rows = [f"pingpong,{1 << k},{i},10,"
                f"{level * (1e-6 + (1 << k) * 1e-10) * draw.lognormvariate(0, 0.02):.10e},1"
                for k in range(SIZES) for i in range(REPETITIONS)]
        texts.append("# cotejo-samples/1\noperation,bytes,repetition,calls,time_s,valid\n"
                     + "\n".join(rows) + "\n")
    session, real = folder / "synthetic" / SESSION, disk.read_json(REAL)
    tests = [f"synthetic_{i}" for i in range(25)]
    number = 0
    for test in tests:
        for launch in range(1, LAUNCHES // len(tests) // len(MPIS) + 1):
            for mpi in MPIS:
                record = description(real, number, test, mpi, launch)
                disk.write_json(session / f"{record['id']}.json", record)
                (session / record["samples"]["file"]).write_text(draw.choice(texts))
                number += 1
    return folder, number * SIZES * REPETITIONS, len(tests) * SIZES


def coverage(stack, repeats):
    """Reports whether intervals cover the true value at their level, on simulated launches."""
    said, *_ = in_r(stack, "coverage", repeats)
    off, under, alarms, power = map(float, said[-1].split())
    say("coverage within 2 points at 5 to 30 blocks, with blocks lost, in two sessions",
        f"{100 * off:.1f} points beyond chance", off <= 0.02)
    say("coverage within 2 points under stopping", f"{100 * under:.1f} points beyond chance",
        under <= 0.02)
    say("a family is called different in under 6 % where nothing differs",
        f"{100 * alarms:.1f} % at most", alarms < 0.06)
    say("5 % injected is found in at least 95 % with 30 launches that differ by 3 %",
        f"{100 * power:.1f} %", power >= 0.95)


def check_package(stack):
    """Reports whether `R CMD check` has an error, warning or note. `make test` runs its tests."""
    version = min(release.stated(families.REPO)["analysis/DESCRIPTION"])
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        for arguments in (["build", str(families.REPO / "analysis")],
                          ["check", "--no-manual", "--no-tests", f"cotejo_{version}.tar.gz"]):
            done = subprocess.run(
                [shutil.which("R") or sys.exit("bench: no R on PATH; run `make stack`"), "CMD",
                 *arguments], cwd=folder, text=True, capture_output=True,
                env={**r.variables(stack), "_R_CHECK_FORCE_SUGGESTS_": "false",
                     "R_USER_CACHE_DIR": folder})
        status = re.findall(r"^Status: (.*)", done.stdout, re.MULTILINE) or ["did not end"]
    say("R CMD check of the package ends without error, warning or note", status[0],
        done.returncode == 0 and status[0] == "OK")


def read_paper(page):
    """Words and figures of the page of a paper, without its style and scripts."""
    html = re.sub(r"<(style|script)>.*?</\1>", " ", page.read_text(), flags=re.DOTALL)
    return len(re.sub(r"<[^>]*>", " ", html).split()), html.count("<figure>")


def weigh_report(folder):
    """Reports the size of a report's pages, and the time that a browser takes to load them."""
    pages = [folder / "report.html", *sorted((folder / "questions").glob("*.html"))]
    largest = max(pages, key=lambda page: page.stat().st_size)
    for what, page in (("its first page", pages[0]), (f"its largest page, {largest.name},",
                                                      largest)):
        size = page.stat().st_size / 1e6
        say(f"{what} weighs under {MOST_MB} MB", f"{size:.1f} MB", size < MOST_MB)
        if browser.program() is None:
            say(f"{what} opens in under {OPENED_S} s", "no browser", False)
            continue
        # This folder is not removed at once: the browser's processes still write when it ends.
        chromium = browser.Browser(folder / f"browser-{page.stem}")
        begun = time.monotonic()
        chromium.open(page, (1280, 800))
        wall = time.monotonic() - begun
        chromium.close()
        say(f"{what} opens in under {OPENED_S} s", f"{wall:.1f} s", wall < OPENED_S)


def check_figures(folder):
    """Reports whether all figures of a folder follow the rules of figures."""
    count = len([*folder.rglob("*.svg")])
    wrong = figures.faults_below(folder, families.REPO / "data/published/overlays.csv")
    faults = "; ".join(f"{name}: {', '.join(reasons)}" for name, reasons in wrong.items())
    say(f"all {count} figures follow the rules of tests/figures.py", faults or "no fault",
        count > 0 and not wrong)


def write_one(stack, name, folder):
    """Writes one thing of the reference cold, and again warm, with a cache of its own."""
    words = name, families.REPO, folder
    _, wall, _, memory = in_r(stack, *words, cache=folder / "cache")
    most = COLD_S[name]
    say(f"{name} of the reference, cold, in under {most} s", f"{wall:.0f} s", wall < most)
    say(f"in under {MOST_GIB} GiB, each process", f"{memory:.2f} GiB", memory < MOST_GIB)
    _, wall, *_ = in_r(stack, *words, cache=folder / "cache")
    say(f"again, warm, in under {WARM_S} s", f"{wall:.1f} s", wall < WARM_S)
    if name == "all exhibits":
        check_figures(folder / "figures")
    if name == "the report":
        weigh_report(folder / "report")
    if name == "the paper":
        words, figures = read_paper(folder / "paper/paper.html")
        say(f"the paper has at most {MOST_WORDS} words and {MOST_FIGURES} figures",
            f"{words} and {figures}", words <= MOST_WORDS and figures <= MOST_FIGURES)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=1000,
                        help="simulated studies of each design (1000)")
    args = parser.parse_args()
    check_package(args.stack)
    coverage(args.stack, args.repeats)
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        facts = write_synthetic(pathlib.Path(folder))
        _, wall, _, memory = in_r(args.stack, "ours", *facts)
        what = f"{facts[1] / 1e6:.0f} million SYNTHETIC samples of {LAUNCHES} launches"
        say(f"{what} read, summarised, compared in under 20 s", f"{wall:.1f} s", wall < 20)
        say("in under 1 GiB, each process", f"{memory:.2f} GiB", memory < 1)
        _, plain, *_ = in_r(args.stack, "plain", *facts)
        say("at least twice as fast as read.csv, unchecked", f"{plain / wall:.1f} times",
            plain >= 2 * wall)
    for name in COLD_S:
        with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
            write_one(args.stack, name, pathlib.Path(folder))


if __name__ == "__main__":
    check_goals(main)
