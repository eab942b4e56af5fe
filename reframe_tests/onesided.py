# SPDX-License-Identifier: BSD-3-Clause
"""One-sided operations: latency, bandwidth, rate, both directions, and asynchronous progress."""

from reframe.core.builtins import parameter, run_after

from .base import Experiment, add_full, add_scales
from .harness.backends import placements
from .mixins import Latency, OptionParameters, PairsOfRanks

ALL = {"operation": "all", "synchronisation": "all"}


class OneSided(OptionParameters, Latency, Experiment):
    """A window of two ranks; every operation and synchronisation in each launch."""

    experiment = "onesided"
    #: Kind of window. `shared` needs ranks with shared memory: it is measured over shm only, like
    #: the kinds in `shared_windows` of the family.
    window = parameter(["create"], type=str)
    varied = ["window"]
    limit_s = 120
    shown_bytes = 8

    @run_after("init")
    def set_operation(self):
        self.operation = f"put.flush.{self.window}"
        self.leave_out_memory("shared")

    @run_after("setup")
    def look_for_common_memory(self):
        if self.request.place.hosts == 1:
            self.leave_out_memory(*self.family.shared_windows)

    def leave_out_memory(self, *windows):
        self.skip_if(self.window in windows and self.transport != "shm",
                     f"a window of {self.window} is memory that ranks have in common, whatever "
                     "the transport")


add_scales("onesided", OneSided, {
    "smoke": {"options": {**ALL, "sizes": "8,4Ki", "budget": 0.005, "min-repetitions": 3}},
    "quick": {"options": {**ALL, "sizes": "8,4Ki,256Ki", "budget": 0.01,
                          "min-repetitions": 5}}},
    "Latency of all operations, by synchronisation.")
add_scales("onesided_windows", OneSided, {"quick": {}},
           "Latency by kind of window.",
           window=parameter(["allocate", "create", "shared", "dynamic"], type=str),
           options={"operation": "put,get,accumulate", "sizes": "8,4Ki,256Ki", "budget": 0.02})


class Ways(OneSided):
    """Many operations in an access, in one and both directions: message rate of small operations,
    bandwidth of large ones."""

    #: 2: each rank is origin and target.
    ways = parameter(["one", "both"], type=str)
    varied = ["window", "ways"]


add_scales("onesided_rate", Ways, {"quick": {}},
           "Up to 64 operations in an access.",
           options={"operation": "put,get,accumulate", "sizes": "8,4Ki,64Ki", "queue": "1,8,64",
                    "budget": 0.02})


WINDOWS = ["allocate", "create", "shared", "dynamic"]
add_full("onesided_latency", OneSided, window=parameter(WINDOWS, type=str), limit_s=600,
         options={**ALL, "sizes": "8:1Mi:x8", "rse": 0.01, "budget": 0.05})
add_full("onesided_bandwidth", Ways, window=parameter(WINDOWS, type=str), limit_s=900,
         options={"operation": "put,get,accumulate", "synchronisation": "fence,pscw,lock,flush",
                  "sizes": "8:256Ki:x8", "queue": "1,4,16,64", "rse": 0.01, "budget": 0.05})
add_full("onesided_pairs", (PairsOfRanks, OneSided), "Windows of several pairs at once.",
         pairs=parameter([1, 2, 4, 8], type=int), varied=["window", "pairs"],
         options={"operation": "put,get", "sizes": "8,4Ki,64Ki", "queue": "1,64", "rse": 0.01,
                  "budget": 0.1})
add_full("onesided_affinity", OneSided, "Every placement of the site.",
         placement=parameter(placements.names(), type=str),
         options={"operation": "put,get,accumulate,fetch_and_op", "sizes": "8,4Ki,256Ki",
                  "rse": 0.01, "budget": 0.1})


# Asynchronous progress: does an operation complete at a target that computes and makes no call?

class Progress(OneSided):
    """Without and with the asynchronous progress of the library, if it has any."""

    experiment = "onesided-progress"
    async_progress = parameter(["default", "yes"], type=str)
    settings = ["async_progress"]
    varied = ["window"]
    #: A progress thread polls on the core of its rank if no other core is free.
    limit_s = 240
    options = {"operation": "all", "synchronisation": "all", "compute": "0,1000",
               "sizes": "8,4Ki,256Ki", "budget": 0.01, "min-repetitions": 5}


ONE_WAY = {"async_progress": ["default"], "window": ["create"], "placement": ["near"]}


add_scales("onesided_progress", Progress, {
    "smoke": {"options": {**Progress.options, "sizes": "8", "min-repetitions": 3}, **ONE_WAY},
    "quick": ONE_WAY,
    "full": {"options": {**Progress.options, "sizes": "8,4Ki,64Ki,1Mi",
                         "compute": "0,100,1000", "budget": 0.03},
             "limit_s": 600}},
    window=parameter(["allocate", "create", "shared", "dynamic"], type=str),
    placement=parameter(["near", "spare"], type=str))
