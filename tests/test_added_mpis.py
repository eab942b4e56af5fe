# SPDX-License-Identifier: BSD-3-Clause
"""An MPI that this machine does not have, by its file alone: from the site to the record."""

import ast
import re

import pytest

from reframe_tests.harness.commands import site_files
from reframe_tests.harness.model import declarations, families
from stack import verify
from tests import fake_mpi
from tests.fake_mpi import REFRAME, Fake, executable

needs_stack = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
CRAY = "MPI VERSION    : CRAY MPICH version 8.1.28.15 (ANL base 3.4a2)"


@needs_stack
def test_cray_is_started_by_srun_alone(tmp_path):
    fake = Fake(tmp_path, "cray-mpich", (CRAY, "PE 0: MPICH", [("n1", 0), ("n1", 1)]),
                launcher="srun",
                mpis="cray-mpich: {environment: {MPICH_NO_BUFFER_ALIAS_CHECK: '1'}}\n")
    executable(fake.prefix / "bin/cc", "#!/bin/sh\n")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      MPICH_SMP_SINGLE_COPY_MODE="NONE", MPICH_GPU_SUPPORT_ENABLED="1")
    assert [(r["status"], r["reason"]) for r in fake.records()] == [("ok", "")], output[-2000:]
    words, seen = fake.received("pingpong_")
    assert words[:6] == ["srun", "--nodes=1", "--ntasks=2", "--mpi=cray_shasta",
                         "--cpu-bind=map_cpu:0,1", "--ntasks-per-node=2"]
    assert words[6:9] == [f"{fake.prefix}/bin/cotejo", "pingpong", "--output"]
    assert {n: v for n, v in seen.items() if n.startswith(("MPICH_", "MPIR_"))} == {
        "MPICH_OFI_VERBOSE": "1", "MPICH_OFI_NIC_VERBOSE": "2", "MPIR_CVAR_NOLOCAL": "0",
        "MPICH_NO_BUFFER_ALIAS_CHECK": "1"}


@needs_stack
def test_cray_is_started_by_pals_where_there_is_no_slurm(tmp_path, monkeypatch):
    """mpiexec of HPE's PALS in a job of PBS, which was refused."""
    fake = Fake(tmp_path, "cray-mpich", (CRAY, "PE 0: MPICH", [("n1", 0), ("n1", 1)]),
                launcher="mpiexec", mpis="cray-mpich: {}\n")
    executable(fake.prefix / "bin/cc", "#!/bin/sh\n")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      PBS_JOBID="7.fake")
    assert [(r["status"], r["reason"]) for r in fake.records()] == [("ok", "")], output[-2000:]
    words, _ = fake.received("pingpong_")
    assert words[:7] == ["mpiexec", "-n", "2", "--ppn", "2", "--cpu-bind", "list:0:1"]
    assert words[7:9] == [f"{fake.prefix}/bin/cotejo", "pingpong"]
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path / "sites"))
    assert site_files.file_problems("fake") == []


@needs_stack
def test_cray_is_not_offered_where_only_its_own_launcher_could_start_it(tmp_path):
    fake = Fake(tmp_path, "cray-mpich", (CRAY, "", []))
    executable(fake.prefix / "bin/cc", "#!/bin/sh\n")
    assert ("partition 'compute': launcher mpirun starts none of its MPI libraries"
            in fake.run("-l", "-n", "^pingpong%scale=smoke"))


def test_the_compiler_of_cray_gets_our_sources(tmp_path, monkeypatch):
    cray, bin_ = families.load()["cray-mpich"], tmp_path / "mpi/cray-mpich/bin"
    executable(bin_ / "cc", '#!/bin/sh\necho "$*" > "$(dirname "$0")/words"\n')
    executable(bin_ / "srun", f'#!/bin/sh\necho "$*" > "$(dirname "$0")/started"\n'
                              f'for i in 1 2; do echo "size 2 library {CRAY}"; done\n')
    assert verify.check(cray, tmp_path, tmp_path) == "8.1.28.15"
    assert (bin_ / "words").read_text().split() == [
        "-O2", f"{tmp_path}/check-cray-mpich.c", "-o", f"{tmp_path}/check-cray-mpich"]
    assert (bin_ / "started").read_text().split()[:2] == ["--mpi=cray_shasta", "--ntasks=2"]


@needs_stack
def test_mvapich_is_like_mpich_and_told_from_it(tmp_path):
    fake = Fake(tmp_path, "mvapich", ("MVAPICH Version:      4.0", "libfabric provider: tcp",
                                      [("n1", 0), ("n1", 1)]))
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      MVP_BARRIER_INTRA_ALGORITHM="smp")
    assert [(r["status"], r["reason"]) for r in fake.records()] == [("ok", "")], output[-2000:]
    words, seen = fake.received("pingpong_")
    assert words[:5] == ["mpirun", "-np", "2", "-bind-to", "user:0,1"]
    assert "MVP_BARRIER_INTRA_ALGORITHM" not in seen
    assert seen["MPIR_CVAR_DEBUG_SUMMARY"] == "1"


OWN_LAUNCHER = """from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher


@register_launcher("aprun2")
class Aprun2(JobLauncher):
    def command(self, job):
        return ["aprun2", "-n", str(job.num_tasks)]
"""


@needs_stack
def test_a_site_brings_its_own_launcher_in_one_file(tmp_path, monkeypatch):
    fake = Fake(tmp_path, "mpich", ("MPICH Version:      5.0.2", "ch4 netmod: ofi",
                                    [("n1", 0), ("n1", 1)]),
                launcher="aprun2", more=', "extras": {"binding": "none", "options": ["-q"]}')
    executable(fake.prefix / "bin/mpirun", "#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path / "sites"))
    assert any("no launcher 'aprun2' is registered" in line
               for line in site_files.file_problems("fake"))
    (tmp_path / "sites/fake/launchers.py").write_text(OWN_LAUNCHER)
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files")
    (record,) = fake.records()
    words, _ = fake.received("pingpong_")
    assert words[:4] == ["aprun2", "-n", "2", "-q"], output[-2000:]
    assert record["asked"]["cpus"] == [0, 1]


@needs_stack
def test_a_second_open_mpi_is_one_entry_of_the_site(tmp_path):
    fake = Fake(tmp_path, "openmpi-4", (
        "Open MPI v4.1.8, package", "on-host: all connections are sm", [("a", 0), ("a", 1)]),
        mpis="openmpi: {}\nopenmpi-4: {like: openmpi, title: Open MPI 4.1, order: 6, "
             "transports: {shm: {environment: {OMPI_MCA_btl: 'vader,self'}}}}\n")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files")
    assert [(r["asked"]["mpi"], r["reason"]) for r in fake.records()] == [
        ("openmpi-4", "")], output[-2000:]
    _, seen = fake.received("pingpong_")
    assert seen["OMPI_MCA_btl"] == "vader,self"
    assert seen["OMPI_MCA_pml"] == "ob1"


def test_what_a_family_is_like_must_be_one(tmp_path):
    (tmp_path / "mpis.yaml").write_text("mine: {like: lovely}\n")
    with pytest.raises(declarations.DeclarationError, match="'lovely' is not another family"):
        families.of_site(tmp_path)
    (tmp_path / "mpis.yaml").write_text("mine: {}\n")
    with pytest.raises(declarations.DeclarationError, match="no MPI 'mine' is declared"):
        families.of_site(tmp_path)
    (tmp_path / "mpis.yaml").write_text("mpich: {enviroment: {A: '1'}}\n")
    with pytest.raises(declarations.DeclarationError, match="unknown key 'enviroment'"):
        families.of_site(tmp_path)
    (tmp_path / "mpis.yaml").write_text("a: {like: b}\nb: {like: a}\n")
    with pytest.raises(declarations.DeclarationError, match="not another family"):
        families.of_site(tmp_path)


def texts(path):
    """The texts in a file of Python that are no docstrings."""
    tree = ast.parse(path.read_text())
    said = {id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body
            and isinstance(node.body[0], ast.Expr)}
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
            and isinstance(node.value, str) and id(node) not in said]


def r_code(path):
    """A file of R without its comments."""
    return re.sub(r"(?m)^\s*#.*$", "", path.read_text())


def test_no_file_that_decides_anything_knows_the_name_of_an_mpi():
    words = "|".join([*map(re.escape, families.load()), "ompi", "impi"])
    names = re.compile(rf"(?<![\w-])({words})(?![\w-])")
    files = [path for folder in ("reframe_tests", "stack")
             for path in (families.REPO / folder).rglob("*.py")]
    knowing = {str(path.relative_to(families.REPO)) for path in files
               if any(names.search(text) for text in texts(path))}
    files = [*(families.REPO / "analysis/R").glob("*.R")]
    assert files
    knowing |= {str(path.relative_to(families.REPO)) for path in files
                if names.search(r_code(path))}
    assert knowing == set()


#: The added files: an MPI that is like no other MPI, and a transport of this MPI.
LATELY = """title: Lately
spack: lately
default: false
library: '^Lately MPI (?P<version>[0-9.]+)'
colour: "#117733"
order: 40
steered_by: [LATELY_]
bind: ["-on-cores", "{cpus}"]
environment: {LATELY_TELLS: "yes"}
transports: {shm: {environment: {LATELY_BY: memory}, evidence: "by memory"}}
"""
PIGEON = """title: carrier pigeon
reach: host
proof: {tcp: nothing}
families: {lately: {environment: {LATELY_BY: pigeon}, evidence: "by pigeon"}}
"""


@needs_stack
@pytest.mark.parametrize(("evidence", "status"), [
    ("carried by pigeon", "ok"), ("carried by snail", "marked")])
def test_an_mpi_a_transport_a_placement_and_a_site_are_added_by_a_file_each(
        tmp_path, evidence, status):
    """In a copy of the tree without other changes, from ReFrame's list to the record."""
    tree = fake_mpi.tree(tmp_path)
    for path, text in {"mpi_families/lately": LATELY, "mpi_transports/pigeon": PIGEON}.items():
        (tree / f"reframe_tests/{path}.yaml").write_text(text)
        assert len(text.splitlines()) <= 40
    fake = Fake(tmp_path / "there", "lately", (
        "Lately MPI 1.2.3", evidence, [("a", 0), ("a", 2)]), repo=tree,
        placements="near: {hosts: 1, cpus: [0, 1]}\napart: {hosts: 1, cpus: [0, 2]}\n",
        scale="transports: [pigeon]\n")
    site = tmp_path / "there/sites/fake"
    lines = [path.read_text().count("\n") for path in site.iterdir()]
    (site / "topology").mkdir()
    (site / "topology/compute.xml").write_text(
        (families.REPO / "tests/topologies/two-sockets.xml").read_text())
    assert sum(lines) <= 40
    output = fake.run("-r", "-n", "pingpong_affinity.*placement=apart", "--keep-stage-files",
                      LATELY_BY="snail", LATELY_SPEED="low")
    found = fake.records()
    assert len(found) == 1, output[-2500:]
    record = found[0]
    assert (record["id"], record["status"]) == (
        "pingpong_affinity.lately.pigeon.apart.compute.001", status), output[-2000:]
    assert ("pigeon" in record["reason"]) == (status == "marked")
    words, seen = fake.received("pingpong_affinity")
    assert words[:4] == ["mpirun", "-np", "2", "-on-cores"] and words[4] == "0,2"
    assert {n: v for n, v in seen.items() if n.startswith("LATELY_")} == {
        "LATELY_TELLS": "yes", "LATELY_BY": "pigeon"}


def test_what_is_added_is_one_short_file():
    """An MPI that the stack does not build, and a transport. For sites: tests/test_sites.py."""
    folder = families.REPO / "reframe_tests"
    added = [folder / f"mpi_families/{name}.yaml" for name, f in families.load().items()
             if not f.default]
    assert added
    for path in [*added, *folder.glob("mpi_transports/*.yaml")]:
        assert len(path.read_text().splitlines()) <= 40, path
