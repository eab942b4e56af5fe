# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the documents work as they are printed."""

import re
import shlex
import subprocess

import pytest

from reframe_tests.harness.model import families
from tests.launching import FAMILIES, STACK, launch

DOCS = families.REPO / "docs"
TABLE = families.REPO / "src/experiments/table.c"


def code_of(page, language):
    """The first block of code in this language on a page."""
    return re.search(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)[1]


def registered(name):
    """The registry with the two lines that the page asks for."""
    text = TABLE.read_text()
    for line in (f"extern const struct experiment {name};", f"    &{name},"):
        neighbour = line.replace(name, "pingpong")
        assert neighbour in text
        text = text.replace(neighbour, f"{neighbour}\n{line}", 1)
    return text


def compile_with(build, sources, folder):
    """Compiles sources as the build folder does it, and links them into its benchmark.

    `sources`: path of the source that the build knows, or whose flags to take -> new text.
    """
    known = subprocess.run(["ninja", "-C", build, "-t", "commands", "cotejo"], text=True,
                           capture_output=True, check=True).stdout.splitlines()
    link = known[-1]
    for number, ((like, replaces), text) in enumerate(sources.items()):
        command = next(line for line in known if f"-c {like}" in line)
        source, made = folder / f"{number}.c", folder / f"{number}.o"
        source.write_text(text)
        old = re.search(r"-o (\S+)", command)[1]
        command = command.replace(f"-c {like}", f"-iquote {like.parent} -c {source}")
        command = re.sub(r"-MF \S+", f"-MF {made}.d", command).replace(f"-o {old}", f"-o {made}")
        subprocess.run(command, shell=True, check=True, cwd=build)
        link = link.replace(old, str(made) if replaces else f"{old} {made}", 1)
    program = folder / "cotejo"
    link = re.sub(r"-o cotejo\b", f"-o {shlex.quote(str(program))}", link)
    subprocess.run(link, shell=True, check=True, cwd=build)
    return program


@pytest.mark.one_mpi
@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel-mpi"])
def test_the_experiment_that_the_page_adds_is_measured(mpi, tmp_path):
    build = STACK / "build" / mpi
    if not (build / "build.ninja").exists():
        pytest.skip(f"no {build}: this stack was not built by `make build`")
    pingpong = families.REPO / "src/experiments/p2p/pingpong.c"
    program = compile_with(build, {
        (pingpong, False): code_of("experiments.md", "c"),
        (TABLE, True): registered("rally"),
    }, tmp_path)
    done = launch(FAMILIES[mpi], "rally", "--sizes", "1,1Ki", "--output", "samples",
                  program=program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "samples.csv").read_text().splitlines()
    assert {row.split(",")[1] for row in rows[2:]} == {"1", "1024"}
    assert {row.split(",")[0] for row in rows[2:]} == {"rally"}
