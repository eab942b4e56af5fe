# SPDX-License-Identifier: BSD-3-Clause
"""A new site from what a machine tells; machines are folders shaped like /sys."""

import runpy

import pytest
import yaml

from reframe_tests.harness import machine, new_site, placements, sessions, site_files


def put(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n")


@pytest.fixture
def two_sockets(tmp_path):
    """Two NUMA nodes of 4 cores with 2 threads each, an InfiniBand card on the second."""
    put(tmp_path, "devices/system/node/node0/cpulist", "0-3,8-11")
    put(tmp_path, "devices/system/node/node1/cpulist", "4-7,12-15")
    for cpu in range(16):
        first = cpu % 8
        put(tmp_path, f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list",
            f"{first},{first + 8}")
    put(tmp_path, "class/infiniband/mlx5_0/device/numa_node", "1")
    put(tmp_path, "class/net/eth0/device/numa_node", "-1")
    (tmp_path / "class/net/lo").mkdir()
    return tmp_path


def found_on(root, scheduler=("slurm", ["batch", "debug"])):
    return {"host": "login3.cluster-a", "cores": machine.cores_by_numa(root),
            "cards": machine.cards(root), "scheduler": scheduler,
            "mpis": ["module: openmpi/5.0.7"]}


def test_cores_and_cards_of_two_sockets(two_sockets):
    assert machine.cores_by_numa(two_sockets) == {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}
    assert machine.cards(two_sockets) == [machine.Card("mlx5_0", "InfiniBand", 1),
                                          machine.Card("eth0", "Ethernet", -1)]


def test_a_machine_without_numa_nodes(tmp_path):
    put(tmp_path, "devices/system/cpu/online", "0-2")
    assert machine.cores_by_numa(tmp_path) == {0: [0, 1, 2]}


def test_an_mpi_on_path_is_listed_once_by_what_it_says(tmp_path, monkeypatch):
    put(tmp_path, "bin/mpicc", "")
    put(tmp_path, "bin/mpirun", "#!/bin/sh\necho mpirun of Deep Thought 42")
    (tmp_path / "bin/mpirun").chmod(0o755)
    (tmp_path / "alias").symlink_to("bin")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{tmp_path}/alias")
    monkeypatch.delenv("MODULEPATH", raising=False)
    assert machine.mpis() == [f"on PATH: {tmp_path}/bin/mpicc (mpirun of Deep Thought 42)"]


@pytest.fixture
def written(two_sockets, tmp_path, monkeypatch):
    """Writes a site and looks at it as the harness would."""
    def write(found):
        site = tmp_path / "site_configs/big"
        (tmp_path / "site_configs/local/spack").mkdir(parents=True, exist_ok=True)
        put(tmp_path, "site_configs/local/spack/packages.yaml", "packages: {}")
        monkeypatch.setattr(sessions, "REPO", tmp_path)
        placements.declared.cache_clear()
        new_site.write("big", found, site)
        return site
    yield write
    placements.declared.cache_clear()


def test_the_site_of_two_sockets_with_slurm(two_sockets, written):
    site = written(found_on(two_sockets))
    data = yaml.safe_load((site / "placements.yaml").read_text())
    assert data["near"] == {"hosts": 1, "cpus": [4, 5]}  # beside the card
    assert data["far"] == {"hosts": 1, "cpus": [4, 0]}
    assert data["scatter"]["cpus"] == [0, 4, 1, 5, 2, 6, 3, 7]
    assert data["one-per-host"] == {"hosts": 2, "cpus": [4]}
    assert data["one-per-host-far"] == {"hosts": 2, "cpus": [0]}
    (system,) = runpy.run_path(str(site / "reframe.py"))["site_configuration"]["systems"]
    assert (system["name"], system["hostnames"]) == ("big", [r"login\d+\.cluster-a"])
    (partition,) = system["partitions"]
    assert (partition["scheduler"], partition["launcher"]) == ("slurm", "srun")
    assert partition["access"] == ["--partition=batch", "--exclusive"]
    assert "module: openmpi/5.0.7" in (site / "reframe.py").read_text()
    assert site_files.file_problems("big") == []
    with pytest.raises(FileExistsError):
        written(found_on(two_sockets))


@pytest.mark.parametrize(("scheduler", "launcher"), [("pbs", "mpirun"), ("local", "mpirun")])
def test_other_schedulers(two_sockets, written, scheduler, launcher):
    site = written(found_on(two_sockets, (scheduler, [])))
    (system,) = runpy.run_path(str(site / "reframe.py"))["site_configuration"]["systems"]
    assert system["partitions"][0]["launcher"] == launcher
    assert ("one-per-host" in (site / "placements.yaml").read_text()) == (scheduler != "local")
    assert site_files.file_problems("big") == []


@pytest.mark.parametrize(("file", "text", "said"), [
    ("reframe.py", "site_configuration = {", "reframe.py: "),
    ("reframe.py", "site_configuration = {'systems': [{'name': 'x', 'partitions': []}]}",
     "the one system must be called 'big'"),
    ("placements.yaml", "far: {hosts: 1, cpus: auto}", "no placement `near`"),
    ("placements.yaml", "near: {hosts: 1, cpus: two}", "`cpus` must be"),
    ("scale.yaml", "launches: {fast: 3}", "unknown scale 'fast'"),
    ("references.json", "{", "not JSON"),
    ("spack/packages.yaml", "mpich: {}", "no `packages:`"),
])
def test_each_file_that_is_wrong_is_named(two_sockets, written, file, text, said):
    site = written(found_on(two_sockets))
    (site / file).write_text(text + "\n")
    (line,) = site_files.file_problems("big")
    assert said in line
    assert line.startswith(file)


def test_every_site_of_the_repository_is_sound():
    for path in (sessions.REPO / "site_configs").glob("*/reframe.py"):
        assert site_files.file_problems(path.parent.name) == []
