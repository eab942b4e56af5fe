# SPDX-License-Identifier: BSD-3-Clause
"""Studies under a Slurm: in an allocation, and with accidents that really happen to the studies:
a node that dies, a job that is cancelled."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from reframe_tests.harness.launch import sessions
from reframe_tests.harness.model import families
from tests import slurm_machine

REFRAME = families.stack_prefix() / "tools/bin/reframe"
#: One file of tests in place of all: to read all files takes ReFrame as long as a launch.
SITE_TESTS = families.REPO / "reframe_tests/site.py"
PRESENT = [f.name for f in families.load().values() if f.installed(families.stack_prefix())]
#: Placement -> hosts, ranks on each.
PLACEMENTS = {"near": (1, 2), "one-per-host": (2, 1), "two-per-host": (2, 2), "all-hosts": (4, 1)}


def records_of(results):
    return sorted((json.loads(path.read_text()) for session in results.glob("*/*")
                   for path in sessions.launch_files(session)), key=lambda r: r["id"])


def asked(records):
    return sorted(tuple(r["asked"][k] for k in ("partition", "mpi", "placement"))
                  for r in records)


def check(records):
    """Every rank is where the placement puts it, by the launcher of the partition."""
    assert {r["id"]: r["reason"] for r in records if r["reason"]} == {}
    for record in records:
        hosts, each = PLACEMENTS[record["asked"]["placement"]]
        on = [rank["host"] for rank in record["observed"]["ranks"]]
        assert set(on) <= set(slurm_machine.NODES)
        assert (len(set(on)), len(on)) == (hosts, hosts * each)
        assert ("srun --" in record["command"]) == (record["asked"]["partition"] == "srun")
        assert record["simulated"].startswith(f"emulated: {hosts} hosts on ")
        if hosts > 1:  # the site names the card: each host reports the bytes that it received
            received = record["proof"]["interfaces"]
            assert received.keys() == {*on} and all(card["eth0"] for card in received.values())


def launch_in_allocation(slurm, results, placements):
    """A bare reframe inside an allocation: every MPI is launched both ways in these placements.
    It submits nothing; a launch has a part of its nodes."""
    number, state = slurm.batch(
        "--nodes=4", "--exclusive", "--licenses=cores:1", f"--output={results}/out", "--wrap",
        f"{REFRAME} -r -c {SITE_TESTS} -n 'placement_check.*placement=({'|'.join(placements)})%'",
        COTEJO_SITE="one-machine-slurm", COTEJO_RESULTS=str(results),
        RFM_CONFIG_FILES=str(families.REPO / "reframe_tests/config.py"))
    assert state == "COMPLETED", (results / "out").read_text()[-3000:]
    records = records_of(results)
    assert asked(records) == sorted((p, m, place) for p in ("srun", "mpirun") for m in PRESENT
                                    for place in placements)
    check(records)
    for record in records:
        assert record["allocation"] == {"scheduler": "slurm", "id": number, "exclusive": True,
                                        "nodes": slurm_machine.NODES}


def study(slurm, results, *words):
    return subprocess.Popen(
        slurm.on("head", sys.executable, "-m", "reframe_tests.harness", "study", *words),
        cwd=families.REPO, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={
            **slurm.environment, "COTEJO_SITE": "one-machine-slurm",
            "COTEJO_RESULTS": str(results),
            "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})


def variables_of(pid):
    """Name -> value of the environment of a process; {} if the process is gone."""
    try:
        words = pathlib.Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
        if pathlib.Path(f"/proc/{pid}/comm").read_text() != "cotejo\n":
            return {}
    except OSError:
        return {}
    return dict(word.partition("=")[::2] for word in words)


def held_launch(slurm, running, limit_s=240):
    """Number of the job, and nodes, of the first launch that runs on several nodes from now on.
    One of its ranks is stopped as soon as it is seen. So the launch lasts until something happens
    to it, however busy this machine is."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end and running.poll() is None:
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            found = variables_of(pid)
            if (found.get("SLURM_CONF") == slurm.environment["SLURM_CONF"]
                    and int(found.get("SLURM_STEP_NUM_NODES", 0)) > 1):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    nodes = slurm.run("scontrol", "show", "hostnames",
                                      found["SLURM_STEP_NODELIST"]).stdout.split()
                    return found["SLURM_JOB_ID"], nodes
        time.sleep(0.01)
    raise RuntimeError(f"no launch of several nodes ran within {limit_s} s")


def kill_last_node(slurm, job, nodes):
    """Kills the last node, since the study itself runs on the first node."""
    slurm.kill_node(nodes[-1])


def allocate_a_study(slurm, results):
    """A study from outside: one job for each part of its blocks; the second job
    continues where the first one ended."""
    running = study(slurm, results, "--tag", "site-check", "--launches", "2",
                    "--allocations", "2", "--cells", "mpich.tcp.one-per-host")
    said = running.communicate(timeout=250)[0]
    assert running.returncode == 0, said[-3000:]
    records = records_of(results)
    assert [r["status"] for r in records] == ["ok"] * 4, said[-3000:]
    check(records)
    first, second = ({r["allocation"]["id"] for r in records if r["asked"]["block"] == block}
                     for block in (1, 2))
    assert len(first) == len(second) == 1 and first != second
    # As many nodes as the largest cell needs, not all of the partition.
    needed = PLACEMENTS["one-per-host"][0]
    assert all(len(r["allocation"]["nodes"]) == needed for r in records)
    (plan,) = (json.loads(path.read_text()) for path in results.glob("*/*/session.json"))
    assert (plan["split"], plan["ended"]) == ({}, "complete")


def cancel(slurm, job, nodes):
    slurm.run("scancel", job)


#: Kind of the accident -> the function that causes it.
CAUSES = {"node": kill_last_node, "scheduler": cancel}


def happen(kind):
    """Lets an accident happen to the first launch of a study of two, in an allocation. Returns the
    study's status, its launches' descriptions in order, job and nodes of the first launch, and
    all output."""
    with slurm_machine.running() as slurm, tempfile.TemporaryDirectory() as name:
        results = pathlib.Path(name)
        running = study(slurm, results, "--tag", "site-check", "--launches", "2",
                        "--cells", "mpich.tcp.one-per-host.*srun")
        try:
            job, nodes = held_launch(slurm, running)
            CAUSES[kind](slurm, job, nodes)
            said = running.communicate(timeout=280)[0]
        finally:
            running.kill()
        said += (slurm.folder / "slurmctld.log").read_text()[-1500:]
        records = records_of(results)
    return running.returncode, records, job, nodes, said


def wrong(kind):
    """Why a study does not survive this accident, in words, or ''. A lost launch must be recorded
    and measured again: on the remaining nodes, or in another job if the job is gone. A cancelled
    job also ends the study in it, which may have had no time to record the lost launch."""
    try:
        status, records, job, nodes, said = happen(kind)
    except (RuntimeError, subprocess.TimeoutExpired) as err:
        return str(err)
    found = [(r["status"], (r["accident"] or {}).get("kind")) for r in records]
    expected = {"node": [[("accident", "node")]],
                "scheduler": [[], [("accident", "scheduler")], [("accident", "signal")]]}[kind]
    if status or found[:-2] not in expected or found[-2:] != [("ok", None)] * 2:
        return f"status {status}, {found}, {records[0]['reason']}: {said[-3000:]}"
    if kind == "scheduler" and job in {r["allocation"]["id"] for r in records[-2:]}:
        return f"job {job} was cancelled, and has measured"
    on = {rank["host"] for r in records[-2:] for rank in r["observed"]["ranks"]}
    if kind == "node" and nodes[-1] in on:
        return f"{nodes[-1]} is dead, and was measured on"
    return ""


def whole_way(slurm, name, results):
    """The commands of docs/sites.md, from a new site to a report, on a node of this Slurm. No file
    is edited between them. Returns (status, output) of each command, and the plan."""
    def run(*words):
        done = slurm.run(sys.executable, "-m", "reframe_tests.harness", *words,
                         host="host1", limit_s=600, COTEJO_SITE=name, COTEJO_RESULTS=str(results),
                         RFM_CONFIG_FILES=str(families.REPO / "reframe_tests/config.py"))
        return done.returncode, done.stdout + done.stderr

    said = [run("new-site", name),
            run("check-site", name),
            run("study", "--tag", "smoke", "--launches", "2")]
    said.append(run("report"))  # the end of `make study`
    plans = [json.loads(path.read_text()) for path in results.glob("*/*/session.json")]
    return said, plans
