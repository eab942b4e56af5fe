#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Computes scipy-values.json, against which the R statistics are tested, from scipy-input.json.

The values in the repository were made with SciPy 1.17.1 and NumPy 2.4.6 by

    python3 -m venv VENV && VENV/bin/pip install scipy==1.17.1
    VENV/bin/python scipy_reference.py

in this folder. The R tests read the two JSON files and need neither Python nor SciPy. Nothing
here shares code with the R package: exact tests with ties, which SciPy does not have, are
computed by enumerating every arrangement.
"""

import itertools
import json
import pathlib

import numpy as np
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent
RESAMPLES = 200_000
# Monte-Carlo tolerance: the bounds of R's interval must lie between SciPy's quantiles at the
# probability of the bound minus and plus this.
SLACK = 0.005


def welch(x, y):
    result = stats.ttest_ind(x, y, equal_var=False)
    interval = result.confidence_interval(0.99)
    return {"t": result.statistic, "df": result.df, "p": result.pvalue,
            "low": interval.low, "high": interval.high}


def as_extreme(statistics, observed):
    """Two-sided p: share of arrangements at least as far from their mean as the observed one."""
    away = np.abs(np.asarray(statistics) - np.mean(statistics))
    return np.mean(away >= abs(observed - np.mean(statistics)) - 1e-9)


def ranksum(x, y):
    ranks = stats.rankdata(np.concatenate([x, y]))
    if len(np.unique(ranks)) == len(ranks):
        return stats.mannwhitneyu(x, y, method="exact").pvalue
    sums = [sum(chosen) for chosen in itertools.combinations(ranks, len(x))]
    return as_extreme(sums, sum(ranks[:len(x)]))


def signed_rank(x, y):
    """Wilcoxon's test of the differences of logarithms; zeros are ranked, after Pratt."""
    difference = np.log(x) - np.log(y)
    ranks = stats.rankdata(np.abs(difference))
    if len(np.unique(ranks)) == len(ranks) and np.all(difference != 0):
        return stats.wilcoxon(difference, zero_method="pratt", method="exact").pvalue
    ranks = ranks[difference != 0]
    signs = np.sign(difference[difference != 0])
    sums = [np.dot(s, ranks) for s in itertools.product([-1, 1], repeat=len(ranks))]
    return as_extreme(sums, np.dot(signs, ranks))


def holm(p):
    """Holm's correction, after its definition: step down, never falling, at most 1."""
    order, corrected, worst = np.argsort(p), np.empty(len(p)), 0.0
    for step, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p) - step) * p[i]))
        corrected[i] = worst
    return corrected.tolist()


def brackets(data, statistic, paired):
    """For each level, where the bounds of a percentile interval must lie."""
    drawn = stats.bootstrap(
        data, statistic, n_resamples=RESAMPLES, paired=paired, vectorized=True, axis=-1,
        method="percentile", batch=10_000, rng=np.random.default_rng(7)).bootstrap_distribution
    found = {}
    for level in (0.95, 0.90):
        tail = (1 - level) / 2
        found[f"{level:.2f}"] = {
            "low": np.quantile(drawn, [tail - SLACK, tail + SLACK]).tolist(),
            "high": np.quantile(drawn, [1 - tail - SLACK, 1 - tail + SLACK]).tolist()}
    return found


def ratio(x, y, axis=-1):
    return np.median(x, axis=axis) / np.median(y, axis=axis)


def two_sides(x, y):
    x, y = np.array(x), np.array(y)
    values = {
        "ratio": ratio(x, y), "welch": welch(x, y), "p_ranksum": ranksum(x, y),
        "cliffs_delta": 2 * stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)) - 1,
        "hl_ratio": np.exp(np.median(np.subtract.outer(np.log(x), np.log(y)))),
        "bootstrap": brackets((x, y), ratio, False),
        "bootstrap_median": brackets((x,), np.median, False)}
    if len(x) == len(y):
        values["p_blocked"] = signed_rank(x, y)
        values["bootstrap_blocked"] = brackets((x, y), ratio, True)
    return values


def trend(level):
    block = np.arange(1, len(level) + 1)
    return {"p": stats.kendalltau(block, level, method="exact").pvalue,
            "slope": stats.theilslopes(level, block).slope}


def main():
    given = json.loads((HERE / "scipy-input.json").read_text())
    sizes = given["sizes"]
    values = {
        "scipy": scipy.__version__, "resamples": RESAMPLES, "slack": SLACK,
        "sides": {name: two_sides(**sides) for name, sides in given["sides"].items()},
        "holm": [holm(p) for p in given["p_values"]],
        "quantiles": [np.quantile(s, [0, 0.5, 0.95]).tolist() for s in given["samples"]],
        "trend": trend(np.array(given["levels"])),
        "sizes_p_holm": holm([signed_rank(np.array(s["x"]), np.array(s["y"])) for s in sizes])}
    (HERE / "scipy-values.json").write_text(json.dumps(values, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
