# SPDX-License-Identifier: BSD-3-Clause
"""Experiments about measuring: known waits, start skew, and errors of common methods.

`waitpattern-up` has a true time of n us on n ranks, `waitpattern-null` of nothing.
"""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, add_scales, at_scales
from .mixins import EveryRankCount, Latency, OptionParameters, Wait

MANY = {"min-repetitions": 200, "max-repetitions": 200, "budget": 1}
#: The parameters of a scale that measures the default start method and timer alone.
AS_USUAL = {"start": ["windows"], "timer": ["auto"]}


class Method(EveryRankCount, Wait, Experiment):
    """The error that measuring adds to a known time."""

    transport = parameter(["shm"], type=str)
    varied = ["ranks"]


class WaitPattern(OptionParameters, Method):
    """With start methods and timers: the default, which is the finest sound one, and others."""

    start = parameter(["windows", "round-time", "barrier", "mpi-barrier", "loop"], type=str)
    timer = parameter(["auto", "monotonic-raw", "wtime", "gettimeofday"], type=str)
    every = {"varied": ["ranks", "start", "timer"], "options": MANY}


class Errors(OptionParameters, Method):
    """At scale full with two timers."""

    timer = parameter(["auto", "monotonic-raw"], type=str)
    full = {"varied": ["ranks", "timer"]}


add_scales("waitpattern_up", WaitPattern, {
    "smoke": AS_USUAL,
    "quick": {"start": ["windows", "mpi-barrier"], "timer": ["auto", "wtime"],
              "varied": ["ranks", "start", "timer"]},
    "full": WaitPattern.every},
    experiment="waitpattern-up", watched="waitpattern-up")
add_scales("waitpattern_null", WaitPattern, {
    "smoke": AS_USUAL,
    "quick": {"start": ["windows"], "timer": ["auto", "wtime"], "varied": ["ranks", "timer"]},
    "full": WaitPattern.every},
    experiment="waitpattern-null", watched="waitpattern-null")
add_scales("start_skew", Errors, {
    "smoke": {"timer": ["auto"], "options": {"starts": 100}},
    "quick": {"timer": ["auto"]},
    "full": {**Errors.full, "options": {"starts": 10000}}},
    experiment="start-skew", watched="skew-deadline")
add_scales("systematic_errors", Errors, {
    "smoke": {"timer": ["auto"], "options": {"sizes": "8", "starts": 100, "budget": 0.02}},
    "quick": {"timer": ["auto"], "options": {"sizes": "8,8Ki,1Mi"}},
    "full": {**Errors.full,
             "options": {**MANY, "sizes": "8:64Ki:x8,1Mi", "communicators": 50}}},
    experiment="systematic-errors", watched="skew-mpi-barrier")


@rfm.simple_test
class addresses(EveryRankCount, Latency, Experiment):
    """Time of memcpy, and of operations that may use it, by relative address of buffers."""

    by_scale, scale = at_scales({
        "quick": {"options": {"operation": "memcpy,reduce_local,bcast,alltoall,allreduce",
                              "offsets": "0,8,16,32,512,2048", "sizes": "16Ki,64Ki",
                              "budget": 0.01}},
        "full": {"options": {"sizes": "1Ki,16Ki,64Ki,256Ki", "budget": 0.01}, "limit_s": 300}})
    transport = parameter(["shm"], type=str)
    varied = ["ranks"]
    experiment = "addresses"
    operation = "memcpy"
    shown_bytes = 64 << 10


@rfm.simple_test
class spells(Latency, Experiment):
    """Messages and cache lines, interleaved, in many launches: the variance between launches."""

    by_scale, scale = at_scales({
        "quick": {},
        "full": {"options": {"rounds": 1000, "sizes": "1,1Ki,64Ki,1Mi"}}})
    experiment = "spells"
    operation = "pingpong"
    transport = parameter(["shm"], type=str)
