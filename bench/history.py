# SPDX-License-Identifier: BSD-3-Clause
"""Goals of the history beside Apache Otava: `make bench PART=history`.

The simulated series have 40 sessions, noise of 1 %, and some sessions 10 % off. A step of 8 % must
be found within 3 points in 95 of 100 series. No step may be reported in 95 of 100 series without
one. Otava comes from PyPI into its own environment, outside of the stack and the requirements.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from bench.common import check_goals, say, skip
from reframe_tests.harness.machine import r

SERIES, POINTS, NEAR = 100, 40, 3
OTAVA = "apache-otava==0.8.0"

PLANT = f"""
library(cotejo)
planted <- function(seed, step, at) {{
  set.seed(seed)
  x <- rnorm({POINTS}, 0, 0.01) + ifelse(runif({POINTS}) < 0.03, 0.1, 0)
  x + log1p(step) * (seq_len({POINTS}) >= at)
}}
rows <- lapply(c(0.08, 0), function(step) lapply(seq_len({SERIES}), function(i) {{
  at <- 8 + i %% 25
  x <- planted(i + 1000 * (step > 0), step, at)
  found <- series_changes(x)
  list(step = step, at = at, values = exp(x), found = as.list(found$at))
}}))
cat(jsonlite::toJSON(unlist(rows, recursive = FALSE), auto_unbox = TRUE, digits = NA))
"""

ASK_OTAVA = """
import json, sys
from otava.series import AnalysisOptions, Metric, Series
found = []
for one in json.load(open(sys.argv[1])):
    values = one["values"]
    series = Series("planted", None, list(range(len(values))), {"t": Metric(1, 1.0)},
                    {"t": values}, {})
    changes = series.analyze(AnalysisOptions()).change_points["t"]
    found.append([int(c.index) + 1 for c in changes])
print(json.dumps(found))
"""


def judged(cases, found):
    """Share of steps found within NEAR points and alone, and of series without one named."""
    near = [len(f) == 1 and abs(f[0] - c["at"]) <= NEAR
            for c, f in zip(cases, found, strict=True) if c["step"]]
    hit = [any(abs(at - c["at"]) <= NEAR for at in f)
           for c, f in zip(cases, found, strict=True) if c["step"]]
    wrong = [bool(f) for c, f in zip(cases, found, strict=True) if not c["step"]]
    return sum(hit) / len(hit), sum(near) / len(near), sum(wrong) / len(wrong)


def otava(cases, folder):
    """The changes that Otava finds in the series, or None where it cannot be installed."""
    environment = folder / "otava"
    made = subprocess.run([sys.executable, "-m", "venv", str(environment)], capture_output=True)
    python = environment / "bin/python"
    had = made.returncode == 0 and subprocess.run(
        [str(python), "-m", "pip", "install", "-q", OTAVA], capture_output=True).returncode == 0
    if not had:
        return None
    (folder / "cases.json").write_text(json.dumps(cases))
    done = subprocess.run([str(python), "-c", ASK_OTAVA, str(folder / "cases.json")],
                          text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"bench: {OTAVA} ended with: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def main():
    os.environ["COTEJO_STACK"] = sys.argv[1]
    cases = json.loads(r.output_of(PLANT))
    hit, alone, wrong = judged(cases, [case["found"] for case in cases])
    say(f"steps of 8 % found within {NEAR} points: at least 95 %",
        f"{100 * hit:.0f} % (and nothing else named: {100 * alone:.0f} %)", hit >= 0.95)
    say("series without a step of which a change is named: at most 5 %",
        f"{100 * wrong:.0f} %", wrong <= 0.05)
    with tempfile.TemporaryDirectory() as folder:
        theirs = otava(cases, pathlib.Path(folder))
    if theirs is None:
        skip("Apache Otava on the same series", f"{OTAVA} could not be installed")
        return
    hit_o, alone_o, wrong_o = judged(cases, theirs)
    say("not behind Apache Otava, nor more false alarms, on the same series",
        f"Otava {100 * hit_o:.0f} % (alone {100 * alone_o:.0f} %), false {100 * wrong_o:.0f} %",
        hit >= hit_o - 0.02 and wrong <= max(wrong_o, 0.05))


if __name__ == "__main__":
    check_goals(main)
