# SPDX-License-Identifier: BSD-3-Clause
"""Buffers in the memory of a GPU and of the host: messages, windows, collectives.

A partition whose features have `cuda` or `hip` has such devices (a machine without a scheduler is
searched for one). Without a device nothing is measured, and the study reports this.
"""

from reframe.core.builtins import parameter, run_after

from .base import Experiment, add_full, add_scales
from .mixins import Latency, OptionParameters

#: Features of a partition; one of them is sufficient.
DEVICES = ("cuda", "hip")


class DeviceMemory(OptionParameters, Latency, Experiment):
    """One message, by kind of memory. Memory of the host is measured only if there is a device to
    compare it with."""

    experiment = "pingpong"
    #: Memory of the buffers.
    memory = parameter(["host", "cuda", "hip", "managed"], type=str)
    varied = ["memory"]
    limit_s = 180

    @run_after("init")
    def choose_partitions(self):
        others = [word for word in self.valid_systems[0].split() if word != "*"]
        self.valid_systems = [" ".join([*others, f"+{device}"]) for device in DEVICES
                              if self.memory in (device, "host", "managed")]


add_scales("devices", DeviceMemory, {
    "smoke": {"options": {"sizes": "1,64Ki", "budget": 0.01}},
    "quick": {"options": {"sizes": "1:4Mi:x16", "budget": 0.05}},
    "full": {"options": {"sizes": "1:64Mi:x4", "rse": 0.01, "budget": 0.1}}})
add_full("devices_both_ways", DeviceMemory, "Queues of messages in both directions at once.",
         experiment="bandwidth", operation="bandwidth-both-windows",
         options={"ways": "both", "queue": "16", "sizes": "1:4Mi:x16", "rse": 0.01, "budget": 0.1})
add_full("devices_onesided", DeviceMemory, "Windows on these buffers.", experiment="onesided",
         operation="put.flush.create", shown_bytes=8,
         options={"window": "create", "operation": "put,get", "sizes": "8:4Mi:x8", "rse": 0.01,
                  "budget": 0.1})
add_full("devices_collectives", DeviceMemory, experiment="collective", operation="alltoall",
         shown_bytes=8,
         options={"operation": "bcast,alltoall,allreduce", "sizes": "8:1Mi:x8", "budget": 0.1})
