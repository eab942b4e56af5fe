# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes of users: each ends in one line that names the mistake, and a status other than 0."""

import os
import re
import subprocess

import pytest

from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import environment, r
from reframe_tests.harness.model import families, problems
from stack import variables
from tests import test_docs
from tests.fake_mpi import REFRAME, SITE, Fake, forked

needs_stack = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm", [("a", 0), ("a", 1)])
P2P = ("reframe", "-c", f"{families.REPO}/reframe_tests/p2p.py")
ONE = (*P2P, "-l", "-n", "^pingpong%scale=smoke")
GIVEN = {"GIVEN": "TAG CELLS LAUNCHES NAME FROM WHERE SITE"}


def flags(*words):
    return {**GIVEN, "MAKEFLAGS": f" -- {' '.join(words)}"}


#: The values given to make, and the message.
OPTIONS = [
    (flags("TGA=smoke"), "TGA is not an option; did you mean 'TAG'?"),
    (flags("tag=smoke"), "tag is not an option; did you mean 'TAG'?"),
    (flags("LAUNCHS=3", r"CELLS=a\ B=c"), "LAUNCHS is not an option; did you mean 'LAUNCHES'?"),
    (flags("X=1"), "X is not an option (docs/commands.md lists the options)"),
    ({"FROM": "whel"}, "FROM: 'whel' is not a version such as 4.3.2, or wheel, module, spack"),
    ({"TAG": "a b"}, "TAG: 'a b' is not a word such as quick"),
    ({"SIZES": "8KiB"}, "SIZES: '8KiB' is not message sizes in bytes such as 8Ki or 1,64"),
    ({"SIZES": "0:8:x2"}, "SIZES: "), ({"SIZES": "0:8:+0"}, "SIZES: "),
    ({"SET": "A"}, "SET: "), ({"METRIC": "x"}, "METRIC: 'x' has no group"),
    ({"PART": "sampelr"}, "PART: 'sampelr' is not a bench"),
    ({"DATA": "refrence"}, "DATA: 'refrence' is not results or reference"),
]


@pytest.mark.parametrize(("values", "said"), OPTIONS)
def test_an_option_of_make_that_is_wrong(values, said):
    found = variables.problem(values)
    assert found.startswith(said) and "\n" not in found


def test_a_known_option_with_blanks_and_signs_is_no_other_option():
    assert variables.problem(flags(r"CELLS=it's\ TGA=$$x", "SPACK=")) == ""


def test_make_refuses_an_unknown_option_before_it_does_anything(tmp_path):
    done = subprocess.run(["make", "study", "TGA=smoke", f"STACK={tmp_path}/s", "SPACK="],
                          text=True, capture_output=True, cwd=families.REPO, timeout=60, env={
                              k: v for k, v in os.environ.items() if not k.startswith("MAKE")})
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.startswith("make: TGA is not an option; did you mean 'TAG'?")


def site(**files):
    """Changes files of a site: name (_ for a dot) -> text."""
    return {name.replace("_", "."): text for name, text in files.items()}


def partition(more="", scheduler="local", launcher="mpirun"):
    return SITE.format(more=more, scheduler=scheduler, launcher=launcher)


#: The command, its environment, files of the site, and the message.
MISTAKES = {
    "site": (ONE, {"COTEJO_SITE": "fke"}, {}, "the sites are fake; did you mean 'fake'?"),
    "stack": (ONE, {"COTEJO_STACK": "/none"}, {}, "no MPI library of site 'fake' in /none; run"),
    "library of a partition": (ONE, {}, site(reframe_py=partition(', "environs": ["opnmpi"]')),
                               "no MPI 'opnmpi' is declared; .*did you mean 'openmpi'"),
    "extras": (ONE, {}, site(reframe_py=partition(', "extras": {"crad": "mlx5_0"}')),
               "unknown key 'crad'; .*did you mean 'card'"),
    "number of nodes": (ONE, {}, site(reframe_py=partition(', "extras": {"node": 4}')),
                        "unknown key 'node'; .*did you mean 'nodes'"),
    "scheduler": (ONE, {}, site(reframe_py=partition(scheduler="slrum")),
                  "compute: no scheduler 'slrum' .*did you mean 'slurm'"),
    "launcher": (ONE, {}, site(reframe_py=partition(launcher="mpirn")),
                 "compute: no launcher 'mpirn' .*did you mean 'mpirun'"),
    "no launcher": (ONE, {}, site(reframe_py=partition().replace('"launcher"', '"luncher"')),
                    "compute: lacks `launcher`"),
    "name of a system": (ONE, {}, site(reframe_py=partition().replace('"fake"', '"fak"')),
                         "must be called 'fake'"),
    "hosts of a system": (ONE, {},
                          site(reframe_py=partition().replace('".*"', '"login"')),
                          "cotejo: .*`hostnames`"),
    "syntax": (ONE, {}, site(reframe_py="site_configuration = {"),
               "reframe.py: not valid Python: SyntaxError"),
    "policy": (ONE, {}, site(placements_yaml="near: {policy: compct}\n"),
               "placements.yaml: near: policy: 'compct' is not"),
    "key of a placement": (ONE, {}, site(placements_yaml="near: {polcy: compact}\n"),
                           "unknown key 'polcy'; .*did you mean 'policy'"),
    "no near": (ONE, {}, site(placements_yaml="far: {policy: spread}\n"), "no placement `near`"),
    "not YAML": (ONE, {}, site(placements_yaml="near: {"), "placements.yaml: not YAML"),
    "core": (("check-site", "fake"), {},
             site(placements_yaml="near: {hosts: 1, cpus: [0, 999]}\n"),
             "placements.yaml: partition compute: placement 'near' names core 999"),
    "transport": (ONE, {}, site(scale_yaml="transports: [shm, tpc]\n"),
                  "no transport 'tpc' is declared; .*did you mean 'tcp'"),
    "scale": (ONE, {}, site(scale_yaml="launches: {quik: 3}\n"),
              "unknown key 'quik'; .*did you mean 'quick'"),
    "library of a site": (ONE, {}, site(mpis_yaml="openmp: {}\n"),
                          "no MPI 'openmp' is declared; .*did you mean 'openmpi'"),
    "key of a library": (ONE, {}, site(mpis_yaml="openmpi: {modles: [a]}\n"),
                         "unknown key 'modles'; .*did you mean 'modules'"),
    "prefix": (ONE, {}, site(mpis_yaml="intel-mpi: {}\nopenmpi: {home: /not/here}\n"),
               "mpis.yaml: openmpi is not built in .*; run `COTEJO_SITE=fake make build`"),
    "two names": (ONE, {}, site(mpis_yaml="a.b: {like: openmpi}\na-b: {like: openmpi}\n"),
                  "two names differ in a dot only"),
    **{name: (ONE, {name: "1"}, {}, f"{name} is a variable of cotejo's own") for name in
       environment.OWN},
    "variable left over": (ONE, {"COTEJO_SET": "A=1", "COTEJO_BY": "999999999"}, {},
                           "cotejo: COTEJO_SET is a variable of cotejo's own"),
    "variable before a study": (("study", "--help"), {"COTEJO_PART": "1/2"}, {},
                                "study: COTEJO_PART is a variable of cotejo's own"),
    "launches": (ONE, {"COTEJO_LAUNCHES": "ten"}, {}, "COTEJO_LAUNCHES='ten' is no number"),
    "test": ((*P2P, "-l", "-n", "pingpog"), {}, {},
             "is selected by -n pingpog; did you mean 'pingpong'"),
    "test that runs": ((*P2P, "-r", "-n", "pingpog"), {}, {},
                       "is selected by -n pingpog; did you mean 'pingpong'"),
    "test of a quiet command": ((*P2P, "-qq", "-l", "-n", "pingpog"), {}, {},
                                "is selected by -n pingpog; did you mean 'pingpong'"),
    "tag": ((*P2P, "-l", "--tag=qiuck"), {}, {},
            "is selected by -t qiuck; did you mean 'quick'"),
    "environment": ((*P2P, "-l", "-n", "^pingpong%scale=smoke", "-pinteli-mpi"), {}, {},
                    "is selected by -p inteli-mpi; did you mean 'intel-mpi'"),
    "library outside of an allocation": (
        (*ONE[:1], "-l", "-pintel-mpi"), {},
        site(reframe_py=partition(scheduler="slurm", launcher="srun")),
        "is selected by this command: outside of an allocation"),
    "expression": ((*P2P, "-l", "-E", "scale=='quik'"), {}, {}, "is selected by this command"),
    "partition": ((*P2P, "-l", "-n", "^pingpong%scale=smoke", "--system=fake:compte"), {}, {},
                  "'fake:compte'|compte"),
    "no configuration": ((*P2P, "-l"),
                         {"RFM_CONFIG_FILES": ""}, {}, "set RFM_CONFIG_FILES=.*config.py"),
    "command": (("stdy",), {}, {}, "'stdy' is no command; .*did you mean 'study'"),
    "set of libraries": (("study", "--mpis=abbi"), {}, {}, "MPIS=abbi: .*did you mean 'abi'"),
    "option of a study": (("study", "--tga=quick"), {}, {}, "study: unrecognized arguments"),
    "release": (("releases", "opnmpi"), {}, {}, "MPI=opnmpi: no wheels of it are known"),
    "tuned library": (("tune", "inteli-mpi", "tuning"), {}, {},
                      "is not installed in .*there are .*; did you mean 'intel-mpi'"),
    "checked site": (("check-site", "fak"), {}, {}, "the sites are fake; did you mean 'fake'"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Status and output of all mistakes, made in one process."""
    requests = []
    for number, (words, variables_, files, _) in enumerate(MISTAKES.values()):
        fake = Fake(tmp_path_factory.mktemp(f"mistake{number}"), "intel-mpi", INTEL)
        for name, text in files.items():
            (fake.folder / "sites/fake" / name).write_text(text)
        requests.append([words, {
            **os.environ, "COTEJO_SITE": "fake", "COTEJO_SITES": str(fake.folder / "sites"),
            "COTEJO_STACK": str(fake.stack), "COTEJO_RESULTS": str(fake.folder / "results"),
            "RFM_CONFIG_FILES": str(fake.repo / "reframe_tests/config.py"),
            "PATH": f"{REFRAME.parent}:{os.environ['PATH']}", **variables_}])
    # ReFrame without cotejo's configuration leaves its log in the folder of temporary files.
    temporary = str(tmp_path_factory.mktemp("temporary"))
    return {name: forked(words, {**shell, "TMPDIR": temporary})
            for name, (words, shell) in zip(MISTAKES, requests, strict=True)}


@needs_stack
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_a_status(answers, mistake):
    status, output = answers[mistake]
    assert status != 0, output[-1500:]
    # A study asks the status, not the words.
    assert (status == sessions.NONE_SELECTED) == ("is selected by" in MISTAKES[mistake][3])
    lines = [line for line in output.splitlines() if re.search(MISTAKES[mistake][3], line)]
    assert len(lines) == 1, output[-1500:]
    assert "Traceback" not in output


@needs_stack
@pytest.mark.parametrize("mistake", sorted({*MISTAKES} - {"partition"}))  # ReFrame's own message
def test_each_message_names_the_section_that_quotes_it(answers, mistake):
    line = next(line for line in answers[mistake][1].splitlines()
                if re.search(MISTAKES[mistake][3], line))
    page, _, anchor = re.search(r"docs/([a-z-]+\.md)(#[a-z-]+)?", line)[0].partition("#")
    assert (families.REPO / page).exists(), line
    if page == problems.PAGE:
        assert any(there == anchor and words in line.replace("`", "")
                   for words, there in problems.quoted()), line


def test_each_section_of_problems_is_named_by_messages_that_it_quotes():
    page = families.REPO / problems.PAGE
    there = {anchor for _, anchor in problems.quoted()}
    assert there <= {*test_docs.anchors(page)}
    for words, anchor in problems.quoted():
        assert problems.explained(f"x: {words}") == f"x: {words} ({problems.PAGE}#{anchor})"
    assert problems.explained("x: other words") == "x: other words"
    assert problems.explained(3) == 3


@pytest.mark.skipif(not (families.stack_prefix() / "R/cotejo").exists(), reason="no R package")
@pytest.mark.parametrize("top, said", [
    (families.REPO, " (docs/faq.md#problems-with-measuring)"), ("", "")])
def test_a_message_of_r_names_its_section_as_well(tmp_path, top, said):
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", 'cotejo::run_command(write_report("none", "x.html"))'],
        cwd=tmp_path, text=True, capture_output=True,
        env={**r.variables(families.stack_prefix()), "CLONE": str(top)})
    assert done.returncode == 1
    assert "no such folder" in done.stderr and done.stderr.endswith(f"{said}\n")
    assert bool(said) == ("docs/" in done.stderr)
