# SPDX-License-Identifier: BSD-3-Clause
"""Performance guidelines: a collective should not be slower than its replacements.

Replacements are the same result by other operations (mock-ups), irregular operations with equal
counts, and non-blocking operations with an immediate wait, also of persistent operations.
`make guidelines` judges them.
"""

import reframe as rfm
from reframe.core.builtins import run_after

from .base import Experiment, at_scales
from .mixins import TOGETHER, BcastLatency, EveryRankCount

OPTIONS = {**TOGETHER, "compute": 0, "budget": 0.02}


@rfm.simple_test
class guidelines(BcastLatency, EveryRankCount, Experiment):
    """Every operation beside its replacements, all in the same launch."""

    by_scale, scale = at_scales({
        "smoke": {"options": {**OPTIONS, "sizes": "8"}},
        "quick": {"options": {**OPTIONS, "sizes": "8,4Ki,64Ki,1Mi"}, "limit_s": 300},
        "full": {"options": {**OPTIONS, "sizes": "8,64:1Mi:x4"}, "limit_s": 500}})
    experiment = "collective"
    varied = ["ranks"]

    @run_after("setup")
    def choose_operations(self):
        self.options = {**self.options, "operation": self.family.right(
            "blocking,nonblocking,persistent,mockups")}
