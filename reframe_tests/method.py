# SPDX-License-Identifier: BSD-3-Clause
"""Experiments about measuring: known waits, start skew, and errors of common methods.

`waitpattern-up` has a true time of n us on n ranks, `waitpattern-null` of nothing.
"""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, Full, Quick, Smoke
from .mixins.figures import Latency, Wait
from .mixins.option_parameters import OptionParameters
from .mixins.ranks import EveryRankCount

MANY = {"min-repetitions": 200, "max-repetitions": 200, "budget": 1}


class Method(EveryRankCount, Wait, Experiment):
    """The error that measuring adds to a known time."""

    transport = parameter(["shm"], type=str)
    varied = ["ranks"]


class SmokeMethod(Smoke, Method):
    pass


class QuickMethod(Quick, Method):
    pass


class EveryTimer(OptionParameters, Method):
    """With several timers: the default, which is the finest sound one, and others."""

    timer = parameter(["auto", "monotonic-raw"], type=str)
    varied = ["ranks", "timer"]


class EveryStart(Full, EveryTimer):
    """All start methods, with several timers."""

    start = parameter(["windows", "round-time", "barrier", "mpi-barrier", "loop"], type=str)
    timer = parameter(["auto", "monotonic-raw", "wtime", "gettimeofday"], type=str)
    varied = ["ranks", "start", "timer"]
    options = MANY


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
class waitpattern_up_quick(Quick, EveryTimer):
    experiment = "waitpattern-up"
    watched = "waitpattern-up"
    start = parameter(["windows", "mpi-barrier"], type=str)
    timer = parameter(["auto", "wtime"], type=str)
    varied = ["ranks", "start", "timer"]


@rfm.simple_test
class waitpattern_null_quick(Quick, EveryTimer):
    experiment = "waitpattern-null"
    watched = "waitpattern-null"
    timer = parameter(["auto", "wtime"], type=str)


@rfm.simple_test
class start_skew_quick(QuickMethod):
    experiment = "start-skew"
    watched = "skew-deadline"


@rfm.simple_test
class systematic_errors_quick(QuickMethod):
    experiment = "systematic-errors"
    watched = "skew-mpi-barrier"
    options = {"sizes": "8,8Ki,1Mi"}


@rfm.simple_test
class waitpattern_up_full(EveryStart):
    experiment = "waitpattern-up"
    watched = "waitpattern-up"


@rfm.simple_test
class waitpattern_null_full(EveryStart):
    experiment = "waitpattern-null"
    watched = "waitpattern-null"


@rfm.simple_test
class start_skew_full(Full, EveryTimer):
    experiment = "start-skew"
    watched = "skew-deadline"
    options = {"starts": 10000}


@rfm.simple_test
class systematic_errors_full(Full, EveryTimer):
    experiment = "systematic-errors"
    watched = "skew-mpi-barrier"
    options = {**MANY, "sizes": "8:64Ki:x8,1Mi", "communicators": 50}


class Addresses(EveryRankCount, Latency, Experiment):
    """Time of memcpy, and of operations that may use it, by relative address of buffers."""

    transport = parameter(["shm"], type=str)
    varied = ["ranks"]
    experiment = "addresses"
    operation = "memcpy"
    shown_bytes = 64 << 10


@rfm.simple_test
class addresses_quick(Quick, Addresses):
    options = {"operation": "memcpy,reduce_local,bcast,alltoall,allreduce",
               "offsets": "0,8,16,32,512,2048", "sizes": "16Ki,64Ki", "budget": 0.01}


@rfm.simple_test
class addresses_full(Full, Addresses):
    limit_s = 300
    options = {"sizes": "1Ki,16Ki,64Ki,256Ki", "budget": 0.01}


class Spells(Experiment):
    """Messages and cache lines, interleaved, in many launches: the variance between launches."""

    experiment = "spells"
    transport = parameter(["shm"], type=str)


@rfm.simple_test
class spells_quick(Latency, Quick, Spells):
    operation = "pingpong"


@rfm.simple_test
class spells_full(Latency, Full, Spells):
    operation = "pingpong"
    options = {"rounds": 1000, "sizes": "1,1Ki,64Ki,1Mi"}
