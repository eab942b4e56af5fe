# SPDX-License-Identifier: BSD-3-Clause
"""Values given to make: none of them is run, and only folders of cotejo are touched."""

import itertools
import os
import re
import shlex
import shutil
import subprocess

import pytest

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from stack import variables

REPO = families.REPO
STACK = families.stack_prefix()
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("MAKE", "MFLAGS", "COTEJO_")) and k not in variables.FOLDERS}


def make(*words, cwd=REPO, **environment):
    return subprocess.run(["make", "--no-print-directory", *words], cwd=cwd, text=True,
                          capture_output=True, timeout=120, env={**CLEAN, **environment})


@pytest.fixture
def checkout(tmp_path):
    """A copy of what `make clean` needs, in a folder of another name."""
    def at(name):
        folder = tmp_path / name / "cotejo"
        for part in ("Makefile", "stack", "reframe_tests/__init__.py",
                     "reframe_tests/harness"):
            target = folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (REPO / part).is_dir() else shutil.copy)(REPO / part, target)
        return folder
    return at


def files(folder):
    return sorted(p for p in folder.rglob("*") if "__pycache__" not in p.parts)


ODD = ["my dir", "it's", 'a"b', "ünï", "two\nlines", "a$(touch made)b", "a;touch made", "a#b",
       "a%b"]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("target", ["clean", "distclean", "stack", "reference"])
def test_a_checkout_that_no_tool_could_bear_is_refused_before_anything_is_touched(
        checkout, tmp_path, name, target):
    folder = checkout(name)
    (tmp_path / "my").mkdir(exist_ok=True)
    (tmp_path / "my/thesis.tex").write_text("x")
    before = files(tmp_path)
    done = make(target, cwd=folder)
    assert done.returncode == 2
    assert re.match(r"make: the path of the checkout .*letters, digits, dots.*; move ",
                    done.stderr), done.stderr
    assert files(tmp_path) == before


def test_clean_removes_ours_and_nothing_else(checkout):
    folder = checkout("plain")
    for name in (".stack/build", ".stack/reframe", "figures", "report"):
        removal.claim(folder / name)
        (folder / name / "file").write_text("x")
    removal.claim(folder / ".stack")
    (folder / "results").mkdir()
    (folder / "figures/file").unlink()
    (folder / "figures" / removal.MARK).unlink()  # a folder of the user's
    (folder / "figures/theirs.svg").write_text("x")
    done = make("clean", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{folder}/figures is left as it is: it has no" in done.stdout
    left = {p.name for p in folder.iterdir()} - {"__pycache__"}
    assert left == {"Makefile", "stack", "reframe_tests", ".stack", "results", "figures"}
    removal.claim(folder / ".stack")
    make("distclean", cwd=folder)
    assert not (folder / ".stack").exists()


@pytest.mark.parametrize("how", ["given", "environment"])
@pytest.mark.parametrize("variable", ["STACK", "REPORT", "FIGURES", "RESULTS", "PROOF",
                                      "REFERENCE", "PAPER"])
def test_clean_touches_no_folder_that_is_not_ours(tmp_path, checkout, variable, how):
    folder, theirs = checkout("plain"), tmp_path / "theirs"
    for name in ("build", "reframe", "figures"):
        (theirs / name).mkdir(parents=True)
        (theirs / name / "file").write_text("x")
    before = files(theirs)
    value = f"{theirs}/{'report.html' if variable in ('REPORT', 'PAPER') else ''}"
    done = (make("distclean", f"{variable}={value}", cwd=folder) if how == "given"
            else make("distclean", cwd=folder, **{variable: value}))
    assert done.returncode == 0, done.stderr
    assert files(theirs) == before


#: Variable, value to try, and message.
BAD = [
    *[(name, value, "NAME: ") for name in ("NAME",) for value in (
        "x; touch made", "$(shell touch made)", "`touch made`", "../x", "a b", "-rf", "a\nb")],
    ("SITE", "$(touch made)", "SITE: "), ("SITE", "x/../y", "SITE: "), ("SITE", "a|b", "SITE: "),
    ("TAG", "quick; touch made", "TAG: "), ("TAG", "quick'", "TAG: "), ("TAG", "&", "TAG: "),
    ("CELLS", "(", "CELLS: "), ("CELLS", "a\nb", "CELLS: "), ("CELLS", "[z-a]", "CELLS: "),
    ("LAUNCHES", "0", "LAUNCHES: "), ("LAUNCHES", "-1", "LAUNCHES: "),
    ("LAUNCHES", "ten", "LAUNCHES: "), ("LAUNCHES", "1e3", "LAUNCHES: "),
    ("SAMPLES", "0", "SAMPLES: "), ("UNTIL", "3 percent", "UNTIL: "),
    ("BUDGET", "20 minutes", "BUDGET: "), ("DATA", "mine", "DATA: "),
    ("DROP", "../..", "DROP: "), ("PART", "nothing", "PART: "), ("PART", "a;b", "PART: "),
    *[("SET", value, "SET: ") for value in (
        "A", "A=", "A=1|", "A=1|1", "a b=1", "A=$(touch made)", "A=`x`", "A='1'", "A=1 A=2",
        "PATH=/tmp", "LD_PRELOAD=x.so|y.so", "COTEJO_SEED=1", "A=1\nB=2", "1A=2", "A=é")],
    ("DELTA", "x", "DELTA: "), ("PDF", "1", "PDF: "),
    ("ARCHAEOLOGY", "1", "ARCHAEOLOGY: "),
    *[(name, value, f"{name}: ") for name in variables.FOLDERS for value in (
        "/tmp/a b", "/tmp/$(touch made)", "/tmp/it's", "/tmp/é", "/tmp/a\nb", "a:b", "~/x")],
]


@pytest.mark.parametrize(("name", "value", "said"), BAD)
def test_a_value_that_no_recipe_could_bear_is_one_line(name, value, said):
    found = variables.problem({name: value})
    assert found.startswith(said) and found.isprintable() and "\n" not in found
    assert repr(value)[1:-1] in found or "regular expression" in found


@pytest.mark.parametrize(("words", "said"), [
    (["site", "NAME=x; touch made"], "NAME: 'x; touch made' is not"),
    (["site", "NAME=$(shell touch made)"], "NAME: '$(shell touch made)' is not"),
    (["references", "SITE=`touch made`"], "SITE: '`touch made`' is not"),
    (["study", "CELLS='"], ""), (["study", "TAG=$(shell touch made)"], "TAG: "),
    (["clean", "REPORT=/tmp/$(shell touch made)"], "REPORT: "),
    (["bench", "PART=x"], "PART: 'x' is not a bench"),
    (["site"], "give NAME=x"),
])
def test_make_runs_nothing_of_what_it_is_given(checkout, words, said):
    folder = checkout("plain")
    (folder / "tests").mkdir()
    before = files(folder)
    done = make("SPACK=", *words, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[0], done.stderr
    assert [p for p in files(folder) if p.name == "made"] == []
    if said:
        assert files(folder) == before


def test_a_value_reaches_the_program_as_it_was_given(checkout):
    """A quote, a dollar and a blank in CELLS, through the make that a recipe starts too."""
    folder, text = checkout("plain"), "it's near$ (a|b)"
    with open(folder / "Makefile", "a") as file:
        file.write('\nshow: checked\n\t@printf "%s\\n" "$$CELLS"\n\t@$(MAKE) shown\n'
                   'shown:\n\t@printf "%s\\n" "$$CELLS"\n')
    done = make("show", f"CELLS={text}", cwd=folder)
    assert done.stdout.splitlines()[:2] == [text, text], done.stderr


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER", "GIT_DIR"])
def test_variables_of_other_installations_reach_no_recipe(checkout, name):
    folder = checkout("plain")
    with open(folder / "Makefile", "a") as file:
        file.write(f'\nshow:\n\t@printf "<%s>\\n" "$${name}"\n')
    done = make("show", cwd=folder, **{name: "/of/others"})
    assert done.stdout.splitlines()[0] == "<>", done.stderr


def test_r_finds_no_library_of_its_user(tmp_path):
    """A package in such a library replaced the package that cotejo was tested with."""
    for package in ("cotejo", "jsonlite"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "DESCRIPTION").write_text(f"Package: {package}\nVersion: 0.0\n")
    given = {"R_LIBS": str(tmp_path), "R_LIBS_USER": str(tmp_path), "R_LIBS_SITE": str(tmp_path),
             "R_DEFAULT_PACKAGES": "none"}
    code = 'cat(.libPaths(), "methods" %in% loadedNamespaces(), sep = "\\n")'
    by_make = make("--eval", f"shown: ; @$(RSCRIPT) -e '{code}'", "shown", "SPACK=",
                   f"STACK={STACK}", **given)
    by_harness = subprocess.run(
        ["python3", "-c", "from reframe_tests.harness.machine import r\n"
         f"print(r.output_of({code!r}))"], text=True, capture_output=True, cwd=REPO,
        env={**os.environ, **given, "COTEJO_STACK": str(STACK)})
    for done in (by_make, by_harness):
        said = done.stdout.split()
        assert said[0] == f"{STACK}/R" and said[-1] == "TRUE", done.stderr
        assert str(tmp_path) not in said and len(said) > 2


def test_a_checkout_with_line_ends_of_windows_has_scripts_that_run(tmp_path):
    """core.autocrlf of Git, which .gitattributes overrides."""
    git = ["git", "-c", "core.autocrlf=true"]
    head = subprocess.run([*git, "-C", REPO, "rev-parse", "HEAD"], capture_output=True)
    if head.returncode:
        pytest.skip("no Git repository: an exported archive")
    subprocess.run([*git, "clone", "-q", "--shared", "--no-checkout", REPO, tmp_path / "clone"],
                   check=True)
    wanted = ["requirements/tools.txt", "tests/run.sh", "site_configs/virtual-ethernet/agent"]
    subprocess.run([*git, "-C", tmp_path / "clone", "checkout", "-q", "HEAD", "--",
                    ".gitattributes", *wanted], check=True)
    for name in wanted:
        assert b"\r" not in (tmp_path / "clone" / name).read_bytes(), name


def commands_of_help():
    """The commands of make that its help shows: each target with its options, and the examples.
    """
    for line in make("help").stdout.splitlines():
        if found := re.match(r"  make ([a-z-]+) .*?(\(.*\))?$", line):
            options = re.findall(r"\b([A-Z]+)(=[^\s,;|)]+)?", found[2] or "")
            yield [found[1], *map("".join, options)]
        elif found := re.match("  for example: make (.*)", line):
            yield shlex.split(found[1])


def test_targets_options_and_examples_of_make_help_exist(tmp_path):
    shown = [*commands_of_help()]
    assert ["mpi", "NAME=x", "FROM=wheel", "WHERE", "SITE=local"] in shown and len(shown) > 40
    # A dry run needs some value, and a check of names accepts no value. One check has an option
    # of each name.
    checks = {}
    for target, *options in shown:
        given = [word if "=" in word else f"{word}=x" for word in options]
        for word in options:
            name, _, value = word.partition("=")
            checks.setdefault(name, {})[f"{name}={value}"] = None
        done = make("-n", target, *given, "SPACK=", f"STACK={tmp_path}/stack")
        assert (done.returncode, done.stderr) == (0, ""), (target, given)
    for given in itertools.zip_longest(*checks.values()):
        done = make("checked", *filter(None, given), "SPACK=", f"STACK={tmp_path}/stack")
        assert (done.returncode, done.stderr) == (0, ""), given
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_of_a_study_measures_nothing(tmp_path):
    done = make("-n", "study", "SPACK=", f"STACK={tmp_path}/stack", f"RESULTS={tmp_path}/results")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("target", "pages"), [
    ("locked-study", ("draw_all", "write_report")), ("locked-proof", ("write_proof",)),
    ("locked-abi", ("write_abi",)), ("locked-releases", ("write_releases",))])
@pytest.mark.parametrize(("status", "drawn"), [
    (0, True), (3, True), (4, True), (1, False), (2, False), (130, False)])
def test_pages_are_made_of_what_is_there(tmp_path, status, drawn, target, pages):
    """However the study ended, unless it measured nothing; its status is kept and reported."""
    tools = tmp_path / "stack/tools/bin"
    tools.mkdir(parents=True)
    for name, script in {
            "python": f'case "$*" in *harness\\ study*|*harness\\ releases*) exit {status};; esac',
            "python3": ":",
            "Rscript": f'echo "$*" >>{tmp_path}/drawn'}.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    done = make(target, "--old-file=stack", "SPACK=", f"STACK={tmp_path}/stack")
    said = (tmp_path / "drawn").read_text() if (tmp_path / "drawn").exists() else ""
    assert [call in said for call in pages] == [drawn] * len(pages)
    assert done.returncode == (2 if status else 0)
    assert not status or f"Error {status}\n" in done.stderr


@pytest.mark.parametrize(("words", "before", "site"), [
    (["SITE=x"], "", "x"), (["SITE=x"], "y", "x"), ([], "y", "y")])
def test_a_study_measures_the_site_that_is_given(tmp_path, words, before, site):
    """`make study SITE=x` measured the site `local` without a word."""
    tools = tmp_path / "stack/tools/bin"
    tools.mkdir(parents=True)
    for name in ("python", "python3", "Rscript"):
        (tools / name).write_text(f'#!/bin/sh\necho "$COTEJO_SITE" >{tmp_path}/site\n')
        (tools / name).chmod(0o755)
    make("locked-study", "--old-file=stack", "SPACK=", f"STACK={tmp_path}/stack", *words,
         COTEJO_SITE=before)
    assert (tmp_path / "site").read_text() == f"{site}\n"


@pytest.mark.parametrize("package", ["reframe_tests", "stack"])
def test_an_interruption_is_one_line_from_the_first_moment_on(package):
    """It was a traceback of 25 lines."""
    done = subprocess.run(["python3", "-c", f"import {package}; raise KeyboardInterrupt"],
                          text=True, capture_output=True, cwd=REPO)
    assert (done.returncode, done.stderr) == (-2, "interrupted; start again to continue\n")


@pytest.mark.parametrize(("place", "said"), [
    ("pipe", "x: standard output: closed by what read it; start again to continue\n"),
    ("/dev/full", "x: standard output: No space left on device; start again to continue\n")])
@pytest.mark.parametrize("end", ["", ", sys.exit(3)"])
def test_output_that_nobody_takes_is_one_line(place, said, end):
    """It was "None: Broken pipe", and lines of Python where a command ends by itself."""
    code = ("import sys; from reframe_tests.harness.commands import shared; "
            f"shared.run('x', lambda: (print('y' * 1000){end}))")
    if place == "pipe":
        read, write = os.pipe()
        os.close(read)
    else:
        write = os.open(place, os.O_WRONLY)
    done = subprocess.run(["python3", "-c", code], text=True, stdout=write,
                          stderr=subprocess.PIPE, cwd=REPO)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize(("number", "cure"), [
    ("EAGAIN", "`ulimit -u`"), ("EMFILE", "`ulimit -n 4096`"), ("EFBIG", "`ulimit -f unlimited`"),
    ("ENOMEM", "`ulimit -v unlimited`"), ("EACCES", "check the place and its permissions")])
def test_a_limit_that_a_user_can_raise_is_named_with_the_command(number, cure):
    """All were cured by "check the place and its permissions"."""
    code = ("import errno, os; from reframe_tests.harness.commands import shared\n"
            f"def main(): raise OSError(errno.{number}, os.strerror(errno.{number}), '/x')\n"
            "shared.run('x', main)")
    done = subprocess.run(["python3", "-c", code], text=True, capture_output=True, cwd=REPO)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("x: /x: ") and cure in done.stderr


def test_standard_output_that_is_closed_is_no_place_for_files(tmp_path):
    """A traceback ended it; a file that was opened would have had the output of programs."""
    code = ("import subprocess; from reframe_tests.harness.commands import shared; "
            f"name = '{tmp_path}/f'; shared.run('x', lambda: subprocess.run(['echo', 'y'], "
            "pass_fds=[open(name, 'w').fileno()]) and print('z'))")
    done = subprocess.run(["sh", "-c", 'exec python3 -c "$0" >&-', code], text=True,
                          stderr=subprocess.PIPE, cwd=REPO)
    assert (done.returncode, done.stderr, (tmp_path / "f").read_text()) == (0, "", "")


def test_what_compiles_or_launches_takes_the_cores_first():
    for command in ("stack", "build", "verify", "study"):
        said = make("-n", command)
        first = [line for line in said.stdout.splitlines() if "variables.py" not in line][0]
        assert "reframe_tests.harness alone" in first, command
        assert ('--stack "$STACK"' in first) == (command != "study"), first
