# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the C code under every MPI of the stack."""

import argparse
import pathlib
import subprocess
import sys

from reframe_tests.harness import families
from stack.build import environment


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stack", type=pathlib.Path)
    stack = parser.parse_args().stack.resolve()
    failed = []
    for family in families.load().values():
        folder = stack / "build" / family.name
        if not (folder / "CTestTestfile.cmake").exists():
            print(f"ctest: {family.title}: no build in {folder}, its tests are left out")
            continue
        print(f"ctest: {family.title}", flush=True)
        done = subprocess.run(["ctest", "--test-dir", str(folder), "--output-on-failure",
                               "--no-tests=error", "--timeout", "60"],
                              env=environment(family, stack))
        if done.returncode:
            failed.append(family.title)
    return f"ctest: tests failed under {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main())
