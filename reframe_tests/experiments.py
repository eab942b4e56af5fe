# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the experiments whose row in `src/experiments/experiments.def` has options of a job."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function
from reframe.core.meta import make_test

from .base import Experiment
from .harness.model import experiment_table
from .mixins import BeginTogether, EveryRankCount


class OfTheTable(BeginTogether, Experiment):
    """An experiment as its row declares it."""

    limit_s = 180

    @performance_function("us")
    def first(self):
        """The median of the first operation at its first size."""
        times = [row["median_s"] for row in self.record["summary"] or []
                 if row["median_s"] is not None]
        if not times:
            raise ValueError(f"{self.record.get('id', 'launch')}: no times in the summary")
        return 1e6 * times[0]


def add(row):
    """The test of a row: a check that runs once, and the quick test."""
    job = dict(row.job)
    every = job.pop("ranks", "") == "every"
    scales = {"smoke": {"ranks": [2]} if every else {},
              "quick": {"varied": ["ranks"]} if every else {}}
    rfm.simple_test(make_test(
        row.symbol, (EveryRankCount, OfTheTable) if every else (OfTheTable,),
        {"experiment": row.name, "options": job, "by_scale": scales,
         "scale": parameter(scales, type=str, loggable=True),
         "__doc__": experiment_table.summary(row)}, module=__name__))


for declared in experiment_table.load():
    if declared.job:
        add(declared)
