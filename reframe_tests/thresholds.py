# SPDX-License-Identifier: BSD-3-Clause
"""Eager and rendezvous protocols: limits set by hand, their effect and their cost."""

from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, add_full, add_scales
from .harness.backends import placements
from .mixins import Latency


class EagerLimit(Experiment):
    """Checks that the largest message that does not wait for its receive has the set size."""

    experiment = "eager-limit"
    eager_limit = parameter(["default", "65536"], type=str)
    settings = ["eager_limit"]
    options = {"sizes": "1:4Mi:x2"}

    @run_after("setup")
    def set_receiver(self):
        setting = self.family.setting("eager_limit", self.transport)
        self.options = {**self.options, "receiver": setting.receiver}

    def doubt(self, observed):
        found = observed["found"]["eager_limit_bytes"]
        for name, value in self.limits_set().items():
            header = self.family.setting("eager_limit", self.transport).header
            if found != value - header:
                return (f"{name} was set to {value} B, of which the library takes {header} B, "
                        f"but messages of up to {found:.0f} B were sent without waiting")
        return ""

    def effects_of(self, observed):
        largest = observed["found"]["eager_limit_bytes"]
        return dict.fromkeys(self.limits_set(),
                             f"messages of up to {largest:.0f} B were sent without waiting")

    def limits_set(self):
        """Limits that were set, in B: as a setting, or by the variable that is the setting's."""
        setting = self.family.setting("eager_limit", self.transport)
        by_name = {name: value for name, value in self.request.level.values
                   if setting.environment.get(name) == "{value}"}
        return {name: int(value) for name, value in {**self.request.settings, **by_name}.items()
                if value.isdigit() and setting.least <= int(value) <= setting.most}

    @performance_function("B")
    def largest_unheld(self):
        return self.record["observed"]["found"]["eager_limit_bytes"]


TWO_LIMITS = {"eager_limit": ["default", "65536"]}


add_scales("eager_limit", EagerLimit, {
    "smoke": {"options": {"sizes": "1:1Mi:x16", "tries": 1}, **TWO_LIMITS},
    "quick": TWO_LIMITS, "full": {}},
    eager_limit=parameter(["default", "least", "16384", "65536", "262144", "most"], type=str))


class Protocol(Latency, Experiment):
    """The same sizes with the smallest and largest eager limit, to find the crossover."""

    #: `least`: rendezvous wherever possible; `most`: eager wherever possible.
    eager_limit = parameter(["default", "least", "most"], type=str)
    settings = ["eager_limit"]

    shown_bytes = 1 << 15


add_scales("protocol", Protocol, {
    "smoke": {"options": {"sizes": "8Ki,32Ki,128Ki", "budget": 0.02}},
    "quick": {"options": {"sizes": "1Ki:512Ki:x2", "budget": 0.05}}},
    experiment="pingpong")


class ProtocolFull(Protocol):
    """Every placement, caches invalidated (finisterrae 1)."""

    placement = parameter(placements.names(), type=str)
    options = {"sizes": "1:4Mi:x2", "rse": 0.01, "budget": 0.05, "cache": "cold"}


add_full("protocol_pingpong", ProtocolFull, experiment="pingpong")
add_full("protocol_pingping", ProtocolFull, experiment="pingping")
