# SPDX-License-Identifier: BSD-3-Clause
"""A packed dataset: small, the same bytes twice, and without the names of a machine's owners. It
grows by sessions and loses none, and foreign content in results does not get into it."""

import hashlib
import io
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import tracemalloc

import pytest

from reframe_tests.harness.commands import dataset, packed_sessions
from reframe_tests.harness.launch import launches
from reframe_tests.harness.machine import disk
from reframe_tests.harness.model import families, plain
from tests import fake_mpi

COLUMNS = [{"name": name, "unit": unit, "meaning": name} for name, unit in (
    ("operation", ""), ("bytes", "B"), ("repetition", ""), ("calls", ""), ("time_s", "s"),
    ("valid", ""), ("queue", ""))]
AUDIT = [{"mpi": "mpich", "item": "version", "value": "5.0.2"}]


@pytest.fixture
def measured(tmp_path):
    """Results of one session of two launches, one of them failed."""
    folder = tmp_path / "results/local/20260101T000000Z"
    lines = [f"pingpong,{size},{i},1,{'1.50000049999e-06' if i == 47 else '1.5e-06'},1,{queue}"
             for size in (1, 1024) for queue in (0, 2) for i in range(50)]
    record = {
        "id": "cell.001", "status": "ok", "simulated": "", "reason": "", "started": "",
        "environment": {}, "wall_s": 1.0, "reported": {},
        "command": "/deep/site_configs/x/enter /run/x /deep/.stack/mpi/mpich/bin/cotejo pingpong "
                   "/tmp/deep/src/languages/python/nas_ep.py",
        "asked": fake_mpi.asked(test="pingpong_quick", mpi="mpich", site="local",
                                session="20260101T000000Z"),
        "provenance": {"commit": "0" * 40},
        "observed": fake_mpi.observed(
            "MPICH 5.0.2 Information: https://host.example/p/mpich/ ", [("a", 0), ("a", 1)],
            libraries=["/tmp/cotejo_8788_0.so", "/usr/lib/libm_1_2.so.6",
                       "/sw/mpi/lib/libmpi.so.12"]),
        "samples": {"file": "cell.001.csv", "rows": len(lines), "columns": COLUMNS}}
    disk.write_json(folder / "cell.001.json", record)
    (folder / "cell.001.csv").write_text(
        "# cotejo-samples/1\n" + ",".join(c["name"] for c in COLUMNS) + "\n"
        + "\n".join(lines) + "\n")
    failed = {**record, "id": "cell.002", "status": "failed", "observed": None, "samples": None}
    disk.write_json(folder / "cell.002.json", failed)
    disk.write_json(folder / "session.json", {
        "seed": 1, "tag": "quick", "blocks": 2, "finished": "", "cells": ["cell"]})
    disk.write_json(folder / "audit.json", AUDIT)
    return tmp_path / "results"


def test_a_dataset_is_thinned_stripped_and_the_same_twice(measured, tmp_path):
    for name in ("one", "two"):
        dataset.pack(measured, tmp_path / name, 20)
    path, again = (tmp_path / name / "local/20260101T000000Z.tar.xz" for name in ("one", "two"))
    assert path.read_bytes() == again.read_bytes()
    digest, name = (tmp_path / "one/SHA256SUMS").read_text().split()
    assert (digest, name) == (hashlib.sha256(path.read_bytes()).hexdigest(),
                              "local/20260101T000000Z.tar.xz")
    with tarfile.open(path) as tar:
        files = {m.name: tar.extractfile(m).read().decode() for m in tar.getmembers()}
    assert set(files) == {"cell.001.json", "cell.001.csv", "cell.002.json", "session.json",
                          "audit.json"}
    assert json.loads(files["audit.json"]) == AUDIT
    rows = files["cell.001.csv"].splitlines()[2:]
    record = json.loads(files["cell.001.json"])
    assert len(rows) == record["samples"]["rows"] == 4 * 20
    assert record["samples"]["thinned_from"] == 200
    assert "pingpong,1,47,1,1.5e-06,1,0" in rows  # six digits of 1.50000049999e-06
    # Evenly over the order of measuring: from the first to near the last.
    numbers = [int(r.split(",")[2]) for r in rows if r.startswith("pingpong,1,") and r[-1] == "2"]
    assert numbers[0] == 0 and numbers[-1] == 47 and len(numbers) == 20
    assert record["command"] == ("site_configs/x/enter /run/x "
                                 "STACK/mpi/mpich/bin/cotejo pingpong "
                                 "src/languages/python/nas_ep.py")
    assert record["observed"]["mpi"]["library"].split() == ["MPICH", "5.0.2", "Information:"]
    assert record["observed"]["libraries"] == ["cotejo", "/usr/lib/libm_1_2.so.6",
                                               "libmpi.so.12"]
    assert "pingpong_quick" in (tmp_path / "one/README.md").read_text()


def test_a_session_that_is_thinned_again_keeps_the_number_of_its_samples(measured, tmp_path):
    dataset.pack(measured, tmp_path / "one", 20)
    session = tmp_path / "again/local/20260101T000000Z"
    session.mkdir(parents=True)
    with tarfile.open(tmp_path / "one/local/20260101T000000Z.tar.xz") as tar:
        tar.extractall(session)
    dataset.pack(tmp_path / "again", tmp_path / "two", 5)
    with tarfile.open(tmp_path / "two/local/20260101T000000Z.tar.xz") as tar:
        samples = json.load(tar.extractfile("cell.001.json"))["samples"]
    assert (samples["rows"], samples["thinned_from"]) == (4 * 5, 200)


def test_the_folder_in_which_spack_installs_is_left_out():
    assert packed_sessions.stripped(
        ["-I/work/me/spack/opt/spack/linux-x86_64_v3/mpich-4.0.2-abc/include"]) == [
            "-ISPACK/linux-x86_64_v3/mpich-4.0.2-abc/include"]


@pytest.mark.parametrize("part", ["/", "-", "_1", "(/", "/lib", ".so", "/lib.so", " ", "file",
                                  "/.stack", "/opt/spack/linux-", "/src/languages", "/a_1_1"])
def test_folders_are_found_in_a_time_that_grows_as_the_text_does(part):
    """A text of 200,000 dashes took minutes."""
    def took_s(times):
        began = time.process_time()
        packed_sessions.stripped(part * times)
        return time.process_time() - began

    # Ten times as long is ten times as much work, and a hundred times where all is read again
    # from each character.
    assert any(took_s(20_000) < 40 * took_s(2000) for _ in range(3))


def test_what_the_rules_do_not_know_is_refused(measured, tmp_path):
    path = measured / "local/20260101T000000Z/cell.001.json"
    record = disk.read_json(path)
    record["command"] = "/home/someone/bin/mpirun"
    disk.write_json(path, record)
    with pytest.raises(ValueError, match="names a place that a dataset must not name"):
        dataset.pack(measured, tmp_path / "out", 20)
    assert not (tmp_path / "out").exists()


def test_a_dataset_that_is_too_large_is_not_written(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "MOST_BYTES", 100)
    with pytest.raises(packed_sessions.FileError, match="keep fewer samples"):
        dataset.pack(measured, tmp_path / "out", 20)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["site", "session"])
def test_a_launch_that_names_another_session_is_left_out(measured, tmp_path, name):
    """Its times were taken for those of that session."""
    path = measured / "local/20260101T000000Z/cell.001.json"
    record = disk.read_json(path)
    record["asked"][name] = "other"
    disk.write_json(path, record)
    (said,) = dataset.pack(measured, tmp_path / "out", 20)
    assert f"cell.001.json: asked.{name} is 'other', but its folder is " in said


@pytest.mark.parametrize("colour", ["red;x", "", "#12345"])
def test_a_plan_that_no_figure_can_show_is_left_out(measured, tmp_path, colour):
    path = measured / "local/20260101T000000Z/session.json"
    disk.write_json(path, {**disk.read_json(path), "families": [
        {"name": "mpich", "title": "MPICH", "colour": colour, "order": 1}]})
    (said,) = dataset.pack(measured, tmp_path / "out", 20)
    assert said.endswith("session.json: families.colour: a colour such as #0072B2")


@pytest.mark.parametrize("field", ["1" * 2_000_000 + "x", ",".join(["1" * 20] * 8) + "x"])
def test_a_bad_number_is_named_at_once(field):
    """Digits could be divided in many ways between two parts of a pattern."""
    columns = [*COLUMNS[:6], *(
        {"name": f"m{number}", "unit": "s", "role": "measure"} for number in range(8))]
    lines = [",".join(["a", "1", "1", "1", "1", "1", *(field.split(",") * 8)[:8]])]
    assert packed_sessions.wrong_row(lines, columns).startswith("3: a bad value of m")


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def other_results(measured, tmp_path):
    """The same session under another name, in results of their own."""
    other = tmp_path / "other/local/20260202T000000Z"
    other.parent.mkdir(parents=True)
    os.rename(measured / "local/20260101T000000Z", other)
    for path in other.glob("cell.*.json"):
        record = disk.read_json(path)
        record["asked"]["session"] = other.name
        disk.write_json(path, record)
    return tmp_path / "other"


def test_a_session_is_added_and_none_goes_that_was_not_named(measured, tmp_path):
    out = tmp_path / "out"
    dataset.pack(measured, out, 20)
    first = contents(out)
    dataset.pack(other_results(measured, tmp_path), out, 20)
    both = contents(out)
    for name in first.keys() - {p for p in first if p.name in ("README.md", "SHA256SUMS")}:
        assert both[name] == first[name]
    assert len((out / "SHA256SUMS").read_text().splitlines()) == 2
    assert (out / "README.md").read_text().count("pingpong_quick") == 2
    dataset.pack(tmp_path / "other", out, 20, drop=["local/20260101T000000Z"])
    assert [p.name for p in (out / "local").iterdir()] == ["20260202T000000Z.tar.xz"]
    with pytest.raises(packed_sessions.FileError, match="has no session local/x"):
        dataset.pack(tmp_path / "other", out, 20, drop=["local/x"])
    assert not list(tmp_path.glob(".cotejo*"))


def test_only_a_dataset_is_written_to(measured, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.tex").write_text("x")
    for out in (measured, measured / "local", tmp_path, theirs, theirs / "thesis.tex"):
        before = contents(tmp_path)
        with pytest.raises(packed_sessions.FileError, match="name (another|a new) folder"):
            dataset.pack(measured, out, 20)
        assert contents(tmp_path) == before
    # Other files in a dataset's folder stay.
    dataset.pack(measured, tmp_path / "out", 20)
    (tmp_path / "out/note.txt").write_text("mine")
    dataset.pack(measured, tmp_path / "out", 10)
    assert (tmp_path / "out/note.txt").read_text() == "mine"


def killed_after(steps, exchanges, results, out):
    """Packs in a process that ends, as by SIGKILL, before its step of that number that changes a
    name; returns its status: 9 where it was killed."""
    def counted(real):
        def step(*words, **named):
            nonlocal steps
            steps -= 1
            if steps < 0:
                os._exit(9)
            return real(*words, **named)
        return step

    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        for name in ("rename", "replace", "unlink"):
            setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
        os.link = counted(os.link)
        if not exchanges:
            dataset.ctypes.CDLL = lambda *words, **named: object()
        dataset.pack(results, out, 20)
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchange", "no exchange"])
def test_a_kill_at_any_step_loses_nothing(measured, tmp_path, exchanges, monkeypatch):
    monkeypatch.setattr(packed_sessions, "PRESET", 0)
    out = tmp_path / "out"
    dataset.pack(measured, out, 20)
    was = (out / "local/20260101T000000Z.tar.xz").read_bytes()
    results = other_results(measured, tmp_path)
    for steps in range(100):
        status = killed_after(steps, exchanges, results, out)
        place = out if out.exists() else dataset.before(out)
        sums = dataset.listed(place)  # every checksum holds
        assert (place / "local/20260101T000000Z.tar.xz").read_bytes() == was
        if status != 9:
            break
    assert status == 0 and len(sums) == 2 and steps > 5
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith((".cotejo", ".out"))] == []


def broken(name, value):
    """Changes a member of a description: `name` may be of its samples."""
    def spoil(folder):
        record = disk.read_json(folder / "cell.001.json")
        (record["samples"] if name in record["samples"] else record)[name] = value
        disk.write_json(folder / "cell.001.json", record)
    return spoil


def link_in_place(name):
    def spoil(folder):
        (folder / name).unlink()
        (folder / name).symlink_to("/etc/passwd")
    return spoil


def moved_behind_a_link(name):
    """A file with correct content that lies in another folder."""
    def spoil(folder):
        (folder / name).rename(folder.parent / name)
        (folder / name).symlink_to(folder.parent / name)
    return spoil


HOSTILE = {
    "absolute": broken("file", "/etc/passwd"), "above": broken("file", "../../x.csv"),
    "other": broken("file", "cell.002.csv"), "number": broken("file", 7),
    "rows": broken("rows", 3), "columns": broken("columns", [{"name": "x"}]),
    "no columns": broken("columns", None), "id": broken("id", "../cell.001"),
    "linked samples": link_in_place("cell.001.csv"),
    "linked description": link_in_place("cell.001.json"),
    "samples elsewhere": moved_behind_a_link("cell.001.csv"),
    "description elsewhere": moved_behind_a_link("cell.001.json"),
    "no JSON": lambda folder: (folder / "cell.001.json").write_text("{"),
    "deep JSON": lambda folder: (folder / "cell.001.json").write_text("[" * 100000),
    "no object": lambda folder: (folder / "cell.001.json").write_text("[]"),
    "no text": lambda folder: (folder / "cell.001.csv").write_bytes(bytes(range(256))),
    "cut": lambda folder: os.truncate(folder / "cell.001.csv", 300),
    "pipe": lambda folder: ((folder / "cell.001.csv").unlink(),
                            os.mkfifo(folder / "cell.001.csv")),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_not_a_launch_is_named_and_left_out_and_the_rest_goes_on(
        measured, tmp_path, spoil, capsys):
    folder = measured / "local/20260101T000000Z"
    spoil(folder)
    wrong = dataset.pack(measured, tmp_path / "out", 20)
    assert len(wrong) == 1 and "cell.001" in wrong[0] and "\n" not in wrong[0]
    files = packed_sessions.read_archive(tmp_path / "out/local/20260101T000000Z.tar.xz")
    assert set(files) == {"cell.002.json", "session.json", "audit.json"}
    assert not any(b"root:" in data for data in files.values())


def test_a_session_behind_a_link_is_left_out(measured, tmp_path):
    (measured / "local/20260303T000000Z").symlink_to(measured / "local/20260101T000000Z")
    wrong = dataset.pack(measured, tmp_path / "out", 20)
    assert [line.rpartition(": ")[2] for line in wrong] == ["is a link"]
    assert len(dataset.listed(tmp_path / "out")) == 1


def tar_of(*entries):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, kind, size in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname = kind, size, "/etc/passwd"
            tar.addfile(entry, io.BytesIO(b"{}" + b" " * size))
    return lzma.compress(raw.getvalue())


PLAIN = tarfile.REGTYPE


def test_a_name_of_over_100_characters_is_packed(tmp_path):
    files = {f"{'a' * 120}.001.json": b"{}", "b.001.json": b"{}"}
    (tmp_path / "x.tar.xz").write_bytes(packed_sessions.archive(files))
    assert packed_sessions.read_archive(tmp_path / "x.tar.xz") == files


@pytest.mark.parametrize("data", [
    tar_of(("../x.json", PLAIN, 2)), tar_of(("/tmp/x.json", PLAIN, 2)),
    tar_of(("a/x.json", PLAIN, 2)), tar_of(("x.sh", PLAIN, 2)),
    tar_of(("x.json", tarfile.SYMTYPE, 0)), tar_of(("x.json", tarfile.LNKTYPE, 0)),
    tar_of(("x.json", tarfile.CHRTYPE, 0)), tar_of(("x.json", PLAIN, 2), ("x.json", PLAIN, 2)),
    tar_of(("x.json", PLAIN, 12_000)), b"no archive", lzma.compress(b"no tar"),
    tar_of(("x.json", PLAIN, 2))[:80]],
    ids=["above", "absolute", "folder", "ending", "link", "hard link", "device", "twice",
         "too large", "no archive", "no tar", "cut"])
def test_an_archive_of_a_stranger_is_read_as_hostile(tmp_path, data, monkeypatch):
    monkeypatch.setattr(packed_sessions, "MOST_JSON", 11_000)
    (tmp_path / "x.tar.xz").write_bytes(data)
    with pytest.raises(packed_sessions.FileError, match="x.tar.xz"):
        packed_sessions.read_archive(tmp_path / "x.tar.xz")


@pytest.mark.parametrize("line", ["x", "0" * 64 + "  ../x/y.tar.xz", "0" * 64 + "  /etc/passwd",
                                  "0" * 64 + "  local/x.tar.xz"])
def test_checksums_of_a_stranger_name_nothing_else(measured, tmp_path, line):
    dataset.pack(measured, tmp_path / "out", 20)
    with open(tmp_path / "out/SHA256SUMS", "a") as file:
        file.write(line + "\n")
    with pytest.raises(packed_sessions.FileError,
                       match=r"no checksum of|x\.tar\.xz: No such file"):
        dataset.pack(measured, tmp_path / "out", 20)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_disk_that_takes_nothing_more_is_one_line_and_the_dataset_stays(
        measured, tmp_path, how):
    out = tmp_path / "disk/out"
    out.parent.mkdir()
    script = """
mount -t tmpfs -o size=64k none "$1/disk" &&
"$2" -m reframe_tests.harness dataset "$1/results" "$1/disk/out" >/dev/null || exit 3
before=$(cat "$1"/disk/out/*/* "$1/disk/out/SHA256SUMS" | sha256sum)
if [ "$3" = full ]; then cat /dev/zero >"$1/disk/filler" 2>/dev/null
else mount -o remount,ro "$1/disk"; fi
"$2" -m reframe_tests.harness dataset "$1/results" "$1/disk/out" >/dev/null
echo "status $?"
[ "$before" = "$(cat "$1"/disk/out/*/* "$1/disk/out/SHA256SUMS" | sha256sum)" ] && echo same
"""
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path),
                           sys.executable, how], cwd=families.REPO, text=True,
                          capture_output=True)
    assert done.stdout == "status 1\nsame\n", done.stderr
    said = "No space left" if how == "full" else "Read-only file system"
    assert done.stderr.count("\n") == 1 and said in done.stderr


@pytest.mark.parametrize(("old", "new", "said"), [
    (",1.5e-06,", ",fast,", "cell.001.csv:3: a bad value of time_s in 'pingpong,1,0,1,fast,1,0'"),
    (",1.5e-06,", ",-1,", "a bad value of time_s"), ("pingpong,", "ping pong,", "of operation"),
    (",0,1,1.5", ",0,0,1.5", "a bad value of calls"), (",1,0\n", ",1,\x1b\n", "of queue")])
def test_samples_are_held_against_the_schema_that_r_reads_them_by(
        measured, tmp_path, old, new, said):
    path = measured / "local/20260101T000000Z/cell.001.csv"
    path.write_text(path.read_text().replace(old, new))
    (wrong,) = dataset.pack(measured, tmp_path / "out", 20)
    assert said in wrong and "\n" not in wrong


@pytest.mark.parametrize(("change", "said"), [
    (lambda d: d["asked"].update(mpi="../x"), "asked.mpi: letters, digits and any of"),
    (lambda d: d["asked"].update(test="a\n"), "asked.test: letters, digits"),
    (lambda d: d.update(wall_s=1e999), "wall_s: "),
    (lambda d: d.update(wall_s=-1), "wall_s: -1 is"),
    (lambda d: d["asked"].update(ranks=0), "asked.ranks: 0 is"),
    (lambda d: d["asked"].update(ranks=1.5), "asked.ranks: 1.5 is"),
    (lambda d: d["observed"]["ranks"][0].update(rank=-1), "observed.ranks.rank: -1 is"),
    (lambda d: d["observed"].update(nodes=[{"kernel": "", "cpu_model": "", "governor": "",
                                            "memory_bytes": -1}]), "nodes.memory_bytes: -1 is"),
    (lambda d: d["observed"].update(disturbed=[{"ranks": "x"}]), "disturbed.ranks: a list of"),
    (lambda d: d.pop("reason"), "'reason'"),
    (lambda d: d["observed"]["ranks"][0].pop("cpus"), "observed.ranks: 'cpus' is a required"),
    (lambda d: d["samples"]["columns"][0].update(role="king"), "samples.columns.role: "),
    (lambda d: d["samples"].update(quantities={"pingpong": "odd"}), "samples.quantities"),
    (lambda d: d["observed"].update(machine={"traps": [{"trap": 1}]}), "machine.traps")])
def test_descriptions_are_held_against_the_schema_that_r_reads_them_by(
        measured, tmp_path, change, said):
    path = measured / "local/20260101T000000Z/cell.001.json"
    record = disk.read_json(path)
    assert launches.as_documented(record, "cell") is record
    change(record)
    path.write_text(json.dumps(record))
    (wrong,) = dataset.pack(measured, tmp_path / "out", 20)
    assert said in wrong and wrong.startswith(f"{path}: ")
    # The harness writes none that readers would refuse.
    instead = launches.as_documented(record, "cell")
    assert (instead["status"], instead["samples"]) == ("failed", None)
    assert said in instead["reason"]


def test_an_object_with_a_member_twice_is_left_out(measured, tmp_path):
    """Readers took one or the other."""
    path = measured / "local/20260101T000000Z/cell.001.json"
    path.write_text(path.read_text().replace('"wall_s"', '"wall_s": 1, "wall_s"', 1))
    (wrong,) = dataset.pack(measured, tmp_path / "out", 20)
    assert wrong == f"{path}: not JSON (twice the member 'wall_s')"
    with pytest.raises(ValueError, match=rf"{path}: twice the member 'wall_s'; move the file"):
        disk.read_json(path)


@pytest.mark.parametrize("name", [
    "`bytes`+{system('id>pwned');0}", "a<b", "T", "if", "NA_real_", "key", "mpi", "bytes", "`",
    "a b", "", "x" * 65, "setting_x", "1x", "ä", "a\n", "x,y", 7])
def test_names_of_columns_are_names_and_none_of_our_own(measured, tmp_path, capsys, name):
    folder = measured / "local/20260101T000000Z"
    record = disk.read_json(folder / "cell.001.json")
    record["samples"]["columns"][-1]["name"] = name
    disk.write_json(folder / "cell.001.json", record)
    text = (folder / "cell.001.csv").read_text()
    (folder / "cell.001.csv").write_text(text.replace(",queue\n", f",{name}\n", 1))
    (wrong,) = dataset.pack(measured, tmp_path / "out", 20)
    assert "cell.001.json" in wrong and "column" in wrong and "\n" not in wrong
    files = packed_sessions.read_archive(tmp_path / "out/local/20260101T000000Z.tar.xz")
    assert "cell.001.json" not in files and "cell.002.json" in files


@pytest.mark.parametrize("name", ["cell.001.csv", "cell.001.json", "session.json"])
@pytest.mark.parametrize("how", ["pipe", "link", "huge", "device"])
def test_what_is_no_plain_file_is_left_out_at_once(measured, tmp_path, name, how):
    path = measured / "local/20260101T000000Z" / name
    path.rename(tmp_path / "aside")
    if how == "pipe":
        os.mkfifo(path)
    elif how == "link":
        path.symlink_to(tmp_path / "aside")
    elif how == "device":
        path.symlink_to("/dev/zero")
    else:
        with open(path, "wb") as file:
            file.truncate(6 << 30)
    (wrong,) = dataset.pack(measured, tmp_path / "out", 20)
    assert name in wrong


@pytest.mark.parametrize("rows", [1 << 21, 100])
def test_lines_that_are_none_take_no_memory(measured, rows):
    folder = measured / "local/20260101T000000Z"
    path, size = folder / "cell.001.csv", 1 << 21
    head = "\n".join(path.read_text().splitlines()[:2]) + "\n"
    path.write_text(head + "\n" * size)
    record = json.loads((folder / "cell.001.json").read_text())
    record["samples"]["rows"] = rows
    disk.write_json(folder / "cell.001.json", record)
    tracemalloc.start()
    with pytest.raises(packed_sessions.FileError, match=r"cell\.001\.csv: "):
        packed_sessions.packed_launch(folder / "cell.001.json", 20)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * size


def test_an_archive_has_no_more_files_than_a_session_may_have(tmp_path, monkeypatch):
    monkeypatch.setattr(packed_sessions, "MOST_FILES", 3)
    for number in (3, 4):
        files = {f"cell.{i:03}.json": b"{}" for i in range(number)}
        (tmp_path / "x.tar.xz").write_bytes(packed_sessions.archive(files))
        if number == 3:
            assert packed_sessions.read_archive(tmp_path / "x.tar.xz") == files
        else:
            with pytest.raises(packed_sessions.FileError, match="one too many"):
                packed_sessions.read_archive(tmp_path / "x.tar.xz")


def test_samples_have_no_more_groups_than_a_report_can_show(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(packed_sessions, "MOST_GROUPS", 3)
    (said,) = dataset.pack(measured, tmp_path / "out", 20)
    assert "more than 3 operations, sizes and values of factors" in said


def test_limits_of_files_are_those_of_r():
    text = (families.REPO / "analysis/R/read-files.R").read_text()
    said = dict(re.findall(r"^(MOST_\w+) <- 2\^(\d+)$", text, re.M))
    assert {name: 1 << int(bits) for name, bits in said.items()} == {
        name: value for name, value in vars(plain).items() if name.startswith("MOST_")}
    text = (families.REPO / "analysis/R/read-samples.R").read_text()
    assert f"MOST_FIELD <- {packed_sessions.MOST_FIELD}L\n" in text


def test_an_archive_is_not_unpacked_beyond_what_a_session_may_have(tmp_path, monkeypatch):
    monkeypatch.setattr(packed_sessions, "MOST_UNPACKED", 1 << 20)
    path = tmp_path / "x.tar.xz"
    for kind in (tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        entry = tarfile.TarInfo("cell.001.json")
        entry.size, entry.type = 4 << 20, kind
        path.write_bytes(lzma.compress(entry.tobuf(tarfile.USTAR_FORMAT) + bytes(5 << 20)))
        with pytest.raises(packed_sessions.FileError, match=r"x\.tar\.xz"):
            packed_sessions.read_archive(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_a_folder_that_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path, monkeypatch):
    for name, mode in (("local/open", 0o755), ("local/shut", 0), ("local/seen", 0o744),
                       ("shut/session", 0o755)):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        (folder / "cell.001.json").write_text("{}")
        folder.chmod(mode)
    (tmp_path / "results/shut").chmod(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # the folders above are closed to others
    os.seteuid(65534)
    try:
        found, wrong = dataset.sessions_of(pathlib.Path("results"))
        with pytest.raises(ValueError, match="results/shut: Permission denied"):
            dataset.pack(pathlib.Path("results/shut"), pathlib.Path("out"), 20)
    finally:
        os.seteuid(0)
    assert [*map(str, found)] == ["results/local/open", "results/local/seen"]
    assert wrong == ["results/local/shut: Permission denied", "results/shut: Permission denied"]
