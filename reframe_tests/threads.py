# SPDX-License-Identifier: BSD-3-Clause
"""Several simultaneous threads of each rank, with MPI_THREAD_MULTIPLE."""

from reframe.core.builtins import parameter, run_after, variable

from .base import Experiment, add_scales
from .mixins import OptionParameters

SIZES = "8,1Ki,16Ki,256Ki"


class Threads(OptionParameters, Experiment):
    """Pairs of threads of two ranks. Ranks have the cores of a launch with one thread each.
    Samples (`thread_cores`) and figures state if these are fewer than the threads."""

    experiment = "threads"

    #: Communicators of the threads.
    #:
    #: :values: one (communicator for all), each (its own), hints (its own, with the request for
    #:     an endpoint; the library is set to have as many endpoints as threads)
    communicators = parameter(["one", "each", "hints"], type=str)
    varied = ["communicators"]
    #: Endpoints of a rank, by the setting of this name.
    endpoints = variable(str, value="default")
    settings = ["endpoints"]
    limit_s = 240

    @run_after("init")
    def choose_endpoints(self):
        if self.communicators == "hints":
            self.endpoints = self.options["threads"].split(",")[-1]


add_scales("threads", Threads, {
    "smoke": {"options": {"sizes": "8,1Ki", "threads": "1,2", "budget": 0.02,
                          "min-repetitions": 3},
              "communicators": ["one"]},
    "quick": {"options": {"sizes": SIZES, "threads": "1,2", "budget": 0.1,
                          "min-repetitions": 5}},
    "full": {"options": {"sizes": "1:1Mi:x4", "threads": "1,2,4,8", "budget": 0.2,
                         "min-repetitions": 5}}})
