# SPDX-License-Identifier: BSD-3-Clause
"""LogP by message size: latency, gap, and overheads from the time of calls and from overlap."""

from reframe.core.builtins import parameter, performance_function

from .base import Experiment, add_full, add_scales
from .harness.backends import placements
from .mixins import Latency, OptionParameters, median_s

#: The parameters of a scale that measures the default mode alone.
ONE_MODE = {"mode": ["standard"], "blocking": ["yes"]}


class LogP(Latency, Experiment):
    """Six operations at each size, from which the analysis computes the parameters."""

    experiment = "logp"

    operation = "logp-eel"

    @performance_function("us")
    def gap(self):
        return 1e6 * median_s(self, "logp-g", 1)


# Full: blocking and non-blocking, standard and synchronous (stival 2). Bench: many sizes, to
# find the share at which the overheads fit into the latency.
add_scales("logp", (OptionParameters, LogP), {
    "smoke": {"options": {"sizes": "1,4Ki,64Ki", "budget": 0.02}, **ONE_MODE},
    "quick": {"options": {"sizes": "1,64,1:1Mi:x4", "budget": 0.04}, "limit_s": 120,
              **ONE_MODE},
    "full": {"options": {"sizes": "1:1Mi:x2", "rse": 0.01, "budget": 0.03}, "limit_s": 240,
             "varied": ["mode", "blocking"]},
    "bench": {"options": {"sizes": "1,1536,2Ki:1Mi:x2,3Ki:768Ki:x2", "budget": 0.03},
              "limit_s": 120, **ONE_MODE}},
    mode=parameter(["standard", "synchronous"], type=str),
    blocking=parameter(["yes", "no"], type=str))
add_full("logp_receives", (OptionParameters, LogP),
         "Blocking synchronous sends with blocking and non-blocking receives (stival 2).",
         receive=parameter(["blocking", "nonblocking"], type=str), varied=["receive"],
         options={"sizes": "1:1Mi:x2", "rse": 0.01, "budget": 0.03, "mode": "synchronous",
                  "blocking": "yes"}, limit_s=240)
add_full("logp_affinity", LogP, "Every placement of the site (finisterrae 1).",
         placement=parameter(placements.names(), type=str),
         options={"sizes": "1:1Mi:x2", "rse": 0.01, "budget": 0.03, "cache": "cold"}, limit_s=240,
         tags={"finisterrae", "affinity"})
