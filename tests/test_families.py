# SPDX-License-Identifier: BSD-3-Clause
"""Every MPI family is declared completely, and its flags put ranks where they should be."""

import os
import subprocess
import time

import pytest

from reframe_tests.harness.model import declarations, families
from stack.build import environment
from tests.launching import STACK

ALL = families.load()
#: The families that have a launcher of their own.
LAUNCHING = {name: family for name, family in ALL.items() if family.launcher}

# Called like ssh: stays on this machine and passes on the name of the host.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
export HOST_ASKED="$1"; shift
exec sh -c "$*"
"""


@pytest.mark.parametrize("family", LAUNCHING.values(), ids=LAUNCHING)
def test_flags_name_every_core(family):
    assert "5,3" in " ".join(family.flags("mpirun", [5, 3]))
    assert "5,3" in " ".join(family.flags("mpirun", [5, 3], hosts=2))


def test_mvapich_does_not_tune_itself_during_a_launch():
    assert ALL["mvapich"].environment["MPIR_CVAR_ENABLE_DYNAMIC_TUNING"] == "0"


def test_several_ranks_on_each_of_several_hosts(mpi, tmp_path):
    cores = sorted(os.sched_getaffinity(0))[:2][::-1]
    if len(cores) < 2:
        pytest.skip("two ranks of a host need two cores")
    (tmp_path / "agent").write_text(AGENT)
    (tmp_path / "agent").chmod(0o755)
    reach = {"openmpi": ["--prtemca", "plm_ssh_agent", "./agent", "--host", "one:4,two:4"]}.get(
        mpi.name, ["-launcher", "ssh", "-launcher-exec", "./agent", "-hosts", "one,two"])
    # Ranks that end at once, each under a daemon of its own: one launch in a hundred of Open MPI
    # does not end then, after all has been printed. So they stay a moment.
    done = subprocess.run(
        ["mpirun", *reach, *mpi.flags("mpirun", cores, hosts=2), "-np", "4", "sh", "-c",
         'echo "$HOST_ASKED $(grep Cpus_allowed_list /proc/self/status)"; sleep 0.2'],
        env=environment(mpi, STACK), cwd=tmp_path, text=True, capture_output=True, timeout=120,
        stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-500:]
    assert sorted(tuple(line.split()[::2]) for line in done.stdout.splitlines()) == sorted(
        (host, str(core)) for host in ("one", "two") for core in cores)


@pytest.mark.parametrize("family", ALL.values(), ids=ALL)
def test_slurm_binds_every_family_alike(family):
    assert family.flags("srun", [4, 6]) == ["--cpu-bind=map_cpu:4,6", "--ntasks-per-node=2"]


def test_ranks_with_threads_get_a_core_for_each():
    groups = [[0, 1], [2, 3]]
    assert "user:0+1,2+3" in ALL["mpich"].flags("mpirun", groups)
    assert "[0x3,0xc]" in ALL["intel-mpi"].flags("mpirun", groups)
    assert "ppr:2:node:pe=2" in ALL["openmpi"].flags("mpirun", groups)
    assert ALL["mpich"].flags("srun", groups) == [
        "--cpu-bind=mask_cpu:0x3,0xc", "--ntasks-per-node=2"]


@pytest.mark.parametrize("family", LAUNCHING.values(), ids=LAUNCHING)
def test_ranks_may_have_several_cores(family):
    flags = " ".join(family.flags("mpirun", [[0, 1], [2, 3]]))
    assert any(text in flags for text in ("0+1,2+3", "0x3,0xc", "pe=2"))
    assert family.flags("srun", [[0, 1], [2, 3]])[0] == "--cpu-bind=mask_cpu:0x3,0xc"
    assert family.flags("mpiexec", [[0, 1], [2, 3]])[-1] == "list:0,1:2,3"


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
    with pytest.raises(ValueError, match=r"x\.yaml: lacks `spack`; lacks `library`; "):
        families.load(tmp_path)


def test_run_environment_is_in_the_prefix():
    variables = ALL["intel-mpi"].run_environment("/s")
    assert variables["PATH"].startswith("/s/mpi/intel-mpi/bin:")
    assert variables["I_MPI_ROOT"] == "/s/mpi/intel-mpi"


def test_a_stack_is_known_by_its_provider_and_locks(tmp_path):
    environment = tmp_path / ".spack-env"
    environment.mkdir()
    (tmp_path / "spack.lock").write_text("one")
    first = families.stack_identity(environment)
    (tmp_path / "spack.lock").write_text("another")
    second = families.stack_identity(environment)
    assert (first["provider"], second["provider"]) == ("spack", "spack")
    assert first["lock_sha256"] != second["lock_sha256"]
    assert families.stack_identity(tmp_path)["provider"] == "wheels"


def test_families_of_the_benches_are_whole():
    found = families.load(families.REPO / "bench/families")
    assert found and all({"shm", "tcp"} <= set(f.transports) for f in found.values())


def test_srun_starts_each_mpi_by_its_own_interface_unless_the_site_names_another():
    found = families.srun_interfaces(ALL, {})
    assert (found["openmpi"], found["mpich"], found["intel-mpi"]) == ("pmix", "pmi2", "pmi2")
    assert families.srun_interfaces(
        ALL, {"srun_mpi": {"openmpi": "pmix_v4"}})["openmpi"] == "pmix_v4"


def test_anchors_make_no_more_of_a_declaration_than_a_file_may_hold(tmp_path):
    path = tmp_path / "bomb.yaml"
    path.write_text("a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)))
    began = time.monotonic()
    for text in (path.read_text(), "near: &a [*a]", "x: &a {y: *a}", "a" * 2_000_000,
                 f"ranks: 0x{'f' * 5000}", f"ranks: {'9' * 5000}"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"bomb\.yaml"):
            declarations.parse(path)
    assert time.monotonic() - began < 5
    # libyaml calls itself for each level.
    for text in ("[" * 400_000, "- " * 200_000, "? " * 9000, "{a: " * 9000,
                 "\n".join(" " * level + "a:" for level in range(900)),
                 "? a\n: " + "- " * 200_000, "a:\r  " + "- " * 200_000):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"bomb\.yaml: not YAML: more than 100 levels"):
            declarations.parse(path)
    path.write_text("\n".join(" " * level + "a:" for level in range(90)))
    assert str(declarations.parse(path)).count("a") == 90
    path.write_text("a: &x {b: 1}\nc: [*x, *x]\n")
    assert declarations.parse(path) == {"a": {"b": 1}, "c": [{"b": 1}, {"b": 1}]}


@pytest.mark.parametrize(("text", "said"), [
    ("near: {hosts: 1}\nfar: 2\nnear: {hosts: 2}\n", "the key .near. stands twice, .* line 3"),
    ("near:\n  hosts: 1\n  hosts: 2\n", "the key 'hosts' stands twice, again in line 3"),
    *[(f"near: 1\n{key}: 2\n", f"the key {key} in line 2 is no text; write it in quotes")
      for key in ("7", "true", "null", "1.5")],
    ("near: 1\n? [a]\n: 2\n", "the key of a list in line 2 is no text"),
    *[(f"near: !!{tag} {text}\n", f"'{tag}' in line 1 is no tag of a declaration")
      for tag, text in (("int", '""'), ("int", '"-"'), ("float", '"_"'), ("timestamp", "x"),
                        ("bool", "x"), ("binary", "AA"), ("omap", "[{a: 1}]"), ("set", "{a, b}"))],
    ("[" + "1," * 40_000 + "]", "more than 30000 entries"),
    ("budget: .inf", r"the number \.inf is not finite"), ("a: [.nan]", "the number .nan is not"),
    ("budget: 1e999", "the number 1e999 is not finite"),
    (f"hours: 1{':1' * 200_000}.5", "a number of 400003 digits")])
def test_a_declaration_has_plain_values_and_each_key_once(tmp_path, text, said):
    path = tmp_path / "placements.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"placements\.yaml: not YAML: {said}"):
        declarations.parse(path)


def test_a_message_about_a_declaration_is_short(tmp_path):
    """80,000 unknown keys gave a line of 31 million characters."""
    path = tmp_path / "mpich.yaml"
    path.write_text("".join(f"k{number}: {{}}\n" for number in range(9000)))
    with pytest.raises(ValueError, match=r"mpich\.yaml: .*; and others$") as raised:
        declarations.read(path, "family")
    assert len(str(raised.value)) < 11_000
