# SPDX-License-Identifier: BSD-3-Clause
"""A launch counts only if the observed settings are the requested settings."""

import pytest

from reframe_tests.harness.launch import fingerprint, launches, sessions
from reframe_tests.harness.machine import disk
from reframe_tests.harness.model import families

ASKED = {"mpi": "mpich", "transport": "shm", "cpus": [0, 1], "hosts": 1, "ranks": 2,
         "launch": 3}
OUTPUT = "==== UCX netmod Capability ====\n"
FAMILY = families.load()["mpich"]


def describe(folder, output=OUTPUT, **asked):
    return launches.describe(folder, {**ASKED, **asked}, FAMILY, output)


def test_sound_launch_is_ok(left_by_launch):
    record = describe(left_by_launch())
    assert (record["status"], record["reason"], record["wall_s"]) == ("ok", "", 1.5)


def test_the_file_from_which_a_library_chooses_algorithms_is_recorded(left_by_launch):
    said = ('[0] MPI startup(): Load tuning file: "/opt/etc/tuning_generic_shm.dat"\n'
            "I_MPI_FABRICS=shm\n")
    asked = {**ASKED, "mpi": "intel-mpi"}
    for mpi, file in (("intel-mpi", "/opt/etc/tuning_generic_shm.dat"), ("mpich", "")):
        record = launches.describe(left_by_launch(), asked, families.load()[mpi], said)
        assert record["reported"]["decisions"] == file


@pytest.mark.parametrize(("observed", "words"), [
    ({"size": 1}, "MPI_COMM_WORLD had 1"),
    ({"mpi": {"library": "Open MPI v5.0.11, package"}}, "MPICH was requested"),
    ({"ranks": [{"rank": 0, "host": "a", "cpus": "0"},
                {"rank": 1, "host": "a", "cpus": "0-1"}]}, "rank 1 was requested on core 1"),
    ({"ranks": [{"rank": 0, "host": "a", "cpus": "0"},
                {"rank": 1, "host": "b", "cpus": "1"}]}, "ranks were on 2"),
    ({"tcp_bytes": 1 << 24}, "over TCP connections"),
])
def test_each_difference_marks_the_launch(left_by_launch, observed, words):
    record = describe(left_by_launch(**observed))
    assert record["status"] == "marked"
    assert words in record["reason"]


def test_a_launch_without_a_valid_sample_is_marked():
    row = {"operation": "bcast", "bytes": 8}
    assert "not one sample is valid" in launches.samples_problem([{**row, "n": 0}])
    assert launches.samples_problem([{**row, "n": 0}, {**row, "n": 3}]) == ""
    assert launches.samples_problem([]) == ""


def test_shared_memory_behind_tcp_is_found(left_by_launch):
    record = describe(left_by_launch(), output="libfabric provider: tcp", transport="tcp")
    assert record["status"] == "marked"
    assert "transport tcp: the ranks received 0 B" in record["reason"]


@pytest.mark.parametrize(("wire", "payload", "words"), [
    (1 << 24, 1 << 24, ""), (4096, 1 << 24, "4096 B crossed the wire"),
    (1000, 1 << 13, "1000 B crossed the wire"), (0, 0, "")])
def test_another_way_between_virtual_hosts_is_found(wire, payload, words):
    said = launches.crossing_problem({"wire_bytes": wire}, {"payload_bytes": payload})
    assert words in said and bool(said) == bool(words)
    assert launches.crossing_problem(None, {"payload_bytes": payload}) == ""


@pytest.mark.parametrize(("transport", "wire", "payload", "wrong"), [
    ("tcp", 8300, 8192, False), ("tcp", 0, 8192, True), ("tcp", 0, None, False),
    ("shm", 0, 8192, False), ("shm", 1 << 18, 1 << 18, True),
    ("shm", 1 << 18, None, True), ("udp", 31000, 8192, False)])
def test_small_payloads_are_held_against_the_connections_too(transport, wire, payload, wrong):
    said = launches.wire_problem(transport, {"tcp_bytes": wire, "payload_bytes": payload})
    assert bool(said) == wrong


def test_a_core_for_every_rank(left_by_launch):
    ranks = [{"rank": r, "host": "abc"[r], "cpus": "010"[r]} for r in range(3)]
    assert launches.affinity_problem([0, 1, 0], ranks) == ""
    assert "rank 2 was requested on core 1" in launches.affinity_problem([0, 1, 1], ranks)


PLACES = ["node0-cell1", "node0-cell0", "node1-cell1", "node1-cell0"]


@pytest.mark.parametrize(("on", "places", "words"), [
    ("aabb", None, ""), ("abab", None, ""),
    ("aaab", None, "2 ranks on each host were requested, a had 3"),
    ("aaaa", None, "2 hosts were requested, ranks were on 1"),
    (PLACES, PLACES, ""),
    (PLACES[1::-1] + PLACES[2:], PLACES, "rank 0 was requested on node0-cell1 and observed on"),
])
def test_each_rank_is_on_the_host_it_was_asked_on(on, places, words):
    asked = {"hosts": 2, "ranks": 4}  # two cells of a node are no two hosts
    ranks = [{"rank": r, "host": host} for r, host in enumerate(on)]
    said = launches.hosts_problem({**asked, **({"places": places} if places else {})}, ranks)
    assert words in said and bool(said) == bool(words)


def test_ranks_of_one_place_share_an_entry_beyond_256_ranks():
    seen = {"ranks": [{"rank": rank, "cpus": str(rank)} for rank in range(4)],
            "places": [{"ranks": "0,3", "host": "b"}, {"ranks": "1-2", "host": "a"}]}
    ranks = fingerprint.ranks_of(seen)
    assert ranks == [{"rank": rank, "cpus": str(rank), "host": "baab"[rank]} for rank in range(4)]
    assert launches.hosts_problem({"hosts": 2, "ranks": 4}, ranks) == ""
    assert fingerprint.ranks_of({"ranks": ranks}) == ranks
    cores = [{"ranks": str(rank), "cpus": str(rank)} for rank in range(4)]
    assert fingerprint.ranks_of({**seen, "ranks": [], "cores": cores}) == ranks


def test_a_transport_that_the_library_did_not_report_marks_the_launch(left_by_launch):
    record = describe(left_by_launch(), output="nothing of use")
    assert "did not report transport shm" in record["reason"]


def test_a_launch_that_hung_leaves_its_reason(left_by_launch):
    folder = left_by_launch()
    (folder / "guard.json").write_text('{"exit": 124, "wall_s": 60, "reason": "ended after 60 s"}')
    record = describe(folder, output="cotejo: waiting for rank 1")
    assert record["status"] == "failed"
    assert record["samples"] is None
    assert record["reason"] == "ended after 60 s: cotejo: waiting for rank 1"


def test_a_launch_without_its_guard_was_an_accident(left_by_launch):
    folder = left_by_launch()
    (folder / "guard.json").unlink()
    record = describe(folder)
    assert (record["status"], record["accident"]["kind"]) == ("accident", "signal")


def test_publishing_is_whole_or_not_at_all(left_by_launch, results):
    folder = left_by_launch()
    path = launches.publish(describe(folder), folder, "cell")
    assert path.name == "cell.003.json"
    assert sessions.measured("cell", 3)
    assert not sessions.measured("cell", 4)
    assert sorted(p.name for p in path.parent.iterdir()) == ["cell.003.csv", "cell.003.json"]
    assert disk.read_json(path)["samples"]["file"] == "cell.003.csv"


def test_a_broken_json_is_named_with_its_line(tmp_path):
    broken = tmp_path / "x.json"
    broken.write_text('{"a": 1,\n"b"')
    with pytest.raises(ValueError, match=r"x\.json:2: not JSON"):
        disk.read_json(broken)


THREADS = [{"rank": 0, "thread": 0, "cpus": "0"}, {"rank": 0, "thread": 1, "cpus": "1"}]


@pytest.mark.parametrize(("threads", "words"), [
    (THREADS, ""),
    (None, "not observed"),
    ([THREADS[0], {"rank": 0, "thread": 1, "cpus": "0"}], "thread 1 of rank 0"),
    ([{"rank": 0, "thread": 0, "cpus": "0-1"}], "thread 0 of rank 0"),
])
def test_each_thread_has_a_core_of_its_own(threads, words):
    said = launches.threads_problem([[0, 1]], threads)
    assert words in said
    assert bool(words) == bool(said)


def test_cores_of_a_rank_are_those_of_its_threads():
    ranks = [{"rank": 0, "cpus": "0"}]
    assert launches.affinity_problem([[0, 1]], ranks, THREADS) == ""
    assert "observed on cores 0" in launches.affinity_problem([[0, 1]], ranks)
    assert "observed on cores 0, 1" in launches.affinity_problem([[0, 2]], ranks, THREADS)


def observed(**seen):
    return {"id": "cell.001", "status": "ok", "environment": {"UCX_TLS": "sm"},
            "provenance": {"program_sha256": "p"},
            "observed": {"environment": {"UCX_TLS": "sm", "PMIX_jobid": "7"},
                         "machine": {"thp": "madvise", "quota_cores": None},
                         "timer": {"name": "tsc"}, "options": {"seed": 1, "mode": "standard"},
                         "build": {"libraries": ["/nowhere/libmpi.so"], "flags": "-O2"}, **seen}}


@pytest.mark.parametrize(("seen", "part"), [
    ({"environment": {"UCX_TLS": "sm", "OMPI_MCA_btl_sm_eager_limit": "131072"}}, "steering"),
    ({"machine": {"thp": "always", "quota_cores": None}}, "huge pages"),
    ({"machine": {"thp": "madvise", "quota_cores": 1.5}}, "quota"),
    ({"timer": {"name": "clock_monotonic_raw"}}, "timer"),
    ({"build": {"libraries": ["/nowhere/libmpi.so"], "flags": "-O3"}}, "flags"),
    ({"build": {"libraries": ["/nowhere/libother.so"], "flags": "-O2"}}, "libraries"),
    ({"options": {"seed": 1, "mode": "ready"}}, "options")])
def test_a_launch_in_another_observed_state_is_no_replicate(seen, part):
    first = fingerprint.of(observed())
    other = fingerprint.of(observed(**seen))
    before = [{**observed(), "fingerprint": first}]
    said = fingerprint.problem(other, before)
    assert said.startswith(f"the state is another one than that of cell.001: {part} (")
    # Members that differ in every launch are not part of the state.
    copies = [["/nowhere/libmpi.so", f"cotejo_{pid}_0.so"] for pid in (7, 8)]
    first, same = (observed(environment={"UCX_TLS": "sm", "PMIX_jobid": "8"},
                            options={"seed": 2, "mode": "standard"},
                            build={"libraries": one, "flags": "-O2"}) for one in copies)
    before = [{**first, "fingerprint": fingerprint.of(first)}]
    assert fingerprint.problem(fingerprint.of(same), before) == ""


def test_copies_of_a_simulated_program_are_no_state():
    found = [fingerprint.of(observed(build={"flags": "-O2", "libraries": [
        "/lib/libc.so.6", f"/tmp/cotejo_{pid}_0.so"]})) for pid in (12, 34)]
    assert found[0] == found[1]


def test_a_library_is_known_by_what_it_holds(tmp_path):
    path = tmp_path / "libmpi.so"
    path.write_bytes(b"one")
    first = fingerprint.hashed(str(path))
    path.write_bytes(b"other")
    assert first != fingerprint.hashed(str(path)) and first.startswith("libmpi.so=")


class Family:
    """An installation in a folder."""

    container = ()

    def __init__(self, home):
        self.home_in = self.prefix = lambda stack: home


def test_what_influences_a_library_without_a_request_is_a_trap_of_the_launch(
        tmp_path, monkeypatch):
    """Variables, parameter files and foreign libraries were in the record, but no report showed
    them to its reader."""
    monkeypatch.setattr(fingerprint, "single_copies", lambda: "denied (Operation not permitted)")
    ours = str(tmp_path / "stack/mpi/x/lib/libmpi.so")
    sound = observed(ranks=[{"rank": 0, "host": "a"}, {"rank": 1, "host": "b"}],
                     build={"libraries": [ours, "/lib/libc.so.6", "linux-vdso.so.1"]})
    home = tmp_path / "stack/mpi/x"
    (home / "etc").mkdir(parents=True)
    settings = home / "etc/openmpi-mca-params.conf"
    settings.write_text("# a = 1\n\n")
    exported = {"PATH", "UCX_TLS", "OMPI_MCA_x"}
    fingerprint.observe(sound, Family(home), tmp_path / "stack", exported)
    assert sound["observed"]["machine"].get("traps") is None
    settings.write_text("# a = 1\nbtl_sm_fbox_max = 0\n")
    found = observed(
        ranks=[{"rank": 0, "host": "a"}, {"rank": 1, "host": "a"}],
        build={"libraries": [ours, "/opt/foreign/libucp.so.0"]},
        machine={"traps": [{"trap": "x"}]},
        environment={"UCX_TLS": "sm", "OMPI_MCA_x": "4|~\x1b[2J", "PRTE_SHARED_FS": "FALSE"})
    # A variable that the launcher sets itself is not a trap.
    fingerprint.observe(found, Family(home), tmp_path / "stack", exported)
    assert [trap["trap"] for trap in found["observed"]["machine"]["traps"]] == [
        "x", "variable OMPI_MCA_x=4???[2J", f"parameter file {settings}",
        "library /opt/foreign/libucp.so.0", "copies between processes"]
    said = fingerprint.difference(found["fingerprint"], sound["fingerprint"])
    assert "parameter files" in said and "steering" in said


def test_whether_processes_may_copy_from_one_another_is_known():
    assert fingerprint.single_copies() in ("allowed", "denied (Operation not permitted)")
