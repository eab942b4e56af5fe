# SPDX-License-Identifier: BSD-3-Clause
"""Point to point: ping-pong and ping-ping between two ranks."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Bench, Experiment, Full, Quick, Smoke
from .harness.backends import placements
from .harness.foreign import imb_tables
from .harness.launch import exhibits
from .mixins.figures import Latency, median_s
from .mixins.varied import Varied

# Launches differ by more than the samples of one do: time goes into many of them.
FULL = {"sizes": "1:4Mi:x2", "rse": 0.01, "budget": 0.05}


class PointToPoint(Latency, Experiment):
    """Two ranks exchange messages; the time is that of one message, one way."""

    main_job = True

    @performance_function("MB/s")
    def bandwidth(self):
        return 1.048576 / median_s(self, self.experiment, 1 << 20)


class SmokePair(Smoke, PointToPoint):
    options = {"sizes": "1,1Ki,1Mi", "budget": 0.02}


class QuickPair(Quick, PointToPoint):
    options = {"sizes": "1:4Mi:x4", "rse": 0.003, "budget": 0.1, "sample-time": 200e-6}


class Modes(Varied, Full, PointToPoint):
    """Every send mode and completion (stival 3)."""

    mode = parameter(["standard", "synchronous", "buffered", "ready"])
    blocking = parameter(["yes", "no"])
    varied = ["mode", "blocking"]
    options = FULL


class Affinity(Full, PointToPoint):
    """Every placement of the site, caches invalidated (finisterrae 1)."""

    placement = parameter(placements.names())
    # To beyond the caches, in finer steps where they end on the study's machine.
    options = {**FULL, "cache": "cold",
               "sizes": "1:32Mi:x2,12Ki,24Ki,192Ki,384Ki,12Mi,18Mi,24Mi"}
    limit_s = 180


@rfm.simple_test
class pingpong_smoke(SmokePair):
    experiment = "pingpong"


@rfm.simple_test
class pingping_smoke(SmokePair):
    experiment = "pingping"


@rfm.simple_test
class pingpong_quick(QuickPair):
    experiment = "pingpong"


@rfm.simple_test
class pingping_quick(QuickPair):
    experiment = "pingping"


@rfm.simple_test
class pingpong_modes(Modes):
    experiment = "pingpong"
    tags = exhibits.tags(*exhibits.figures("stival", "4.16", "4.17", "4.18"))


@rfm.simple_test
class pingping_modes(Modes):
    experiment = "pingping"


@rfm.simple_test
class pingpong_affinity(Affinity):
    experiment = "pingpong"
    tags = exhibits.tags(
        *exhibits.figures("finisterrae", "5.1", "5.2", "5.5", "5.7", "5.8", "5.11"))


@rfm.simple_test
class pingping_affinity(Affinity):
    experiment = "pingping"
    tags = exhibits.tags(
        *exhibits.figures("finisterrae", "5.3", "5.4", "5.6", "5.9", "5.10", "5.12"))


@rfm.simple_test
class pingpong_bench(Bench, PointToPoint):
    """Held against `imb_bench`: so both begin with the same sizes, to warm up, and
    messages begin where malloc lets IMB's begin, which is slower than at a page. Samples are of
    many round trips: a pause after each, to note it, lets both ranks end what they still do for
    the message before, and large ones are up to 10 % faster than in IMB's loop. Sizes take as
    long as in IMB: launches differ by much more than what is timed within one."""

    experiment = "pingpong"
    transport = parameter(["shm"])
    options = {"sizes": "2,4,1,1Ki,64Ki,512Ki,1Mi", "rse": 0.001, "budget": 0.03,
               "min-repetitions": 3, "sample-time": 10e-3, "layout": "16"}

    @run_after("setup")
    def needs_its_peer(self):
        imb_tables.find_or_skip(self)
