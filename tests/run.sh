#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every test of the project. All suites run even when one fails. The status is 0 if all
# passed. A suite whose tool the stack lacks is skipped, and named at the end.
set -u
cd "$(dirname "$0")/.."
STACK=${STACK:-$PWD/.stack}
export COTEJO_STACK=$STACK
export R_LIBS=$STACK/R R_LIBS_USER=NULL
unset R_LIBS_SITE R_DEFAULT_PACKAGES R_VSIZE # a test limits R's memory
export R_NSIZE=3M # see the Makefile
# With Spack, the tools of the tests are beside its stack.
export PATH=${TOOLS:-$STACK/tools/bin}:$PATH
# In a locale without UTF-8, R cannot name the files of some tests.
[ "$(locale charmap)" = UTF-8 ] || export LC_ALL=C.UTF-8
# Tests neither wait for a study of this machine nor hold one up.
if [ -z "${COTEJO_LOCKS:-}" ]; then
  COTEJO_LOCKS=$(mktemp -d)
  export COTEJO_LOCKS
  own_locks=$COTEJO_LOCKS
fi
beside=$(mktemp -d)
declare -A pids
# Ends all processes that this script started.
leave() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
  rm -rf "$beside"
  [ -z "${own_locks:-}" ] || { rm -f "$own_locks/cotejo-cores" && rmdir "$own_locks"; }
}
trap leave EXIT
trap 'exit 143' TERM INT HUP
passed=0
failed=()
skipped=()

# Whether a program, or an R package with R: before its name, is installed.
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
  echo "== $name ($((SECONDS / 60)) min $((SECONDS % 60)) s)"
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

# Suites that start no ranks run beside others, in the time that these leave of the cores: with the
# lowest priority, also where Linux shares cores by session. There are two at a time, since tests
# have limits of time. Their output goes to a file of $beside:
# begin NAME AFTER COMMAND... starts a suite at the end of another one, or at once (no AFTER);
# `suite ... ended NAME` waits for it.
begin() {
  setsid sh -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null
    [ -z "$0" ] || tail --pid="$0" -f /dev/null
    chrt -i 0 true 2>/dev/null && exec chrt -i 0 "$@"
    exec nice -n 19 "$@"' "${2:+${pids[$2]}}" "${@:3}" >"$beside/$1" 2>&1 </dev/null &
  pids[$1]=$!
}
ended() {
  local status=0
  wait "${pids[$1]}" || status=$?
  unset "pids[$1]"
  cat "$beside/$1"
  return "$status"
}

begin R-style "" Rscript --vanilla tests/lint.R
# The installed package is tested, since its code is compiled.
python3 stack/analysis.py "$STACK"
begin R "" Rscript --vanilla -e 'testthat::test_local("analysis",
  load_package = "installed", reporter = "summary", stop_on_failure = TRUE)'
begin sanitizers R-style python3 -m stack.ctest "$STACK" --sanitize --only-build
# Parts that end at about the same time. Each part takes this machine's cores by itself.
no_ranks=(env -u COTEJO_LOCKS python3 -m pytest -q -rs --durations=10 -m beside)
begin Python-1 sanitizers "${no_ranks[@]}" tests/test_[a-i]*.py archaeology/tests
begin Python-2 R "${no_ranks[@]}" tests/test_[j-z]*.py
suite "style of Python" ruff ruff check .
suite "style of C" clang-format sh -c \
  'find src archaeology -name "*.[ch]" -exec clang-format --dry-run -Werror {} +'
suite "Python that launches" pytest python3 -m pytest -q -rs --durations=20 \
  -m "not beside and not alone" tests archaeology/tests
# Ranks of these suites keep their cores while they poll (src/tests/keep.c): those that give way
# may still run beside them.
suite "build for sanitizers" ctest ended sanitizers
suite "C under sanitizers" ctest python3 -m stack.ctest "$STACK" --sanitize
suite "C under every MPI" ctest python3 -m stack.ctest "$STACK"
# They need not give way any more, where Linux permits that.
for pid in "${pids[@]}"; do echo 0 >"/proc/$pid/autogroup"; done 2>/dev/null
suite "style of R" R:lintr ended R-style
suite "R" R:testthat ended R
suite "Python that starts no ranks, a to i" pytest ended Python-1
suite "Python that starts no ranks, j to z" pytest ended Python-2
# The following suite has the machine for itself.
wait
pids=()
suite "Python that measures" pytest python3 -m pytest -q -rs --durations=20 -m alone \
  tests archaeology/tests

for reason in "${skipped[@]+"${skipped[@]}"}"; do
  echo "skipped suite: $reason"
done
for name in "${failed[@]+"${failed[@]}"}"; do
  echo "failed suite: $name"
done
echo "suites, in $((SECONDS / 60)) min $((SECONDS % 60)) s: $passed passed, ${#failed[@]} failed, ${#skipped[@]} skipped"
[ ${#failed[@]} -eq 0 ]
