# SPDX-License-Identifier: BSD-3-Clause
"""Twins: the same launch once more, untimed, with its messages counted.

One twin is made for each cell of a session, after the cell's first launch. If the cell sets
variables or algorithms, a second twin without them shows the default of the library.
"""

import re
import shlex

from ..machine import disk
from ..model import algorithm_settings, families, tuning_files
from . import effects, messages, sessions

#: One call of each operation is enough, without synchronised clocks.
BRIEF = {"budget": 0, "min-repetitions": 1, "max-repetitions": 1, "set-up": 0, "sync": "none",
         "start": "mpi-barrier"}
LIMIT_S = 60
#: Experiments that compare collective operations: name -> what it adds to their names.
SUFFIXES = {"collective": "", "alltoall-variants": "-collective"}
FILES = {"twin": "messages.json", "default": "messages-default.json"}


NEIGHBOURS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")


def counted_operations(words):
    """The operations of a twin, from those of its launch: without persistent calls, which the
    counting does not see, and without operations on neighbours, in which the monitoring of Open
    MPI 5.0.11 divides by zero. Empty: nothing is left."""
    kept = [word for word in words.split(",")
            if not re.search("neighbor|_init$|^persistent$", word)]
    if not any(word[:1] != "-" for word in kept):
        return ""
    return ",".join([*kept, *(
        f"-{prefix}neighbor_{name}" for group, prefix in (("blocking", ""), ("nonblocking", "i"))
        if group in kept for name in NEIGHBOURS)])


def wanted(cell):
    """Whether the last launches of the cell in this session have no twin yet."""
    return all(record.get("algorithms") is None for record in sessions.last_launches(cell))


def chosen_options(test):
    """The options of a launch with the operations of its twin, if any are left; else None."""
    options = test.chosen_options()
    if test.experiment != "collective":
        return options
    operations = counted_operations(options.get("operation", "blocking"))
    return {**options, "operation": operations} if operations else None


def _command(test, file, unset=()):
    """The command line of a twin, which never fails its launch."""
    request, launcher = test.request, test.job.launcher
    # ReFrame sets them when it writes the script, which is later.
    test.job.num_tasks = test.num_tasks
    test.job.num_tasks_per_node = test.num_tasks_per_node
    options = request.benchmark_options({**chosen_options(test), **BRIEF}, test.seed)
    start = launcher.run_command(test.job).replace("-r guard.json", f"-r guard-{file}", 1)
    words = [f"-u {name}" for name in unset]
    words += [f"{name}={value}" for name, value in request.counted_environment(file).items()]
    program = shlex.join([test.executable, test.experiment, *options])
    return (f"timeout {LIMIT_S * 2} env {' '.join(words)} {start} {program} "
            f">{file}.out 2>&1 || true")


def commands(test):
    """Command lines that make the twins of a launch, behind it."""
    if chosen_options(test) is None:
        return []
    found = [_command(test, FILES["twin"])]
    if test.request.level.values:
        found.append(_command(test, FILES["default"], test.request.set_names()))
    return found


def _ran(stage, file, choices, requested, wanted):
    """The algorithms of a twin, only for the operations and sizes that its launch measured."""
    try:
        counted = disk.read_json(stage / file)
    except (OSError, ValueError):
        return None
    named = {operation for operation, _ in wanted}
    return [row for row in messages.of(counted, choices, requested)
            if (row["operation"], row["bytes"]) in wanted
            or (row["operation"] in named and not row["bytes"])]


def _difference(ran, default):
    """The first operation whose messages differ between two twins, in words, or ''."""
    others = {(row["operation"], row["bytes"]): row for row in default or []}
    for row in ran:
        other = others.get((row["operation"], row["bytes"]))
        if other and row["digest"] != other["digest"]:
            return (f"{row['operation']} of {row['bytes']} B {row['words']}; "
                    f"without the setting it {other['words']}")
    return ""


def collect(test, record):
    """Adds to the record of a launch which algorithms ran, and what that shows of its settings."""
    level = test.request.level
    earlier = next((one for one in sessions.last_launches(test.cell) if one.get("algorithms")),
                   None)
    if earlier:
        record["algorithms"] = earlier["algorithms"]
        effects.show(record["effects"], {
            name: one["evidence"] for name, one in earlier["effects"].items()
            if one["status"] == effects.SHOWN})
        return
    requested = test.request.algorithms_set()
    try:
        choices = algorithm_settings.offered(test.family.name, str(families.stack_prefix()))
    except tuning_files.TuningError:
        choices = {}  # the messages are then named by their forms alone
    suffix = SUFFIXES[test.experiment]
    measured = {(row["operation"].removesuffix(suffix), row["bytes"])
                for row in record["summary"] or [] if row["operation"].endswith(suffix)}
    ran, default = (_ran(test.request.stage, FILES[which], choices, asked, measured)
                    for which, asked in (("twin", requested), ("default", {})))
    if ran is None:
        return
    record["algorithms"] = [{**row, "operation": row["operation"] + suffix} for row in ran]
    if level.values and (found := _difference(ran, default)):
        # The twins do not show which of several variables has the effect.
        names = [name for name, _ in level.values]
        together = f"{', '.join(names)} together: " if len(names) > 1 else ""
        effects.show(record["effects"], dict.fromkeys(names, together + found))


def problem(record, requested):
    """Why the algorithms that were set did not run at any size, or ''. Those without a closed form
    are not known to have run, nor not to have run."""
    for operation in requested:
        rows = [row for row in record.get("algorithms") or []
                if row["operation"].partition("-")[0] == operation and row["requested"]]
        others = [row for row in rows if messages.replaced(row)]
        if rows and len(others) == len(rows):
            return f"{operation} of {others[0]['bytes']} B {others[0]['words']}"
    return ""
