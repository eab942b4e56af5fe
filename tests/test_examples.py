# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the documents work as they are printed."""

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml

from reframe_tests.harness.commands import new_experiment
from reframe_tests.harness.machine import r
from reframe_tests.harness.model import experiment_table, families
from stack.build import environment
from tests import fake_mpi
from tests.launching import BRIEF, FAMILIES, STACK, interposer, launch, said

DOCS = families.REPO / "docs"
TABLE = families.REPO / "src/experiments/table.c"


def code_of(page, language, number=0):
    """A block of code in this language on a page, the first one by default."""
    text = (DOCS / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)[number]


def in_r(code, **variables):
    """The output of R code that uses the package of the stack."""
    return subprocess.run(["Rscript", "--vanilla", "-e", code], text=True, capture_output=True,
                          cwd=families.REPO, timeout=300,
                          env={**r.variables(STACK), **variables})


def compile_with(build, sources, folder):
    """Compiles sources as the build folder does it, and links them into its benchmark.

    `sources`: path of the source that the build knows, or whose flags to take -> new text.
    """
    known = subprocess.run(["ninja", "-C", build, "-t", "commands", "cotejo"], text=True,
                           capture_output=True, check=True).stdout.splitlines()
    link, env = known[-1], environment(FAMILIES[build.name], STACK)
    for number, ((like, replaces), text) in enumerate(sources.items()):
        command = next(line for line in known if f"-c {like}" in line)
        source, made = folder / f"{number}.c", folder / f"{number}.o"
        source.write_text(text)
        old = re.search(r"-o (\S+)", command)[1]
        command = command.replace(f"-c {like}", f"-iquote {like.parent} -c {source}")
        command = re.sub(r"-MF \S+", f"-MF {made}.d", command).replace(f"-o {old}", f"-o {made}")
        subprocess.run(command, shell=True, check=True, cwd=build, env=env)
        link = link.replace(old, str(made) if replaces else f"{old} {made}", 1)
    program = folder / "cotejo"
    link = re.sub(r"-o cotejo\b", f"-o {shlex.quote(str(program))}", link)
    subprocess.run(link, shell=True, check=True, cwd=build, env=env)
    return program


@pytest.fixture(scope="module")
def with_rally(tmp_path_factory):
    """A copy of the tree in which `make experiment` wrote the example of the page."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("src", "reframe_tests", "docs", "stack", "site_configs", "analysis/inst"):
        shutil.copytree(families.REPO / folder, copy / folder)
    shutil.copy(families.REPO / "Makefile", copy)
    done = subprocess.run([sys.executable, "-m", "reframe_tests.harness", "new-experiment",
                           "rally"], cwd=copy, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (copy / "src/experiments/p2p/rally.c").read_text() == code_of("experiments.md", "c")
    row = code_of("experiments.md", "c", 1)
    assert (copy / "src/experiments/experiments.def").read_text().endswith(row)
    return copy


@pytest.mark.alone
@pytest.mark.one_mpi
@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel-mpi"])
def test_the_experiment_that_the_page_adds_is_measured_and_checked(mpi, with_rally, tmp_path):
    build = STACK / "build" / mpi
    if not (build / "build.ninja").exists():
        pytest.skip(f"no {build}: this stack was not built by `make build`")
    added = with_rally / "src/experiments"
    table = TABLE.read_text().replace('"experiments.def"', f'"{added}/experiments.def"')
    program = compile_with(build, {
        (families.REPO / "src/experiments/p2p/pingpong.c", False):
            (added / "p2p/rally.c").read_text(),
        (TABLE, True): table,
    }, tmp_path)
    done = launch(FAMILIES[mpi], "rally", "--sizes", "1,1Ki", "--output", "samples",
                  program=program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "samples.csv").read_text().splitlines()
    assert {row.split(",")[1] for row in rows[2:]} == {"1", "1024"}
    assert {row.split(",")[0] for row in rows[2:]} == {"rally"}
    row = experiment_table.load((added / "experiments.def").read_text())[-1]
    for rank in row.ranks:
        done = launch(FAMILIES[mpi], row.name, *row.words, *BRIEF, program=program,
                      LD_PRELOAD=interposer(FAMILIES[mpi], "flip"), COTEJO_FLIP_AT=str(rank),
                      COTEJO_FLIP_BYTES=str(row.payload))
        assert done.returncode == 1, done.stderr
        assert "wrong payload" in said(done)[0]


@pytest.mark.skipif(not (STACK / "tools/bin/reframe").exists(), reason="no stack")
def test_reframe_has_tests_of_the_experiment_that_the_page_adds(with_rally):
    done = subprocess.run(
        [STACK / "tools/bin/reframe", "--system=local", "-c", "reframe_tests/experiments.py",
         "--list"], cwd=with_rally, text=True, capture_output=True, timeout=300,
        env={**os.environ, "COTEJO_SITE": "local",
             "RFM_CONFIG_FILES": str(with_rally / "reframe_tests/config.py")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"- rally .*scale=(\w+)", done.stdout)) == {"smoke", "quick"}


@pytest.mark.parametrize(("name", "expected"), [
    ("Rally", "give small letters"), ("a b", "give small letters"), ("pingpong", "give another"),
    ("start-skew", "give another"), ("pair", "give another")])
def test_a_name_that_an_experiment_cannot_have_is_refused(name, expected):
    assert expected in new_experiment.problem(name)


def test_the_second_version_that_the_page_adds_is_a_family(tmp_path):
    folder = tmp_path / "mpi_families"
    shutil.copytree(families.FOLDERS[0], folder)
    before = families.load()
    (folder / "openmpi-4-0.yaml").write_text(code_of("mpi-families.md", "yaml"))
    added = families.load(folder)["openmpi-4-0"]
    assert added.title == "Open MPI 4.0"
    assert added.launcher == before["openmpi"].launcher
    assert {added.colour} - {family.colour for family in before.values()}
    assert {added.order} - {family.order for family in before.values()}


def test_a_family_is_one_file_and_the_command_of_the_page(tmp_path):
    """The command writes every other file, also the page's table of colours and orders."""
    for part in ("archaeology", "reframe_tests", "stack", "site_configs", "spack_repo"):
        shutil.copytree(families.REPO / part, tmp_path / part,
                        ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("spack.yaml", "docs/mpi-families.md"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        shutil.copy(families.REPO / part, tmp_path / part)
    (tmp_path / "reframe_tests/mpi_families/openmpi-4-0.yaml").write_text(
        code_of("mpi-families.md", "yaml"))
    before = {path: path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()}
    environment = {name: value for name, value in os.environ.items() if "COTEJO_" not in name}
    subprocess.run([sys.executable, "-m", "stack.spack_environments"], cwd=tmp_path, check=True,
                   env={**environment, "PYTHONDONTWRITEBYTECODE": "1"})
    changed = {str(path.relative_to(tmp_path)) for path, text in before.items()
               if path.read_text() != text}
    assert changed == {"docs/mpi-families.md", "spack_repo/mpis.yaml"}
    assert "| `openmpi-4-0` | `#882255` | 8 |" in (tmp_path / "docs/mpi-families.md").read_text()
    assert "openmpi@4.0" in (tmp_path / "spack_repo/mpis.yaml").read_text()


def test_the_libraries_of_a_site_that_the_page_lists_are_families(tmp_path):
    text = code_of("mpi-families.md", "yaml", 1)
    (tmp_path / "mpis.yaml").write_text(text)
    found = families.of_site(tmp_path)
    assert {*yaml.safe_load(text)} == {*found}
    assert "Open MPI 4.1" in found["openmpi-4"].title


@pytest.mark.skipif(not fake_mpi.REFRAME.exists(), reason="no stack: `make stack`")
def test_the_transport_that_the_page_adds_is_listed_and_launched(tmp_path):
    """In a copy of the tree, under an MPI library whose launcher prints the evidence."""
    text, page = code_of("launching.md", "yaml"), (DOCS / "launching.md").read_text()
    path = re.search(r"Write `(reframe_tests/mpi_transports/\S+\.yaml)`", page)[1]
    words = shlex.split(re.search(r"^reframe (.*transport=.*)$", page, re.M)[1])
    cells = re.search(r"^make study CELLS='(.*)'$", page, re.M)[1]
    tree = fake_mpi.tree(tmp_path)
    (tree / "docs").symlink_to(DOCS)
    evidence = yaml.safe_load(text)["families"]["mpich"]["evidence"]
    fake = fake_mpi.Fake(tmp_path / "there", "mpich", (
        "MPICH Version:      5.0.2", evidence, [("a", 0), ("a", 1)]), repo=tree,
        scale=code_of("launching.md", "yaml", 1))
    (fake.folder / "reframe_tests").symlink_to(tree / "reframe_tests")
    assert "scale.yaml: transports: no transport" in fake.start("reframe", *words)
    (tree / path).write_text(text)
    listed = fake.start("reframe", *words)
    assert {*re.findall(r"- pingpong .*%transport=(\S+)", listed)} == {"shm-ucx"}, listed[-2000:]
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm-ucx", "--keep-stage-files")
    found = [(record["status"], record["reason"]) for record in fake.records()
             if re.search(cells, record["id"])]
    assert found == [("ok", "")], output[-2000:]
    _, seen = fake.received("pingpong_")
    assert seen["UCX_TLS"] == "sm,self"


def test_the_exhibit_that_the_page_adds_is_accepted(tmp_path):
    """The row of the page is that of the package; under another name it is added."""
    file = tmp_path / "exhibits.yaml"
    row = code_of("exhibits.md", "yaml")
    assert row.removeprefix("exhibits:\n") in (
        families.REPO / "analysis/inst/exhibits.yaml").read_text()
    call = f"cotejo:::register_exhibits('{file}')"
    file.write_text(row.replace("stival-fig-4.24", "cotejo-newcomer"))
    done = in_r(f"{call}\nstopifnot('cotejo-newcomer' %in% cotejo::list_exhibits()$name)")
    assert done.returncode == 0, done.stderr
    for old, new in (("mpi transport", "mpi transprot"), ("by_size", "by_sise"),
                     ("differs", "difers"), ("}", ", circular: perhaps}")):
        file.write_text(row.replace("stival-fig-4.24", "cotejo-newcomer").replace(old, new))
        done = in_r(call)
        assert done.returncode and "cotejo-newcomer" in done.stderr, new
        assert new.split()[-1].strip("}") in done.stderr or "circular" in done.stderr


def test_a_script_draws_its_own_exhibit_and_a_named_one(tmp_path):
    session = "local/20261121T200219Z"
    (tmp_path / session).mkdir(parents=True)
    subprocess.run(["tar", "-xf", families.REPO / f"data/reference/{session}.tar.xz",
                    "-C", tmp_path / session], check=True)
    script = code_of("exhibits.md", "r").replace("data/reference", str(tmp_path))
    done = in_r(script.replace("figures-own", str(tmp_path / "out")).replace(
        "stival-fig-4.24", "tinetti-p2p-mpi"))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").glob("*/*.csv")} == {
        "pingpong.csv", "p2p-mpi.csv"}


def test_the_figure_of_the_readme_shows_the_dataset(tmp_path):
    """If this fails, draw it again: R_LIBS=.stack/R Rscript docs/images/draw.R."""
    done = in_r("source('docs/images/draw.R')", COTEJO_IMAGES=str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = [[*csv.DictReader((folder / "pingpong.csv").open())]
            for folder in (tmp_path, DOCS / "images")]
    assert len(rows[0]) == len(rows[1]) > 20
    for new, old in zip(*rows, strict=True):
        assert (new["library"], new["bytes"]) == (old["library"], old["bytes"])
        for name in ("ratio", "low", "high"):
            assert float(new[name]) == pytest.approx(float(old[name]), rel=1e-3), (name, new)
    for look in ("light", "dark"):
        assert (tmp_path / f"pingpong-{look}.svg").stat().st_size > 5000


@pytest.fixture
def checkout(tmp_path):
    """A copy of all files that reports are made of, with a separate folder for the output."""
    names = ["Makefile", "analysis", "data", "stack", "reframe_tests", "requirements", "tests"]
    for name in names:
        (tmp_path / name).symlink_to(families.REPO / name)
    return tmp_path


def follow(checkout, code, status=0):
    """Runs the commands of a page in a copy of the tree, with the R package of the stack."""
    code = re.sub(r"^make (\w+)", rf"make \1 SPACK= STACK={STACK}", code, flags=re.M)
    done = subprocess.run(["bash", "-eu", "-c", code], text=True, capture_output=True,
                          cwd=checkout, timeout=300)
    assert done.returncode == status, done.stderr[-2000:]
    return done


def test_the_example_of_choosing_a_library_writes_a_report(checkout):
    follow(checkout, code_of("choose.md", "", -1))
    page = (checkout / "report-example/report.html").read_text()
    assert all(name in page for name in ("Open MPI", "MPICH", "Intel MPI"))


def test_the_example_of_an_upgrade_shows_what_the_page_says(checkout):
    # Something is slower: status 1, of which make makes 2.
    done = follow(checkout, code_of("upgrade.md", "", -1), status=2)
    assert "Error 1" in done.stderr
    page = (checkout / "report-upgrade/compare.html").read_text()
    numbers = {round(float(text), 2) for text in re.findall(r"\d+\.\d+", page)}
    assert "MPICH" in page and {0.92, 0.20} <= numbers


def unpack(session, folder):
    """Unpacks a session of the dataset into a folder of results."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-xf", families.REPO / f"data/reference/{session}.tar.xz",
                    "-C", folder], check=True)


def test_the_examples_of_the_studies_draw_and_judge(checkout):
    """With one session of the dataset, so that it takes seconds."""
    (checkout / "data").unlink()
    session = "local/20261125T151453Z"
    archive = checkout / f"data/reference/{session}.tar.xz"
    archive.parent.mkdir(parents=True)
    shutil.copy(families.REPO / f"data/reference/{session}.tar.xz", archive)
    sums = (families.REPO / "data/reference/SHA256SUMS").read_text().splitlines(keepends=True)
    (checkout / "data/reference/SHA256SUMS").write_text(
        "".join(line for line in sums if session in line))
    (checkout / "data/published").symlink_to(families.REPO / "data/published")
    (checkout / "CITATION.cff").symlink_to(families.REPO / "CITATION.cff")
    follow(checkout, code_of("studies.md", ""))
    assert [*(checkout / "figures").glob("*/*.svg")]
    assert "stival" in (checkout / "figures/index.html").read_text().lower()
    assert "Five studies" in (checkout / "report/paper.html").read_text()


def test_the_example_of_a_history_names_the_change(checkout):
    for archive in (families.REPO / "data/reference/questions/history/local").glob("*.tar.xz"):
        unpack(f"questions/history/local/{archive.name.removesuffix('.tar.xz')}",
               checkout / "results/local")
    follow(checkout, code_of("releases.md", "", 1))
    assert "library" in (checkout / "report/history.html").read_text()
    assert (checkout / "report/history.json").exists()


def test_the_example_of_algorithms_lists_those_of_the_library(checkout):
    done = follow(checkout, code_of("algorithms.md", ""))
    assert "bcast" in done.stdout and "knomial" in done.stdout


@pytest.mark.alone
def test_the_example_of_a_program_compares_its_figure_of_merit(checkout):
    for name in ("programs", "site_configs", "src"):
        (checkout / name).symlink_to(families.REPO / name)
    follow(checkout, code_of("programs.md", "").splitlines()[-1])
    page = (checkout / "report/report.html").read_text()
    assert "Figures of merit" in page
    assert all(name in page for name in ("Open MPI", "MPICH", "Intel MPI"))
