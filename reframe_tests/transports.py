# SPDX-License-Identifier: BSD-3-Clause
"""Layers below MPI: messages over sockets, frames and echoes, without any library."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after

from .base import Experiment, Quick, add_full, add_scales
from .mixins import Latency

QUICK = {"budget": 0.1, "rse": 0.003}


class Layer(Latency, Experiment):
    """Two ranks without an MPI library; the time of one message, one way."""

    kind = "sockets"
    program = "cotejo-transport"
    experiment = "pingpong"
    #: Sizes for transports whose messages must fit into one datagram.
    datagrams = "1:32Ki:x4,64000"

    @run_after("init")
    def choose_transport(self):
        fitting = {"sizes": self.datagrams} if self.transport in ("udp", "icmp") else {}
        self.options = {**self.options, "transport": self.transport, **fitting}


class Transport(Layer):
    """Each transport that the kernel offers."""

    transport = parameter(["tcp", "udp", "unix", "shm", "llc", "raw", "icmp"], type=str)

    @run_after("init")
    def leave_out_echoes(self):
        self.skip_if(self.transport == "icmp" and self.experiment != "pingpong",
                     "ICMP only echoes")


add_scales("transport", Transport, {
    "smoke": {"options": {"sizes": "1,1Ki", "budget": 0.02}, "datagrams": "1,1Ki"},
    "quick": {"options": {**QUICK, "sizes": "1:32Ki:x4,64000,256Ki,1Mi"}},
    "full": {"options": {"sizes": "1:32Ki:x2,64000,128Ki:1Mi:x2", "budget": 0.2,
                         "interleave": "yes"},
             "datagrams": "1:32Ki:x2,64000"}})


@rfm.simple_test
class transport_pingpong(Quick, Latency, Experiment):
    """The MPI libraries, in one block with the layers below them."""

    experiment = "pingpong"
    options = {**QUICK, "sizes": "1:32Ki:x4,256Ki,1Mi"}


@rfm.simple_test
class transport_stream(Quick, Transport):
    experiment = "stream"
    options = {**QUICK, "sizes": "1:32Ki:x4,64000,256Ki,1Mi"}


add_full("transport_frames", Transport, "The sizes of NetPIPE around the limits of frames.",
         options={"sizes": "1:8Ki:x2", "perturb": 3, "budget": 0.1, "interleave": "yes"},
         datagrams="1:8Ki:x2")
