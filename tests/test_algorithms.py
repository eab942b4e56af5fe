# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms of collectives: listed by the library, set with all layers closed, proved to run."""

import importlib
import json
import os
import re
import subprocess
import types

import pytest

from reframe_tests import guidelines
from reframe_tests.base import Experiment
from reframe_tests.harness.launch import effects, messages, planning, scales, twins
from reframe_tests.harness.model import algorithm_settings, families, tuning_files
from tests.launching import BRIEF, FAMILIES, STACK, launch_once
from tests.test_factors import study

INSTALLED = [name for name in ("openmpi", "mpich", "intel-mpi")
             if (FAMILIES[name].prefix(STACK) / "lib/libcotejo_messages.so").exists()]
KIB32 = 1 << 15


def has(mpi):
    return pytest.mark.skipif(mpi not in INSTALLED, reason=f"{mpi} is not in the stack")


@pytest.mark.skipif(not INSTALLED, reason="no MPI in the stack")
@pytest.mark.parametrize("mpi", INSTALLED)
def test_the_library_lists_its_own_algorithms(mpi):
    found = algorithm_settings.offered(mpi, str(STACK))
    some = {"openmpi": {"ring", "rabenseifner"}, "mpich": {"ring", "recexch"},
            "intel-mpi": {"1", "2"}}[mpi]
    assert some <= set(found["allreduce"].names)
    assert {"bcast", "allgather", "alltoall", "barrier", "gather", "iallreduce"} <= set(found)
    assert not {"auto", "ignore", "0"} & set(found["allreduce"].names)
    with pytest.raises(tuning_files.TuningError, match="no algorithm 'nonsense'"):
        algorithm_settings.environment(
            FAMILIES[mpi], str(STACK), "algorithm_allreduce", "nonsense")


@pytest.mark.parametrize(("mpi", "layer"), [
    pytest.param("openmpi", ("coll_han_use_allreduce_algorithm",
                             "default, intra, simple, reproducible"), marks=has("openmpi")),
    pytest.param("mpich", ("MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM",
                           "mpir, release_gather, auto"), marks=has("mpich")),
    pytest.param("intel-mpi", ("I_MPI_ADJUST_ALLREDUCE_COMPOSITION", ""),
                 marks=has("intel-mpi"))])
def test_the_layers_that_decide_before_an_algorithm_are_listed(mpi, layer):
    found = algorithm_settings.offered(mpi, str(STACK))["allreduce"]
    assert layer in found.layers
    assert layer[0] not in dict(found.parameters)
    if mpi == "mpich":
        assert "2 NM only" in dict(found.layers)["MPIR_CVAR_ALLREDUCE_COMPOSITION"]


def test_a_library_that_lists_nothing_is_said_in_one_line(tmp_path):
    with pytest.raises(tuning_files.TuningError, match="lists no algorithms"):
        algorithm_settings.offered("openmpi", str(tmp_path))


def twin(mpi, folder, transport, sizes, requested="", *, ranks=4, operation="allreduce",
         **variables):
    """Algorithms of an operation in a launch whose messages are counted, by size; its output."""
    family = FAMILIES[mpi]
    selected = family.transports[transport].variables(family.prefix(STACK))
    setting = algorithm_settings.environment(
        family, str(STACK), f"algorithm_{operation}", requested) if requested else {}
    folder.mkdir(exist_ok=True)
    preload = families.preloaded("messages", family.prefix(STACK))
    done = launch_once(
        family, "collective", "--operation", operation, "--sizes", sizes, *BRIEF,
        "--start", "mpi-barrier", "--sync", "none", ranks=ranks, folder=folder,
        **{**selected, **algorithm_settings.counting(family, selected), **setting, **variables,
           "COTEJO_MESSAGES": "messages.json", "LD_PRELOAD": preload,
           "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"})
    output = done.stdout + done.stderr
    assert (folder / "messages.json").exists(), output[-2000:]
    counted = json.loads((folder / "messages.json").read_text())
    found = messages.of(counted, algorithm_settings.offered(mpi, str(STACK)),
                        {operation: [(0, requested)]} if requested else {})
    return {one["bytes"]: one for one in found if one["operation"] == operation}, output


@pytest.mark.parametrize(("mpi", "name"), [
    pytest.param("openmpi", "recursive_doubling", marks=has("openmpi")),
    pytest.param("openmpi", "ring", marks=has("openmpi")),
    pytest.param("mpich", "ring", marks=has("mpich")),
    pytest.param("mpich", "recursive_doubling", marks=has("mpich"))])
def test_an_algorithm_that_is_set_with_its_layers_closed_ran(mpi, name, tmp_path):
    found, output = twin(mpi, tmp_path, "tcp", "32Ki", name)
    assert name in found[KIB32]["algorithms"], (found, output[-500:])
    assert found[KIB32]["verdict"] in (messages.REQUESTED, messages.ALIKE)


@pytest.mark.parametrize(("mpi", "name"), [
    pytest.param("openmpi", "rabenseifner", marks=has("openmpi")),
    *(pytest.param("mpich", name, marks=has("mpich"))
      for name in ("reduce_scatter_allgather", "recursive_multiplying", "tree"))])
def test_an_algorithm_is_named_where_the_ranks_are_no_power_of_two(mpi, name, tmp_path):
    found, output = twin(mpi, tmp_path, "tcp", "48Ki", name, ranks=6)
    assert found[48 << 10]["algorithms"][0] == name, (found, output[-500:])


@has("mpich")
@pytest.mark.parametrize(("name", "algorithms"), [
    ("binomial", ["binomial"]), ("tree", ["tree", "pipelined_tree"]),
    ("pipelined_tree", ["pipelined_tree"])])
def test_a_tree_of_mpich_is_not_a_tree_that_others_draw(name, algorithms, tmp_path):
    """At 4 ranks its `tree` is the binomial tree of Open MPI."""
    found, _ = twin("mpich", tmp_path, "tcp", "32Ki", name, operation="bcast")
    assert found[KIB32]["algorithms"] == algorithms


@pytest.mark.parametrize(("mpi", "operation", "names", "variables"), [
    pytest.param("mpich", "bcast", ("tree", "pipelined_tree"), {
        "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": "65536"}, marks=has("mpich")),
    pytest.param("openmpi", "allreduce", ("basic_linear", "nonoverlapping"), {
        "OMPI_MCA_coll_tuned_reduce_algorithm": "linear",
        "OMPI_MCA_coll_tuned_bcast_algorithm": "basic_linear"}, marks=has("openmpi"))])
def test_partners_send_the_same_messages_with_other_parameters(
        mpi, operation, names, variables, tmp_path):
    """Although their messages differ with the default parameters, at 8 ranks."""
    one, other, default = (
        twin(mpi, tmp_path / f"{index}", "tcp", "32Ki", which, ranks=8, operation=operation,
             **chosen)[0][KIB32]
        for index, (which, chosen) in enumerate(
            [(names[0], {}), (names[1], variables), (names[1], {})]))
    assert {*names} <= {*one["algorithms"]}
    assert other["sends"] == one["sends"] != default["sends"]


@has("openmpi")
def test_trap_1_a_variable_without_dynamic_rules_changes_nothing(tmp_path):
    default, _ = twin("openmpi", tmp_path / "default", "shm", "32Ki")
    found, _ = twin("openmpi", tmp_path / "set", "shm", "32Ki",
                    OMPI_MCA_coll_tuned_allreduce_algorithm="ring")
    assert found[KIB32]["sends"] == default[KIB32]["sends"]
    assert "ring" not in found[KIB32]["algorithms"]


@has("openmpi")
def test_trap_2_a_ring_of_fewer_elements_than_ranks_is_recursive_doubling(tmp_path):
    found, _ = twin("openmpi", tmp_path, "shm", "8,32Ki", "ring")
    assert found[8]["verdict"] == messages.AS
    assert found[8]["algorithms"] == ["recursive_doubling"]
    assert "ring" in found[KIB32]["algorithms"]


@has("mpich")
def test_trap_3_shared_memory_of_mpich_gives_no_evidence(tmp_path):
    found, _ = twin("mpich", tmp_path, "shm", "8", ranks=2,
                    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM="ring")
    assert found[8]["verdict"] == messages.NO_EVIDENCE


@has("mpich")
@pytest.mark.parametrize("start", ["mpi-barrier", "windows"])
def test_mpich_changes_its_algorithm_before_the_first_timed_call(start, tmp_path):
    """Its shared memory has another algorithm after so many calls on a communicator."""
    family, stack = FAMILIES["mpich"], str(STACK)
    listed = subprocess.run([str(family.prefix(STACK) / "bin/cotejo-controls")], check=True,
                            env=family.process_environment(stack, os.environ),
                            stdout=subprocess.PIPE)
    assert b"is more than this threshold" in listed.stdout  # MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD
    launch_once(family, "collective", "--operation", "bcast", "--sizes", "8",
                "--min-repetitions", "1", "--max-repetitions", "1", "--sync-share", "1", "--late",
                "1", "--start", start, folder=tmp_path, COTEJO_MESSAGES="messages.json",
                LD_PRELOAD=families.preloaded("messages", family.prefix(STACK)))
    counted = json.loads((tmp_path / "messages.json").read_text())
    (calls,) = [call["calls"] for call in counted["calls"]
                if (call["operation"], call["bytes"]) == ("bcast", 8)]
    assert calls > 5 + 1  # with the timed call


@has("mpich")
def test_operations_with_counts_of_each_rank_have_their_size_and_forms(tmp_path):
    selected = FAMILIES["mpich"].transports["tcp"].variables(FAMILIES["mpich"].prefix(STACK))
    launch_once(FAMILIES["mpich"], "collective", "--operation",
                "alltoallv,reduce_scatter,scatterv,iallgatherv", "--sizes", "32Ki", *BRIEF,
                "--start", "mpi-barrier", "--sync", "none", "--compute", "0", ranks=4,
                folder=tmp_path,
                **{**selected, "COTEJO_MESSAGES": "messages.json", "LD_PRELOAD":
                   families.preloaded("messages", FAMILIES["mpich"].prefix(STACK))})
    found = messages.of(json.loads((tmp_path / "messages.json").read_text()), {})
    rows = {one["operation"]: one for one in found}
    for operation in ("alltoallv", "reduce_scatter", "scatterv", "iallgatherv"):
        assert rows[operation]["bytes"] == KIB32, operation
        assert "unnamed" not in rows[operation]["words"], rows[operation]["words"]


@pytest.mark.skipif(not INSTALLED, reason="no MPI in the stack")
def test_mock_ups_have_the_results_of_the_operations_that_they_replace(tmp_path):
    """The sampler checks every byte, with operands that do not commute and root 2."""
    done = launch_once(FAMILIES[INSTALLED[0]], "collective", "--operation", "mockups", "--sizes",
                       "8,104", "--root", "2", "--op", "compose", "--element", "int", *BRIEF,
                       "--start", "mpi-barrier", "--sync", "none", ranks=3, folder=tmp_path,
                       PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
    assert done.returncode == 0, done.stderr
    measured = {line.split()[0] for line in done.stdout.splitlines() if "_as_" in line}
    assert measured >= {  # the guidelines of ReproMPI (Hunold and Carpen-Amarie 2018)
        "allgather_as_gather_bcast", "allgather_as_allreduce", "allgather_as_alltoall",
        "allreduce_as_reduce_bcast", "allreduce_as_reduce_scatter_allgather",
        "allreduce_as_reduce_scatter_block_allgather", "bcast_as_allgatherv",
        "bcast_as_scatter_allgather", "gather_as_allgather", "gather_as_reduce",
        "reduce_as_allreduce", "reduce_as_reduce_scatter_gather",
        "reduce_as_reduce_scatter_block_gather", "reduce_scatter_as_allreduce",
        "reduce_scatter_as_reduce_and_scatterv", "reduce_scatter_block_as_reduce_scatter",
        "scan_as_exscan_reduce_local", "scatter_as_bcast"}


@pytest.mark.skipif(not INSTALLED, reason="no MPI in the stack")
@pytest.mark.parametrize("mpi", INSTALLED)
def test_guidelines_measure_each_operation_with_its_replacements(mpi, tmp_path):
    chosen = types.SimpleNamespace(family=FAMILIES[mpi], options={})
    guidelines.guidelines.choose_operations(chosen)
    done = launch_once(FAMILIES[mpi], "collective", "--operation", chosen.options["operation"],
                       "--sizes", "8", "--compute", "0", *BRIEF, "--start", "mpi-barrier",
                       "--sync", "none", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    measured = {line.split()[0] for line in done.stdout.splitlines() if line[:1].isalpha()}
    assert measured >= {"bcast", "ibcast", "bcast_init", "bcast_as_allgatherv", "alltoallw"}


@pytest.mark.skipif(not INSTALLED, reason="no MPI in the stack")
def test_mock_ups_which_copy_bytes_take_no_derived_datatypes(tmp_path):
    done = launch_once(FAMILIES[INSTALLED[0]], "collective", "--operation",
                       "scatter_as_bcast", "--sizes", "64", "--datatype", "vector", *BRIEF,
                       folder=tmp_path)
    assert done.returncode and "use --count-type int, --datatype byte" in done.stderr


#: Experiments that call collective operations: why the messages of these are not counted.
UNCOUNTED = {
    "communicators": "times the creation of communicators", "files": "times files",
    "memory": "times no operation", "startup": "times the start",
    "interference": "some of the ranks call the operation",
    "systematic-errors": "compares ways of measuring the same algorithm",
    "stencil": "a check alone", "threads": "a check alone",
    "fft": "times a program", "radix": "times a program", "nas": "times programs"}


def experiments_with_collectives():
    """Names of experiments whose source, or that of a file of their parts, calls collectives."""
    called = re.compile(r"MPI_I?(?:all|bcast|reduce(?!_local)|gather|scatter|scan|exscan)\w*\(",
                        re.I)
    named, found = {}, set()
    for path in sorted((families.REPO / "src/experiments").rglob("*.c")):
        text = path.read_text()
        named[path] = re.findall(r'const struct experiment \w+ = \{\s*\.name = "([^"]+)"', text)
        if [one for one in called.findall(text) if not one.lower().startswith("mpi_alloc")]:
            found.add(path)
    assert len(found) > 20
    return {name for path in found for other, names in named.items() for name in names
            if other == path or (not named[path] and other.parent == path.parent
                                 and other.stem.startswith(path.stem.partition("_")[0]))}


def test_every_comparison_of_collectives_names_the_algorithms():
    """Or the test declares why its messages are not counted."""
    modules = {importlib.import_module(f"reframe_tests.{path.stem}").__name__
               for path in (families.REPO / "reframe_tests").glob("*.py")
               if path.stem not in scales.NO_JOBS}
    tests = [test for test, _ in planning.tests_of(Experiment, modules).values()
             if any(test.experiment == known for known in twins.SUFFIXES)]
    counted = {test.__name__ for test in tests if not test.uncounted}
    assert counted >= {"devices_collectives", "lead", "collective_groups", "collective",
                       "alltoall_variants", "guidelines", "hosts", "arrivals"}
    assert {test.__name__ for test in tests} - counted >= {"placement_check", "simulated"}
    named = {name.partition("-")[0] if name.startswith("nas-") else name
             for name in experiments_with_collectives()}
    assert named == {*twins.SUFFIXES, *UNCOUNTED}


def test_a_twin_leaves_out_operations_that_cannot_be_counted():
    counted = twins.counted_operations
    assert counted("bcast,iallreduce,neighbor_alltoall") == "bcast,iallreduce"
    assert counted("persistent,-gather_init") == counted("neighbor") == ""
    words = counted("blocking,nonblocking,persistent,mockups,-gather_init,-scan").split(",")
    assert words[:4] == ["blocking", "nonblocking", "mockups", "-scan"]
    assert len(words[4:]) == 10 and {"-neighbor_alltoallw", "-ineighbor_allgather"} <= {*words}
    assert len(",".join(words)) < 256


@pytest.mark.alone
@has("openmpi")
def test_messages_are_counted_where_a_launch_has_operations_on_neighbours(tmp_path):
    log, found, _ = study(tmp_path, "--launches", "1", "--cells", "guidelines.*openmpi.shm",
                          tag="guidelines-check")
    (one,) = [record for record in found if record["status"] == "ok"]
    assert {"bcast", "iallgather"} <= {row["operation"] for row in one["algorithms"]}, log[-2000:]


@has("intel-mpi")
def test_trap_4_a_preset_that_is_no_preset_is_refused(tmp_path):
    _, output = twin("intel-mpi", tmp_path, "tcp", "32Ki", ranks=2, I_MPI_ADJUST_ALLREDUCE="99",
                     I_MPI_DEBUG="5")
    assert "ALLREDUCE=99, will be ignored" in FAMILIES["intel-mpi"].refusal(output)


@has("intel-mpi")
def test_trap_5_presets_that_fall_back_run_as_something_else(tmp_path):
    """Presets have no names. A preset with an algorithm of its own differs in its messages."""
    runs = {preset: twin("intel-mpi", tmp_path / preset, "tcp", "32Ki", preset)[0][KIB32]
            for preset in ("1", "2", "8", "12", "20", "32")}
    assert all(one["verdict"] == messages.AS for one in runs.values())
    # Presets that fall back send the messages of other presets.
    assert runs["20"]["digest"] == runs["32"]["digest"] == runs["1"]["digest"]
    # The tuning file of the processor decides what preset 12 becomes.
    assert runs["12"]["algorithms"] in (["reduce_bcast"], runs["1"]["algorithms"])
    assert runs["8"]["algorithms"] == ["ring"]
    assert runs["2"]["algorithms"] == ["rabenseifner"]
    assert runs["32"]["algorithms"] == ["recursive_doubling", "recursive_multiplying"]


def of_study(folder, setting, mpi="openmpi"):
    """The launch of a study that sets something, of two."""
    log, found, _ = study(folder, "--launches", "1", "--set", setting, "--cells",
                          f"collective_quick.*{mpi}.shm.*mpi-barrier", tag="collectives")
    (one,) = [record for record in found if record["asked"]["settings"]]
    assert one["status"] == "ok", (one["reason"], log[-2000:])
    return one


@pytest.mark.alone
@has("openmpi")
def test_a_study_shows_the_effect_of_an_algorithm_and_none_of_a_dead_variable(tmp_path):
    ring = of_study(tmp_path / "ring", "algorithm_allreduce=ring")
    assert ring["effects"]["algorithm_allreduce"]["status"] == effects.SHOWN
    rows = {(row["operation"], row["bytes"]): row for row in ring["algorithms"]}
    assert "ring" in rows["allreduce", 1 << 20]["algorithms"]
    assert rows["bcast", 8]["words"].startswith("ran as basic_linear")
    name = "OMPI_MCA_coll_tuned_allreduce_algorithm"
    dead = of_study(tmp_path / "dead", f"{name}=ring")
    assert dead["effects"][name]["status"] == effects.NONE_SHOWN


@pytest.mark.alone
@has("openmpi")
def test_a_collective_beside_messages_by_hand_names_its_algorithm(tmp_path):
    log, found, _ = study(tmp_path, "--launches", "1", "--cells",
                          "alltoall_variants.*openmpi.shm", tag="patterns-check")
    (one,) = [record for record in found if record["status"] == "ok"]
    rows = {row["operation"] for row in one["algorithms"]}
    assert rows == {"alltoall-collective"}, log[-2000:]
    assert all(row["words"].startswith("ran as ") for row in one["algorithms"])


@pytest.mark.alone
@has("mpich")
def test_trap_3_a_variable_below_a_layer_that_decides_first_has_no_effect_shown(tmp_path):
    name = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"
    one = of_study(tmp_path, f"{name}=ring", "mpich")
    assert one["effects"][name]["status"] == effects.NONE_SHOWN
    assert one["effects"][name]["evidence"]  # the library knows the variable
