# SPDX-License-Identifier: BSD-3-Clause
"""Every MPI family is declared whole, and its flags put ranks where they should be."""

import pytest

from reframe_tests.harness import families

ALL = families.load()


@pytest.mark.parametrize("family", ALL.values(), ids=ALL)
def test_flags_name_every_core(family):
    assert "5,3" in " ".join(family.flags("mpirun", [5, 3]))
    assert "2" in " ".join(family.flags("mpirun", [5, 3], hosts=2)).replace("5,3", "")


@pytest.mark.parametrize("family", ALL.values(), ids=ALL)
def test_slurm_binds_every_family_alike(family):
    assert family.flags("srun", [4, 6]) == ["--cpu-bind=map_cpu:4,6", "--ntasks-per-node=2"]


def test_ranks_with_threads_get_a_core_for_each():
    groups = [[0, 1], [2, 3]]
    assert "user:0+1,2+3" in ALL["mpich"].flags("mpirun", groups)
    assert "[0x3,0xc]" in ALL["intel-mpi"].flags("mpirun", groups)
    assert "ppr:2:node:pe=2" in ALL["openmpi"].flags("mpirun", groups)
    assert ALL["mpich"].flags("srun", groups) == [
        "--cpu-bind=mask_cpu:0x3,0xc", "--ntasks-per-node=2", "--cpus-per-task=2"]


@pytest.mark.parametrize("family", ALL.values(), ids=ALL)
def test_shared_memory_and_tcp_differ(family):
    shm, tcp = family.transports["shm"], family.transports["tcp"]
    assert shm.environment != tcp.environment
    assert shm.evidence != tcp.evidence


def test_an_unknown_launcher_is_refused():
    with pytest.raises(ValueError, match="launcher 'aprun'"):
        ALL["mpich"].flags("aprun", [0])


def test_a_broken_declaration_is_named(tmp_path):
    (tmp_path / "x.yaml").write_text("title: X\n")
    with pytest.raises(ValueError, match=r"x\.yaml: not a family declaration"):
        families.load(tmp_path)


def test_run_environment_is_in_the_prefix():
    variables = ALL["intel-mpi"].run_environment("/s")
    assert variables["PATH"].startswith("/s/mpi/intel-mpi/bin:")
    assert variables["I_MPI_ROOT"] == "/s/mpi/intel-mpi"
