# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's configuration: the site's systems, and one environment per installed MPI.

`COTEJO_SITE` (default `local`) names the folder of site_configs in use. A site
holds only systems and partitions; environments and the rest are shared.
"""

import contextlib
import gc
import os
import re
import sys
import tempfile

import reframe.core.logging

# ReFrame loads the tests with the same package around them: all of it is loaded once.
from .harness import backends
from .harness.backends import launchers  # noqa: F401
from .harness.commands import site_files
from .harness.launch import scales, selection, sessions
from .harness.machine import allocation, environment, removal
from .harness.model import binding, families, installation, problems, sites
from .harness.study import submission

# ReFrame makes a million objects for all tests, which are in use until it ends.
gc.set_threshold(50_000)
sessions.anchor_results()


def drop_first_log():
    """Removes the log that ReFrame begins in the temporary folder before it reads this file. The
    log of the stack takes its place, and nobody else removes it."""
    paths = []
    with contextlib.suppress(AttributeError):  # another program than ReFrame reads this file
        paths = reframe.core.logging.log_files()
    for path in paths:
        if re.fullmatch(re.escape(tempfile.gettempdir()) + r"/rfm-\w+\.log", path):
            with contextlib.suppress(OSError):
                os.unlink(path)


def stop(why):
    """Ends ReFrame with a message and the section of the documents that explains it."""
    sys.exit(problems.explained(f"cotejo: {why}"))


drop_first_log()
STACK = families.stack_prefix()
try:
    environment.check_own()
    scales.check_environment()
    if wrong := site_files.file_problems():
        stop(f"{sites.site_folder()}/{wrong[0]}")
    SYSTEM = sites.system(sites.site_folder())
    KNOWN = families.of_site(sites.site_folder(), simulators=True, layers=True)
    if not any(family.installed(STACK) for family in KNOWN.values()):
        stop(f"no MPI library of site {SYSTEM['name']!r} in {STACK}; run `make "
             "stack` (`make build` for one in mpis.yaml), or set COTEJO_STACK")
    if wrong := site_files.unbuilt(sites.site_folder(), STACK):
        stop(wrong[0])
    # ReFrame opens its log before it makes any folder.
    removal.claim(STACK / "reframe")
    LOG = STACK / "reframe/reframe.log"
    LOG.open("a").close()
except ValueError as err:
    stop(err)
except OSError as err:
    stop(f"{err.filename}: {err.strerror}; give a COTEJO_STACK that you may write to")
DECLARED = families.load(simulators=True, layers=True).values()
#: Tests that the dry run of a study has under way at once: nothing of it waits for a core, and
#: ReFrame looks at all that are ready each time that one has ended.
DRY_RUN = 10_000 if sessions.listing() else 0
PRESENT = {name: family for name, family in KNOWN.items() if family.installed(STACK)}


def environ(family):
    return {
        "name": family.name,
        "modules": family.modules,
        "cc": str(family.compiler_in(STACK)),
        "features": [family.kind, family.name, *family.transports],
        "env_vars": [[k, v] for k, v in family.run_environment(STACK).items()],
    }


def load_modules():
    """ReFrame loads modules by the system that this shell has, unless the site names one. By
    itself it has none, and loads nothing, which is no error to it."""
    wanted = {name if isinstance(name, str) else name["name"]
              for has in [*(family.modules for family in PRESENT.values()),
                          *(one.get("modules", []) for one in SYSTEM["partitions"])]
              for name in has}
    if wanted and "modules_system" not in SYSTEM:
        SYSTEM["modules_system"] = installation.module_system() or sys.exit(
            f"cotejo: the site loads modules ({', '.join(sorted(wanted))}), and this shell has no "
            "module system (Lmod or Environment Modules)")


def with_chunks(partition):
    """A partition whose resources of chunks are in its extras: ReFrame would write a `select` of
    them alone into a job that asks for complete nodes."""
    chunk = allocation.resources(partition)
    if not chunk:
        return partition
    return {**partition, "extras": {**partition.get("extras", {}), "chunk": chunk},
            "access": [word for word in partition["access"] if word not in chunk]}


def systems():
    """The site's systems; a partition without `environs` gets every MPI of the stack."""
    load_modules()
    # Machines that share a stack measure at the same time: each has folders of its own.
    for place in ("stage", "output"):
        SYSTEM.setdefault(f"{place}dir", str(STACK / "reframe" / place / os.uname().nodename))
    SYSTEM.setdefault("max_local_jobs", 1)
    if DRY_RUN:
        SYSTEM["max_local_jobs"] = DRY_RUN
    for partition in SYSTEM["partitions"]:
        # A local launch with the MPI's own launcher has no job around it, whatever the shell says.
        partition["prepare_cmds"] = [
            environment.clearing(
                [*DECLARED, *KNOWN.values()], modules="modules_system" in SYSTEM,
                scheduler=partition["scheduler"] != "local" or binding.kind_of(
                    partition["launcher"], partition.get("extras", {})) != "library"),
            *partition.get("prepare_cmds", [])]
    SYSTEM["partitions"] = [with_chunks(allocation.adopt(partition))
                            for partition in allocation.partitions_here(SYSTEM["partitions"])]
    for partition in SYSTEM["partitions"]:
        wanted = partition.get("environs", [n for n, f in KNOWN.items() if not f.simulator])
        partition["environs"] = [name for name in wanted if name in PRESENT
                                 and PRESENT[name].started_by(binding.kind_of(
                                     partition["launcher"], partition.get("extras", {})))]
        if not partition["environs"] and len(SYSTEM["partitions"]) == 1:
            stop(f"partition {partition['name']!r}: launcher {partition['launcher']} "
                 f"starts none of its MPI libraries in {STACK} ({', '.join(wanted)})")
        if submission.needed():  # the job around a study is of no MPI
            partition["environs"].append("builtin")
        # Two launches at once would disturb each other.
        partition.setdefault("max_jobs", 1)
        if DRY_RUN:
            partition["max_jobs"] = DRY_RUN
        extras = partition.setdefault("extras", {})
        if binding.kind_of(partition["launcher"], extras) == "slurm":
            extras["srun_mpi"] = families.srun_interfaces(KNOWN, extras)
        partition["features"] = sorted({*partition.get("features", []),
                                        *backends.of(
                                            partition["name"], extras,
                                            partition["scheduler"] == "local").features()})
    return [SYSTEM]


def tests():
    """The files of tests. The first one measures where the command line chooses no tests."""
    folder = families.REPO / "reframe_tests"
    return [folder / ("allocated.py" if submission.needed() else "comparison.py"), *sorted(
        path for path in folder.glob("*.py") if path.stem not in scales.NO_JOBS)]


site_configuration = {
    "systems": systems(),
    "environments": [environ(f) for f in PRESENT.values()],
    "modes": [{"name": name, "options": words} for name, words in selection.MODES.items()],
    # `--list-stored-sessions`, `--performance-compare`; what is published is in results/.
    "storage": [{"enable": True, "sqlite_db_file": str(STACK / "reframe/results.db")}],
    "general": [
        {
            "check_search_path": [str(path) for path in tests()],
            "topology_prefix": str(STACK / "reframe/topology"),
            "report_file": str(STACK / "reframe/reports/run-{sessionid}.json"),
            "git_timeout": 2,
            # Launches are short, so polls may not be rare; but each takes some 2 ms of a core
            # that may be a rank's, so they may not be frequent either.
            "poll_rate_max": 30,
            "poll_rate_min": 15,
        }
    ],
    "logging": [
        {
            "level": "info",  # `selection.Printer` lowers it for -v
            "handlers": [
                {"type": "selection", "level": "info"},
                {
                    "type": "file",
                    "name": str(LOG),
                    # With debug2 every poll would write, at a cost that ranks would feel.
                    "level": "info",
                    "format": "[%(asctime)s] %(levelname)s: %(check_info)s: %(message)s",
                    "append": False,
                }
            ],
            "handlers$": [
                {"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"}
            ],
            "handlers_perflog": [
                {
                    "type": "filelog",
                    "prefix": "%(check_system)s/%(check_partition)s",
                    "basedir": str(STACK / "reframe/perflogs"),
                    "level": "info",
                    # Each figure of a launch: name=value, unit, and its reference with its bounds.
                    "format_perfvars": (
                        "%(check_perf_var)s=%(check_perf_value)s|%(check_perf_unit)s"
                        "|%(check_perf_ref)s|%(check_perf_lower_thres)s|%(check_perf_upper_thres)s|"
                    ),
                    "format": (
                        "%(check_job_completion_time)s|%(check_display_name)s|%(check_scale)s"
                        "|%(check_transport)s|%(check_placement)s|%(check_num_tasks)s"
                        "|%(check_environ)s"
                        "|%(check_executable)s|%(check_executable_opts)s|%(check_prerun_cmds)s"
                        "|%(check_result)s|%(check_perfvalues)s"
                    ),
                    "append": True,
                }
            ],
        }
    ],
}
