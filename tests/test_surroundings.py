# SPDX-License-Identifier: BSD-3-Clause
"""The surroundings of the ranks in a description: hosts, disturbance, steering variables."""

import json
import os
import pathlib
import subprocess

import pytest

from tests.launching import STACK, launch

WORDS = ["pingpong", "--sizes", "1", "--budget", "0.01", "--output", "samples"]


def observed(folder):
    return json.loads((folder / "samples.json").read_text())["observed"]


def test_a_launch_tells_what_was_around_it(mpi, tmp_path):
    done = launch(mpi, *WORDS, folder=tmp_path, UCX_PLANTED="blue", FICTION="none")
    assert done.returncode == 0, done.stderr
    found = observed(tmp_path)
    assert [node["hosts"] for node in found["nodes"]] == [[found["ranks"][0]["host"]]]
    assert found["nodes"][0]["cores"] == os.cpu_count()
    control = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    assert found["nodes"][0]["congestion_control"] == control
    assert found["environment"]["UCX_PLANTED"] == "blue"
    assert not {"FICTION", "PATH", "OMPI_COMM_WORLD_RANK", "PMI_RANK"} & set(found["environment"])
    assert {"steal_s", "throttled_s", "quota_cores", "thp", "pit", "traps"} == set(
        found["machine"])
    assert all({"trap", "found", "cure"} == set(trap) for trap in found["machine"]["traps"])
    assert bool(found["machine"]["pit"]) == any(
        trap["trap"].startswith("memcpy") for trap in found["machine"]["traps"])
    ranks = {entry["ranks"] for entry in found["disturbed"]}
    assert ranks in ({"0-1"}, {"0", "1"})
    assert all(entry["involuntary_switches"] >= 0 for entry in found["disturbed"])


def test_variables_that_differ_are_told_with_their_ranks(mpi, tmp_path):
    script = tmp_path / "planted"
    script.write_text("#!/bin/sh\nexport UCX_PLANTED=of-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
                      f"exec {mpi.prefix(STACK)}/bin/cotejo \"$@\"\n")
    script.chmod(0o755)
    done = launch(mpi, *WORDS, folder=tmp_path, program=script)
    assert done.returncode == 0, done.stderr
    assert observed(tmp_path)["environment"]["UCX_PLANTED"] == [
        {"ranks": "0", "value": "of-0"}, {"ranks": "1", "value": "of-1"}]


@pytest.mark.one_mpi
def test_the_observer_tells_where_a_program_had_its_buffers(mpi, tmp_path):
    """Buffers of cotejo begin at a page. The observer has no information on this."""
    done = launch(mpi, *WORDS[:5], folder=tmp_path, COTEJO_DESCRIPTION="seen.json",
                  LD_PRELOAD=f"{mpi.prefix(STACK)}/lib/libcotejo_observe.so")
    assert done.returncode == 0, done.stderr
    layout = json.loads((tmp_path / "seen.json").read_text())["observed"]["layout"]
    assert layout["name"] == "own" and layout["page_bytes"] == os.sysconf("SC_PAGESIZE")
    found = {entry["buffer"]: entry for entry in layout["buffers"]}
    assert all(0 <= entry["offset"] < layout["page_bytes"] for entry in layout["buffers"])
    assert {"send", "recv"} <= found.keys()


LOADS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int given;
int hwloc_topology_set_xmlbuffer(void *topology, const char *text, int length) {
    int (*next)(void *, const char *, int) = dlsym(RTLD_NEXT, "hwloc_topology_set_xmlbuffer");
    given = 1;
    return next(topology, text, length);
}
int hwloc_topology_load(void *topology) {
    int (*next)(void *) = dlsym(RTLD_NEXT, "hwloc_topology_load");
    Dl_info by;
    if (dladdr(__builtin_return_address(0), &by) && strstr(by.dli_fname, "/cotejo"))
        fprintf(stderr, "topology: %s\n", given ? "given" : "read");
    given = 0;
    return next(topology);
}
"""


@pytest.mark.one_mpi
def test_one_rank_of_a_node_reads_its_topology(mpi, tmp_path):
    (tmp_path / "loads.c").write_text(LOADS)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "loads.so", "loads.c", "-ldl"], cwd=tmp_path,
                   check=True)
    done = launch(mpi, *WORDS, folder=tmp_path, LD_PRELOAD=str(tmp_path / "loads.so"))
    assert done.returncode == 0, done.stderr
    told = sorted(line for line in done.stderr.splitlines() if line.startswith("topology"))
    assert told == ["topology: given", "topology: read"]
    ranks = observed(tmp_path)["ranks"]
    assert all(rank["cpus"] and rank["cores"] and rank["package"] for rank in ranks)
