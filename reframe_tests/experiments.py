# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the experiments whose row in `src/experiments/experiments.def` has options of a job."""

from reframe.core.builtins import performance_function

from .base import Experiment, add_scales
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
    add_scales(row.symbol, (EveryRankCount, OfTheTable) if every else OfTheTable, scales,
               experiment_table.summary(row), experiment=row.name, options=job)


for declared in experiment_table.load():
    if declared.job:
        add(declared)
