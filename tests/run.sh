#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test of the project. All suites run even when one fails; the status says
# whether all passed. Python's comes last, since its closing line counts the tests.
set -u
cd "$(dirname "$0")/.."
STACK=${STACK:-$PWD/.stack}
export COTEJO_STACK=$STACK
export R_LIBS=$STACK/R
python=$STACK/tools/bin/python
[ -x "$python" ] || python=python3
failed=()

suite() {
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

suite "style of Python" "$python" -m ruff check .
suite "style of C" sh -c 'clang-format --dry-run -Werror $(git ls-files "src/*.c" "src/*.h")'
suite "style of R" Rscript --vanilla -e \
  'found <- lintr::lint_dir("analysis"); print(found); quit(status = length(found) > 0)'
suite "C under every MPI" "$python" -m stack.ctest "$STACK"
suite "C under sanitizers" "$python" -m stack.ctest "$STACK" --sanitize
suite "R" Rscript --vanilla -e \
  'testthat::test_local("analysis", reporter = "summary", stop_on_failure = TRUE)'
suite "Python, and from launch to report" "$python" -m pytest -q -rs tests

if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
