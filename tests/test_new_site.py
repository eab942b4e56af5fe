# SPDX-License-Identifier: BSD-3-Clause
"""A new site from the reports of a machine: its topology from hwloc, and programs on PATH."""

import os
import runpy
import shutil

import pytest
import yaml

from reframe_tests.harness.backends import placements
from reframe_tests.harness.commands import new_site
from reframe_tests.harness.commands.site_files import file_problems
from reframe_tests.harness.machine import inventory, topology
from reframe_tests.harness.model import families, installation, sites
from reframe_tests.harness.model.placement import Place, Placement

TWO_SOCKETS = (families.REPO / "tests/topologies/two-sockets.xml").read_text()
DOMAIN = topology.Domain


def put(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts programs on a PATH on which there is nothing else."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    monkeypatch.delenv("MODULEPATH", raising=False)

    def write(name, text):
        put(tmp_path, f"bin/{name}", f"#!/bin/sh\n{text}")
        (tmp_path / "bin" / name).chmod(0o755)
    return write


def found_on(text=TWO_SOCKETS, scheduler=("slurm", ["batch", "debug"]), allowed=None, **more):
    return {"host": "login3.cluster-a", "topology": topology.parse(text, allowed), "xml": text,
            "scheduler": scheduler, "nodes": {"2:4:1": 2}, "externals": {},
            "modules": "lmod", "mpis": "openmpi: {modules: [openmpi/5.0.7]}\n", **more}


def partition_of(tmp_path, **found):
    (tmp_path / "reframe.py").write_text(new_site.reframe_py("x", found_on(**found)))
    site = runpy.run_path(str(tmp_path / "reframe.py"))["site_configuration"]
    return site["systems"][0]["partitions"][0]


def test_slurm_without_accounting_is_asked_otherwise(tmp_path, program):
    assert not inventory.has_accounting()
    program("sacct", "echo Slurm accounting storage is disabled >&2; exit 1")
    assert not inventory.has_accounting()
    program("sacct", "exit 0")
    assert inventory.has_accounting()
    assert partition_of(tmp_path, accounting=True)["scheduler"] == "slurm"
    assert partition_of(tmp_path, accounting=False)["scheduler"] == "squeue"


def test_hosts_that_are_one_machine_are_told(tmp_path):
    assert not inventory.is_virtual_host()
    assert "shared_cores" not in partition_of(tmp_path)["extras"]
    assert partition_of(tmp_path, shared_cores=True)["extras"] == {"nodes": 2,
                                                                  "shared_cores": True}


def test_a_new_site_says_what_was_not_found():
    text = new_site.reframe_py("x", found_on(externals={"cmake": {}}))
    assert "not found" not in text
    text = new_site.reframe_py("x", found_on(topology=made_of(DOMAIN(0, 0, [0])), mpis="",
                                             scheduler=("local", []), modules=""))
    assert ("# not found: a scheduler that answers, a module system, an MPI library of the "
            "machine, a network card, externals of Spack\n") in text


def made_of(*domains, cards=()):
    """A machine of such domains."""
    cores = [topology.Core((core,), d.package, d.numa) for d in domains for core in d.cores]
    return topology.Topology(cores, list(cards), len(cores), len(cores))


# Reports of hwloc

def test_cores_and_cards_of_two_sockets():
    there = topology.parse(TWO_SOCKETS)
    assert there.domains == [DOMAIN(0, 0, [0, 1, 2, 3]), DOMAIN(1, 1, [4, 5, 6, 7])]
    assert there.cards == [topology.Card("mlx5_0", "InfiniBand", 1),
                           topology.Card("eth0", "Ethernet", -1),
                           topology.Card("ib0", "Ethernet", 1)]


def test_cores_that_the_shell_may_not_use_are_left_out():
    there = topology.parse(TWO_SOCKETS, allowed={2, 3, 12, 13})
    assert there.domains == [DOMAIN(0, 0, [2, 3]), DOMAIN(1, 1, [12, 13])]
    assert (there.allowed, there.units) == (4, 16)


def test_hwloc_tells_of_this_machine(monkeypatch):
    for name in ("HWLOC_SYNTHETIC", "HWLOC_XMLFILE"):
        monkeypatch.delenv(name, raising=False)
    there = topology.here()
    cores = [core for domain in there.domains for core in domain.cores]
    assert cores and set(cores) <= os.sched_getaffinity(0)
    assert there.allowed == len(os.sched_getaffinity(0)) <= there.units
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {max(cores)})
    assert [d.cores for d in topology.here().domains] == [[max(cores)]]


def test_hwloc_of_another_machine(monkeypatch):
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:2 numa:2 core:3 pu:2")
    there = topology.parse(topology.xml())
    assert [(d.package, d.numa, len(d.cores)) for d in there.domains] == [
        (0, 0, 3), (0, 1, 3), (1, 2, 3), (1, 3, 3)]


def test_another_version_of_hwloc_is_one_line():
    with pytest.raises(topology.TopologyError, match="needs hwloc 2"):
        topology.parse("<topology><object type='Machine'/></topology>")


# Reports of programs on PATH

def test_an_mpi_on_path_is_listed_once(tmp_path, program, monkeypatch):
    program("mpicc", "")
    program("mpirun", "echo mpirun of Deep Thought 42")
    (tmp_path / "alias").symlink_to("bin")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{tmp_path}/alias")
    assert inventory.places() == [{"home": str(tmp_path)}]


def test_nodes_that_differ_are_counted_by_kind_that_of_this_host_first(program):
    small, large = "2 sockets x 32 cores x 2 threads", "2 sockets x 64 cores x 1 threads"
    assert inventory.nodes("slurm", ["batch"]) == {}
    program("sinfo", f"""case "$*" in *" -n "*) echo '{large}';;
*) printf '3 {small}\\n1 {large}\\n4 {small}\\n';; esac""")
    assert list(inventory.nodes("slurm", ["batch"]).items()) == [(large, 1), (small, 7)]
    program("sinfo", f"""case "$*" in *" -n "*) ;;
*) printf '1 {large}\\n7 {small}\\n';; esac""")
    assert list(inventory.nodes("slurm", ["batch"]).items()) == [(small, 7), (large, 1)]


@pytest.mark.parametrize("key", ["resources_available.ncpus", "np"])  # of PBS, of Torque
def test_nodes_of_pbs_are_counted_by_their_cores(program, monkeypatch, key):
    """A site for PBS had one node, and so nothing between two, without a word."""
    assert inventory.nodes("pbs", ["workq"]) == {}
    program("pbsnodes", f"""[ "$*" = -a ] || exit 1
for of in "a 64" "b 128" "c 64"; do set -- $of
printf '%s\\n     Mom = %s\\n     {key} = %s\\n     pcpus = 1\\n\\n' $1 $1 $2; done""")
    assert list(inventory.nodes("pbs", ["workq"]).items()) == [("64 cores", 2), ("128 cores", 1)]
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    assert list(inventory.nodes("pbs", ["workq"]).items()) == [("128 cores", 1), ("64 cores", 2)]


def test_a_site_has_the_nodes_of_one_kind_and_names_the_others(tmp_path):
    kinds = {"32 cores": 7, "64 cores": 1}
    for scheduler in ("slurm", "pbs"):
        found = partition_of(tmp_path, scheduler=(scheduler, []), nodes=kinds)
        assert found["extras"] == {"nodes": 4}  # 7 would be taken by each study
        said = (tmp_path / "reframe.py").read_text()
        assert "# Its nodes differ: 7 of 32 cores, 1 of 64 cores." in said
    assert partition_of(tmp_path, nodes={})["extras"] == {"nodes": 1}
    assert "differ" not in (tmp_path / "reframe.py").read_text()


def test_mpis_in_modules_and_installed_by_spack(tmp_path, program, monkeypatch):
    for name in ("openmpi/5.0.7", "mpi/intel/2021.17", "gcc/13.2.0"):
        put(tmp_path, f"modules/{name}", "#%Module")
    monkeypatch.setenv("MODULEPATH", f"{tmp_path}/modules:")
    program("spack", '[ "$1 $2" = "-E find" ] && echo /opt/mpich')
    assert inventory.places() == [{"modules": ["mpi/intel/2021.17"]},
                                  {"modules": ["openmpi/5.0.7"]}, {"home": "/opt/mpich"}]


def test_the_module_system_is_that_of_the_shell(program, monkeypatch):
    monkeypatch.delenv("LMOD_CMD", raising=False)
    assert installation.module_system() == ""
    program("modulecmd", "")
    assert installation.module_system() == "envmod"
    monkeypatch.setenv("LMOD_CMD", "/opt/lmod/libexec/lmod")
    assert installation.module_system() == "lmod"


def test_the_scheduler_is_the_one_that_answers(program):
    assert inventory.scheduler() == ("local", [])
    program("qstat", r'printf "Queue Max Tot\n----- --- ---\nworkq 0 0\nlong 0 0\n"')
    assert inventory.scheduler() == ("pbs", ["workq", "long"])
    program("sinfo", r'printf "debug\nbatch*\ndebug\n"')
    assert inventory.scheduler() == ("slurm", ["batch", "debug"])
    program("sinfo", "exit 1")  # installed, and no cluster behind it
    assert inventory.scheduler()[0] == "pbs"
    program("qstat", "exit 1")
    program("flux", "echo 12:00:00 run 3d")
    assert inventory.scheduler() == ("flux", [])
    program("qconf", "echo all.q")
    assert inventory.scheduler() == ("sge", ["all.q"])
    program("bqueues", r'printf "QUEUE_NAME PRIO STATUS\nnormal 30 Open:Active\n"')
    assert inventory.scheduler() == ("lsf", ["normal"])


def test_a_scheduler_that_does_not_answer_is_named(program, written):
    """Studies ran on the login node of such a cluster."""
    program("bsub", "exit 1")
    assert inventory.silent_schedulers() == ["bsub"]
    text = (written(found_on(scheduler=("local", []), silent=["bsub"])) / "reframe.py").read_text()
    assert "# bsub: installed, but no scheduler answers." in text


EXTERNALS = """\
packages:
  all:
    providers:
      mpi: [openmpi, mpich]
  openmpi:
    externals:
    - spec: openmpi@5.0.7 fabrics=ucx
      prefix: /opt/openmpi
  slurm:
    buildable: true
    externals:
    - spec: slurm@23.11.10
      prefix: /usr
  mpich:
    variants: [pmi=pmi2]
  cmake:
    externals:
    - spec: cmake@3.27
      prefix: /usr
"""


def test_externals_of_spack_that_are_mpis_or_below_them(program):
    assert inventory.externals() == {}
    program("spack", f"[ \"$*\" = '-E config get packages' ] && echo '{EXTERNALS}'")
    assert inventory.externals() == {
        "openmpi": {"buildable": False, "externals": [
            {"spec": "openmpi@5.0.7 fabrics=ucx", "prefix": "/opt/openmpi"}]},
        "slurm": {"buildable": False, "externals": [
            {"spec": "slurm@23.11.10", "prefix": "/usr"}]}}


# Written files

@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a site and looks at it as the harness would."""
    def write(found):
        site = tmp_path / "site_configs/big"
        (tmp_path / "site_configs/local/spack").mkdir(parents=True, exist_ok=True)
        shutil.copy(families.REPO / "site_configs/local/spack/packages.yaml",
                    tmp_path / "site_configs/local/spack/packages.yaml")
        monkeypatch.setattr(sites, "ROOTS", [tmp_path])
        placements.declared.cache_clear()
        new_site.write("big", found, site)
        return site
    yield write
    placements.declared.cache_clear()


def read(site):
    return yaml.safe_load((site / "placements.yaml").read_text())


def test_the_site_of_two_sockets_with_slurm(written):
    site = written(found_on())
    data = read(site)
    assert data["near"] == {"policy": "compact"}
    assert set(data) == {"near", "far", "per-numa", "packed", "spare", "one-per-host",
                         "one-per-host-far"} - (set() if "packed" in data else {"packed"})
    (system,) = runpy.run_path(str(site / "reframe.py"))["site_configuration"]["systems"]
    assert (system["name"], system["hostnames"]) == ("big", [r"login\d+\.cluster-a"])
    (partition,) = system["partitions"]
    assert (partition["scheduler"], partition["launcher"]) == ("slurm", "srun")
    assert partition["access"] == ["--partition=batch", "--exclusive"]
    assert partition["extras"] == {"nodes": 2}
    assert (site / "mpis.yaml").read_text() == "openmpi: {modules: [openmpi/5.0.7]}\n"
    assert file_problems("big") == []
    with pytest.raises(FileExistsError):
        written(found_on())


def nodes(count=2):
    return placements.Nodes("compute", {"nodes": count}, False, "big")


def test_a_new_site_has_ranks_for_all_cores_of_all_nodes(written):
    """Sites written by `make site` stopped at 2 ranks, without a word."""
    written(found_on())
    assert placements.counts(*nodes().rooms())[:3] == [2, 4, 8]
    assert nodes().resolve("near", 2) == Place([4, 5], 1)  # beside the card
    assert nodes().resolve("near", 8) == Place([4, 5, 6, 7, 0, 1, 2, 3], 1)
    assert nodes().resolve("near", 16) == Place([4, 5, 6, 7, 0, 1, 2, 3], 2)
    assert nodes().resolve("far", 2) == Place([4, 0], 1)
    assert nodes().resolve("far", 4) == Place([4, 0, 5, 1], 1)
    assert nodes().resolve("spare", 2) == Place([[4, 5], [6, 7]], 1)
    assert nodes().resolve("one-per-host", 2) == Place([4], 2)
    assert nodes().resolve("one-per-host-far", 2) == Place([0], 2)
    with pytest.raises(placements.PlacementError, match="no room for 32 ranks"):
        nodes().resolve("near", 32)


def test_each_placement_of_two_sockets_is_told_from_the_others(written):
    written(found_on())
    for name in set(placements.names("big")) - {"per-numa"}:
        nodes().resolve(name, nodes().distinguishing_ranks(name))  # equals no other
    with pytest.raises(placements.PlacementError, match="'per-numa' is 'far'"):
        nodes().resolve("per-numa", 2)


@pytest.mark.parametrize(("scheduler", "launcher"), [
    ("pbs", "mpirun"), ("local", "mpirun"), ("lsf", "mpirun"), ("sge", "mpirun"),
    ("flux", "flux")])
def test_other_schedulers(written, scheduler, launcher):
    site = written(found_on(scheduler=(scheduler, [])))
    (system,) = runpy.run_path(str(site / "reframe.py"))["site_configuration"]["systems"]
    assert system["partitions"][0]["launcher"] == launcher
    assert ("untried" in (site / "reframe.py").read_text()) == (scheduler != "local")
    assert ("one-per-host" in (site / "placements.yaml").read_text()) == (scheduler != "local")
    assert (site / "topology/compute.xml").exists() == (scheduler != "local")
    assert file_problems("big") == []


def test_far_is_in_another_package():
    there = made_of(*(DOMAIN(n // 2, n, [2 * n, 2 * n + 1]) for n in range(4)),
                    cards=[topology.Card("mlx5_0", "InfiniBand", 3)])
    assert Placement("far", policy="spread").cores(there, 4) == [6, 0, 2, 4]
    assert Placement("near", policy="compact").cores(there, 3) == [6, 7, 0]
    assert Placement("numa", policy="per-numa").room(there) == 4


def test_numa_nodes_of_unequal_size_lose_no_core():
    there = made_of(DOMAIN(0, 0, [0, 1]), DOMAIN(1, 1, [2, 3, 4, 5]))
    assert Placement("far", policy="spread").cores(there, 6) == [0, 2, 1, 3, 4, 5]


def test_hardware_threads_of_a_core_go_together():
    cores = [topology.Core((0, 2), 0, 0), topology.Core((1, 3), 0, 0)]
    there = topology.Topology(cores, [], 4, 4)
    assert Placement("packed", policy="siblings").cores(there, 4) == [0, 2, 1, 3]
    assert Placement("near", policy="compact").room(there) == 2


def test_cores_below_one_cache_are_near_and_those_of_two_far():
    cores = [topology.Core((n,), 0, 0, cache=n // 2) for n in range(4)]
    there = topology.Topology(cores, [], 4, 4)
    assert Placement("near", policy="compact").cores(there, 2) == [0, 1]
    assert Placement("far", policy="spread").cores(there, 2) == [0, 2]
    assert Placement("two", policy="spread").cores(there, 2, threads=2) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("scheduler", ["local", "slurm"])
def test_one_numa_node(written, scheduler):
    there = made_of(DOMAIN(0, 0, [0, 1, 2, 3]))
    data = read(written(found_on(topology=there, scheduler=(scheduler, []))))
    assert set(data) == {"near", "far", "spare"} | (
        {"one-per-host"} if scheduler == "slurm" else set())
    assert file_problems("big") == []


def test_a_shell_with_a_part_of_the_machine_is_told_of_it(written):
    text = (written(found_on(allowed={0, 1})) / "placements.yaml").read_text()
    assert "This shell may use 2 of the 16 hardware threads" in text
    assert "# but in topology/compute.xml, of which launches have all.\n" in text
    assert nodes().rooms() == (8, 16)


def test_what_was_found_is_written_in_lines_that_can_be_read(written):
    there = made_of(DOMAIN(0, 0, list(range(64))), DOMAIN(1, 1, list(range(64, 128))))
    lines = (written(found_on(topology=there)) / "placements.yaml").read_text().splitlines()
    assert max(map(len, lines)) <= 99
    assert "# package 0, NUMA node 0: cores 0-63" in lines


def test_a_policy_without_a_topology_says_how_to_get_one(written):
    site = written(found_on())
    (site / "topology/compute.xml").unlink()
    with pytest.raises(placements.PlacementError, match="on a node of the partition, run `lstopo"):
        nodes().resolve("near", 2)


def test_externals_are_data_of_the_new_site(written):
    slurm = {"buildable": False, "externals": [{"spec": "slurm@23.11", "prefix": "/usr"}]}
    site = written(found_on(externals={"slurm": slurm}))
    packages = yaml.safe_load((site / "spack/packages.yaml").read_text())["packages"]
    assert packages["slurm"] == slurm
    assert "target" in packages["all"]
    assert file_problems("big") == []


@pytest.mark.parametrize("mpis, name", [
    ("", "local"), ("# no MPI compiles\n", "local"), ("openmpi: {modules: [x]}\n", "big")])
def test_a_site_with_mpi_libraries_has_an_environment_of_its_own(mpis, name):
    """Without a scheduler it was that of `local`: a lock of `local` was taken without a word."""
    text = new_site.packages_yaml("big", found_on(scheduler=("local", []), mpis=mpis))
    assert yaml.safe_load(text)["packages"]["cotejo"] == {"require": [f"site={name}"]}


def test_mpi_libraries_of_spack_get_the_network_and_scheduler_of_a_cluster():
    def required(**found):
        packages = yaml.safe_load(new_site.packages_yaml("big", found_on(
            **{"mpis": "", **found})))["packages"]
        return {name: packages[name].get("require") for name in ("openmpi", "mpich")
                if name in packages}
    assert required()["openmpi"] == ["fabrics=ofi,ucx", "schedulers=slurm"]
    assert "+slurm" in required()["mpich"]
    assert "schedulers=tm" in required(scheduler=("pbs", ["q"]))["openmpi"]
    assert required(scheduler=("local", [])) == {}
    external = {"openmpi": {"buildable": False, "externals": []}}
    assert required(externals=external)["openmpi"] is None
    # mpis.yaml has the library, and is the source of its external.
    assert "openmpi" not in required(externals=external, mpis="openmpi: {modules: [openmpi/5]}\n")


def test_a_new_site_declares_each_library_once(written, capsys):
    entry = "openmpi-5.0.7: {like: openmpi, modules: [openmpi/5.0.7], version: 5.0.7}\n"
    site = written(found_on(mpis=entry, externals={
        "openmpi": {"buildable": False, "externals": [{"spec": "openmpi@5", "prefix": "/x"}]}}))
    assert "openmpi" not in yaml.safe_load((site / "spack/packages.yaml").read_text())["packages"]
    made = yaml.safe_load((site / "spack/mpis.yaml").read_text())
    assert made["packages"]["openmpi"]["externals"] == [
        {"spec": "openmpi@=5.0.7", "modules": ["openmpi/5.0.7"]}]
    assert file_problems("big") == []
    text = (site / "spack/packages.yaml").read_text().replace("packages:", (
        "packages:\n  openmpi: {externals: [{spec: openmpi@5, prefix: /x}]}"), 1)
    (site / "spack/packages.yaml").write_text(text)
    (said,) = file_problems("big")
    assert "openmpi: remove the externals, which follow from mpis.yaml" in said
    shutil.rmtree(site)
    written(found_on(mpis="openmpi: {home: /opt/openmpi}\n"))
    assert "Spack cannot use mpis.yaml" in capsys.readouterr().out
