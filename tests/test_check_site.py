# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of `make check-site` on launches. A program with a fixed end replaces ReFrame."""

import json
import os
import subprocess

import pytest

from reframe_tests.harness.backends import placements
from reframe_tests.harness.commands import check_site
from reframe_tests.harness.model import families, sites
from tests.launching import records_in
from tests.virtual_clusters import why_not as no_clusters

REFRAME = families.stack_prefix() / "tools/bin/reframe"

SITE = """site_configuration = {"systems": [{"name": "big", "hostnames": ["x"], "partitions": [
    {"name": "node", "scheduler": "local", "launcher": "mpirun", "environs": ["mpich"]}]}]}"""
REFUSED = """spawned process error: command 'sbatch rfm_job.sh' failed with exit code 1:
--- stdout ---

--- stderr ---
sbatch: error: invalid partition specified: compute
sbatch: error: Batch job submission failed: Invalid partition name specified
"""


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """Verdicts on a site, from the report, output and files of ReFrame."""
    stack = tmp_path / "stack"
    for name in ("tools/bin/reframe", "mpi/mpich/bin/mpirun"):
        (stack / name).parent.mkdir(parents=True)
        (stack / name).touch()
        (stack / name).chmod(0o755)
    site = tmp_path / "site_configs/big"
    site.mkdir(parents=True)
    (site / "reframe.py").write_text(SITE)
    (site / "placements.yaml").write_text(
        "near: {hosts: 1, cpus: [0, 1]}\nfar: {hosts: 1, cpus: [0, 4]}\n"
        "spare: {policy: compact, threads: 2}\n")
    monkeypatch.setattr(sites, "ROOTS", [tmp_path])
    monkeypatch.setenv("COTEJO_STACK", str(stack))
    placements.declared.cache_clear()

    def run(cases=None, records=(), output="", status=0, left_out=()):
        kept = tmp_path / "kept"
        (kept / "big/session").mkdir(parents=True)
        (kept / "left-out").write_text("".join(f"{json.dumps(one)}\n" for one in left_out))
        for number, (placement, state, reason) in enumerate(records):
            (kept / f"big/session/{number}.json").write_text(json.dumps(
                {"status": state, "reason": reason,
                 "asked": {"partition": "node", "placement": placement, "mpi": "mpich",
                           "transport": "shm"}}))
        if cases is not None:
            (kept / "report.json").write_text(json.dumps(
                {"runs": [{"testcases": cases}] if cases else []}))
        (stack / "tools/bin/reframe").write_text(
            f'#!/bin/sh\ncp -r {kept}/. "$COTEJO_RESULTS"\ncat <<"END"\n{output}\nEND\n'
            f"exit {status}\n")
        return list(check_site.launch("big"))
    yield run
    placements.declared.cache_clear()


def case(placement, result="pass", reason=None, phase=None):
    return {"partition": "node", "placement": placement, "environ": "mpich", "transport": "shm",
            "result": result, "fail_reason": reason, "fail_phase": phase, "hashcode": placement}


def skip(placement, reason, kind=""):
    return [{"cell": "x", "skipped": reason, "kind": kind, "partition": "node", "mpi": "mpich",
             "placement": placement, "transport": "shm"}]


def test_launches_that_are_good(launched):
    said = launched([case("near"), case("far", "skip")], [("near", "ok", "")],
                    left_out=skip("far", "placement 'far' is 'near' on this machine", "same"))
    assert said == [(True, "node near mpich shm: ok"),
                    (True, "far shm: 1 left out: placement 'far' is 'near' on this "
                           "machine")]


def test_a_job_without_a_record_is_told_beside_one_with(launched):
    said = launched([case("near"), case("far", "fail", REFUSED, "run")], [("near", "ok", "")],
                    status=1)
    assert said == [(True, "node near mpich shm: ok"),
                    (False, "node far mpich shm: run: sbatch: error: Batch job submission failed: "
                            "Invalid partition name specified")]


def test_a_record_says_more_than_reframe(launched):
    why = "rank 1 was requested on core 4 and observed on cores 1"
    said = launched([case("far", "fail", f"sanity error: {why}", "sanity")],
                    [("far", "marked", why)], status=1)
    assert said == [(False, f"node far mpich shm: {why}")]


@pytest.mark.parametrize(("reason", "kind"), [
    ("the cluster is not what it should be (is the machine busy?): TCP streams at 1.0 Mbit/s", ""),
    ("virtual hosts need root: network namespaces and /dev/net/tun", ""),
    ("placement 'far' has no room for 2 ranks here", "room")])
def test_a_broken_environment_is_not_left_out(launched, reason, kind):
    said = launched([case("near"), case("far", "skip")], [("near", "ok", "")],
                    left_out=skip("far", reason, kind))
    assert said[1:] == [(False, f"node far mpich shm: {reason}")]


def test_a_small_machine_has_no_room_for_what_hwloc_chooses(launched):
    reason = "placement 'spare' has no room for 2 ranks here"
    said = launched([case("near"), case("spare", "skip")], [("near", "ok", "")],
                    left_out=skip("spare", reason, "room"))
    assert all(good for good, _ in said)


def test_a_pass_without_a_record_is_none(launched):
    assert launched([case("near")]) == [
        (False, "node near mpich shm: passed and left no record")]


def test_an_mpi_of_which_everything_is_left_out(launched):
    said = launched([case("far", "skip")],
                    left_out=skip("far", "shm does not reach another host", "reach"))
    assert said[-1] == (False, "node mpich: nothing was launched")


def test_why_no_launch_ran(launched):
    said = launched(None, output="ERROR: failed to load configuration: no `hostnames`\n"
                    "Log file(s) saved in '/stack/reframe.log'", status=1)
    assert said == [(False, "no launch ran: ERROR: failed to load configuration: no `hostnames`")]


def test_reframe_that_fails_by_itself_is_not_good(launched):
    said = launched([case("near")], [("near", "ok", "")], "cannot write perflogs: disk full", 1)
    assert said[-1] == (False, "ReFrame failed: cannot write perflogs: disk full")


def test_an_mpi_that_the_stack_lacks_is_told(launched, tmp_path):
    (tmp_path / "stack/mpi/mpich/bin/mpirun").unlink()
    said = launched([], output="no tests")
    assert said == [
        (False, "no launch ran: no test fits the MPIs and transports that are here"),
        (True, f"node mpich: left out: MPICH is not in {tmp_path}/stack"),
        (False, "node: none of its MPIs is in the stack; run `make stack`")]


def test_a_host_that_the_site_does_not_name(launched):
    ((good, line),) = launched([], output="  selected system:   'generic'")
    assert not good
    assert line.startswith("no launch ran: `hostnames` in reframe.py does not fit this host (")


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
def test_this_machine_is_sound_and_each_mpi_is_launched_near(monkeypatch):
    said = check_site.launch("local")
    assert [line for good, line in said if not good] == []
    present = [f.name for f in families.load().values() if f.installed(families.stack_prefix())]
    assert {f"node near {mpi} shm: ok" for mpi in present} <= {line for _, line in said}


@pytest.mark.alone
@pytest.mark.skipif(bool(no_clusters() or not REFRAME.exists()),
                    reason=no_clusters() or "no stack: `make stack` installs ReFrame")
def test_each_host_of_a_partition_is_launched_on(tmp_path):
    done = subprocess.run(
        [str(REFRAME), "-r", "-c", str(families.REPO / "reframe_tests/site.py"),
         "--system=virtual-ethernet:gigabit-4", "-p", "mpich", "-n",
         "placement_check.*placement=near.*transport=tcp"],
        text=True, capture_output=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "COTEJO_SITE": "virtual-ethernet",
             "COTEJO_RESULTS": str(tmp_path / "results"),
             "COTEJO_RUN": str(tmp_path / "run"), "COTEJO_STACK": str(families.stack_prefix()),
             "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    assert [(r["asked"]["ranks"], r["asked"]["hosts"], r["reason"])
            for r in records_in(tmp_path / "results")] == [
        (4, 4, "")], done.stdout[-3000:]
