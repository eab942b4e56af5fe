# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's own features work on cotejo's tests: its database, report, distribution and CI."""

import json
import os
import re
import subprocess

import pytest
import yaml

from reframe_tests.harness.launch import selection
from reframe_tests.harness.model import families
from tests.fake_mpi import REFRAME, Fake, executable

pytestmark = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm libfabric provider: tcp",
         [("a", 0), ("a", 1)])
ONE = ("-n", "^pingpong%scale=smoke.*transport=shm")


@pytest.fixture
def site(tmp_path):
    return Fake(tmp_path, "intel-mpi", INTEL)


def test_results_are_stored_and_reported_by_default(site, tmp_path):
    (tmp_path / "temporary").mkdir()
    output = site.run("-r", "--performance-report", *ONE, TMPDIR=str(tmp_path / "temporary"))
    # ReFrame begins a log there before it knows where it belongs.
    assert list((tmp_path / "temporary").glob("rfm-*")) == []
    assert re.search(r"PERFORMANCE REPORT.* latency +│ us +│ +1 │", output, re.S), output[-2500:]
    assert (site.stack / "reframe/results.db").exists()
    stored = site.run("--list-stored-sessions")
    assert len(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", stored)) == 1, stored[-1500:]
    compared = site.run("--performance-compare=now-1d:now/now-1d:now/mean:/")
    assert "pingpong" in compared, compared[-1500:]


def test_tests_are_distributed_over_nodes(site):
    output = site.run("-l", "--distribute=all", *ONE)
    assert re.search(r"pingpong .*scale=smoke.*\.nid=\S+", output), output[-2500:]


def test_a_pipeline_is_generated(site):
    path = site.folder / "pipeline.yml"
    output = site.run(f"--ci-generate={path}", *ONE)
    assert path.exists(), output[-2500:]
    jobs = yaml.safe_load(path.read_text())
    (job,) = (job for name, job in jobs.items() if name.startswith("pingpong"))
    assert re.search(r"-n /[0-9a-f]{8} -r", job["script"][0])


def script(site, *words):
    """The job script that a dry run writes for the launches that are chosen, one after another."""
    said = site.run("--dry-run", "-n", "^pingpong%scale=quick.*transport=shm", *words)
    found = [path.read_text() for path in site.stack.glob("reframe/**/rfm_job.sh")]
    assert found, said[-2500:]
    return "\n".join(found)


@pytest.mark.parametrize("prefix", ["", "pingpong."])
def test_variables_set_sizes_budget_and_precision(site, prefix):
    usual = script(site)
    assert "--sizes 1:4Mi:x4" in usual and "--budget 0.1" in usual and "--rse 0.003" in usual
    words = [word for text in ("sizes=8,1Ki", "budget=0.5", "rse=0.02")
             for word in ("-S", prefix + text)]
    chosen = script(site, *words)
    assert "--sizes 8,1Ki" in chosen and "--budget 0.5" in chosen and "--rse 0.02" in chosen
    assert "1:4Mi:x4" not in chosen


@pytest.mark.parametrize(("words", "limit_s"), [((), 120), (("-S", "overlap.limit_s=7"), 7)])
def test_the_command_line_wins_over_the_variables_of_a_scale(site, words, limit_s):
    said = site.start(str(REFRAME), "-c", str(families.REPO / "reframe_tests/overlap.py"),
                      "--dry-run", "-n", "^overlap%", "-E", "scale == 'quick' and "
                      "pattern == 'pingpong' and transport == 'shm'", *words)
    (path,) = site.stack.glob("reframe/**/rfm_job.sh")
    assert re.findall(r"cotejo-guard (\d+) ", path.read_text()) == [str(limit_s)], said[-2000:]


def test_a_variable_of_another_test_changes_nothing(site):
    assert "--sizes 1:4Mi:x4" in script(site, "-S", "pingping.sizes=8")


def listed(site, *words, **variables):
    """The names of the tests that ReFrame lists, with their hashes."""
    said = site.run("-l", *words, **variables)
    return re.findall(r"^(?:- | +\^)(\S.*?) (/[0-9a-f]{8})$", said, re.M) or said[-2500:]


def test_tests_are_selected_by_name_expression_environment_and_parameter(site):
    every = listed(site, "-n", "^pingpong%scale=quick")
    assert len(every) == 2
    assert listed(site, "-n", "^pingpong%scale=quick", "-E", "transport=='shm'") == [
        one for one in every if "transport=shm" in one[0]]
    assert listed(site, "-n", every[1][1]) == [every[1]]
    assert listed(site, "-E", "scale=='quick' and experiment=='pingpong'") == every
    assert listed(site, "-n", "^pingpong%scale=quick", "-p", "intel-mpi") == every
    varied = listed(site, "-n", "^pingpong%scale=quick.*shm", "-P", "placement=near,far")
    assert [re.search(r"placement=(\w+)", name)[1] for name, _ in varied] == ["near", "far"]
    assert listed(site, "-n", "^pingpong%", "-P", "scale=quick") == every
    assert listed(site, "-n", "^pingpong%", "-E", "scale == 'quick'") == every
    assert listed(site, "-n", "^pingpong%", "--tag", "^quick$") == every
    scales = [re.search(r"scale=(\w+)", name)[1] for name, _ in listed(site, "-n", "^pingpong%")]
    assert scales == ["smoke"] * 2 + ["quick"] * 2 + ["bench"]  # the last one over shm alone
    varied = listed(site, "-n", "^pingpong%scale=quick.*shm", "-P", "sizes=8,16")
    assert [re.search(r"sizes=(\w+)", name)[1] for name, _ in varied] == ["8", "16"]


@pytest.mark.parametrize(("line", "chosen"), [
    ("", {}), ("-r", {}), ("-rv --system=x -p mpich", {}), ("-l --repeat=2", {}),
    ("-l -n x", {"--name": ["x"]}), ("-rvnx", {"--name": ["x"]}),
    ("-rn ^x%a=b", {"--name": ["^x%a=b"]}), ("-l --nam=x -n ^y$", {"--name": ["x", "^y$"]}),
    ("-r -vE scale=='quick'", {"--filter-expr": ["scale=='quick'"]}),
    ("-lC -x y", {"--exclude": ["y"]}), ("-rt^quick$", {"--tag": ["^quick$"]}),
    ("-l --tag=p2p-full", {"--tag": ["p2p-full"]}), ("-r --mode=quick", {"--tag": ["^quick$"]}),
    ("-l --mode full -p x", {"--tag": ["^full$"]}),
    ("-r -t a --tag b", {"--tag": ["a", "b"]})])
def test_what_a_command_line_chooses_is_read_in_any_spelling(line, chosen):
    """`-rn NAME` loaded the comparison alone, and found no test."""
    assert selection.chosen(line.split()) == chosen


def test_the_tests_that_are_made_are_those_that_reframe_selects(site):
    """A test that is not made is never found, by a part of its name or of a parameter either."""
    every = listed(site, "-n", ".", bare=True)
    assert len(every) > 100
    for words in (["pingpong"], ["^pingpong"], ["^(matching|pingping)%"],
                  ["compact|^pingping%.*quick", "^startup%"], ["tcp"], ["cale=smoke"], ["near"]):
        found = listed(site, *(word for one in words for word in ("-n", one)), bare=True)
        assert isinstance(found, list) and found == [
            one for one in every if re.search("|".join(words), one[0].replace(" ", ""))], words


def test_a_command_makes_no_more_tests_than_it_selects(site):
    said = site.run("-l", "-v", "-n", "^matching%scale=smoke", bare=True)
    made, selected = re.search(r"Loaded (\d+) test", said), re.search(r"Found (\d+) check", said)
    assert int(selected[1]) <= int(made[1]) < 20 and "not selected" not in said, said[-2500:]


def test_tests_are_described(site):
    """With this option ReFrame writes its command nowhere."""
    said = json.loads(site.run("--describe", *ONE, bare=True))
    assert [one["experiment"] for one in said] == ["pingpong"]


@pytest.mark.parametrize(("mode", "scale"), [("quick", "quick"), ("ci", "smoke")])
def test_a_mode_selects_the_tests_of_a_scale(site, mode, scale):
    names = [name for name, _ in listed(site, f"--mode={mode}", bare=True)]
    assert any(name.startswith(f"pingpong %scale={scale}") for name in names), names
    assert all(f"%scale={scale} " in f"{name} " for name in names), names


@pytest.mark.parametrize(("job", "impossible"), [
    ("kernels", ["ranks=1 ", "transport=tcp"]), ("kernels", ["split=1x", "transport=tcp"]),
    ("onesided", ["window=shared", "transport=tcp"])])
def test_variants_that_no_machine_can_have_are_not_there(tmp_path, job, impossible):
    """They were tests that each run skipped."""
    fake = Fake(tmp_path, "intel-mpi", INTEL, scale="ranks: 64\n", more=', "extras": {"nodes": 2}')
    said = fake.start(str(REFRAME), "-l", "-n", ".", "-c",
                      str(families.REPO / f"reframe_tests/{job}.py"))
    names = re.findall("^- .*", said, re.M)
    assert len(names) > 1, said[-2000:]
    assert not [name for name in names if all(word in name for word in impossible)]


def test_names_and_hashes_of_a_bare_reframe_are_stable(site):
    drawn = [listed(site, bare=True, COTEJO_LAUNCHES="2") for _ in range(3)]
    assert len(drawn[0]) == 9
    assert len({tuple(sorted(one)) for one in drawn}) == 1
    assert len({tuple(one) for one in drawn}) > 1  # the order is drawn anew


def test_every_parameter_has_a_type(site):
    """`reframe -P` needs one."""
    program = """
from reframe_tests.base import Experiment
import importlib, pathlib
for path in pathlib.Path("reframe_tests").glob("*.py"):
    if path.stem not in ("__init__", "config", "allocated", "comparison"):
        importlib.import_module(f"reframe_tests.{path.stem}")
left, seen = [Experiment], set()
while left:
    one = left.pop()
    left += one.__subclasses__()
    seen |= {(one.__name__, name) for name, found in one.raw_params.items()
             if found.type is None and name != "set_by_name"}
print(len(seen), sorted(seen))
"""
    done = subprocess.run([REFRAME.parent / "python", "-c", program], cwd=families.REPO, text=True,
                          capture_output=True, env={**os.environ, "COTEJO_SITE": "local"})
    assert done.stdout.strip() == "0 []", done.stdout + done.stderr


def test_repetitions_are_launches_of_one_configuration(site):
    said = site.run("-r", "--repeat=3", *ONE)
    assert "Ran 3/3 test case(s)" in said, said[-2500:]
    found = sorted(path.name for path in (site.folder / "results/fake/s").glob("*.json"))
    assert found == [f"pingpong_smoke.intel-mpi.shm.near.compute.{n:03d}.json" for n in (1, 2, 3)]


def test_failed_tests_are_run_again_from_a_restored_session(site):
    """--failed and --restore-session read ReFrame's report of the run before."""
    usual = (site.prefix / "bin/mpirun").read_text()
    executable(site.prefix / "bin/mpirun", "#!/bin/sh\necho cotejo: failed >&2; exit 1\n")
    both = ("-n", "^ping(pong|ping)%scale=smoke.*transport=shm")
    assert "FAILED" in site.run("-r", *both)
    executable(site.prefix / "bin/mpirun", usual)
    (report,) = site.stack.glob("reframe/reports/run-*.json")
    said = site.run("-r", f"--restore-session={report}", "--failed", *both,
                    COTEJO_SESSION="next")
    assert "Ran 2/2 test case(s)" in said and "PASSED" in said, said[-2500:]


@pytest.mark.parametrize("word", ["-rv", "-vr", "-r --verbose", "-v -r"])
def test_more_words_are_shown_however_they_are_requested(site, word):
    said = site.run(*word.split(), *ONE)
    assert "Ran 1/1 test case(s)" in said, said[-2500:]
    assert "Loaded" in said, said[-2500:]
    assert "Loaded" not in site.run("-r", *ONE, COTEJO_SESSION="next")


def test_a_bare_run_keeps_its_plan_in_any_spelling(site, tmp_path):
    executable(tmp_path / "path/Rscript", "#!/bin/sh\n")
    site.run("-rv", bare=True, COTEJO_LAUNCHES="1", COTEJO_SESSION="")
    (plan,) = (tmp_path / "results/fake").glob("*/session.json")
    assert json.loads(plan.read_text())["finished"]


def test_performance_logs_hold_the_figures(site):
    """Each line ended behind the result."""
    site.run("-r", *ONE)
    (path,) = site.stack.glob("reframe/perflogs/*/*/pingpong.log")
    header, line = (text.split("|") for text in path.read_text().splitlines()[:2])
    assert "latency=1" in line or "latency=1.0" in line, line
    named = dict(zip(header, line, strict=True))
    assert [named[name] for name in ("scale", "transport", "placement", "num_tasks")] == [
        "smoke", "shm", "near", "2"]
    assert len(header) == len(line)
