# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the C code under every MPI of the stack, or once under the sanitizers.

Tests labelled `one_mpi` (src/tests/CMakeLists.txt) do not depend on the MPI library. Each of them
runs under one library, and the libraries take turns.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import zlib

from reframe_tests.harness.model import families
from stack.build import compile_benchmarks, environment, own_temporary_folder


def turn(case, among):
    """The position of the MPI library that runs this case; the same one each time."""
    return among[zlib.crc32(case.encode()) % len(among)]


def listed(folder):
    """The tests of a build folder in their order: name -> whether one library is sufficient."""
    said = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], text=True,
                          capture_output=True, check=True).stdout
    return {test["name"]: any(p["name"] == "LABELS" and "one_mpi" in p["value"]
                              for p in test["properties"])
            for test in json.loads(said)["tests"]}


def shares(builds):
    """Numbers of the tests that each build runs, from 1 on; `builds`: the tests of each build."""
    def has_it(name, test):
        return not builds[name][test] or name == turn(
            test, [other for other in builds if test in builds[other]])

    return {name: [number for number, test in enumerate(tests, 1) if has_it(name, test)]
            for name, tests in builds.items()}


def run_tests(family, stack, folder, numbers=(), **variables):
    """Runs CTest in a build folder, or the tests with these numbers. True if all tests passed.

    Only shared memory is enabled, because Open MPI needs a second to probe all transports."""
    some = ["-I", ",".join(["0", "0", "0", *map(str, numbers)])] if numbers else []
    env = {**environment(family, stack), **family.transports["shm"].environment, **variables}
    with own_temporary_folder(env) as own:
        return subprocess.run(
            ["ctest", "--test-dir", str(folder), "--output-on-failure", "--no-tests=error",
             "--timeout", "180", *some], env=own).returncode == 0


def under_each(present, stack):
    """Tests the build of each library; returns the names of the failed ones."""
    failed = []
    numbers = shares({f.name: listed(stack / "build" / f.name) for f in present})
    for family in present:
        print(f"ctest: {family.title}", flush=True)
        if not run_tests(family, stack, stack / "build" / family.name, numbers[family.name]):
            failed.append(family.title)
    return failed


def under_sanitizers(present, stack, only_build=False):
    """Builds with AddressSanitizer and UndefinedBehaviorSanitizer for one MPI and tests.

    A library that frees its memory at its end is preferred, because the leak check reports others.
    """
    family = next((f for f in present if f.keeps_no_memory), present[0])
    print(f"ctest: {family.title}, with sanitizers", flush=True)
    folder = stack / "build/sanitize"
    compile_benchmarks(family, stack, folder, ["-DCOTEJO_SANITIZE=ON",
                                               "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"])
    if only_build:
        return []
    leaks = "1" if family.keeps_no_memory else "0"
    # Tests preload libraries before that of the sanitizer, which refuses this by default.
    good = run_tests(family, stack, folder,
                     ASAN_OPTIONS=f"detect_leaks={leaks}:verify_asan_link_order=0")
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
