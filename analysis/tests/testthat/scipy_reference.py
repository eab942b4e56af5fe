#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Computes scipy-values.json, against which the R statistics are tested, from scipy-input.json.

The values in the repository were made with SciPy 1.17.1 and NumPy 2.4.6 by

    python3 -m venv VENV && VENV/bin/pip install scipy==1.17.1
    VENV/bin/python scipy_reference.py

in this folder. The R tests read the two JSON files and need neither Python nor SciPy. Nothing
here shares code with the R package: the joint test, which SciPy does not have, is computed by
enumerating every sign flip.
"""

import itertools
import json
import pathlib

import numpy as np
import scipy
from scipy import optimize, stats

HERE = pathlib.Path(__file__).parent


def welch(x, y):
    result = stats.ttest_ind(x, y, equal_var=False)
    interval = result.confidence_interval(0.99)
    return {"t": result.statistic, "df": result.df, "p": result.pvalue,
            "low": interval.low, "high": interval.high}


def scores(x):
    """Differences cut at 1.345 robust standard deviations, over the root of their squares' sum."""
    most = 1.345 * 1.4826 * np.median(np.abs(x))
    cut = np.clip(x, -most, most)
    return cut / np.sqrt(np.sum(cut ** 2))


def effect(x):
    """The value that, taken away, leaves cut differences whose sum is 0."""
    return optimize.brentq(lambda value: np.sum(scores(x - value)), x.min(), x.max(), xtol=1e-15)


def joint_p(sizes):
    """Corrected p of each size: every sign flip of whole blocks, the greatest over sizes, about 1
    and about the effects; the larger of the two."""
    d = [np.log(s["y"]) - np.log(s["x"]) for s in sizes]
    found = []
    for about in (np.zeros(len(d)), [effect(x) for x in d]):
        away = [scores(x - value) for x, value in zip(d, about, strict=True)]
        greatest = [max(abs(np.dot(signs, x)) for x in away)
                    for signs in itertools.product([-1, 1], repeat=len(d[0]))]
        found.append([np.mean(np.array(greatest) >= abs(np.sum(scores(x))) - 1e-9) for x in d])
    return np.max(found, axis=0).tolist()


def two_sides(x, y):
    x, y = np.array(x), np.array(y)
    return {"welch": welch(x, y),
            "cliffs_delta": 2 * stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)) - 1}


def trend(level):
    block = np.arange(1, len(level) + 1)
    return {"p": stats.kendalltau(block, level, method="exact").pvalue,
            "slope": stats.theilslopes(level, block).slope}


def main():
    given = json.loads((HERE / "scipy-input.json").read_text())
    sizes = given["sizes"]
    values = {
        "scipy": scipy.__version__,
        "sides": {name: two_sides(**sides) for name, sides in given["sides"].items()},
        "quantiles": [np.quantile(s, [0, 0.5, 0.95]).tolist() for s in given["samples"]],
        "trend": trend(np.array(given["levels"])),
        "sizes_effect": [effect(np.log(s["y"]) - np.log(s["x"])) for s in sizes],
        "sizes_p_joint": joint_p(sizes)}
    (HERE / "scipy-values.json").write_text(json.dumps(values, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
