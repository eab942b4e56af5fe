# SPDX-License-Identifier: BSD-3-Clause
"""Every algorithm that three libraries list, set and proved from its messages.

`make bench PART=algorithms`. Each launch sets one algorithm of every operation and counts the
messages of one call over TCP, on one host and on virtual hosts. An algorithm is proved, has
indistinguishable partners, was replaced by the library, or has messages without a closed form.
Each run is also labelled as every other algorithm whose messages differ: none of these labels may
pass.
"""

import collections
import json
import os
import pathlib
import subprocess
import tempfile

from bench.common import check_goals, parser_of, print_table, say, skip
from bench.launching import on_hosts
from reframe_tests.harness.backends import clusters
from reframe_tests.harness.launch import messages
from reframe_tests.harness.model import algorithm_settings, families
from reframe_tests.harness.study import tuning_search
from stack.build import environment

OPERATIONS = ("bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter", "barrier",
              "gather", "scatter")
LIBRARIES = ("openmpi", "mpich", "intel-mpi")
RANKS = (4, 8)
SIZE = 1 << 15
#: Share of algorithms without evidence or name, at most.
NAMELESS_MOST = 0.25
PROVED, ALIKE, REPLACED, UNNAMED, NO_EVIDENCE = (
    "proved", "indistinguishable", "ran as another", "unnamed pattern", "no evidence")


def launch(family, where, ranks, algorithms):
    """Operation -> its call in a launch with these algorithms; empty: the launch failed. `where`:
    the folder of the launch, and its virtual hosts, if any."""
    stack, (folder, hosts) = families.stack_prefix(), where
    file = folder / "messages.json"
    file.unlink(missing_ok=True)
    selected = family.transports["tcp"].variables(family.prefix(stack))
    preloaded = [families.preloaded(name, family.prefix(stack)) for name in ("messages", "yield")]
    env = {**environment(family, stack), **selected,
           **algorithm_settings.counting(family, selected)}
    for operation, name in algorithms.items():
        env.update(algorithm_settings.environment(
            family, str(stack), f"algorithm_{operation}", name))
    env.update(COTEJO_MESSAGES=str(file), PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
               LD_PRELOAD=":".join(preloaded))
    launcher = on_hosts(family, hosts, ranks) if hosts else ["mpirun", "-np", str(ranks)]
    try:
        subprocess.run(
            [*launcher, str(family.prefix(stack) / "bin/cotejo"), "collective",
             "--operation", ",".join(algorithms), "--sizes", str(SIZE), "--budget", "0",
             "--min-repetitions", "1", "--max-repetitions", "1", "--set-up", "0",
             "--start", "mpi-barrier", "--sync", "none"],
            env=env, cwd=folder, capture_output=True, timeout=90, stdin=subprocess.DEVNULL)
        counted = json.loads(file.read_text())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    # The benchmark calls some operations itself, with few bytes.
    return {call["operation"]: {**call, "source": counted["source"]}
            for call in counted["calls"]
            if call["bytes"] == SIZE or call["operation"] == "barrier"}


def ran(family, where, ranks, choices):
    """(operation, algorithm) -> the call that was counted, or None."""
    found = {}
    for algorithms in tuning_search.rounds({name: one.names for name, one in choices.items()}):
        calls = launch(family, where, ranks, algorithms)
        for operation, name in algorithms.items():
            # An algorithm that ends the program takes the others of its launch with it.
            alone = calls or launch(family, where, ranks, {operation: name})
            found[operation, name] = alone.get(operation)
    return found


def class_of(call, ranks, choice, name):
    """How far the messages of a call prove an algorithm, and the verdict in words."""
    if not call:
        return NO_EVIDENCE, "the launch failed"
    found = messages.verdict(call, ranks, call["source"], choice, name)
    words = messages.words(found, name)
    if found["verdict"] == messages.NO_EVIDENCE:
        return NO_EVIDENCE, words
    if found["verdict"] in (messages.REQUESTED, messages.ALIKE):
        return (PROVED if found["verdict"] == messages.REQUESTED else ALIKE), words
    if "unnamed" in words:
        return UNNAMED, words
    # Presets have numbers: the pattern of their messages is their name.
    return (PROVED if name.isdigit() else REPLACED), words


def wrong_labels(found, ranks, choices):
    """How many wrong labels were caught, how many verdicts name the right one as a partner, and of
    how many labels, all with other messages than the run."""
    counts = collections.Counter()
    for (operation, name), call in found.items():
        for label in choices[operation].names:
            other = found[operation, label]
            if not call or not other or messages.digest(call) == messages.digest(other):
                continue
            verdict = messages.verdict(call, ranks, call["source"], choices[operation], label)
            kind = ("caught" if verdict["verdict"] not in (messages.REQUESTED, messages.ALIKE)
                    else "partner" if name in verdict["algorithms"] else "passed")
            counts.update([kind, "tried"])
            if kind != "caught":
                print(f"bench: {operation} {name} labelled as {label}: {kind}", flush=True)
    return counts


def examine(family, where, ranks):
    """Prints the algorithms that ran under one library; returns the row of its table."""
    offered = algorithm_settings.offered(family.name, str(families.stack_prefix()))
    choices = {name: offered[name] for name in OPERATIONS if name in offered}
    found = ran(family, where, ranks, choices)
    case = f"{family.title}, {ranks} ranks on {'virtual hosts' if where[1] else 'one host'}"
    classes = collections.Counter()
    for (operation, name), call in found.items():
        kind, words = class_of(call, ranks, choices[operation], name)
        classes[kind] += 1
        print(f"bench: {case}: {operation} {name}: {kind}: {words}", flush=True)
    labels = wrong_labels(found, ranks, choices)
    caught = f"{labels['caught']} of {labels['tried']}"
    say(f"{case}: wrong labels are caught or named as partners",
        f"{caught}, {labels['partner']} partners", not labels["passed"])
    nameless = classes[UNNAMED] + classes[NO_EVIDENCE]
    say(f"{case}: algorithms without evidence or name",
        f"{nameless} of {len(found)}", nameless <= NAMELESS_MOST * len(found))
    return [case, len(found), *(classes[kind] for kind in (
        PROVED, ALIKE, REPLACED, UNNAMED, NO_EVIDENCE)), caught]


def rows_of(hosts):
    """The rows of all libraries on one host, or on virtual hosts."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in LIBRARIES:
            family = families.load()[name]
            if not family.installed(families.stack_prefix()):
                skip(f"algorithms of {family.title}", "not in the stack")
                continue
            rows += [examine(family, (pathlib.Path(folder), hosts), ranks) for ranks in RANKS]
    return rows


def main():
    os.environ["COTEJO_STACK"] = str(parser_of(__doc__).parse_args().stack)
    rows = rows_of(None)
    try:
        # Times do not matter, so that nothing is compared with the network's model.
        rows += rows_of(clusters.up("fast-ethernet", "algorithms", hosts=max(RANKS),
                                    companion=os.getpid(), verified=False))
    except clusters.BackendError as err:
        skip("algorithms on virtual hosts", err)
    finally:
        clusters.down("algorithms")
    print_table(["library", "algorithms", "proved", "indistinguishable", "ran as another",
                 "unnamed pattern", "no evidence", "wrong labels caught"], rows)


if __name__ == "__main__":
    check_goals(main)
