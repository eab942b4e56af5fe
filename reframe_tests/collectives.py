# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations after a common start, and the memory of the library."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, add_full, add_scales, at_scales
from .mixins import BcastLatency, BeginTogether, EveryRankCount, OptionParameters, median_s

TEN_SIZES = "8:2Mi:x4"
MOVING = "bcast,gather,scatter,allgather,alltoall"
REDUCING = "reduce,allreduce,reduce_scatter,reduce_scatter_block,scan,exscan"


class Collective(EveryRankCount, Experiment):
    """The time from the common start until the last rank has finished."""

    experiment = "collective"
    varied = ["ranks"]


class OneVariant(Collective):
    """All operations of one variant, without those whose results are wrong under this library."""

    #: Kind of call.
    variant = parameter(["blocking", "nonblocking", "persistent"], type=str)

    @run_after("setup")
    def leave_out_wrong(self):
        self.options = {**self.options, "operation": self.family.right(self.variant)}


# Quick with each start method, because the fastest library may depend on it.
add_scales("collective", (OptionParameters, BcastLatency, Collective), {
    "smoke": {"options": {"operation": "bcast,iallreduce,alltoall,neighbor_alltoall",
                          "sizes": "8,64Ki", "budget": 0.02},
              "start": ["windows"]},
    "quick": {"options": {"operation": "bcast,allreduce,alltoall,barrier",
                          "sizes": "8,1Ki,64Ki,1Mi", "budget": 0.05},
              "varied": ["ranks", "start"]}},
    start=parameter(["windows", "barrier", "mpi-barrier"], type=str))
add_scales("layout", (OptionParameters, Collective), {
    "quick": {"options": {"operation": "bcast,allreduce,alltoall", "sizes": "1Ki,16Ki,64Ki",
                          "budget": 0.03}},
    "full": {"options": {"operation": f"{MOVING},{REDUCING}", "sizes": "1Ki:1Mi:x4",
                         "budget": 0.03}}},
    "Buffers at the start of a page, and at addresses of consecutive calls of malloc.",
    layout=parameter(["page", "malloc"], type=str), varied=["ranks", "layout"])
add_scales("in_place", (OptionParameters, Collective), {
    "quick": {"options": {"operation": "allgather,allreduce,alltoall",
                          "sizes": "8,1Ki,64Ki,1Mi", "budget": 0.03}},
    "full": {"options": {"operation": f"gather,scatter,allgather,alltoall,{REDUCING}",
                         "sizes": TEN_SIZES, "budget": 0.03}}},
    "MPI_IN_PLACE against separate buffers.",
    buffers=parameter(["separate", "in-place"], type=str), varied=["ranks", "buffers"])


@rfm.simple_test
class collective_groups(OptionParameters, Collective):
    """One communicator of all ranks, and several that work at once."""

    by_scale, scale = at_scales({
        "quick": {"options": {"operation": "bcast,allreduce,alltoall", "sizes": "8,1Ki,64Ki,1Mi",
                              "budget": 0.03}},
        "full": {"options": {"operation": f"{MOVING},allreduce", "sizes": TEN_SIZES,
                             "budget": 0.03}}})
    groups = parameter([1, 2, 4], type=int)
    varied = ["ranks", "groups"]

    @run_after("init")
    def count_one_communicator(self):
        if self.groups > 1:
            self.uncounted = "several communicators work at once"

    @run_after("init")
    def leave_out_small(self):
        self.skip_if(self.ranks < 2 * self.groups or self.ranks % self.groups,
                     f"{self.ranks} ranks are not {self.groups} groups of 2 or more")


add_scales("lead", (OptionParameters, Collective), {
    "quick": {"options": {"operation": "bcast,allreduce", "sizes": "8,4Ki", "budget": 0.05}},
    "full": {"options": {"operation": "bcast,allreduce,alltoall", "sizes": "8,4Ki,64Ki",
                         "budget": 0.1}}},
    "The time from the announcement of a start to the start, which must not change the result.",
    lead=parameter(["2e-6", "5e-6", "1e-5", "1e-4", "1e-3"], type=str), varied=["ranks", "lead"])
add_scales("collective_affinity", Collective, {
    "quick": {"sizes": "1,4Ki,64Ki,8Mi"}, "full": {"sizes": "1:4Mi:x4,8Mi"}},
    "By placement, with buffers that are not in the caches: the worst case.",
    placement=parameter(["near", "far"], type=str),
    options={"operation": "bcast,alltoall", "cache": "cold", "budget": 0.05}, limit_s=180)
add_full("collective_variants", OneVariant, "Every operation, ten sizes.",
         names={"full": "collective_full"}, varied=["ranks", "variant"], limit_s=180,
         options={"sizes": TEN_SIZES, "budget": 0.03})
add_full("collective_topologies", (OptionParameters, Collective),
         "Neighbours on a Cartesian grid and on a distributed graph.",
         topology=parameter(["grid", "graph"], type=str), varied=["ranks", "topology"],
         uncounted="operations on neighbours cannot be counted",
         options={"operation": "neighbor", "sizes": TEN_SIZES, "budget": 0.03})
add_full("collective_operators", (OptionParameters, Collective),
         "Reductions by each operator, including a user-defined one.",
         op=parameter(["sum", "prod", "max", "land", "band", "maxloc", "user", "compose"],
            type=str), varied=["ranks", "op"],
         options={"operation": REDUCING, "sizes": "8:2Mi:x16", "budget": 0.03, "element": "int"})
add_full("collective_datatypes", (OptionParameters, Collective),
         "Derived datatypes against the same elements packed by the program.",
         datatype=parameter(["contiguous", "vector", "indexed", "struct"], type=str),
         transfer=parameter(["typed", "packed"], type=str),
         varied=["ranks", "datatype", "transfer"],
         options={"operation": MOVING, "sizes": "64:1Mi:x16", "budget": 0.03})


@rfm.simple_test
class communicators_ranks(BeginTogether, Full, EveryRankCount, Experiment):
    """Creation of communicators."""

    names = {"full": "communicators_full"}
    options = {"budget": 0.2}
    experiment = "communicators"
    varied = ["ranks"]

    @performance_function("us")
    def dup(self):
        return 1e6 * median_s(self, "comm-dup", 0)


@rfm.simple_test
class memory(EveryRankCount, Experiment):
    """Memory of each rank after MPI_Init, after the first all-to-all and at the end."""

    by_scale, scale = at_scales({
        "quick": {"options": {"sizes": "8,64Ki"}},
        "full": {"options": {"sizes": "8,1Ki,64Ki,1Mi", "calls": 1000}}})
    experiment = "memory"
    varied = ["ranks"]

    @performance_function("ms")
    def mpi_init(self):
        return 1e3 * median_s(self, "init", 0)
