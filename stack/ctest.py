# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the C code under every MPI of the stack, or once under the sanitizers."""

import argparse
import pathlib
import subprocess
import sys

from reframe_tests.harness import families
from stack.build import compile_benchmarks, environment


def run_tests(family, stack, folder, **variables):
    """Runs CTest in a build folder, over shared memory: Open MPI's look at every transport that
    it has takes a second a launch. Returns True when all tests passed."""
    env = {**environment(family, stack), **family.transports["shm"].environment, **variables}
    return subprocess.run(
        ["ctest", "--test-dir", str(folder), "--output-on-failure", "--no-tests=error",
         "--timeout", "60"], env=env).returncode == 0


def under_each(present, stack):
    """Tests each MPI's build; returns the names of those that failed."""
    failed = []
    for family in present:
        print(f"ctest: {family.title}", flush=True)
        if not run_tests(family, stack, stack / "build" / family.name):
            failed.append(family.title)
    return failed


def under_sanitizers(present, stack, only_build=False):
    """Builds with AddressSanitizer and UndefinedBehaviorSanitizer for one MPI and tests.

    One is preferred that keeps no memory at its end, which the leak check would report.
    """
    family = next((f for f in present if f.keeps_no_memory), present[0])
    print(f"ctest: {family.title}, with sanitizers", flush=True)
    folder = stack / "build/sanitize"
    compile_benchmarks(family, stack, folder, ["-DCOTEJO_SANITIZE=ON"])
    if only_build:
        return []
    leaks = "1" if family.keeps_no_memory else "0"
    good = run_tests(family, stack, folder, ASAN_OPTIONS=f"detect_leaks={leaks}")
    return [] if good else ["the sanitizers"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("--sanitize", action="store_true", help="once, with the sanitizers")
    parser.add_argument("--only-build", action="store_true", help="for the sanitizers, no test")
    args = parser.parse_args()
    stack = args.stack.resolve()
    present = [f for f in families.load().values()
               if (stack / "build" / f.name / "CTestTestfile.cmake").exists()]
    if not present:
        return f"ctest: no build in {stack}/build; run `make build` first"
    failed = (under_sanitizers(present, stack, args.only_build) if args.sanitize
              else under_each(present, stack))
    return f"ctest: tests failed under {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main())
