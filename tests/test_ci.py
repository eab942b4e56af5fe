# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of docs/ci.md are valid, and their commands measure, compare and publish."""

import fnmatch
import os
import re
import shutil
import string
import subprocess
import xml.etree.ElementTree

import pytest
import yaml

from reframe_tests.harness.model import families
from tests.fake_mpi import REFRAME, Fake

REPO = families.REPO
RECIPES = REPO / "docs/ci"
INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm libfabric provider: tcp",
         [("a", 0), ("a", 1)])
needs_stack = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")


def recipe(name):
    """A recipe as the service reads it; the key `on` stays a word."""
    return yaml.load((RECIPES / name).read_text(), yaml.BaseLoader)


def jobs_of(pipeline):
    """The jobs of a GitLab pipeline."""
    return {name: job for name, job in pipeline.items()
            if name not in ("stages", "variables", "default", "cache", "image")}


def scripts():
    """The name and commands of each job of all recipes."""
    for name in ("gitlab.yml", "gitlab-child.yml"):
        found = recipe(name)
        yield from ((f"{name}: {job}", lines["script"]) for job, lines in jobs_of(found).items()
                    if "script" in lines)
    for job in recipe("github.yml")["jobs"].values():
        yield from ((f"github.yml: {step['name']}", step["run"].splitlines())
                    for step in job["steps"] if "run" in step)


SCRIPTS = dict(scripts())


def test_recipes_have_no_other_files():
    assert sorted(path.name for path in RECIPES.iterdir()) == [
        "github.yml", "gitlab-child.yml", "gitlab.yml"]
    assert len(SCRIPTS) == 7


@pytest.mark.parametrize("name", SCRIPTS)
def test_commands_of_a_recipe_exist(name):
    text = "\n".join(SCRIPTS[name])
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
    makefile = (REPO / "Makefile").read_text()
    given = re.search(r"^GIVEN = ((?:.*\\\n)*.*)$", makefile, re.M)[1].split()
    for line in SCRIPTS[name]:
        program, *words = line.split()
        assert program in ("make", "python3", "reframe", "mkdir", "cp", "export"), line
        if program == "make":
            target, *options = words
            assert re.search(rf"^{target}:.*## ", makefile, re.M), line
            assert {option.partition("=")[0] for option in options} <= {*given}, line


def test_an_upload_keeps_report_and_results():
    steps = recipe("github.yml")["jobs"]["performance"]["steps"]
    (upload,) = (step for step in steps if "upload-artifact" in step.get("uses", ""))
    assert upload["with"]["path"].split() == ["report", "results"]
    assert "cancelled" in upload["if"]  # also after a comparison that fails
    assert "pull_request" not in recipe("github.yml")["on"]


@pytest.fixture
def site(tmp_path):
    return Fake(tmp_path, "intel-mpi", INTEL)


def variables(name, folder):
    """The variables of a GitLab recipe, with those of the service."""
    service = {"CI_PROJECT_DIR": str(folder), "CI_PIPELINE_ID": "4711",
               "CI_COMMIT_SHORT_SHA": "abcd1234"}
    return service | {key: string.Template(value).safe_substitute(service)
                      for key, value in recipe(name)["variables"].items()}


@needs_stack
def test_a_generated_pipeline_measures_one_session_and_publishes_it(site):
    mine = {"COTEJO_STACK": str(site.stack), "PATH": f"{REFRAME.parent}:{os.environ['PATH']}",
            "RFM_CONFIG_FILES": str(REPO / "reframe_tests/config.py")}
    launches = variables("gitlab.yml", site.folder)["COTEJO_LAUNCHES"]
    (generate,) = (line for line in SCRIPTS["gitlab.yml: generate"] if line.startswith("reframe"))
    (site.folder / "reframe_tests").symlink_to(REPO / "reframe_tests")  # as in a clone
    said = site.start("bash", "-c", generate,
                      COTEJO_LAUNCHES=launches, **mine)
    assert (site.folder / "pipeline.yml").exists(), said[-2500:]
    child, beside = yaml.safe_load((site.folder / "pipeline.yml").read_text()), recipe(
        "gitlab-child.yml")
    measuring = jobs_of(child)
    assert len(measuring) == 2 * int(launches)  # shm and tcp
    # GitLab replaces equal keys of the generated file by those of the included one.
    assert not child.keys() & beside.keys()
    assert {job["stage"] for job in measuring.values()} <= {*child["stages"]}
    assert {job["resource_group"] for job in measuring.values()} == {"cotejo"}
    assert {job["stage"] for job in jobs_of(beside).values()} == {".post"}
    given = {**variables("gitlab-child.yml", site.folder), **mine, "COTEJO_LAUNCHES": launches}
    # Hashes that another process of ReFrame gives to the same tests.
    number = dict(re.findall(r"%block=(\d+) .*transport=shm (/\w+)",
                             site.run("-l", "-n", "^pingpong%scale=quick", **given)))
    shared = [job for job in measuring.values()
              if f"-n {number['1']} -r" in job["script"][0]
              or f"-n {number['2']} -r" in job["script"][0]]
    for job in shared:
        said = site.start("bash", "-c", "\n".join(job["script"]), **given)
        (report,) = re.findall(r"--report-junit=(\S+)", job["script"][0])
        assert (site.folder / report).exists(), said[-2500:]
        root = xml.etree.ElementTree.parse(site.folder / report).getroot()
        assert len(list(root.iter("testcase"))) == 1 and not list(root.iter("failure"))
        assert fnmatch.fnmatch(report, job["artifacts"]["reports"]["junit"])
    assert job["artifacts"]["paths"][1:] == ["results"] and job["artifacts"]["when"] == "always"
    found = sorted(path.name for path in (site.folder / "results/fake/4711").glob("*.json"))
    assert found == [f"pingpong_quick.intel-mpi.shm.near.compute.{n:03d}.json" for n in (1, 2)]


def compare(folder, before):
    """Runs the comparison of the GitLab recipe; returns the process that ended."""
    lines = [line for line in recipe("gitlab-child.yml")["compare"]["script"]
             if line.startswith("python3")]
    return subprocess.run(
        ["bash", "-ec", "\n".join(lines)], cwd=folder, text=True, capture_output=True, timeout=300,
        env={**os.environ, "BASELINE": str(before), "CHANGED": "mpi", "PYTHONPATH": str(REPO),
             "COTEJO_STACK": str(families.stack_prefix())})


def sessions_of(names, folder):
    """Unpacks sessions of the dataset into a folder of results."""
    for name in names:
        target = folder / "local" / name
        target.mkdir(parents=True)
        archive = REPO / f"data/reference/questions/history/local/{name}.tar.xz"
        subprocess.run(["tar", "-xf", archive, "-C", target], check=True)


@needs_stack
@pytest.mark.skipif(not shutil.which("Rscript"), reason="no R")
def test_the_comparison_of_the_recipe_ends_with_its_status(tmp_path):
    old = ("20261124T110903Z", "20261124T110921Z", "20261124T110935Z", "20261124T110949Z")
    new = ("20261124T111003Z", "20261124T111016Z", "20261124T111031Z", "20261124T111045Z")
    sessions_of(new, tmp_path / "results")
    missing = compare(tmp_path, tmp_path / "none")
    assert missing.returncode == 3, missing.stderr
    sessions_of(old, tmp_path / "before")
    slower = compare(tmp_path, tmp_path / "before")
    assert slower.returncode == 1, slower.stderr
    published = recipe("gitlab-child.yml")["compare"]["artifacts"]
    root = xml.etree.ElementTree.parse(tmp_path / published["reports"]["junit"]).getroot()
    assert list(root.iter("failure"))
    assert all((tmp_path / path).exists() for path in published["paths"])
