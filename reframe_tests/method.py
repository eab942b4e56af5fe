# SPDX-License-Identifier: BSD-3-Clause
"""The measuring itself: known waits, start skew, and the errors of the usual ways."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, Quick, Smoke
from .harness import launches

TIMERS = ["monotonic-raw", "tsc"]


class Method(Experiment):
    """Two ranks of one host: what the measuring adds to what is measured."""

    transport = parameter(["shm"])

    def median_ns(self, operation):
        return 1e9 * launches.summary_value(self.record, operation, 0, "median_s")


class WaitUp(Method):
    """Rank i is busy for (i + 1) us, so that two ranks take 2 us."""

    experiment = "waitpattern-up"

    @performance_function("ns")
    def error(self):
        return self.median_ns("waitpattern-up") - 2000


class WaitNull(Method):
    """Nothing is done; the time is the measuring's own."""

    experiment = "waitpattern-null"

    @performance_function("ns")
    def cost(self):
        return self.median_ns("waitpattern-null")


class Skew(Method):
    """How far apart ranks begin, for each way to start."""

    experiment = "start-skew"

    @performance_function("ns")
    def deadline_skew(self):
        return self.median_ns("skew-deadline")

    @performance_function("ns")
    def barrier_skew(self):
        return self.median_ns("skew-mpi-barrier")


class Errors(Method):
    """The six systematic errors, each with and without."""

    experiment = "systematic-errors"

    @performance_function("ns")
    def barrier_skew(self):
        return self.median_ns("skew-mpi-barrier")


class EveryStart(Full):
    """All ways to start, by two timers."""

    start = parameter(["windows", "round-time", "barrier", "mpi-barrier", "none"])
    timer = parameter(TIMERS)
    varied = ["start", "timer"]

    @run_after("init")
    def set_options(self):
        self.options = {"start": self.start, "timer": self.timer, "valid": 200,
                        "max-repetitions": 1000, "budget": 1}


@rfm.simple_test
class waitpattern_up_smoke(Smoke, WaitUp):
    pass


@rfm.simple_test
class waitpattern_null_smoke(Smoke, WaitNull):
    pass


@rfm.simple_test
class start_skew_smoke(Smoke, Skew):
    options = {"starts": 100}


@rfm.simple_test
class systematic_errors_smoke(Smoke, Errors):
    options = {"sizes": "8", "starts": 100, "budget": 0.02}


@rfm.simple_test
class waitpattern_up_quick(Quick, WaitUp):
    options = {"timer": "tsc"}


@rfm.simple_test
class waitpattern_null_quick(Quick, WaitNull):
    options = {"timer": "tsc"}


@rfm.simple_test
class start_skew_quick(Quick, Skew):
    options = {"timer": "tsc"}


@rfm.simple_test
class systematic_errors_quick(Quick, Errors):
    options = {"timer": "tsc", "sizes": "8,8Ki"}


@rfm.simple_test
class waitpattern_up_full(EveryStart, WaitUp):
    pass


@rfm.simple_test
class waitpattern_null_full(EveryStart, WaitNull):
    pass


@rfm.simple_test
class start_skew_full(Full, Skew):
    timer = parameter(TIMERS)
    varied = ["timer"]

    @run_after("init")
    def set_options(self):
        self.options = {"timer": self.timer, "starts": 10000}


@rfm.simple_test
class systematic_errors_full(Full, Errors):
    options = {"timer": "tsc", "sizes": "8:64Ki:x8", "communicators": 50, "valid": 200,
               "max-repetitions": 1000, "budget": 1}
