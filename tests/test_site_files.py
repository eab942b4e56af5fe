# SPDX-License-Identifier: BSD-3-Clause
"""Each file of a site that is wrong is named, in one line."""

import json

import pytest

from reframe_tests.harness.backends import placements
from reframe_tests.harness.commands import site_files
from reframe_tests.harness.launch import references
from reframe_tests.harness.model import ROOTS, declarations, sites

SLURM = """site_configuration = {{"systems": [{{"name": "big", "hostnames": ["x"], "partitions": [
    {{"name": "compute", "scheduler": "slurm", "launcher": "srun", {more}}}]}}]}}"""
GROUP = {"low_s": 1e-6, "median_s": 2e-6, "high_s": 3e-6, "launches": 5}
CELL = {"date": "2026-01-01T00:00:00Z", "state": dict.fromkeys(references.STATE, "x"),
        "groups": {"pingpong 1 B": GROUP}}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A sound site; gives its folder."""
    folder = tmp_path / "site_configs/big"
    (folder / "spack").mkdir(parents=True)
    (folder / "reframe.py").write_text(SLURM.format(more=""))
    (folder / "placements.yaml").write_text("near: {hosts: 1, cpus: [0, 1]}\n")
    monkeypatch.setattr(sites, "ROOTS", [tmp_path])
    placements.declared.cache_clear()
    yield folder
    placements.declared.cache_clear()


def slurm(more):
    return SLURM.format(more=more)


def test_a_site_needs_two_files_only(site):
    assert site_files.file_problems("big") == []


@pytest.mark.parametrize(("file", "text", "said"), [
    ("reframe.py", "site_configuration = {", "reframe.py: "),
    ("reframe.py", "import sys; sys.exit('no')", "reframe.py: no"),
    ("reframe.py", "sites = {}", "is not `site_configuration` with a list"),
    ("reframe.py", "site_configuration = {'systems': [{'name': 'x', 'partitions': []}]}",
     "partitions: [] is not a list of partitions"),
    ("reframe.py", "site_configuration = {'systems': [{'name': 'big'}]}",
     "systems: big: lacks `partitions`"),
    ("reframe.py", slurm("").replace('"launcher": "srun",', ""),
     "systems: big: partitions: compute: lacks `launcher`"),
    ("reframe.py", slurm("").replace('"hostnames": ["x"],', ""),
     "systems: big: lacks `hostnames`"),
    ("reframe.py", slurm("'environs': ['openmp']"), "no MPI 'openmp' is declared"),
    ("reframe.py", slurm("'extras': {'srun_mpi': {'open-mpi': 'pmix'}}"),
     "no MPI 'open-mpi' is declared"),
    ("reframe.py", slurm("'extras': {'srun_mpi': {'mpich': ''}}"),
     "extras: srun_mpi: mpich: '' is not an interface"),
    ("reframe.py", slurm("'extras': {'srun_mpi': 'pmix'}"),
     "extras: srun_mpi: 'pmix' is not an interface"),
    ("reframe.py", slurm("'extras': {'cluster': 'gigabyte', 'hosts': 2}"),
     "no cluster 'gigabyte'; there are"),
    ("reframe.py", slurm("'extras': {'cluster': 'gigabit'}"),
     "partitions: compute: extras: lacks `hosts`"),
    ("reframe.py", slurm("'extras': {'node': 4}"), "extras: unknown key 'node'; there are"),
    ("reframe.py", slurm("'extras': {'platform': 'ufpr2'}"), "no platform 'ufpr2'"),
    ("placements.yaml", "far: {policy: spread}", "no placement `near`"),
    ("placements.yaml", "near: {hosts: 1, cpus: two}", "near: cpus: 'two' is not `own`"),
    ("placements.yaml", "near: {hosts: 1, cpus: [0]}", "near: has no room for 2 ranks"),
    ("placements.yaml", "# nothing", "null is not placements by name"),
    ("scale.yaml", "launches: {fast: 3}", "launches: unknown key 'fast'"),
    ("scale.yaml", "launches: {quick: many}", "launches: quick: 'many'"),
    ("scale.yaml", "launches: 3", "launches: 3 is not a number for each scale"),
    ("scale.yaml", "largset: 65536", "unknown key 'largset'"),
    ("scale.yaml", "largest: 64Ki", "largest: '64Ki' is not a number of bytes"),
    ("scale.yaml", "transports: [shm, tpc]", "no transport 'tpc' is declared"),
    ("scale.yaml", "transports: shm", "transports: 'shm' is not a list"),
    ("scale.yaml", "[quick]", "is not launches, largest"),
    ("clusters.yaml", "fast: {hosts: 2, rates: [1e+6]}", "is read by nothing"),
    ("platforms/x.yaml", "nodes: 2", "is read by nothing"),
    ("references.json", "{", "not JSON"),
    ("references.json", json.dumps({"schema": references.SCHEMA}), "lacks `cells`"),
    ("references.json", json.dumps({"cells": {}}), "lacks `schema`"),
    ("references.json", json.dumps({"schema": references.SCHEMA,
                                    "cells": {"a": {**CELL, "state": {}}}}),
     "cells: a: state: lacks `kernel`"),
    ("references.json", json.dumps({"schema": references.SCHEMA, "cells": {
        "a": {**CELL, "groups": {"x": {"low_s": 1}}}}}), "cells: a: groups: x: lacks `high_s`"),
    ("spack/packages.yaml", "mpich: {}", "lacks `packages`"),
    ("spack/packages.yaml", "# nothing", "lacks `packages`"),
    ("spack/packages.yaml", "packages: {slurm: {externals: [{spec: ucx@1, prefix: /usr}]}}",
     "slurm: an external needs a `spec` of slurm"),
    ("spack/packages.yaml", "packages: {slurm: /usr}", "packages: slurm: '/usr' is not settings"),
])
def test_each_file_that_is_wrong_is_named(site, file, text, said):
    (site / file).parent.mkdir(exist_ok=True)
    (site / file).write_text(text + "\n")
    lines = site_files.file_problems("big")
    assert any(said in line for line in lines)
    assert all(line.startswith(file) and "\n" not in line for line in lines)


def test_a_system_is_called_after_its_folder(site):
    (site / "reframe.py").write_text(slurm("").replace('"name": "big"', '"name": "small"'))
    assert site_files.file_problems("big") == [
        "reframe.py: system 'small' must be called 'big', after the folder (one of several: "
        "big-SUFFIX)"]


def two_systems(other, partition, hosts="gpu[0-9]+"):
    return f"""
def system(name, hosts, partition):
    return {{"name": name, "hostnames": [hosts], "partitions": [
        {{"name": partition, "scheduler": "slurm", "launcher": "srun"}}]}}


site_configuration = {{"systems": [system("big", "login[0-9]", "compute"),
                                  system("{other}", "{hosts}", "{partition}")]}}
"""


def test_a_site_has_several_systems_and_the_host_decides(site, monkeypatch):
    (site / "reframe.py").write_text(two_systems("big-gpu", "gpu"))
    monkeypatch.delenv("COTEJO_SYSTEM", raising=False)
    assert site_files.file_problems("big") == []
    for host, name in (("login2", "big"), ("gpu17.example", "big-gpu")):
        monkeypatch.setattr(sites.socket, "gethostname", lambda host=host: host)
        assert sites.system(site)["name"] == name
    monkeypatch.setenv("COTEJO_SYSTEM", "big")
    assert sites.system(site)["partitions"][0]["name"] == "compute"
    monkeypatch.setenv("COTEJO_SYSTEM", "big-gpus")
    with pytest.raises(ValueError, match="no system 'big-gpus'; .*big-gpu"):
        sites.system(site)
    monkeypatch.delenv("COTEJO_SYSTEM")
    monkeypatch.setattr(sites.socket, "gethostname", lambda: "laptop")
    with pytest.raises(ValueError, match="no system is for host 'laptop'; set COTEJO_SYSTEM to "
                                         "one of big, big-gpu"):
        sites.system(site)


@pytest.mark.parametrize(("text", "said"), [
    (two_systems("gpu", "gpu"), "system 'gpu' must be called 'big'"),
    (two_systems("big", "gpu"), "two are called 'system big'"),
    (two_systems("big-gpu", "compute"), "two are called 'compute'"),
    (two_systems("big-gpu", "gpu", "gpu["), "hostnames: 'gpu[' is no regular expression")])
def test_systems_of_a_site_that_cannot_be_told_apart_are_refused(site, text, said):
    (site / "reframe.py").write_text(text)
    (line,) = site_files.file_problems("big")
    assert said in line


@pytest.mark.parametrize(("file", "text"), [
    ("scale.yaml", ""), ("scale.yaml", "# nothing is bounded\n"),
    ("scale.yaml", "launches: {quick: 3}\nlargest: 65536\ntransports: [tcp, llc]\n"),
    ("references.json", json.dumps({"schema": references.SCHEMA, "cells": {"a": CELL}})),
    ("reframe.py", slurm("'extras': {'srun_mpi': {'openmpi': 'pmix_v4'}}")),
])
def test_what_the_harness_takes_is_sound(site, file, text):
    (site / file).write_text(text)
    assert site_files.file_problems("big") == []


@pytest.mark.parametrize(("text", "said"), [
    ("hosts: 2", "lacks `rates`"), ("hosts: 1, rates: [1e+9]", "hosts: 1"),
    ("hosts: 2, rates: [fast]", "rates: 0: 'fast'"),
    ("hosts: 2, rates: [1e+9], mtu: -1", "mtu: -1"),
    ("hosts: 2, rates: [1e+9], kind: token-ring", "kind: 'token-ring'"),
    ("hosts: 2, rates: [1e+9], dilation: 0.5", "dilation: 0.5"),
    ("hosts: 2, rates: [1e+9], patience: long", "patience: 'long'"),
    ("hosts: 2, rates: [1e+9], behind: 1", "'behind' needs 'trunk'"),
    ("hosts: 2, rates: [1e+9], behind: 0, trunk: 1e+9", "behind: 0"),
    ("hosts: 2, rates: [1e+9], speed: 3", "unknown key 'speed'"),
])
def test_a_cluster_that_is_none(tmp_path, text, said):
    (tmp_path / "clusters.yaml").write_text(f"gigabit: {{{text}}}\n")
    with pytest.raises(declarations.DeclarationError) as wrong:
        sites.read(tmp_path, "clusters.yaml")
    (line,) = wrong.value.problems
    assert line.startswith(f"gigabit: {said}")


@pytest.mark.parametrize(("text", "said"), [
    ("link: {latency: 1e-6}", "link: {'latency': 1e-06} is not latency (s) and bandwidth (B/s)"),
    ("cells: 2", "lacks `between_cells`"), ("nodes: none", "nodes: 'none'"),
    ("frame: 1500", "frame: 1500 is not bytes and time"), ("speed: 3", "unknown key 'speed'"),
])
def test_a_platform_that_is_none(tmp_path, text, said):
    path = tmp_path / "simulated/platforms/x.yaml"
    path.parent.mkdir(parents=True)
    lines = ["title: x", "nodes: 2", "cores: 1", "memory: {latency: 0, bandwidth: 1e9}",
             "link: {latency: 0, bandwidth: 1e9}", text]
    path.write_text("\n".join({line.partition(":")[0]: line for line in lines}.values()))
    with pytest.raises(declarations.DeclarationError) as wrong:
        site_files.platform_problems(path)
    (line,) = wrong.value.problems
    assert line.startswith(said)


def test_every_site_of_the_repository_is_sound():
    for path in [path for root in ROOTS for path in (root / "site_configs").glob("*/reframe.py")]:
        assert site_files.file_problems(path.parent.name) == []
