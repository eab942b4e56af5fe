#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Computes scipy-values.json, against which the R statistics are tested, from scipy-input.json.

The values in the repository were made with SciPy 1.17.1 and NumPy 2.4.6 by

    python3 -m venv VENV && VENV/bin/pip install scipy==1.17.1
    VENV/bin/python scipy_reference.py

in this folder. The R tests read the two JSON files and need neither Python nor SciPy. Nothing
here shares code with the R package.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent


def welch(x, y):
    result = stats.ttest_ind(x, y, equal_var=False)
    interval = result.confidence_interval(0.99)
    return {"t": result.statistic, "df": result.df, "p": result.pvalue,
            "low": interval.low, "high": interval.high}


def trim_of(n):
    """The share that a trimmed mean leaves out at each end."""
    return 1 / 6 if n >= 8 else 0


def one_sample(x):
    """Trimmed mean with the standard error of Yuen, which SciPy has for two samples only."""
    n, trim = len(x), trim_of(len(x))
    cut = int(n * trim)
    winsorised = np.asarray(stats.mstats.winsorize(x, limits=(trim, trim)))
    kept = n - 2 * cut
    error = np.sqrt(np.sum((winsorised - winsorised.mean()) ** 2) / (kept * (kept - 1)))
    effect = stats.trim_mean(x, trim)
    return {"effect": effect, "error": error, "p": 2 * stats.t.sf(abs(effect) / error, kept - 1)}


def yuen(x, y):
    """Welch's test of log times, with trimmed means if both groups have enough launches."""
    trim = trim_of(min(len(x), len(y)))
    result = stats.ttest_ind(np.log(x), np.log(y), equal_var=False, trim=trim)
    return {"df": result.df, "p": result.pvalue}


def two_sides(x, y):
    x, y = np.array(x), np.array(y)
    return {"welch": welch(x, y), "yuen": yuen(x, y),
            "cliffs_delta": 2 * stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)) - 1}


def trend(level):
    block = np.arange(1, len(level) + 1)
    return {"p": stats.kendalltau(block, level, method="exact").pvalue,
            "slope": stats.theilslopes(level, block).slope}


def main():
    given = json.loads((HERE / "scipy-input.json").read_text())
    found = [one_sample(np.log(s["y"]) - np.log(s["x"])) for s in given["sizes"]]
    values = {
        "scipy": scipy.__version__,
        "sides": {name: two_sides(**sides) for name, sides in given["sides"].items()},
        "quantiles": [np.quantile(s, [0, 0.5, 0.95]).tolist() for s in given["samples"]],
        "trend": trend(np.array(given["levels"])),
        "sizes": found, "sizes_q": stats.false_discovery_control([s["p"] for s in found]).tolist()}
    (HERE / "scipy-values.json").write_text(json.dumps(values, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
