# SPDX-License-Identifier: BSD-3-Clause
"""Launches for tests: with the stack in use, two ranks on two cores, bounded in time."""

import csv
import json
import os
import pathlib
import re
import subprocess

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.backends import virtual_hosts
from reframe_tests.harness.model import families
from stack.build import environment, test_launcher
from tests import quiet

STACK = families.stack_prefix()
FAMILIES = families.load()
#: The MPI libraries that the stack has.
PRESENT = [f for f in FAMILIES.values() if (f.prefix(STACK) / "bin/cotejo").exists()]
#: The last words of the benchmark when its clocks failed their check, as on a busy machine.
DISTURBED = "or a quieter machine"
#: The number of attempts of such a launch: wrong clocks fail each time.
TRIES = 3
#: One sample of each operation, with clocks of any quality: for launches whose times are not used.
#: The default timer is examined for 50 ms or more, by each rank.
BRIEF = ["--budget=0", "--min-repetitions=1", "--max-repetitions=1", "--set-up=0",
         "--sync-share=1", "--late=1", "--timer=monotonic-raw"]
#: More ranks than cores, for launches that are checked and not measured.
CROWDED = {"OMPI_MCA_rmaps_default_mapping_policy": ":oversubscribe",
           "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
           "OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_PIN": "0", "I_MPI_WAIT_MODE": "1"}


def command_of(family, *words, ranks=2, guard_s=None, program=None, transport="shm", stack=STACK,
               **variables):
    """Command line and environment of the benchmark, or another program, under a family's
    launcher."""
    launcher = test_launcher(family).split(";") if ranks == 2 else ["mpirun"]
    if guard_s:
        launcher = [str(family.prefix(stack) / "bin/cotejo-guard"), str(guard_s), "-r",
                    "guard.json", *(w for name in family.shared_memory for w in ("-m", name)),
                    *launcher]
    env = {**environment(family, stack), **family.transports[transport].environment, **variables}
    program = program or family.prefix(stack) / "bin/cotejo"
    return [*launcher, "-np", str(ranks), str(program), *words], env


def launch_once(family, *words, folder=None, timeout=120, **options):
    """Runs the command of `command_of`.

    With `guard_s` the guard ends all ranks after so many seconds (status 124) and says so in
    the folder's `guard.json`.
    """
    command, env = command_of(family, *words, **options)
    return subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def records_in(results):
    """Descriptions of the launches in a results folder, by file name. The test is skipped
    (conftest.py) if a launch had no virtual network because the machine was busy."""
    records = [json.loads(path.read_text()) for path in sorted(results.glob("*/*/*.json"))]
    for record in records:
        if virtual_hosts.BUSY in record["reason"]:
            raise backends.BackendBusyError(record["reason"])
    return records


def interposer(family, name):
    """The library of src/tests/NAME.c, built for an MPI, to preload into its ranks."""
    return str(STACK / "build" / family.name / f"tests/lib{name}.so")


def preload_of(source, folder):
    """The library to preload from a source of this folder that needs no MPI, built in `folder`."""
    library = folder / f"{source}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library,
                    families.REPO / f"tests/{source}.c", "-ldl"], check=True)
    return str(library)


def keeping(family, ranks=2, LD_PRELOAD="", **_):
    """The libraries to preload into so many ranks: the test's own, and `keep` to keep cores."""
    keep = interposer(family, "keep")
    enough = ranks <= len(os.sched_getaffinity(0)) and os.path.exists(keep)
    return ":".join(filter(None, [keep if enough else "", LD_PRELOAD]))


def skip_if_busy():
    """Skips the test if the control shows a busy machine."""
    if words := quiet.busy(1e-3, 1.1, at=0.9):
        pytest.skip(words)


def launch(family, *words, **options):
    """`launch_once`, for launches that must succeed: repeated if the clocks were disturbed. If
    they were each time and the control shows a busy machine, the test is skipped."""
    options["LD_PRELOAD"] = keeping(family, **options)
    for _ in range(TRIES):
        done = launch_once(family, *words, **options)
        if done.returncode != 1 or DISTURBED not in done.stderr:
            return done
    skip_if_busy()
    return done


def batches_of(cases):
    """Cases in batches, since the launcher of Intel MPI has room for a thousand words."""
    batch = []
    for case in cases:
        if sum(map(len, batch)) + len(case) > 800:
            yield batch
            batch = []
        batch.append(case)
    yield batch


def launch_cases(family, cases, folder, **options):
    """Runs cases in one launch (src/tests/several.c), each to its end; in more if they are many.

    A case is the arguments of the benchmark, behind NAME=value for variables of this case and the
    following ones. `folder` is made for the output. Returns a `CompletedProcess` of each case,
    whose status is that of all ranks."""
    return [done for number, batch in enumerate(batches_of(cases))
            for done in launch_batch(family, batch, folder / str(number), **options)]


def launch_batch(family, cases, folder, timeout=400, LD_PRELOAD="", **options):
    folder.mkdir(parents=True)
    words = [word for case in cases for word in (*case, "+")][:-1]
    libraries = ":".join(filter(None, [interposer(family, "several"), LD_PRELOAD]))
    launched = launch_once(family, *words, timeout=timeout, COTEJO_CASES=str(folder), **options,
                           LD_PRELOAD=keeping(family, LD_PRELOAD=libraries, **options))
    for number, case in enumerate(cases):
        out, messages = ("".join(path.read_text() for path in sorted(folder.glob(
            f"{number}.{to}.*"))) for to in (1, 2))
        ended = re.findall(r"^case ended: (\d+)$", messages, re.M)
        assert len(ended) == options.get("ranks", 2) and len({*ended}) == 1, (
            case, messages, launched.stdout, launched.stderr)
        yield subprocess.CompletedProcess(case, int(ended[0]), out, messages)
    assert launched.returncode == 0, launched.stderr


def rows_of(path):
    """Samples in a file that the benchmark left: column -> text."""
    return list(csv.DictReader(path.read_text().splitlines()[1:]))


def measured(mpi, folder, *words, **variables):
    """Description and samples of a launch that must succeed, from a folder that it makes."""
    folder.mkdir(exist_ok=True)
    done = launch(mpi, *words, "--output", "samples", folder=folder, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "samples.json").read_text()), rows_of(folder / "samples.csv")


def measured_cases(family, folder, cases, **variables):
    """Description and samples of each of several cases in one launch, which must succeed. It is
    repeated if the clocks were disturbed, as by `launch`."""
    for attempt in range(TRIES):
        names = [folder / f"{attempt}-{number}" for number in range(len(cases))]
        found = launch_cases(family, [[*case, "--output", str(name)] for case, name in zip(
            cases, names, strict=True)], folder / f"cases-{attempt}", **variables)
        if not any(done.returncode == 1 and DISTURBED in done.stderr for done in found):
            break
    else:
        skip_if_busy()
    for done in found:
        assert done.returncode == 0, (done.args, done.stderr)
    return [(json.loads(name.with_suffix(".json").read_text()),
             rows_of(name.with_suffix(".csv"))) for name in names]


def unmapped(names):
    """The files of /dev/shm among these names that exist and that no process has mapped."""
    left = {name for name in names if os.path.exists(f"/dev/shm/{name}")}
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            text = maps.read_text(errors="replace") if left else ""
        except OSError:
            continue
        left = {name for name in left if f"/dev/shm/{name}" not in text}
    return left


def said(done, program="cotejo"):
    """The lines of a run in which the program itself reports a problem."""
    return [line for line in done.stderr.splitlines() if line.startswith(f"{program} ")
            or line.startswith(f"{program}:")]


def refuses(done, expected):
    """Checks that a run was refused with the status of bad usage and one line with `expected`."""
    assert len(said(done)) == 1, done.stderr
    assert expected in said(done)[0]
    assert done.returncode == 2


def refuses_each(family, cases, folder, **options):
    """`refuses` for each of several cases, (arguments, expected words), in one launch."""
    for (_, expected), done in zip(cases, launch_cases(
            family, [words for words, _ in cases], folder, **options), strict=True):
        refuses(done, expected)
