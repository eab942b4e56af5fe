# SPDX-License-Identifier: BSD-3-Clause
"""The surroundings of the ranks in a description: hosts, disturbance, steering variables."""

import json
import os
import pathlib

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
    assert {"send", "receive"} <= found.keys()
