# SPDX-License-Identifier: BSD-3-Clause
"""Studies under a Slurm: in an allocation, and with accidents that really happen to them: a node
that dies, a job that is cancelled."""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from reframe_tests.harness import families, sessions
from tests import slurm_machine

REFRAME = families.stack_prefix() / "tools/bin/reframe"
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
    """Every rank is where it was asked to be, by the launcher of the partition."""
    assert {r["id"]: r["reason"] for r in records if r["reason"]} == {}
    for record in records:
        hosts, each = PLACEMENTS[record["asked"]["placement"]]
        on = [rank["host"] for rank in record["observed"]["ranks"]]
        assert set(on) <= set(slurm_machine.NODES)
        assert (len(set(on)), len(on)) == (hosts, hosts * each)
        assert ("srun --" in record["command"]) == (record["asked"]["partition"] == "srun")
        assert record["simulated"].startswith(f"emulated: {hosts} hosts on ")


def launch_in_allocation(slurm, results, placements):
    """A bare reframe inside an allocation: every MPI is launched both ways in these placements.
    It submits nothing; a launch has a part of its nodes."""
    done = slurm.run(
        "sbatch", "--wait", "--nodes=4", "--exclusive", "--licenses=cores:1",
        f"--output={results}/out", "--wrap",
        f"{REFRAME} -r -n 'placement_check.*placement=({'|'.join(placements)})%'",
        COTEJO_SITE="one-machine-slurm", COTEJO_RESULTS=str(results),
        RFM_CONFIG_FILES=str(sessions.REPO / "reframe_tests/config.py"))
    assert done.returncode == 0, done.stderr + (results / "out").read_text()[-3000:]
    records = records_of(results)
    assert asked(records) == sorted((p, m, place) for p in ("srun", "mpirun") for m in PRESENT
                                    for place in placements)
    check(records)
    (number,) = re.findall(r"batch job (\d+)", done.stdout)
    for record in records:
        assert record["allocation"] == {"scheduler": "slurm", "id": number, "exclusive": True,
                                        "nodes": slurm_machine.NODES}


def study(slurm, results, *words):
    return subprocess.Popen(
        slurm.on("head", sys.executable, "-m", "reframe_tests.harness.study", *words),
        cwd=sessions.REPO, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={
            **slurm.environment, "COTEJO_SITE": "one-machine-slurm",
            "COTEJO_RESULTS": str(results),
            "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py")})


def next_launch(slurm):
    """Number of the job, and nodes, of the first launch that runs on several from now on."""
    for _ in range(900):
        for said in slurm.run("squeue", "-s", "-h", "-o", "%i %N").stdout.splitlines():
            number, nodes = said.split()
            job, _, step = number.partition(".")
            if step.isdigit() and "[" in nodes:
                return job, slurm.run("scontrol", "show", "hostnames", nodes).stdout.split()
        time.sleep(0.05)
    raise RuntimeError("no launch ran within a minute")


def kill_last_node(slurm, job, nodes):
    """Not the first, on which the study itself runs."""
    slurm.kill_node(nodes[-1])


def allocate_a_study(slurm, results):
    """A study from outside: one job for each part of its blocks, of all nodes; in the second it
    goes on where the first one left it."""
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
    assert all(r["allocation"]["nodes"] == slurm_machine.NODES for r in records)
    (plan,) = (json.loads(path.read_text()) for path in results.glob("*/*/session.json"))
    assert (plan["split"], plan["ended"]) == ({}, "complete")


def has_ranks(slurm):
    """Whether a program of ours runs under this Slurm."""
    mark = f"SLURM_CONF={slurm.environment['SLURM_CONF']}".encode()
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if ((place / "comm").read_text().strip() == "cotejo"
                    and mark in (place / "environ").read_bytes().split(b"\0")):
                return True
    return False


def cancel(slurm, job, nodes):
    """As soon as its program runs: before that there is nothing to end."""
    for _ in range(3000):
        if has_ranks(slurm):
            break
        time.sleep(0.01)
    slurm.run("scancel", job)


#: Kind of the accident -> what makes it happen.
CAUSES = {"node": kill_last_node, "scheduler": cancel}


def happen(kind):
    """Lets an accident happen to the first launch of a study of two, in an allocation. Returns the
    study's status, its launches' descriptions in order, the nodes of the first one, and all that
    was said."""
    with slurm_machine.running() as slurm, tempfile.TemporaryDirectory() as name:
        results = pathlib.Path(name)
        running = study(slurm, results, "--tag", "site-check", "--launches", "2",
                        "--cells", "mpich.tcp.one-per-host.*srun")
        job, nodes = next_launch(slurm)
        CAUSES[kind](slurm, job, nodes)
        said = running.communicate(timeout=280)[0]
        records = records_of(results)
    return running.returncode, records, nodes, said


def wrong(kind):
    """What is not as it must be, in words, or '': what was lost is recorded as such, and measured
    again: on the nodes that are left, or where the job is gone in another."""
    status, records, nodes, said = happen(kind)
    found = [(r["status"], (r["accident"] or {}).get("kind")) for r in records]
    if status or found[0] != ("accident", kind) or found[-2:] != [("ok", None)] * 2:
        return f"status {status}, {found}, {records[0]['reason']}: {said[-1500:]}"
    on = {rank["host"] for r in records[1:] for rank in r["observed"]["ranks"]}
    if kind == "node" and nodes[-1] in on:
        return f"{nodes[-1]} is dead, and was measured on"
    return ""


def whole_way(slurm, name, results):
    """From nothing to a report on a node of this Slurm: the commands of docs/sites.md, with no
    file edited between. Returns (status, what was said) of each command, and the plan."""
    def run(*words):
        done = slurm.run(sys.executable, "-m", *words, host="host1", limit_s=600,
                         COTEJO_SITE=name, COTEJO_RESULTS=str(results),
                         RFM_CONFIG_FILES=str(sessions.REPO / "reframe_tests/config.py"))
        return done.returncode, done.stdout + done.stderr

    said = [run("reframe_tests.harness.new_site", name),
            run("reframe_tests.harness.check_site", name),
            run("reframe_tests.harness.study", "--tag", "smoke", "--launches", "2")]
    said.append(run("reframe_tests.harness.reporting"))  # the end of `make study`
    plans = [json.loads(path.read_text()) for path in results.glob("*/*/session.json")]
    return said, plans
