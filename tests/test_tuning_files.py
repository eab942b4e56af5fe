# SPDX-License-Identifier: BSD-3-Clause
"""Tuning files of each MPI library: what they hold for, and what a library makes of them."""

import json

import pytest

from reframe_tests.harness.model import algorithm_settings, tuning_files
from reframe_tests.harness.study import tuning_search
from tests.launching import BRIEF, FAMILIES, STACK, launch_once
from tests.test_algorithms import KIB32, has, twin


def test_a_file_of_algorithms_is_read_as_it_was_written(tmp_path):
    path, rules = tmp_path / "x.env", {"bcast": [(0, ""), (1024, "ring"), (8192, "")]}
    path.write_text(tuning_files.text_of(FAMILIES["mpich"], {"A_B": "c=d"}, rules, ["a line"]))
    assert tuning_files.read(path) == ({"A_B": "c=d"}, rules)
    at = [tuning_files.algorithm_at(rules["bcast"], size) for size in (8, 1024, 8191, 8192)]
    assert at == ["", "ring", "ring", ""]
    path.write_text("nonsense\n")
    with pytest.raises(tuning_files.TuningError, match="is not NAME=VALUE"):
        tuning_files.read(path)


def rendered(mpi, folder, rules):
    """The variables that select rules for 4 ranks, with the files that they name."""
    offered = algorithm_settings.offered(mpi, str(STACK))
    variables, files = tuning_files.render(
        FAMILIES[mpi], offered, rules, 4, folder / f"{mpi}.env")
    for file, text in files.items():
        file.write_text(text)
    return variables, files


@pytest.mark.parametrize(("mpi", "operation", "name"), [
    # The library's own choices are Rabenseifner's algorithm for 32 KiB, and another one for 8 B.
    pytest.param("openmpi", "allreduce", "ring", marks=has("openmpi")),
    # A gather and the broadcast that the library chooses.
    pytest.param("openmpi", "allgather", "linear", marks=has("openmpi")),
    pytest.param("mpich", "allreduce", "recursive_doubling", marks=has("mpich")),
    # MPICH knows the size of all blocks of these, and that of one block of the others.
    pytest.param("mpich", "allgather", "ring", marks=has("mpich")),
    pytest.param("mpich", "alltoall", "brucks", marks=has("mpich"))])
def test_a_rule_of_a_tuning_file_holds_for_its_sizes_and_its_number_of_ranks(
        mpi, operation, name, tmp_path):
    variables, _ = rendered(mpi, tmp_path, {operation: [(0, ""), (1024, name), (65536, "")]})

    def ran(folder, sizes, ranks=4, **variables):
        return twin(mpi, tmp_path / folder, "tcp", sizes, ranks=ranks, operation=operation,
                    **variables)

    default, _ = ran("default", "8,32Ki,64Ki")
    found, output = ran("ran", "8,32Ki,64Ki", **variables)
    assert name in found[KIB32]["algorithms"], (found, output[-500:])
    assert name not in default[KIB32]["algorithms"]
    assert [found[size]["digest"] for size in (8, 65536)] == [
        default[size]["digest"] for size in (8, 65536)]
    for ranks in (3, 5):
        there, default = (ran(f"{ranks}-{len(which)}", "32Ki", ranks, **which)[0][KIB32]["sends"]
                          for which in (variables, {}))
        assert there == default, ranks


@has("intel-mpi")
def test_a_preset_of_intel_mpi_holds_for_its_sizes_and_replaces_the_default_at_all_sizes(tmp_path):
    assert not tuning_files.keeps_default(FAMILIES["intel-mpi"])
    variables, _ = rendered("intel-mpi", tmp_path, {"allreduce": [(0, "2"), (1024, "8")]})
    found, _ = twin("intel-mpi", tmp_path, "tcp", "512,32Ki", **variables)
    assert found[512]["algorithms"] == ["rabenseifner"]
    assert found[KIB32]["algorithms"] == ["ring"]
    # The reason: a preset takes effect outside of its range, too.
    alone, _ = rendered("intel-mpi", tmp_path, {"allreduce": [(64, "8"), (128, "")]})
    found, _ = twin("intel-mpi", tmp_path / "alone", "tcp", "32Ki", **alone)
    assert found[KIB32]["algorithms"] == ["ring"]


@has("mpich")
def test_the_decision_tree_of_the_library_is_edited_as_a_whole(tmp_path):
    rules = {"allreduce": [(0, ""), (1024, "reduce_scatter_allgather")]}
    _, files = rendered("mpich", tmp_path, rules)
    tree = json.loads(next(iter(files.values())))
    sizes = tree["collective=allreduce"]["comm_type=intra"]["comm_size<=4"]
    assert list(sizes) == ["avg_msg_size<=1023", "avg_msg_size=any"]
    # The library does not check a rule: conditions other than sizes stay.
    of_ops = sizes["avg_msg_size=any"]
    assert list(of_ops["is_op_built_in=no"]) == [
        "algorithm=MPIR_Allreduce_intra_recursive_doubling"]
    assert of_ops["is_op_built_in=yes"]["count=any"] == {
        "algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}
    assert "reduce_scatter" not in json.dumps(of_ops["is_op_built_in=yes"]["count<pow2"])
    assert len(tree) > 10  # the trees of all other operations


@has("mpich")
def test_an_algorithm_for_any_number_of_ranks_also_runs_with_a_power_of_two(tmp_path):
    """MPICH itself runs recursive doubling with 4 ranks and Bruck's algorithm with 3."""
    variables, files = rendered("mpich", tmp_path, {"allgather": [(0, "brucks")]})
    tree = json.loads(next(iter(files.values())))
    assert tree["collective=allgather"]["comm_type=intra"]["comm_size<=4"] == {
        "total_msg_size=any": {"algorithm=MPIR_Allgather_intra_brucks": {}}}
    found, _ = twin("mpich", tmp_path, "tcp", "1Ki", operation="allgather", **variables)
    assert next(iter(found.values()))["algorithms"][0] == "brucks"


@has("mpich")
def test_every_algorithm_that_a_tree_of_mpich_may_name_runs(tmp_path):
    """Others end or hang the program: their parameters are missing, or they are not checked."""
    family, offered = FAMILIES["mpich"], algorithm_settings.offered("mpich", str(STACK))
    names = {operation: found for operation, found in tuning_files.settable(
        family, offered).items() if operation in tuning_search.OPERATIONS and found}
    assert len(names) == len(tuning_search.OPERATIONS)
    assert "tree" not in names["allreduce"] and "smp" not in names["bcast"]
    for rules in tuning_search.rounds(names):
        variables, _ = rendered("mpich", tmp_path, {
            operation: [(0, name)] for operation, name in rules.items()})
        done = launch_once(family, "collective", "--operation", ",".join(rules), "--sizes",
                           "8,32Ki", *BRIEF, "--start", "barrier", "--sync", "none",
                           ranks=4, **variables)
        assert done.returncode == 0, (rules, (done.stdout + done.stderr)[-2000:])
