# SPDX-License-Identifier: BSD-3-Clause
"""The archive for reviewers: files, checksums and metadata; the choice of claims."""

import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from reframe_tests.harness.model import families
from reframe_tests.harness.study import until
from stack import artifact, metadata, reproduce, wheels
from tests.test_release import IDENTITY

REPO = families.REPO
STACKS = (families.stack_prefix(), REPO / ".stack")
VALIDATORS = next((path for stack in STACKS
                   if (path := stack / "validators/bin/python").exists()), None)
COLUMNS = ["study", "claim", "says", "exhibit", "verdict", "ratio", "low", "high", "simulated",
           "test", "scale", "configurations", "hardware", "minutes"]


def claim(name, minutes, cells, verdict="holds", simulated=""):
    values = ["stival", name, "A | B", "stival-fig-4.4", verdict, "0.81", "0.7", "0.9", simulated,
              "", "full", cells, "CPU; 2 ranks, 1 hosts", str(minutes)]
    return dict(zip(COLUMNS, values, strict=True))


def text_of(*claims, columns=COLUMNS):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(claims)
    return text.getvalue()


CLAIMS = [claim("long", 30, "netpipe_uni.mpich.shm.near"),
          claim("short", 0.5, "pingpong_modes.mpich.shm.near pingpong_modes.openmpi.shm.near"),
          claim("same", 0.5, "pingpong_modes.mpich.shm.near"),
          claim("hosts", 0.1, "hosts_quick.mpich.tcp.near", simulated="emulated: 2 hosts"),
          claim("open", 0.1, "pingpong_modes.mpich.shm.far", verdict="not settled"),
          claim("none", "NA", "", verdict="not comparable")]


@pytest.fixture
def top(tmp_path):
    """A small repository with one session, and the tables of its artifact."""
    top = tmp_path / "top"
    session = "data/reference/local/20261125T151453Z.tar.xz"
    for name in ["CITATION.cff", "README.md", "LICENSE", "data/LICENSE", metadata.WORKFLOW,
                 session,
                 *(str(p.relative_to(REPO)) for p in (REPO / "requirements").glob("*.in"))]:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, top / name)
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "All"]):
        subprocess.run(["git", "-C", top, *IDENTITY, *words], check=True)
    tables = tmp_path / "artifact/tables"
    (tables / "stival").mkdir(parents=True)
    (tables / "stival/fig.csv").write_text("x\n1\n")
    lines = [",".join(COLUMNS), *(",".join(f'"{v}"' for v in c.values()) for c in CLAIMS)]
    (tables / "claims.csv").write_text("\n".join(lines) + "\n")
    return top


@pytest.fixture
def unpacked(top, tmp_path):
    path = artifact.build(top, tmp_path / "artifact")
    subprocess.run(["tar", "-C", tmp_path, "-xf", path], check=True)
    return tmp_path / path.name.removesuffix(".tar.gz")


def test_the_archive_has_the_commit_and_what_follows_from_it(unpacked, top):
    sums = dict(reversed(line.split("  ")) for line in
                (unpacked / "SHA256SUMS").read_text().splitlines())
    there = {str(p.relative_to(unpacked)) for p in unpacked.rglob("*") if p.is_file()}
    assert there == {*sums, "SHA256SUMS"}
    for name, expected in sums.items():
        assert hashlib.sha256((unpacked / name).read_bytes()).hexdigest() == expected
    committed = subprocess.run(["git", "-C", top, "ls-files"], text=True,
                               capture_output=True).stdout.split()
    assert there - {*committed} == {
        "SHA256SUMS", "codemeta.json", ".zenodo.json", "ro-crate-metadata.json",
        "artifact/README.md", "artifact/Dockerfile", "artifact/tables/claims.csv",
        "artifact/tables/stival/fig.csv"}
    assert os.access(unpacked / "run", os.X_OK)


def test_building_twice_gives_the_same_bytes(top, tmp_path):
    first = artifact.build(top, tmp_path / "artifact").read_bytes()
    assert artifact.build(top, tmp_path / "artifact").read_bytes() == first


def test_the_appendix_lists_every_claim(unpacked):
    text = (unpacked / "artifact/README.md").read_text()
    assert "{" not in text
    for one in CLAIMS:
        row = f"| `stival/{one['claim']}` | A / B | {one['verdict']} | 0.81 [0.7, 0.9] | "
        assert f"\n{row}" in text
    assert "make reproduce JUDGE='stival/short'" in text
    assert (have := wheels.package_versions()) is None or f"cmake {have['cmake']}" in text
    targets = re.findall(r"^make (\S+)", text, re.M)
    makefile = (REPO / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


def test_the_crate_describes_only_what_is_there(unpacked):
    crate = json.loads((unpacked / "ro-crate-metadata.json").read_text())
    graph = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(graph) == len(crate["@graph"])

    def references(value):
        if isinstance(value, dict):
            if set(value) == {"@id"}:
                yield value["@id"]
            for part in value.values():
                yield from references(part)
        elif isinstance(value, list):
            for part in value:
                yield from references(part)
    outside = {one for entity in graph.values() for one in references(entity)} - {*graph}
    assert all(one.startswith(("https://w3id.org/", "https://spdx.org/", "http://schema.org/"))
               for one in outside)
    files = [name for name, entity in graph.items() if "File" in entity["@type"]]
    assert [name for name in files if not (unpacked / name).exists()] == []
    (run,) = (entity for entity in graph.values() if entity["@type"] == "CreateAction")
    assert (run["startTime"], run["endTime"]) == (
        "2026-11-25T15:14:53+00:00", "2026-11-25T15:16:22+00:00")
    assert graph[run["agent"]["@id"]]["name"] == "The cotejo authors"
    assert [name for name in files if "encodingFormat" not in graph[name]] == []
    assert run["name"] == "make study TAG=collectives"


def test_metadata_agree_with_the_citation(unpacked):
    cited = yaml.safe_load((REPO / "CITATION.cff").read_text())
    code, zenodo = (json.loads((unpacked / name).read_text())
                    for name in ("codemeta.json", ".zenodo.json"))
    assert code["version"] == zenodo["version"] == str(cited["version"])
    assert [a["name"] for a in code["author"]] == [c["name"] for c in zenodo["creators"]]
    source, files = code["identifier"]
    assert re.fullmatch(r"swh:1:rev:[0-9a-f]{40}", source)
    assert re.fullmatch(r"swh:1:dir:[0-9a-f]{40}", files)
    assert f"`{source}`, `{files}`" in (unpacked / "artifact/README.md").read_text()
    named = {"authors": [{"family-names": "B", "given-names": "A", "orcid": "https://orcid.org/1"}]}
    assert metadata.zenodo({**cited, **named})["creators"] == [{"name": "B, A", "orcid": "1"}]
    assert metadata.codemeta({**cited, **named})["author"] == [
        {"@type": "Person", "name": "A B", "@id": "https://orcid.org/1"}]


@pytest.mark.skipif(VALIDATORS is None, reason="no validators of metadata (`make artifact-tools`)")
def test_the_validators_find_nothing(unpacked):
    assert [*artifact.findings(unpacked, VALIDATORS)] == []
    (unpacked / "ro-crate-metadata.json").write_text("{}")
    text = (unpacked / "CITATION.cff").read_text()
    (unpacked / "CITATION.cff").write_text(text.replace("type: soft", "type: hard"))
    found = [*artifact.findings(unpacked, VALIDATORS)]
    assert [line.partition(":")[0] for line in found] == ["ro-crate-metadata.json", "CITATION.cff"]


def test_uncommitted_changes_are_refused(tmp_path):
    (tmp_path / "x").mkdir()
    program = ("import sys, pathlib, stack.artifact as a; a.REPO = pathlib.Path(sys.argv[2]); "
               "sys.exit(a.main())")
    subprocess.run(["git", "init", "-q", tmp_path / "x"], check=True)
    (tmp_path / "x/new.txt").touch()
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path), str(tmp_path / "x")],
                          text=True, capture_output=True, cwd=REPO)
    assert (done.returncode, done.stderr.strip()) == (
        1, "artifact: new.txt is not committed; commit or remove it")


def test_claims_are_measured_within_a_time_and_only_once():
    names = [c["claim"] for c in reproduce.chosen(CLAIMS, 60)]
    assert names == ["short", "same"]
    assert [c["claim"] for c in reproduce.chosen(CLAIMS, 7200)] == ["short", "same", "long"]
    assert [c["claim"] for c in reproduce.chosen(CLAIMS, 7200, "stival/l.*")] == ["long"]
    (times,) = reproduce.studies(reproduce.chosen(CLAIMS, 60)).values()
    assert times.keys() == {"pingpong_modes.mpich.shm.near", "pingpong_modes.openmpi.shm.near"}
    # Several claims share the same launches.
    assert 0 < sum(times.values()) < 60 * sum(
        float(c["minutes"]) for c in reproduce.chosen(CLAIMS, 60))
    tags = {"pingpong_quick": "p2p", "nas_class_a": "nas-full", "overlap_gap_send": "overlap-full",
            "npb_threads_class_a": "npb-full", "gone": None}
    assert {name: reproduce.tags().get(name) for name in tags} == tags
    assert reproduce.studies([claim("x", 1, "pingpong_quick.mpich.shm.near gone_quick.x")]) == {
        "p2p": {"pingpong_quick.mpich.shm.near": 30}}


@pytest.mark.parametrize(("budget", "first_took_s"), [
    ("75s", 40),  # longer than it should
    ("120s", 60)])  # twice as long: so will the second one
def test_no_study_begins_that_would_take_longer_than_the_budget(
        tmp_path, monkeypatch, capsys, budget, first_took_s):
    begun = []
    monkeypatch.setattr(reproduce.subprocess, "run", lambda words, **how: begun.append(
        next(word for word in words if word.startswith("--tag="))) or subprocess.CompletedProcess(
            words, 0))
    claims = [claim("a", 0.5, "pingpong_quick.mpich.shm.near"),
              claim("b", 0.7, "collective_quick.mpich.shm.near.2")]
    file = tmp_path / "claims.csv"
    file.write_text(text_of(*claims))
    monkeypatch.setattr(sys, "argv", ["reproduce", str(file), str(tmp_path)])
    monkeypatch.setenv("BUDGET", budget)
    monkeypatch.delenv("JUDGE", raising=False)
    now = iter((0, 0, first_took_s))
    monkeypatch.setattr(reproduce.time, "monotonic", lambda: next(now))
    assert reproduce.main() == 0
    assert begun == ["--tag=p2p"]
    assert "no time left for collectives" in capsys.readouterr().out


@pytest.mark.parametrize("text, seconds", [("", 900), ("90s", 90), ("1.5m", 90), ("2h", 7200)])
def test_the_budget_is_a_time(text, seconds):
    assert until.seconds(text or reproduce.BUDGET) == seconds


def test_a_missing_archive_is_one_line(tmp_path):
    done = subprocess.run([sys.executable, "-m", "stack.reproduce", tmp_path / "no.csv", tmp_path],
                          text=True, capture_output=True, cwd=REPO)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "make artifact" in done.stderr


ONE = claim("a", 1, "pingpong_quick.mpich.shm.near")


@pytest.mark.parametrize("data, said", [
    (b"", ":1: no column study, claim, verdict, "),
    (text_of(ONE, columns=[c for c in COLUMNS if c != "verdict"]).encode(),
     ":1: no column verdict;"),
    (text_of(ONE | {"says": "é"}).encode("latin-1"), ":2: not UTF-8;"),
    (text_of(ONE, ONE | {"says": "x" * 140000}).encode(), ":3: field larger than field limit"),
    (text_of(ONE).encode() + b"a,b\n", ":3: 2 fields, not 14;"),
    (text_of(ONE).encode() + b'"a', ":3: unexpected end of data;"),
    *[(text_of(ONE, claim("b", minutes, "pingpong_quick.mpich.shm.near")).encode(),
       f":3: minutes: {minutes!r} is no number of minutes;")
      for minutes in ("abc", "", "NA", "inf", "nan", "-1")],
    *[(text_of(claim("b", 1, f"pingpong_quick.a {cell}")).encode(),
       f":2: configurations: {cell[:60]!a} is no name of a configuration;")
      for cell in ("--x", "a\x1b[2J", "a)|(", "$(x)", "a\u202e", "x" * 300)],
    (text_of(ONE | {"scale": ""}).encode(), ":2: scale: '' is none;"),
    (text_of(ONE | {"scale": "\x1b[2J"}).encode(), ":2: scale: '\\x1b[2J' is none;"),
    ("pipe", ": no plain file;"), ("link", ": is a link;"), ("large", " B are more than ")])
def test_claims_of_a_damaged_archive_are_one_line(tmp_path, data, said):
    file = tmp_path / "claims.csv"
    if data == "pipe":
        os.mkfifo(file)
    elif data == "link":
        file.symlink_to(REPO / "data/claims.csv")
    elif data == "large":
        with open(file, "wb") as empty:
            empty.truncate(1 << 32)
    else:
        file.write_bytes(data)
    done = subprocess.run([sys.executable, "-m", "stack.reproduce", file, tmp_path], text=True,
                          capture_output=True, cwd=REPO, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(f"reproduce: {file}{said}"[:40]) and said in done.stderr
    assert done.stderr.count("\n") == 1 and "make artifact" in done.stderr
    assert len(done.stderr) < 500 and done.stderr.rstrip("\n").isprintable()


def test_a_mark_of_the_order_of_bytes_is_no_part_of_the_claims(tmp_path):
    (tmp_path / "claims.csv").write_bytes(b"\xef\xbb\xbf" + text_of(*CLAIMS).encode())
    assert reproduce.read_claims(tmp_path / "claims.csv") == CLAIMS


def test_more_configurations_than_a_command_can_have_are_not_measured(
        tmp_path, monkeypatch, capsys):
    many = " ".join(f"pingpong_quick.x{n}" for n in range(4000))
    (tmp_path / "claims.csv").write_text(text_of(*(
        claim(str(n), 0.1, many.replace("x", f"x{n}")) for n in range(20))))
    monkeypatch.setattr(sys, "argv", ["reproduce", str(tmp_path / "claims.csv"), str(tmp_path)])
    monkeypatch.delenv("JUDGE", raising=False)
    monkeypatch.delenv("BUDGET", raising=False)
    assert reproduce.main() == 0
    assert "p2p could not be measured (Argument list too long)" in capsys.readouterr().out


def test_every_file_of_the_recipe_of_the_container_exists(unpacked):
    text = (unpacked / "artifact/Dockerfile").read_text()
    assert f"FROM {artifact.IMAGE}\n" in text
    for name in pathlib.Path(REPO / "requirements/debian.txt").read_text().split("\n"):
        assert name.startswith("#") or name in text
