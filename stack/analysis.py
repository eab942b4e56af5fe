# SPDX-License-Identifier: BSD-3-Clause
"""Installs the R package into STACK/R if its sources have changed. Needs only R.

The package is installed beside the library and then exchanged, so that a killed installation
leaves the library unchanged and no lock. This file uses only the standard library.
"""

import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
from reframe_tests.harness.machine import r, removal  # noqa: E402
from reframe_tests.harness.model import problems  # noqa: E402

SOURCES = REPO / "analysis"
LACKING = ('wanted <- commandArgs(TRUE); for (p in wanted) '
           'if (!nzchar(system.file(package = p))) cat(p, "")')


def sources_hash():
    """Hash over all source files of the package."""
    text = hashlib.sha256()
    for path in sorted(p for p in SOURCES.rglob("*") if p.is_file() and "tests" not in p.parts):
        text.update(str(path.relative_to(SOURCES)).encode() + b"\0" + path.read_bytes() + b"\0")
    return text.hexdigest()


def lacking(library):
    """The missing prerequisites of the package, in one line; '' if there are none."""
    if not shutil.which("Rscript"):
        return "no R on PATH (Debian: r-base-core); install it, or run `make stack`"
    text = (SOURCES / "DESCRIPTION").read_text()
    listed = re.search(r"^Imports:((?:.*\n(?=\s))*.*)", text, re.MULTILINE)[1]
    wanted = [re.sub(r"\(.*", "", item).strip() for item in listed.split(",")]
    done = subprocess.run(["Rscript", "--vanilla", "-e", LACKING, *wanted], text=True,
                          capture_output=True, env=r.variables(library.parent))
    if done.returncode:
        return f"Rscript does not run: {' '.join(done.stderr.split())[:300]}"
    missing = done.stdout.split()
    return "" if not missing else (
        f"R lacks {', '.join(missing)} (Debian: "
        f"{' '.join(f'r-cran-{name.lower()}' for name in missing)}); install them "
        f"for all users or into {library}, or run `make stack`")


def install(stack):
    """Brings STACK/R up to date; RuntimeError has the reason for a failure."""
    library, wanted = stack / "R", sources_hash()
    if removal.stamped(library / "cotejo", wanted):
        return False
    if reason := lacking(library):
        raise RuntimeError(reason)
    removal.claim(stack)
    library.mkdir(exist_ok=True)
    if removal.is_marked(stack / "R.new"):
        removal.remove(stack, stack / "R.new")  # left behind by earlier versions
    place = removal.place_beside(library)
    log = stack / "R-install.log"
    with open(log, "w") as out:
        done = subprocess.run(
            ["R", "CMD", "INSTALL", "--use-vanilla", "--no-docs", "--no-test-load",
             f"--library={place}", str(SOURCES)], stdout=out, stderr=subprocess.STDOUT,
            env=r.variables(stack))
    if done.returncode:
        sys.stderr.write("\n".join(log.read_text().splitlines()[-15:]) + "\n")
        raise RuntimeError(f"R CMD INSTALL failed; see {log}")
    # The package is complete before it gets its name. After a kill between these steps there is
    # no package, and the next call installs it.
    removal.stamp(place / "cotejo", wanted)
    if (library / "cotejo").exists():
        (library / "cotejo").rename(place / "before")
    (place / "cotejo").rename(library / "cotejo")
    removal.empty(place)
    log.unlink()
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    stack = parser.parse_args().stack.resolve()
    try:
        if install(stack):
            print(f"build: R package is in {stack}/R", flush=True)
    except (RuntimeError, removal.NotOursError) as err:
        return f"analysis: {err}"
    except OSError as err:
        return f"analysis: {err.filename}: {err.strerror}; give a STACK that you may write to"
    return 0


if __name__ == "__main__":
    problems.run(main)
