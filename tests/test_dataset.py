# SPDX-License-Identifier: BSD-3-Clause
"""A packed dataset: small, the same bytes twice, and silent about who keeps the machine."""

import hashlib
import json
import tarfile

import pytest

from reframe_tests.harness import dataset, sessions

COLUMNS = [{"name": name, "unit": unit, "meaning": name} for name, unit in (
    ("operation", ""), ("bytes", "B"), ("repetition", ""), ("calls", ""), ("time_s", "s"),
    ("valid", ""), ("queue", ""))]


@pytest.fixture
def measured(tmp_path):
    """Results of one session of two launches, one of them failed."""
    folder = tmp_path / "results/local/20260101T000000Z"
    lines = [f"pingpong,{size},{i},1,1.5e-06,1,{queue}"
             for size in (1, 1024) for queue in (0, 2) for i in range(50)]
    record = {
        "id": "cell.001", "status": "ok", "simulated": "",
        "command": "/deep/site_configs/x/enter /run/x /deep/.stack/mpi/mpich/bin/cotejo pingpong "
                   "/tmp/deep/src/languages/python/nas_ep.py",
        "asked": {"test": "pingpong_quick", "mpi": "mpich"}, "provenance": {"commit": "0" * 40},
        "observed": {"mpi": {"library": "MPICH 5.0.2 Information: https://host.example/p/mpich/ "},
                     "libraries": ["/tmp/cotejo_8788_0.so", "/usr/lib/libm_1_2.so.6",
                                   "/sw/mpi/lib/libmpi.so.12"],
                     "node": {"cpu_model": "A CPU"}},
        "samples": {"file": "cell.001.csv", "rows": len(lines), "columns": COLUMNS}}
    sessions.write_json(folder / "cell.001.json", record)
    (folder / "cell.001.csv").write_text(
        "# cotejo-samples/1\n" + ",".join(c["name"] for c in COLUMNS) + "\n"
        + "\n".join(lines) + "\n")
    failed = {**record, "id": "cell.002", "status": "failed", "observed": None, "samples": None}
    sessions.write_json(folder / "cell.002.json", failed)
    sessions.write_json(folder / "session.json", {"tag": "quick", "cells": ["cell"]})
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
    assert set(files) == {"cell.001.json", "cell.001.csv", "cell.002.json", "session.json"}
    rows = files["cell.001.csv"].splitlines()[2:]
    record = json.loads(files["cell.001.json"])
    assert len(rows) == record["samples"]["rows"] == 4 * 20
    assert record["samples"]["thinned_from"] == 200
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


def test_what_the_rules_do_not_know_is_refused(measured, tmp_path):
    path = measured / "local/20260101T000000Z/cell.001.json"
    record = sessions.read_json(path)
    record["command"] = "/home/someone/bin/mpirun"
    sessions.write_json(path, record)
    with pytest.raises(ValueError, match="names a place that a dataset must not name"):
        dataset.pack(measured, tmp_path / "out", 20)
    assert not (tmp_path / "out").exists()


def test_a_dataset_that_is_too_large_is_not_written(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "MOST_BYTES", 100)
    with pytest.raises(SystemExit, match="keep fewer samples"):
        dataset.pack(measured, tmp_path / "out", 20)
    assert not (tmp_path / "out").exists()
