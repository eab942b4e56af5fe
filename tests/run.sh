#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test of the project. All suites run even when one fails; the status says
# whether all passed. A suite whose tool the stack lacks is skipped, and named at the end.
set -u
cd "$(dirname "$0")/.."
STACK=${STACK:-$PWD/.stack}
export COTEJO_STACK=$STACK
export R_LIBS=$STACK/R${R_LIBS:+:$R_LIBS}
# With Spack, the tools of the tests are beside its stack.
export PATH=${TOOLS:-$STACK/tools/bin}:$PATH
# Tests neither wait for a study of this machine nor hold one up.
if [ -z "${COTEJO_LOCKS:-}" ]; then
  COTEJO_LOCKS=$(mktemp -d)
  export COTEJO_LOCKS
  trap 'rm -f "$COTEJO_LOCKS/cotejo-cores"; rmdir "$COTEJO_LOCKS"' EXIT
fi
passed=0
failed=()
skipped=()

# Whether a program, or with R: before it a package of R, is there.
have() {
  case $1 in
    R:*) Rscript --vanilla -e "quit(status = !requireNamespace('${1#R:}', quietly = TRUE))" ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# suite NAME NEEDED COMMAND...
suite() {
  local name=$1 need=$2
  shift 2
  echo "== $name"
  if ! have "$need"; then
    skipped+=("$name: no $need in $STACK/tools or on this system")
    return
  fi
  if "$@"; then
    passed=$((passed + 1))
  else
    failed+=("$name")
  fi
}

suite "style of Python" ruff ruff check .
suite "style of C" clang-format sh -c \
  'find src -name "*.[ch]" -exec clang-format --dry-run -Werror {} +'
suite "style of R" R:lintr Rscript --vanilla -e \
  'found <- lintr::lint_dir("analysis"); print(found); quit(status = length(found) > 0)'
suite "C under every MPI" ctest python3 -m stack.ctest "$STACK"
suite "C under sanitizers" ctest python3 -m stack.ctest "$STACK" --sanitize
suite "R" R:testthat Rscript --vanilla -e \
  'testthat::test_local("analysis", reporter = "summary", stop_on_failure = TRUE)'
suite "Python, and from launch to report" pytest python3 -m pytest -q -rs tests

for reason in "${skipped[@]+"${skipped[@]}"}"; do
  echo "skipped suite: $reason"
done
for name in "${failed[@]+"${failed[@]}"}"; do
  echo "failed suite: $name"
done
echo "suites: $passed passed, ${#failed[@]} failed, ${#skipped[@]} skipped"
[ ${#failed[@]} -eq 0 ]
