# SPDX-License-Identifier: BSD-3-Clause
"""Any program: its declaration, what its output becomes, and launches that fail sometimes."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.foreign import any_program
from reframe_tests.harness.launch import sessions
from reframe_tests.harness.model import declarations, families, program
from tests.launching import STACK

MPI = families.load()["openmpi"]
needs_stack = pytest.mark.skipif(not (MPI.prefix(STACK) / "bin/mpicc").exists(),
                                 reason="Open MPI is not in the stack")


def made(**data):
    return program.made("app", {"command": "./app", **data}, "app.yaml")


def test_a_figure_becomes_a_time_and_stays_a_figure():
    one = made(figures=[{"metric": "rate ([0-9.]+)", "unit": "GFLOP/s", "better": "more"}])
    (row,) = one.rows("rate 4.0\n", 1.0)
    assert (row["time_s"], row["figure"], row["figure_unit"]) == (0.25, 4.0, "GFLOP/s")
    one = made(figures=[{"metric": "took ([0-9.]+)", "unit": "ms"}])
    assert one.rows("took 4.0\n", 1.0)[0]["time_s"] == pytest.approx(4e-3)
    one = made(figures=[{"metric": "used ([0-9.]+)", "unit": "B", "better": "less"}])
    assert one.rows("used 4000\n", 1.0)[0]["time_s"] == pytest.approx(4e-6)
    (row,) = made().rows("", 1.5)
    assert (row["operation"], row["time_s"], row["figure_unit"]) == ("app.wall", 1.5, "s")


def test_a_table_has_a_row_for_each_size_and_a_repetition_for_each_of_a_size():
    one = made(figures=[{"metric": r"^ +(?P<bytes>\d+) (?P<value>\S+)$", "unit": "us"}])
    rows = one.rows("  1 0.5\n  8 0.7\n  1 0.6\n", 1.0)
    assert [(r["bytes"], r["repetition"]) for r in rows] == [(1, 0), (8, 0), (1, 1)]


@pytest.mark.parametrize(("output", "said"), [
    ("", "printed nothing that METRIC"), ("rate -1", "not above 0"), ("rate x", "no number"),
    ("rate 1e-9 ok", "beyond what can be held"), ("rate inf", "not above 0")])
def test_output_that_is_no_figure_is_said(output, said):
    one = made(figures=[{"metric": r"rate (\S+)", "better": "more"}])
    with pytest.raises(ValueError, match=said):
        one.rows(output, 1.0)


@pytest.mark.parametrize(("unit", "value", "time_s", "better"), [
    ("GFLOP/s", "4", 0.25, "more"), ("Mbytes/sec", "4", 0.25, "more"), ("MB/s", "4", 0.25, "more"),
    ("MFLOPS", "4", 0.25, "more"), ("msg/s", "4", 0.25, "more"), ("usec", "2", 2e-6, "less"),
    ("usecs", "2", 2e-6, "less"), ("µs", "2", 2e-6, "less"), ("msec", "2", 2e-3, "less"),
    ("sec", "2", 2.0, "less"), ("Seconds", "2", 2.0, "less"), ("nsec", "2", 2e-9, "less")])
def test_the_unit_tells_the_direction_and_the_time(unit, value, time_s, better):
    one = made(figures=[{"metric": r"r: (\S+)", "unit": unit}])
    (row,) = one.rows(f"r: {value}\n", 1.0)
    assert (row["time_s"], row["figure_better"]) == (pytest.approx(time_s), better)
    one = made(figures=[{"metric": r"r: (\S+) (?P<unit>\S+)"}])
    (row,) = one.rows(f"r: {value} {unit}\n", 1.0)
    assert (row["time_s"], row["figure_better"]) == (pytest.approx(time_s), better)


@pytest.mark.parametrize("printed", [
    "9.8e+03", "1.02e+04", "12,5", "1,234.5", "1'234.5", "1.2.3", "1:23.4", "1.5D+03", "0x1F",
    "1_000", "-5", "3/4", "1.5-103", "2e5"])
def test_a_part_of_a_number_is_never_taken_for_it(printed):
    for metric in ("rate: ([0-9.]+)", "rate: ([0-9]+)", r"rate: \D*([0-9.]+)", "rate:.*?([0-9.]+)",
                   "rate:.*([0-9])"):
        one = made(figures=[{"metric": metric, "unit": "MB/s"}])
        with pytest.raises(ValueError, match="METRIC finds .* in .rate|nothing that"):
            one.rows(f"x\nrate: {printed} MB/s\n", 1.0)


@pytest.mark.parametrize("line", [
    "rate: 12.5", "rate: 12.5 MB/s", "rate: 12.5MB/s", "rate: 12.5.\n", "rate: 12.5, done",
    "rate: 12.5\n7", "rate: 12.5;3"])
def test_a_number_ends_where_its_token_does(line):
    one = made(figures=[{"metric": r"rate: (\d+\.\d+)", "unit": "MB/s"}])
    assert one.rows(line, 1.0)[0]["figure"] == 12.5
    one = made(figures=[{"metric": r"^x,(\d+\.\d+),", "unit": "MB/s"}])
    assert one.rows("x,12.5,3\n", 1.0)[0]["figure"] == 12.5


def test_a_table_of_imb_is_read_with_its_sizes(capsys):
    table = "       0 1000 2.23 0.00\n       1 1000 2.30 0.43\n      4K 100 3.5 1117.0\n"
    one = made(figures=[{"metric": r"^ +(?P<bytes>\S+) +\d+ +\S+ +(?P<value>\S+)$",
                         "unit": "Mbytes/sec"}])
    assert [(r["bytes"], r["figure"]) for r in one.rows(table, 1.0)] == [(1, .43), (4096, 1117.0)]
    assert "1 rows of 0 B" in capsys.readouterr().out
    with pytest.raises(ValueError, match="the size 'x'; 4096, 4K"):
        one.rows("  x 100 3.5 1.0\n", 1.0)
    with pytest.raises(ValueError, match="not above 0"):
        one.rows("  8 100 3.5 0.00\n", 1.0)


@pytest.mark.parametrize("name", ["a b", "<x>", "`id`", "x" * 70, "../x", "a\x1b[0m"])
def test_an_operation_that_is_printed_is_a_word(name):
    one = made(figures=[{"metric": r"(?P<operation>.*): (?P<value>\S+)", "unit": "s"}])
    with pytest.raises(ValueError, match="operation .*: no word"):
        one.rows(f"{name}: 1\n", 1.0)


@pytest.mark.parametrize(("limit_s", "reading_s"), [(1, 10), (600, 1)])
def test_a_regular_expression_has_the_time_of_its_launch(tmp_path, monkeypatch, limit_s,
                                                         reading_s):
    """With the default, one expression without an end took ten minutes of each launch."""
    monkeypatch.setattr(any_program, "READING_S", reading_s)
    one = made(figures=[{"metric": r"((x+x+)+y)", "unit": "s"}], limit_s=limit_s)
    began = time.monotonic()
    said = any_program.collect(one, tmp_path, "x" * 60, 1.0)
    assert said == "METRIC or CHECK took longer than 1 s" and time.monotonic() - began < 5


def test_what_lacks_its_check_is_said():
    with pytest.raises(ValueError, match="lacks what CHECK looks for"):
        made(check="^VERIFIED").rows("not VERIFIED\n", 1.0)


@pytest.mark.parametrize(("data", "said"), [
    ({"figures": [{"metric": "rate"}]}, "has no group"),
    ({"figures": [{"metric": "(("}]}, "no regular expression"),
    ({"command": "a 'b"}, "command: No closing quotation"),
    ({"comand": "a"}, "unknown key 'comand'"), ({"ranks": 0}, "ranks: 0 is not a number from 1"),
    ({"figures": [{"metric": "(a)", "unit": "GFLOP/s", "better": "less"}]}, "is a rate"),
    ({"figures": [{"metric": "(a)", "unit": "usec", "better": "more"}]}, "is a time"),
    ({"figures": [{"metric": "(a)", "unit": "apples"}]}, "BETTER=less or BETTER=more"),
    ({"figures": [{"metric": "(a)"}]}, "BETTER=less or BETTER=more"),
    ({"figures": [{"metric": "(a)", "unit": "s"}, {"metric": "(b)", "unit": "s"}]},
     "two of one name")])
def test_a_declaration_that_is_wrong_names_its_key(data, said):
    with pytest.raises(declarations.DeclarationError, match=said) as caught:
        made(**data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("value", "said"), [
    ("true", "command: true is not a command line on one line; write it in quotes"),
    ("~", "command: null is not a command line"), ("1e6", "command: 1000000.0 is not a command"),
    ("[a]", "command: ['a'] is not a command line on one line")])
def test_a_command_that_yaml_takes_for_no_text_is_said_with_its_cure(value, said, tmp_path):
    """It was "True is not a command line"."""
    path = tmp_path / "x.yaml"
    path.write_text(f"command: {value}\n")
    with pytest.raises(declarations.DeclarationError) as caught:
        any_program.load(path)
    assert said in str(caught.value) and ("quotes" in str(caught.value)) == (value != "[a]")


@pytest.mark.parametrize("command", ["1e6", "true", "y", "3"])
def test_a_program_of_the_command_line_is_text_whatever_it_looks_like(
        command, tmp_path, monkeypatch):
    monkeypatch.setenv("COTEJO_STACK", str(tmp_path))
    path = any_program.given(command, ranks=2)
    assert any_program.load(path).command == command
    # Its name, as in the command of a card, means the same declaration.
    assert any_program.given(path.stem) == path


@pytest.mark.parametrize("command", ["y", "./no-such"])
def test_a_program_that_is_nowhere_is_said_before_cells_are_listed(
        command, tmp_path, monkeypatch):
    """It was: no test can run, since placement 'far' is 'near' on this machine."""
    (tmp_path / "x.yaml").write_text(f"command: {command}\n")
    monkeypatch.setenv("COTEJO_PROGRAM", str(tmp_path / "x.yaml"))
    any_program.chosen.cache_clear()
    try:
        with pytest.raises(RuntimeError, match=f"no program '{command}' on the PATH of "):
            any_program.build()
    finally:
        any_program.chosen.cache_clear()


@pytest.mark.parametrize("path", sorted(any_program.FOLDER.glob("*.yaml")), ids=lambda p: p.stem)
def test_programs_of_the_repository_are_sound(path):
    assert any_program.load(path).name == path.stem


@pytest.mark.beside
@pytest.mark.parametrize(("words", "said"), [
    (["--program", "./a", "--metric", "x"], "has no group"),
    (["--program", "./a '"], "No closing quotation"),
    (["--program", "{mpy}/a"], "{mpy} is not known"),
    (["--metric", "(x)"], "METRIC: only with a PROGRAM"),
    (["--program", "./a", "--unit", "s"], "UNIT and BETTER are of a METRIC"),
    (["--program", "imb-pingpong", "--ranks", "4"], "leave out RANKS"),
])
def test_a_command_line_that_is_wrong_is_one_line(words, said, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", "study", *words], cwd=families.REPO,
        text=True, capture_output=True, timeout=120,
        env={**os.environ, "COTEJO_STACK": str(tmp_path), "COTEJO_LOCKS": str(tmp_path),
             "COTEJO_RESULTS": str(tmp_path)})
    assert done.returncode in (1, 2) and said in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_files_of_the_command_line_become_paths(tmp_path):
    (tmp_path / "script.py").write_text("")
    found = any_program.absolute("{stack}/python script.py 'a b' nowhere.py", tmp_path)
    assert found == f"{{stack}}/python {tmp_path}/script.py 'a b' nowhere.py"


def test_an_interpreter_of_a_virtual_environment_stays_what_it_is(tmp_path):
    """Its link was followed, so that Python found none of the environment's packages."""
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").symlink_to(sys.executable)
    for given in ("venv/bin/python", tmp_path / "venv/bin/../bin/python"):
        assert any_program.absolute(f"{given} -c 1", tmp_path) == (
            f"{tmp_path}/venv/bin/python -c 1")


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_what_is_linked_statically_is_known(tmp_path):
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    for name, flags, static in (("s", ["-static"], True), ("d", [], False)):
        subprocess.run(["gcc", *flags, source, "-o", tmp_path / name], check=True)
        assert any_program.linked_statically(tmp_path / name) is static
    assert not any_program.linked_statically(source)


#: Fails by itself in the second launch, is killed from outside in the third.
FAILS_SOMETIMES = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *file = fopen(argv[1], "r+");
        if (fscanf(file, "%d", &number) != 1) return 9;
        rewind(file);
        fprintf(file, "%d\n", number + 1);
        fclose(file);
    }
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (number == 1) { fprintf(stderr, "error: it fails sometimes\n"); exit(3); }
    if (number == 2 && rank == 1) raise(SIGKILL);
    if (rank == 0) printf("rate: %d\nVERIFIED\n", 100 + number);
    MPI_Finalize();
    return 0;
}
"""


@needs_stack
def test_a_program_that_fails_sometimes_is_told_from_one_that_was_killed(tmp_path):
    source, count = tmp_path / "app.c", tmp_path / "count"
    source.write_text(FAILS_SOMETIMES)
    count.write_text("0\n")
    done = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", "study", "--tag", "smoke", "--launches",
         "3", "--cells", "openmpi.shm.near", "--program", f"{{out}}/app {count}",
         "--build", f"mpicc {source} -o {{out}}/app", "--metric", "rate: ([0-9]+)",
         "--unit", "Mop/s", "--better", "more", "--check", "^VERIFIED"],
        cwd=tmp_path, text=True, capture_output=True, timeout=400, env={
            **os.environ, "PYTHONPATH": str(families.REPO), "COTEJO_STACK": str(STACK),
            "COTEJO_RESULTS": str(tmp_path / "results"), "COTEJO_SITE": "local",
            "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    records = [json.loads(path.read_text())
               for folder in (tmp_path / "results").glob("local/*")
               for path in sessions.launch_files(folder)]
    log = done.stdout[-3000:] + done.stderr[-2000:]
    assert done.returncode == 0, log
    assert [r["status"] for r in records] == ["ok", "failed", "accident", "ok", "ok"], log
    assert "it fails sometimes" in records[1]["reason"]
    assert records[2]["accident"]["kind"] == "signal"
    sound = [r for r in records if r["status"] == "ok"]
    assert {r["summary"][0]["figure_unit"] for r in sound} == {"Mop/s"}
    assert {rank["cpus"] for rank in sound[0]["observed"]["ranks"]} == {
        str(cpu) for cpu in sound[0]["asked"]["cpus"]}
    assert sound[0]["reported"]["evidence"] and sound[0]["proof"]["tcp"]
