# SPDX-License-Identifier: BSD-3-Clause
"""Launches for tests: with the stack in use, two ranks on two cores, bounded in time."""

import csv
import json
import os
import pathlib
import subprocess

import pytest

from reframe_tests.harness.backends import virtual_hosts
from reframe_tests.harness.model import families
from stack.build import environment, test_launcher
from tests import quiet

STACK = families.stack_prefix()
FAMILIES = families.load()
#: The MPI libraries that the stack has.
PRESENT = [f for f in FAMILIES.values() if (f.prefix(STACK) / "bin/cotejo").exists()]
#: What the benchmark says last when its clocks failed their check, as they do on a busy machine.
DISTURBED = "or a quieter machine"
#: Such a launch is made so often: clocks that are wrong fail each time.
TRIES = 3
#: One sample of each operation, at clocks of any quality: of launches whose times nobody looks at.
BRIEF = ["--budget", "0", "--min-repetitions", "1", "--max-repetitions", "1", "--set-up", "0",
         "--sync-share", "1", "--late", "1"]
#: More ranks than cores, for what is checked and not measured.
CROWDED = {"OMPI_MCA_rmaps_default_mapping_policy": ":oversubscribe",
           "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
           "OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_PIN": "0", "I_MPI_WAIT_MODE": "1"}


def command_of(family, *words, ranks=2, guard_s=None, program=None, **variables):
    """Command line and environment of the benchmark, or another program, under a family's
    launcher; transport: shared memory."""
    launcher = test_launcher(family).split(";") if ranks == 2 else ["mpirun"]
    if guard_s:
        launcher = [str(family.prefix(STACK) / "bin/cotejo-guard"), str(guard_s), "-r",
                    "guard.json", *(w for name in family.shared_memory for w in ("-m", name)),
                    *launcher]
    env = {**environment(family, STACK), **family.transports["shm"].environment, **variables}
    program = program or family.prefix(STACK) / "bin/cotejo"
    return [*launcher, "-np", str(ranks), str(program), *words], env


def launch_once(family, *words, folder=None, timeout=120, **options):
    """Runs what `command_of` says.

    With `guard_s` the guard ends all ranks after so many seconds (status 124) and says so in
    the folder's `guard.json`.
    """
    command, env = command_of(family, *words, **options)
    return subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def records_in(results):
    """Descriptions of the launches in a results folder, by file name. Where one had no virtual
    network because the machine was busy, the test is skipped (conftest.py)."""
    records = [json.loads(path.read_text()) for path in sorted(results.glob("*/*/*.json"))]
    for record in records:
        if virtual_hosts.BUSY in record["reason"]:
            raise virtual_hosts.ClusterBusyError(record["reason"])
    return records


def interposer(family, name):
    """src/tests/NAME.c as it is built for an MPI: what is preloaded into its ranks."""
    return str(STACK / "build" / family.name / f"tests/lib{name}.so")


def preload_of(source, folder):
    """A source of this folder that needs no MPI, built into another one: what is preloaded."""
    library = folder / f"{source}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library,
                    families.REPO / f"tests/{source}.c", "-ldl"], check=True)
    return str(library)


def keeping(family, ranks=2, LD_PRELOAD="", **_):
    """What is preloaded into so many ranks: what a test wants, and that they keep their cores."""
    keep = interposer(family, "keep")
    enough = ranks <= len(os.sched_getaffinity(0)) and os.path.exists(keep)
    return ":".join(filter(None, [keep if enough else "", LD_PRELOAD]))


def launch(family, *words, **options):
    """`launch_once`, for what need not fail: made again where the clocks were disturbed. Where
    they were each time the control says whether the machine is busy, and the test is skipped."""
    options["LD_PRELOAD"] = keeping(family, **options)
    for _ in range(TRIES):
        done = launch_once(family, *words, **options)
        if done.returncode != 1 or DISTURBED not in done.stderr:
            return done
    if words := quiet.busy(1e-3, 1.1, at=0.9):
        pytest.skip(words)
    return done


def rows_of(path):
    """Samples in a file that the benchmark left: column -> text."""
    return list(csv.DictReader(path.read_text().splitlines()[1:]))


def measured(mpi, folder, *words, **variables):
    """Description and samples of a launch that must succeed, from a folder that it makes."""
    folder.mkdir(exist_ok=True)
    done = launch(mpi, *words, "--output", "samples", folder=folder, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "samples.json").read_text()), rows_of(folder / "samples.csv")


def unmapped(names):
    """Those of these files of /dev/shm that are there and that no process has mapped."""
    left = {name for name in names if os.path.exists(f"/dev/shm/{name}")}
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            text = maps.read_text(errors="replace") if left else ""
        except OSError:
            continue
        left = {name for name in left if f"/dev/shm/{name}" not in text}
    return left


def said(done, program="cotejo"):
    """The lines of a run that the program itself wrote to tell what is wrong."""
    return [line for line in done.stderr.splitlines() if line.startswith(f"{program} ")
            or line.startswith(f"{program}:")]


def refuses(done, expected):
    """That a run was refused in one line of its own which says `expected`, as bad usage is."""
    assert len(said(done)) == 1, done.stderr
    assert expected in said(done)[0]
    assert done.returncode == 2
