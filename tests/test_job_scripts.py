# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts of seven kinds of sites, as a dry run writes them, against files of tests/golden.

Each of those files cites the manual pages that its options follow, in lines with `##`. To write
them anew after a change: `COTEJO_GOLDEN=write pytest tests/test_job_scripts.py`, then review the
difference.
"""

import json
import os
import pathlib
import re

import pytest

from reframe_tests.harness.machine import topology
from reframe_tests.harness.model import binding, families
from tests.fake_mpi import REFRAME, Fake, executable, forked

pytestmark = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
GOLDEN = families.REPO / "tests/golden"
TWO_SOCKETS = "pack:2 numa:1 core:32 pu:2"
#: Lmod as ReFrame asks it.
LMOD = """#!/bin/sh
case "$*" in --version) echo 'Modules based on Lua: Version 8.7.2' >&2;; esac
"""
#: Site -> library, its modules, scheduler, launcher, further keys, topology, kinds of core, test.
SITES = {
    "slurm-infiniband": ("openmpi", ["gcc/13", "openmpi/5.0.8"], "slurm", "srun",
                         ', "access": ["--partition=standard", "--account=p1", "--exclusive"], '
                         '"features": ["infiniband"], "extras": {"nodes": 4, "card": "mlx5_0", '
                         '"options": {"all": ["--export=ALL"], "openmpi": ["--mem=0"]}}',
                         TWO_SOCKETS, (), "one-per-host.*infiniband"),
    "cray-ex": ("cray-mpich", ["PrgEnv-gnu", "cray-mpich/8.1.28"], "slurm", "srun",
                ', "access": ["--constraint=cpu"], "extras": {"nodes": 4, "options": '
                '["--network=single_node_vni"]}', TWO_SOCKETS, (), "near.*shm"),
    "pbs-pals": ("cray-mpich", ["cray-mpich/8.1.28"], "pbspro", "mpiexec",
                 ', "access": ["-q work", "model=rom_ait"], "extras": {"nodes": 4}',
                 TWO_SOCKETS, (), "one-per-host.*tcp"),
    "pbs-intel": ("intel-mpi", ["impi/2021"], "pbspro", "mpiexec",
                  ', "access": ["-q work"], "extras": {"nodes": 4, "binding": "library"}',
                  TWO_SOCKETS, (), "near.*shm"),
    "lsf-jsrun": ("openmpi", ["spectrum-mpi"], "lsf", "jsrun",
                  ', "access": ["-q batch", "-P p1"], "extras": {"nodes": 4}',
                  "pack:2 numa:1 core:21 pu:4", (), "one-per-host.*tcp"),
    "flux": ("openmpi", [], "flux", "flux", ', "extras": {"nodes": 4}', TWO_SOCKETS, (),
             "far.*shm"),
    "hybrid-workstation": ("mpich", [], "local", "mpirun", "", "pack:1 numa:1 core:12 pu:1",
                           ("0x00000ff0", "0x0000000f"), "near.*shm"),
    "container": ("mpich", [], "local", "mpirun", "",
                  "pack:1 numa:1 core:3 pu:1(indexes=6,34,140)", (), "near.*shm"),
}
PLACEMENTS = """near: {policy: compact}
far: {policy: spread}
one-per-host: {policy: one-per-node}
"""


def made(folder, name, monkeypatch):
    """The site of a name, and the request of a dry run on it."""
    mpi, modules, scheduler, launcher, more, synthetic, kinds, wanted = SITES[name]
    fake = Fake(folder, mpi, ("", "", []), launcher=launcher, scheduler=scheduler, more=more,
                modules=modules, placements=PLACEMENTS,
                scale="transports: [shm, tcp, infiniband]\n",
                **({"mpis": f"{mpi}: {{modules: {json.dumps(modules)}}}\n"} if modules else {}))
    executable(fake.prefix / "bin" / ("cc" if mpi == "cray-mpich" else "mpirun"), "#!/bin/sh\n")
    executable(folder / "lmod", LMOD)
    monkeypatch.setenv("HWLOC_SYNTHETIC", synthetic)
    xml = topology.xml().replace("</topology>", "".join(
        f'<cpukind cpuset="{cpuset}"/>' for cpuset in kinds) + "</topology>")
    (folder / "sites/fake/topology").mkdir()
    (folder / "sites/fake/topology/compute.xml").write_text(xml)
    environ = {key: text for key, text in os.environ.items()
               if not key.startswith(("SLURM", "PBS", "LSB", "FLUX", "HWLOC"))}
    return fake, [["reframe", "--dry-run", "-c", f"{families.REPO}/reframe_tests/site.py",
                   "-n", f"placement_check.*placement={wanted}( |$)"], {
        **environ, "COTEJO_SITE": "fake", "COTEJO_SITES": str(folder / "sites"),
        "COTEJO_STACK": str(fake.stack), "COTEJO_STUDY": "study", "LMOD_CMD": f"{folder}/lmod",
        "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")}]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The job script of each site, with the names of folders and processes replaced."""
    with pytest.MonkeyPatch.context() as patch:
        sites = {name: made(tmp_path_factory.mktemp(name), name, patch) for name in SITES}
    found = {}
    for name, (fake, request) in sites.items():
        _, output = forked(*request)
        paths = list(fake.stack.glob("reframe/stage/**/rfm_job.sh"))
        # jsrun reads the cores of the ranks from a file.
        bound = [f"# {path.name}\n{path.read_text()}" for one in paths
                 for path in one.parent.glob("*.erf")]
        found[name] = (plain(paths[0].read_text(), fake) + "".join(bound) if len(paths) == 1
                       else f"{len(paths)} scripts: {output}")
    return found


def plain(script, fake):
    script = script.replace(str(fake.folder), "FOLDER").replace(os.uname().nodename, "HOST")
    script = script.replace(str(families.REPO), "COTEJO")
    return re.sub(r" -w \d+ ", " -w PROCESS ", script)


@pytest.mark.parametrize("name", SITES)
def test_the_job_script_of_a_site_is_as_reviewed(scripts, name):
    path = GOLDEN / f"{name}.sh"
    kept = path.read_text() if path.exists() else ""
    cited = "".join(line for line in kept.splitlines(True) if line.startswith("##"))
    if os.environ.get("COTEJO_GOLDEN") == "write":
        path.write_text(cited + scripts[name])
    assert scripts[name] == kept.removeprefix(cited)
    assert "https://" in cited


def test_jsrun_reads_a_file_that_names_the_core_of_each_rank():
    assert binding.erf([[0, 4], [8, 12]], hosts=2) == (
        "cpu_index_using: physical\noverlapping-rs: allow\n"
        "rank: 0: { host: 1; cpu: {0,4} }\nrank: 1: { host: 1; cpu: {8,12} }\n"
        "rank: 2: { host: 2; cpu: {0,4} }\nrank: 3: { host: 2; cpu: {8,12} }\n")


def test_golden_files_are_of_these_sites():
    assert {path.stem for path in pathlib.Path(GOLDEN).glob("*.sh")} == {*SITES}
