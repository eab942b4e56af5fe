# SPDX-License-Identifier: BSD-3-Clause
"""Launches of cotejo and of other programs for the benches: on this machine, between virtual
hosts, and simulated."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from bench.common import skip
from reframe_tests.harness.backends import clusters, simgrid, virtual_hosts
from reframe_tests.harness.model import families
from stack.build import environment
from tests.launching import PRESENT, STACK, interposer, launch_once, rows_of
from tests.virtual_clusters import why_not

#: MPIs whose ranks give the core away at each look for messages; `libkeep.so` keeps them from it.
YIELDING = ("mpich", "intel-mpi")


def present():
    """The MPIs of the stack; `make bench MPI=NAME`: that one."""
    return [f for f in PRESENT if f.name == (os.environ.get("MPI") or f.name)]


def run(family, *words, **options):
    """`launch_once`; a launch that does not end within its time is reported and returns None."""
    try:
        return launch_once(family, *words, **options)
    except subprocess.TimeoutExpired as err:
        print(f"bench: {family.title}: `{' '.join(map(str, words[:2]))}` did not end within "
              f"{err.timeout:.0f} s; not counted", flush=True)
        return None


def attempt(family, *words, **options):
    """One launch of the benchmark: its description and samples, or None; its messages."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        folder = pathlib.Path(name)
        done = run(family, *words, "--output", "samples", folder=folder, **options)
        if not done or done.returncode:
            said = done.stderr if done else ""
            print(f"bench: {family.title}: {said.strip()[-200:]}", flush=True)
            return None, said
        return (json.loads((folder / "samples.json").read_text()),
                rows_of(folder / "samples.csv")), done.stderr


def ours(family, *words, **options):
    """Description and samples of one launch of the benchmark; None when it failed."""
    return attempt(family, *words, **options)[0]


def theirs(family, program, *words, **options):
    """The output of another tool, or '' when it failed."""
    done = run(family, *map(str, words), program=program,
               **{"LD_LIBRARY_PATH": f"{family.prefix(STACK)}/lib", **options})
    return done.stdout if done and done.returncode == 0 else ""


def interposed(family, otherwise):
    """Variables that run a launch with a word of src/tests/otherwise.c, if any."""
    return {"COTEJO_OTHERWISE": otherwise,
            "LD_PRELOAD": interposer(family, "otherwise")} if otherwise else {}


def kept(family):
    """Variables that make the ranks of a launch keep their cores."""
    return {"LD_PRELOAD": interposer(family, "keep")}


def times_of(samples, operation, size):
    return [float(row["time_s"]) for row in samples if row["operation"] == operation
            and int(row["bytes"]) == size and row["valid"] == "1"]


def times_by_size(samples):
    """Size in B -> times in s of its samples, in order."""
    found = {}
    for row in samples:
        found.setdefault(int(row["bytes"]), []).append(float(row["time_s"]))
    return found


def simulate(folder, platform, ranks, *words, options=()):
    """The command of a shell that runs cotejo on simulated ranks, in a folder that gets the
    description of the platform; `options`: of smpirun."""
    places = simgrid.place(platform, "near", ranks)
    (folder / "platform.xml").write_text(simgrid.xml(
        platform, 1 + max(map(simgrid.node, places))))
    (folder / "hosts.txt").write_text("".join(f"{place}\n" for place in places))
    return " ".join([f"smpirun -np {ranks} -platform platform.xml -hostfile hosts.txt",
                     *simgrid.settings(platform), *options,
                     str(families.stack_prefix() / "mpi/simgrid/bin/cotejo"), *words])


def on_hosts(family, found, ranks):
    """The words of the library's launcher for ranks on as many hosts of a virtual cluster."""
    names = [f"host{number + 1}" for number in range(ranks)]
    return [str(clusters.SITE / "enter"), found["folder"],
            str(family.prefix(families.stack_prefix()) / "bin/mpirun"), "-np", str(ranks),
            *family.remote_flags(names, str(clusters.SITE / "agent"))]


def launch_on_hosts(family, found, folder, *words):
    """One launch of cotejo's benchmark with two ranks on two virtual hosts. Leaves its samples in
    the folder and returns its description. Ends the bench when it fails."""
    stack = families.stack_prefix()
    env = {**environment(family, stack), **family.transports["tcp"].environment}
    for old in folder.glob("samples*"):
        old.unlink()
    done = subprocess.run(
        [*on_hosts(family, found, 2), family.prefix(stack) / "bin" / family.program, *words,
         "--output", "samples"],
        env=env, cwd=folder, text=True, capture_output=True, timeout=300,
        stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {family.title} on {found['folder']}: {done.stderr.strip()[:500]}")
    return json.loads((folder / "samples.json").read_text())


@contextlib.contextmanager
def hosts_of(stack, root, goal):
    """Two hosts of a 100 Mbit/s Ethernet; None, and a word of why, where this machine cannot."""
    if reason := why_not():
        skip(goal, reason)
        yield None
        return
    os.environ.update(COTEJO_STACK=str(stack), COTEJO_RUN=str(root / "run"))
    try:
        yield clusters.up("fast-ethernet", "wire", hosts=2)
    finally:
        clusters.down("wire")


def all_at_once(found, seconds=1):
    """Every host of a running cluster streams to the next one at the same time, for so many
    seconds of the network's own time; gives the share of the modelled rate that each has."""
    hosts = [host for host in found["hosts"] if host["name"] != "head"]
    probe, slower = clusters.program("cotejo-probe"), found["options"]["dilation"]
    rate = hosts[1]["payload_rate"]
    size = int(rate * seconds / 8)
    servers = [virtual_hosts.on_host(found, host["name"], probe, "serve") for host in hosts]
    clients = [virtual_hosts.on_host(found, host["name"], probe, peer["address"], str(size),
                                str(slower), "alone", stdout=subprocess.PIPE)
               for host, peer in zip(hosts, [*hosts[1:], hosts[0]], strict=True)]
    said = [client.communicate(timeout=60)[0] for client in clients]
    for server in servers:
        server.wait(timeout=60)
    return [json.loads(words)["rate"] / rate for words in said]
