# SPDX-License-Identifier: BSD-3-Clause
"""The measuring itself: known waits, start skew, and the errors of the usual ways.

`waitpattern-up` has a true time of 2 us on two ranks, `waitpattern-null` of nothing.
"""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, variable

from .base import Experiment, Full, Quick, Smoke
from .harness import launches

QUICK = {"timer": "tsc"}
MANY = {"valid": 200, "max-repetitions": 1000, "budget": 1}


class Method(Experiment):
    """Two ranks of one host: what the measuring adds to what is measured."""

    transport = parameter(["shm"])

    #: Operation whose median ReFrame shows.
    #:
    #: :required: Yes
    watched = variable(str)

    @performance_function("ns")
    def median(self):
        return 1e9 * launches.summary_value(self.record, self.watched, 0, "median_s")


class SmokeMethod(Smoke, Method):
    pass


class QuickMethod(Quick, Method):
    options = QUICK


class EveryTimer(Full, Method):
    """By two timers, the finest and the default."""

    timer = parameter(["monotonic-raw", "tsc"])
    varied = ["timer"]

    @run_after("init")
    def set_options(self):
        self.options = {**self.options, "timer": self.timer}


class EveryStart(Full, Method):
    """All ways to start, by two timers."""

    start = parameter(["windows", "round-time", "barrier", "mpi-barrier", "none"])
    timer = parameter(["monotonic-raw", "tsc"])
    varied = ["start", "timer"]

    @run_after("init")
    def set_options(self):
        self.options = {**MANY, "start": self.start, "timer": self.timer}


@rfm.simple_test
class waitpattern_up_smoke(SmokeMethod):
    experiment = "waitpattern-up"
    watched = "waitpattern-up"


@rfm.simple_test
class waitpattern_null_smoke(SmokeMethod):
    experiment = "waitpattern-null"
    watched = "waitpattern-null"


@rfm.simple_test
class start_skew_smoke(SmokeMethod):
    experiment = "start-skew"
    watched = "skew-deadline"
    options = {"starts": 100}


@rfm.simple_test
class systematic_errors_smoke(SmokeMethod):
    experiment = "systematic-errors"
    watched = "skew-mpi-barrier"
    options = {"sizes": "8", "starts": 100, "budget": 0.02}


@rfm.simple_test
class waitpattern_up_quick(QuickMethod):
    experiment = "waitpattern-up"
    watched = "waitpattern-up"


@rfm.simple_test
class waitpattern_null_quick(QuickMethod):
    experiment = "waitpattern-null"
    watched = "waitpattern-null"


@rfm.simple_test
class start_skew_quick(QuickMethod):
    experiment = "start-skew"
    watched = "skew-deadline"


@rfm.simple_test
class systematic_errors_quick(QuickMethod):
    experiment = "systematic-errors"
    watched = "skew-mpi-barrier"
    options = {**QUICK, "sizes": "8,8Ki"}


@rfm.simple_test
class waitpattern_up_full(EveryStart):
    experiment = "waitpattern-up"
    watched = "waitpattern-up"


@rfm.simple_test
class waitpattern_null_full(EveryStart):
    experiment = "waitpattern-null"
    watched = "waitpattern-null"


@rfm.simple_test
class start_skew_full(EveryTimer):
    experiment = "start-skew"
    watched = "skew-deadline"
    options = {"starts": 10000}


@rfm.simple_test
class systematic_errors_full(EveryTimer):
    experiment = "systematic-errors"
    watched = "skew-mpi-barrier"
    options = {**MANY, "sizes": "8:64Ki:x8", "communicators": 50}
