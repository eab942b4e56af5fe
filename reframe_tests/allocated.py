# SPDX-License-Identifier: BSD-3-Clause
"""One job of the site's scheduler in which a complete study runs (harness/study/submission.py).

A bare `reframe -r` and `make study` run this test if they are not inside an allocation already.
"""

import os
import pathlib
import shlex
import sys

import reframe as rfm
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_after, run_before, sanity_function
from reframe.core.exceptions import SanityError

from .harness.commands import write_report
from .harness.launch import selection
from .harness.machine import allocation, environment
from .harness.model import families, sites
from .harness.study import child, plans, submission

GROUPS = submission.groups()
BARE = [child.program(), "-r"]
WORDS = os.environ.get("COTEJO_WORDS", "").split("\n") if "COTEJO_WORDS" in os.environ else BARE


class one_allocation(rfm.RunOnlyRegressionTest):  # noqa: N801
    """All blocks of a study, one launch after the other on the nodes of one job."""

    #: Index of the partitions that the allocation serves, in `GROUPS`.
    group = parameter(range(len(GROUPS)), fmt=lambda n: GROUPS[n][0]["name"])
    executable = shlex.quote(WORDS[0])
    executable_opts = list(map(shlex.quote, WORDS[1:]))
    valid_prog_environs = ["builtin"]  # of no MPI, whose libraries all launches would find
    #: The job requests nodes; each launch in it has a number of ranks of its own.
    num_tasks = None
    tags = {"allocation"}

    @run_after("init")
    def choose_partition(self):
        first = GROUPS[self.group][0]["name"]
        self.valid_systems = [f"{sites.system_name()}:{first}"]
        names = ", ".join(partition["name"] for partition in GROUPS[self.group])
        self.descr = f"All blocks of a study, in one job on {names} of {sites.site_name()}"

    @run_after("setup")
    def wait_for_nodes(self):
        self.max_pending_time = self.current_partition.extras.get("max_pending_time", "4h")

    @run_before("run")
    def ask_for_nodes(self):
        group = GROUPS[self.group]
        hosts, seconds = self.planned()
        asked = submission.options(group, hosts)
        if group[0]["scheduler"] == "flux":
            # Beside this process, because ReFrame's jobs of Flux are of one core.
            batch = submission.flux_batch(asked, seconds, group[0].get("access", []), WORDS)
            self.executable = "flux job attach"
            self.executable_opts = [f'"$({batch})"']
        else:
            self.job.options += asked
        self.job.launcher = getlauncher("local")()
        self.env_vars = {
            **{name: shlex.quote(value) for name, value in submission.variables().items()},
            "PYTHONPATH": str(families.REPO),
            "COTEJO_PARTITIONS": ",".join(partition["name"] for partition in group)}
        self.prerun_cmds = ["unset COTEJO_STUDY COTEJO_WORDS", f"export {environment.BY}=$$"]
        # The worst status remains if several allocations run at once.
        self.postrun_cmds = ['ended=$? left="${COTEJO_STATUS:-status}"',
                             '[ "$ended" -le "$(cat "$left" 2>/dev/null || echo -1)" ] || '
                             'echo "$ended" > "$left"']
        self.time_limit = min(seconds, allocation.longest_s(group[0]))

    def planned(self):
        """The most hosts of a cell and the seconds of the job: as `make study` submitted them,
        else those of the quick study."""
        if "COTEJO_WALL" in os.environ:
            return int(os.environ["COTEJO_HOSTS"]), float(os.environ["COTEJO_WALL"])
        cells, *_, hosts, blocks = plans.list_cells("quick", "")
        return hosts, submission.wall_s("quick", len(cells) * blocks)

    @sanity_function
    def it_ended(self):
        """Shows what was said in it; the study that submitted it judges its status."""
        stage = pathlib.Path(self.stagedir)
        for name in (self.stdout, self.stderr):
            sys.stdout.write((stage / str(name.evaluate())).read_text(errors="replace"))
        sys.stdout.flush()
        status = pathlib.Path(os.environ.get("COTEJO_STATUS") or stage / "status")
        if not status.exists():
            raise SanityError("the scheduler ended the allocation before the study in it; start "
                              "again to go on")
        if WORDS == BARE and write_report.page().exists():
            print(write_report.page(), flush=True)
        return True


if selection.is_bare():
    selection.ONLY.append(one_allocation)
if selection.ONLY or selection.files_are_named():
    rfm.simple_test(one_allocation)
