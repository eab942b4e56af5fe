# SPDX-License-Identifier: BSD-3-Clause
"""Message-passing libraries beside MPI: PVM in all its configurations, and LAM."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after

from .mixins import EveryRankCount, OptionParameters, add_scales, at_scales
from .transports import Layer

SIZES = "1:64Ki:x4,256Ki,1Mi"


class Packed(OptionParameters):
    """PVM with each method to pack data."""

    #: Packing of the data.
    #:
    #: :values: raw bytes, integers in XDR, or left in place until they are sent
    packing = parameter(["raw", "xdr", "in-place"], type=str)


class Pvm(Packed, Layer):
    """PVM, by route of the messages and packing of the data."""

    kind = "pvm"
    transport = parameter(["direct", "daemon"], type=str)
    varied = ["packing"]


class Lam(Layer):
    """LAM/MPI, with its TCP module and over its daemons."""

    kind = "lam"
    transport = parameter(["tcp", "lamd"], type=str)


class Broadcast(OptionParameters, EveryRankCount, Layer):
    """One message to all; the time is that of the last rank to have it.

    Every number of ranks that the site has room for, or one on each host of a partition.
    """

    experiment = "bcast"
    options = {"sizes": SIZES, "budget": 0.1}

    #: Distribution of the message.
    #:
    #: :values: sends (one to each rank in turn) or library (what it has for that); of PVM, whose
    #:     library's is a multicast to tasks, group too (a broadcast to its group's members)
    broadcast = parameter(["sends", "library"], type=str)
    varied = ["broadcast", "ranks"]


SMOKE = {"options": {"sizes": "1,1Ki,64Ki", "budget": 0.02}}
QUICK = {"sizes": SIZES, "budget": 0.1, "rse": 0.003}


add_scales("pvm", Pvm, {
    "smoke": SMOKE, "quick": {"options": QUICK},
    "full": {"options": {"sizes": "1:1Mi:x2", "budget": 0.2, "interleave": "yes"}}})
add_scales("lam", Lam, {"smoke": SMOKE, "quick": {"options": QUICK}})
# Full with each packing, too.
add_scales("pvm_bcast", (Packed, Broadcast), {
    "quick": {"packing": ["raw"]}, "full": {"varied": ["packing", "broadcast", "ranks"]}},
    kind="pvm", transport=parameter(["direct", "daemon"], type=str),
    broadcast=parameter(["sends", "library", "group"], type=str))
# Full over its daemons, too.
add_scales("lam_bcast", Broadcast, {"quick": {"transport": ["tcp"]}, "full": {}},
           kind="lam", transport=parameter(["tcp", "lamd"], type=str))


@rfm.simple_test
class transport_bcast(Broadcast):
    """The lowest layer: repeated sends; one datagram or frame to all hosts at once."""

    by_scale, scale = at_scales({"quick": {}})
    transport = parameter(["tcp", "udp", "raw"], type=str)

    @run_after("init")
    def leave_out_streams(self):
        self.skip_if(self.transport == "tcp" and self.broadcast == "library",
                     "TCP has no messages to all")
