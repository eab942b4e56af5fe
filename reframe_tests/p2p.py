# SPDX-License-Identifier: BSD-3-Clause
"""Point to point: ping-pong and ping-ping between two ranks."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, add_full, at_scales
from .harness.backends import placements
from .harness.foreign import imb_tables
from .harness.launch import launches
from .mixins import Latency, OptionParameters, median_s

# Launches differ more than the samples of one launch: many short launches are better.
FULL = {"sizes": "1:4Mi:x2", "rse": 0.01, "budget": 0.05}


class PointToPoint(Latency, Experiment):
    """Two ranks exchange messages; the time is that of one message, one way."""

    main_job = True

    @performance_function("MB/s")
    def bandwidth(self):
        return 1.048576 / median_s(self, self.experiment, 1 << 20)


class Pair(PointToPoint):
    by_scale, scale = at_scales({
        "smoke": {"options": {"sizes": "1,1Ki,1Mi", "budget": 0.02}},
        "quick": {"options": {"sizes": "1:4Mi:x4", "rse": 0.003, "budget": 0.1,
                              "sample-time": 200e-6}}})


class Modes(OptionParameters, PointToPoint):
    """Every send mode and completion (stival 3)."""

    mode = parameter(["standard", "synchronous", "buffered", "ready"], type=str)
    blocking = parameter(["yes", "no"], type=str)
    varied = ["mode", "blocking"]
    options = FULL


class Affinity(PointToPoint):
    """Every placement of the site, caches invalidated (finisterrae 1)."""

    placement = parameter(placements.names(), type=str)
    # Sizes beyond the caches, in finer steps at the cache sizes of the study's machine.
    options = {**FULL, "cache": "cold",
               "sizes": "1:32Mi:x2,12Ki,24Ki,192Ki,384Ki,12Mi,18Mi,24Mi"}
    limit_s = 180


@rfm.simple_test
class pingpong(Pair):
    # At scale bench it is compared with `imb`. Both begin with the same sizes as a warm-up, and
    # with buffers at the addresses of malloc, as in IMB, which are slower than those at a page. A
    # sample contains many round trips: a pause after each lets both ranks complete outstanding
    # work, and large messages are then up to 10 % faster than in IMB's loop. Each size takes as
    # long as in IMB.
    by_scale, scale = at_scales({**Pair.by_scale, "bench": {
        "options": {"sizes": "2,4,1,1Ki,64Ki,512Ki,1Mi", "rse": 0.001, "budget": 0.03,
                    "min-repetitions": 3, "sample-time": 10e-3, "layout": "16"},
        "transport": ["shm"]}})
    experiment = "pingpong"

    @run_after("setup")
    def needs_its_peer(self):
        if self.scale == "bench":
            imb_tables.find_or_skip(self)


@rfm.simple_test
class pingping(Pair):
    experiment = "pingping"


@rfm.simple_test
class pingpong_tails(Full, Latency, Experiment):
    """A hundred thousand messages, each in a sample of its own: the quantiles near the longest."""

    experiment = "pingpong"
    shown_bytes = 8
    limit_s = 300
    options = {"sizes": "8", "calls": 1, "stage": 1000, "min-repetitions": 100_000,
               "max-repetitions": 100_000}

    @performance_function("us")
    def tail(self):
        return 1e6 * launches.summary_value(self.record, "pingpong", 8, "p999_s")


add_full("pingpong_modes", Modes, experiment="pingpong")
add_full("pingping_modes", Modes, experiment="pingping")
add_full("pingpong_affinity", Affinity, experiment="pingpong")
add_full("pingping_affinity", Affinity, experiment="pingping")
