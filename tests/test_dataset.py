# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions that readers would refuse are not written; a full disk harms no dataset. R packs
datasets: analysis/tests/testthat/test-keep-dataset.R."""

import json
import os
import re
import shutil
import subprocess

import pytest

from reframe_tests.harness.launch import launches
from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import families, plain
from tests import fake_mpi

FIXTURES = families.REPO / "analysis/tests/testthat/fixtures/v2"


@pytest.fixture
def record():
    """The description of a sound launch."""
    return {
        "status": "ok", "simulated": "", "reason": "", "started": "", "environment": {},
        "wall_s": 1.0, "reported": {}, "command": "", "provenance": {"commit": "0" * 40},
        "asked": fake_mpi.asked(test="pingpong_quick", mpi="mpich"),
        "observed": fake_mpi.observed("MPICH 5.0.2", [("a", 0), ("a", 1)]),
        "samples": {"file": "cell.001.csv", "rows": 1, "columns": [
            {"name": name, "unit": unit, "meaning": name} for name, unit in (
                ("operation", ""), ("bytes", "B"), ("repetition", ""), ("calls", ""),
                ("time_s", "s"), ("valid", ""))]}}


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
def test_descriptions_are_held_against_the_schema_that_r_reads_them_by(record, change, said):
    assert launches.as_documented(record, "cell") is record
    change(record)
    # The harness writes none that readers would refuse.
    instead = launches.as_documented(record, "cell")
    assert (instead["status"], instead["samples"]) == ("failed", None)
    assert said in instead["reason"]


def test_an_object_with_a_member_twice_is_refused(record, tmp_path):
    """Readers took one or the other."""
    path = tmp_path / "cell.001.json"
    path.write_text(json.dumps(record).replace('"wall_s"', '"wall_s": 1, "wall_s"', 1))
    with pytest.raises(ValueError, match=rf"{path}: twice the member 'wall_s'; move the file"):
        disk.read_json(path)


def test_limits_of_files_are_those_of_r():
    text = (families.REPO / "analysis/R/read-files.R").read_text()
    said = {name: 1 << int(bits)
            for name, bits in re.findall(r"^(MOST_\w+) <- 2\^(\d+)$", text, re.M)}
    own = {name: value for name, value in vars(plain).items() if name.startswith("MOST_")}
    assert len(own) == 5 and own.items() <= said.items()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
@pytest.mark.skipif(not shutil.which("Rscript"), reason="no R")
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_disk_that_takes_nothing_more_is_one_line_and_the_dataset_stays(tmp_path, how):
    (tmp_path / "disk").mkdir()
    script = """
mount -t tmpfs -o size=64k none "$1/disk" && "$4" --vanilla -e "$5" >/dev/null || exit 3
before=$(cat "$1"/disk/out/*/* "$1/disk/out/SHA256SUMS" | sha256sum)
if [ "$3" = full ]; then cat /dev/zero >"$1/disk/filler" 2>/dev/null
else mount -o remount,ro "$1/disk"; fi
"$4" --vanilla -e "$5" >/dev/null
echo "status $?"
[ "$before" = "$(cat "$1"/disk/out/*/* "$1/disk/out/SHA256SUMS" | sha256sum)" ] && echo same
ls -A "$1/disk"
"""
    out = tmp_path / "disk/out"
    code = f"cotejo::run_command(pack_dataset({r.text(FIXTURES)}, {r.text(out)}))"
    words, variables = r.command(code)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path), "", how, words[0], code],
        text=True, capture_output=True, env=variables)
    left = "filler\n" if how == "full" else ""
    assert done.stdout == f"status 1\nsame\n{left}out\n", done.stderr
    assert done.stderr.count("\n") == 1 and "cannot be written" in done.stderr
