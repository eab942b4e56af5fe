# SPDX-License-Identifier: BSD-3-Clause
"""Every writer on a disk that is full, and on one that takes nothing: one line, a status, and
what was there before still there."""

import os
import shutil
import subprocess
import sys

import pytest

from reframe_tests.harness import families

REPO = families.REPO
STACK = families.stack_prefix()
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")

#: Writers of the R package, each to a file `out.*` of 20 kB and more.
IN_R = r"""
library(cotejo)
space <- asNamespace("cotejo")
big <- data.table::data.table(x = stats::runif(4000))
from <- tempfile()
writeLines(sprintf("%.17g", big$x), from)
plot <- ggplot2::ggplot(big, ggplot2::aes(x, x)) + ggplot2::geom_point() +
  ggplot2::labs(caption = "")
built <- ggplot2::ggplot_build(plot)
writers <- list(
  lines = function(file) space$put_lines(sprintf("%.17g", big$x), file),
  copy = function(file) space$copy_file(from, file),
  csv = function(file) space$put_table(big, file),
  svg = function(file) space$put_lines(space$svg_text(built, c(width = 5, height = 4)), file),
  pdf = function(file) space$draw_pdf(built, c(width = 5, height = 4), file)
)
for (name in names(writers)) {
  said <- tryCatch({
    space$write_whole(file.path(commandArgs(TRUE), paste0("out.", name)), writers[[name]])
    "nothing"
  }, cotejo_bad_data = conditionMessage)
  cat(name, ": ", said, "\n", sep = "")
}
"""

ON_DISK = """
mount -t tmpfs -o size=64k none "$1" || exit 3
for n in lines copy csv svg pdf; do echo old >"$1/out.$n"; done
case $2 in
  full) cat /dev/zero >"$1/filler" 2>/dev/null ;;
  nearly) head -c 40000 /dev/zero >"$1/filler" ;;
  read-only) mount -o remount,ro "$1" ;;
esac
shift 2
"$@" || echo "status $?"
cd "$OLDPWD" 2>/dev/null
cat "$DISK"/out.*
ls -A "$DISK"
"""


def on_disk(folder, how, *command):
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", ON_DISK, "sh", str(folder), how, *command],
        cwd=REPO, text=True, capture_output=True, timeout=120,
        env={**os.environ, "DISK": str(folder), "R_LIBS": f"{STACK}/R"})
    assert done.returncode == 0, done.stderr
    return done


@needs_root
@pytest.mark.skipif(not shutil.which("Rscript") or not (STACK / "R/cotejo").exists(),
                    reason="no R package in the stack")
@pytest.mark.parametrize("how", ["full", "nearly", "read-only"])
def test_writers_in_r(tmp_path, how):
    (tmp_path / "script.R").write_text(IN_R)
    (tmp_path / "disk").mkdir()
    done = on_disk(tmp_path / "disk", how, "Rscript", "--vanilla", str(tmp_path / "script.R"),
                   str(tmp_path / "disk"))
    lines = done.stdout.splitlines()
    for name in ("lines", "copy", "csv", "svg", "pdf"):
        said = next(line for line in lines if line.startswith(f"{name}: "))
        assert said.endswith(f"disk/out.{name}: cannot be written; check the folder's permissions "
                             "and the free space"), done.stdout + done.stderr
    assert lines.count("old") == 5
    assert not any(line.startswith(".tmp") for line in lines), "half a file is left"


#: Writers in Python: what is run with the folder, and what holds what was there before.
IN_PYTHON = {
    "write_json": "from reframe_tests.harness import sessions; import pathlib, sys; "
                  "sessions.write_json(pathlib.Path(sys.argv[1]) / 'out.csv', ['x' * 70000])",
    "write_whole": "from reframe_tests.harness import removal; import pathlib, sys; "
                   "removal.write_whole(pathlib.Path(sys.argv[1]) / 'out.csv', 'x' * 70000)",
}


@needs_root
@pytest.mark.parametrize("how", ["full", "nearly", "read-only"])
@pytest.mark.parametrize("writer", IN_PYTHON)
def test_writers_in_python_leave_what_was_there(tmp_path, writer, how):
    (tmp_path / "disk").mkdir()
    done = on_disk(tmp_path / "disk", how, sys.executable, "-c", IN_PYTHON[writer],
                   str(tmp_path / "disk"))
    assert "status 1" in done.stdout and done.stdout.count("old\n") == 5
    assert "No space left" in done.stderr or "Read-only" in done.stderr


LAYER = families.load(layers=True)["sockets"].prefix(STACK) / "bin"


@needs_root
@pytest.mark.skipif(not (LAYER / "cotejo-transport").exists(), reason="no layers in the stack")
@pytest.mark.parametrize("how", ["full", "nearly", "read-only"])
def test_the_writer_in_c(tmp_path, how):
    """Samples of 3000 repetitions are some 100 kB."""
    (tmp_path / "disk").mkdir()
    done = on_disk(tmp_path / "disk", how, str(LAYER / "mpirun"), "-np", "2",
                   str(LAYER / "cotejo-transport"), "pingpong", "--transport", "tcp", "--sizes",
                   "1", "--min-repetitions", "3000", "--max-repetitions", "3000", "--output",
                   str(tmp_path / "disk/out"))
    lines = done.stdout.splitlines()
    assert any(line.startswith("status ") and line != "status 0" for line in lines), done.stdout
    assert done.stderr.count("\n") == 1 and "disk/out" in done.stderr, done.stderr
    assert lines.count("old") == 5
    left = lines[-6:] if how != "read-only" else lines[-5:]
    assert {line for line in left if line.startswith(".") or "tmp" in line} == set()


@needs_root
def test_a_stack_on_a_full_disk_is_one_line(tmp_path):
    """`make stack` before it has made anything."""
    (tmp_path / "disk").mkdir()
    done = on_disk(tmp_path / "disk", "full", sys.executable, "stack/analysis.py",
                   str(tmp_path / "disk/stack"))
    assert "status 1" in done.stdout.splitlines()
    assert done.stderr.count("\n") == 1 and "No space left" in done.stderr, done.stderr
