# SPDX-License-Identifier: BSD-3-Clause
"""Overlap of communication with computation, with and without asynchronous progress."""

from reframe.core.builtins import parameter

from .base import Experiment, add_full, add_scales
from .harness.backends import placements
from .mixins import OptionParameters

# Sizes of both protocols, and the sizes in the tables of the study.
ROWS = {"sizes": "8,1Ki,8Ki,56Ki,256Ki,1Mi", "steps": 13, "budget": 0.03,
        "min-repetitions": 5}


class Overlap(OptionParameters, Experiment):
    """Time of one pattern against an increasing amount of computation (stival 7)."""

    experiment = "overlap"

    #: Position of the computation; `cotejo overlap --help` explains it.
    pattern = parameter(["pingpong", "local-send", "local-receive", "gap-send", "gap-receive"],
                        type=str)
    varied = ["pattern"]


class Modes(Overlap):
    """Standard and synchronous sends, blocking and non-blocking."""

    blocking = parameter(["yes", "no"], type=str)
    mode = parameter(["standard", "synchronous"], type=str)
    varied = ["pattern", "blocking", "mode"]


class Progress(Overlap):
    """Without and with the asynchronous progress of the library, if it has any."""

    async_progress = parameter(["default", "yes"], type=str)
    settings = ["async_progress"]
    #: Alone on its core, and with an additional core for the thread of the library.
    placement = parameter(["near", "spare"], type=str)
    #: A progress thread polls on the core of its rank if no other core is free.
    limit_s = 240


add_scales("overlap", Overlap, {
    "smoke": {"options": {"sizes": "8,64Ki", "steps": 4, "budget": 0.01}},
    "quick": {"options": {"sizes": "8,4Ki,64Ki,1Mi", "steps": 9, "budget": 0.03},
              "limit_s": 120}})
add_full("overlap_pingpong", Overlap, "Blocking and non-blocking calls.", limit_s=240,
         pattern=parameter(["pingpong"], type=str), blocking=parameter(["yes", "no"], type=str),
         varied=["pattern", "blocking"],
         options={"sizes": "1,64,512,2Ki,8Ki,24Ki,40Ki,64Ki,96Ki", "steps": 13, "budget": 0.03,
                  "min-repetitions": 5})
add_full("overlap_frame", Overlap,
         "One frame, the size at which the study measured overlap over LLC (watter 5.4.3).",
         pattern=parameter(["pingpong"], type=str),
         options={"sizes": "1500", "blocking": "no", "steps": 13, "budget": 0.03,
                  "min-repetitions": 5}, limit_s=240)
LOCAL = {"sizes": "8,24Ki,72Ki,1Mi", "steps": 9, "budget": 0.03}
# Few samples: a polling thread on the core of the rank makes each a thousand times longer.
add_full("overlap_local", Progress, pattern=parameter(["local-send", "local-receive"], type=str),
         options={**LOCAL, "min-repetitions": 3})
add_full("overlap_affinity", Overlap, "One message, every placement of the site (finisterrae 1).",
         placement=parameter(placements.names(), type=str),
         pattern=parameter(["local-send", "local-receive"], type=str),
         options={**LOCAL, "min-repetitions": 5}, limit_s=240,
         tags={"finisterrae", "affinity"})


for way in ("send", "receive"):
    add_full(f"overlap_gap_{way}", Modes, pattern=parameter([f"gap-{way}"], type=str),
             options=ROWS, limit_s=240)
