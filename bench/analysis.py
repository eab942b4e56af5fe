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

from bench.common import parser_of, run_r, say
from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import families
from stack import release
from tests import browser

LAUNCHES, SIZES, REPETITIONS = 5000, 20, 100
MPIS = ("openmpi", "mpich")
COLUMNS = [{"name": name, "unit": unit, "meaning": name} for name, unit in (
    ("operation", ""), ("bytes", "B"), ("repetition", ""), ("calls", ""), ("time_s", "s"),
    ("valid", ""))]

OURS = """
options(cotejo.cache = FALSE)
summary <- cotejo::summarise_launches(cotejo::read_study("{dir}"))
compared <- cotejo::compare_configurations(summary)
stopifnot(sum(summary$n) == {rows}, nrow(compared) == {compared}, !is.null(compared$q))
"""

PLAIN = """
files <- list.files("{dir}", "[.]csv$", recursive = TRUE, full.names = TRUE)
parts <- lapply(files, function(file) {{
  samples <- utils::read.csv(file, comment.char = "#")
  described <- jsonlite::fromJSON(sub("csv$", "json", file))$asked
  samples$key <- file
  samples$mpi <- described$mpi
  samples$test <- described$test
  samples
}})
samples <- do.call(rbind, parts)
summary <- stats::aggregate(time_s ~ key + mpi + test + bytes, samples, stats::median)
p <- by(summary, summary[c("test", "bytes")], function(s) {{
  stats::wilcox.test(time_s ~ mpi, s)$p.value
}})
stopifnot(nrow(samples) == {rows})
"""


# The outputs of `make figures`, `report`, `paper` and `proof-page` of the reference, by name.
WRITTEN = {
    "all exhibits": 'cotejo::draw_all("{root}/data/reference", "{dir}/figures", published = '
                    '"{root}/data/published")',
    "the report": 'cotejo::write_report("{root}/data/reference", "{dir}/report/report.html", '
                  'published = "{root}/data/published")',
    "the paper": 'cotejo:::write_paper("{root}/analysis/paper.Rmd", "{root}/data/reference", '
                 '"{dir}/paper/paper.html", published = "{root}/data/published")',
    "the page of the proof": 'cotejo:::write_proof("{root}/data/proof", "{dir}/proof/proof.html")',
}
COLD_S, WARM_S, MOST_GIB = 60, 10, 2
MOST_WORDS, MOST_FIGURES = 8000, 30
#: MB of each page of the report, and seconds until a browser has loaded it.
MOST_MB, OPENED_S = 8, 3


COVER = """
cells <- cotejo::prove_coverage({repeats}L)
stopped <- cotejo::prove_stopping(repeats = {repeats}L)
off <- max(0, abs(cells$coverage - cells$level) - (cells$high - cells$low) / 2)
# Under stopping the level is a bound.
under <- max(0, stopped$level - stopped$coverage - (stopped$high - stopped$low) / 2)
alarms <- cotejo:::pooled_alarms(cells)[[3]]
power <- cotejo::prove_power(0.05, 30L)[[1]]
cat(off, under, alarms, power, "\\n")
"""


def description(number, test, mpi, launch):
    """A description as a launch records it, of no real machine."""
    name = f"{test}.{mpi}.shm.near.{launch:03d}"
    ranks = [{"rank": r, "host": "synthetic", "cpus": str(r), "cores": [r], "numa": [0],
              "package": [0]} for r in (0, 1)]
    return {
        "schema": "cotejo-launch/1", "id": name, "status": "ok", "reason": "",
        "started": "2026-01-01T00:00:00Z", "wall_s": 1.0,
        "simulated": "SYNTHETIC, for a benchmark",
        "asked": {"site": "synthetic", "session": "20260101T000000Z", "experiment": "pingpong",
                  "test": test, "scale": "full", "launch": launch, "seed": number, "mpi": mpi,
                  "transport": "shm", "placement": "near", "cpus": [0, 1], "hosts": 1, "ranks": 2,
                  "settings": {}, "parameters": {}, "time_limit_s": 60},
        "command": "none", "environment": {},
        "provenance": {"commit": "none", "dirty": False, "reframe": "none",
                       "stack": {"provider": "none", "lock_sha256": "none"}},
        "reported": {"transport": "shm", "evidence": "none"},
        "observed": {
            "program": "synthetic", "version": "0", "experiment": "pingpong",
            "options": {f"option{i}": i for i in range(12)}, "arguments": ["none"],
            "mpi": {"library": mpi, "standard": "4.1", "thread_level": "single",
                    "wtime_is_global": False},
            "build": {"compiler": "none", "flags": "", "mpi_header": "4.1", "libraries": []},
            "size": 2, "ranks": ranks,
            "timer": {"name": "none", "resolution_s": 1e-9, "overhead_s": 2e-8, "monotonic": True},
            "node": {"kernel": "none", "cpu_model": "none", "governor": "unknown", "cores": 2,
                     "memory_bytes": 1, "cache_bytes": 1, "load_1min": 0.0},
            "interfaces": {"lo": 0}, "tcp_bytes": 0, "payload_bytes": 1, "payload_checked": True},
        "samples": {"file": f"{name}.csv", "rows": SIZES * REPETITIONS, "columns": COLUMNS},
        "summary": [{"operation": "pingpong", "bytes": 1 << k, "n": REPETITIONS, "median_s": 1e-6,
                     "min_s": 1e-6, "p95_s": 1e-6} for k in range(SIZES)]}


def write_synthetic(folder):
    """Writes the launches with few distinct sample files, so that writing takes little time."""
    draw = random.Random(1)
    texts = []
    for _ in range(40):
        level = draw.lognormvariate(0, 0.05)
        rows = [f"pingpong,{1 << k},{i},10,"
                f"{level * (1e-6 + (1 << k) * 1e-10) * draw.lognormvariate(0, 0.02):.10e},1"
                for k in range(SIZES) for i in range(REPETITIONS)]
        texts.append("# cotejo-samples/1\noperation,bytes,repetition,calls,time_s,valid\n"
                     + "\n".join(rows) + "\n")
    session = folder / "synthetic/20260101T000000Z"
    tests = [f"synthetic_{i}" for i in range(25)]
    number = 0
    for test in tests:
        for launch in range(1, LAUNCHES // len(tests) // len(MPIS) + 1):
            for mpi in MPIS:
                record = description(number, test, mpi, launch)
                disk.write_json(session / f"{record['id']}.json", record)
                (session / record["samples"]["file"]).write_text(draw.choice(texts))
                number += 1
    return {"dir": folder, "rows": number * SIZES * REPETITIONS, "compared": len(tests) * SIZES}


def coverage(stack, repeats):
    """Reports whether intervals cover the true value at their level, on simulated launches."""
    said, *_ = run_r(stack, "-e", COVER.format(repeats=repeats))
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


def write_one(stack, name, folder):
    """Writes one thing of the reference cold, and again warm, with a cache of its own."""
    code = WRITTEN[name].format(root=families.REPO, dir=folder)
    _, wall, _, memory = run_r(stack, "-e", code, cache=folder / "cache")
    say(f"{name} of the reference, cold, in under {COLD_S} s", f"{wall:.0f} s", wall < COLD_S)
    say(f"in under {MOST_GIB} GiB, each process", f"{memory:.2f} GiB", memory < MOST_GIB)
    _, wall, *_ = run_r(stack, "-e", code, cache=folder / "cache")
    say(f"again, warm, in under {WARM_S} s", f"{wall:.1f} s", wall < WARM_S)
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
        _, wall, _, memory = run_r(args.stack, "-e", OURS.format(**facts))
        what = f"{facts['rows'] / 1e6:.0f} million SYNTHETIC samples of {LAUNCHES} launches"
        say(f"{what} read, summarised, compared in under 20 s", f"{wall:.1f} s", wall < 20)
        say("in under 1 GiB, each process", f"{memory:.2f} GiB", memory < 1)
        _, plain, *_ = run_r(args.stack, "-e", PLAIN.format(**facts))
        say("at least twice as fast as read.csv, unchecked", f"{plain / wall:.1f} times",
            plain >= 2 * wall)
    for name in WRITTEN:
        with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
            write_one(args.stack, name, pathlib.Path(folder))


if __name__ == "__main__":
    main()
