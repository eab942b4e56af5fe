# SPDX-License-Identifier: BSD-3-Clause
"""A study, its figures and its report as an ordinary user, in a stack of that user's own."""

import os
import pathlib
import shutil
import subprocess

from reframe_tests.harness.model import families

REPO = families.REPO
#: Debian's `nobody`: a user that owns nothing here.
USER = 65534
#: Parts of a stack that its user may need. They name the place where they were made, so that the
#: copy is mounted there, for the user's processes alone.
PARTS = ("mpi", "tools", "R", "languages")
MOUNTED = 'mount --bind "$0" "$1" && shift && exec "$@"'


def own_stack(stack, folder):
    """A copy of a stack that belongs to the user, without the files that its use creates."""
    made = folder / "stack"
    made.mkdir()
    for part in PARTS:
        if (stack / part).exists():
            shutil.copytree(stack / part, made / part, symlinks=True)
    subprocess.run(["chown", "-R", "--no-dereference", f"{USER}:{USER}", folder], check=True)
    return made


def as_user(folder, stack, *command, **variables):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("COTEJO_", "MAKE", "MFLAGS", "R_LIBS", "STACK"))}
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", MOUNTED, str(folder / "stack"), str(stack),
         "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *map(str, command)],
        cwd=REPO, text=True, capture_output=True, timeout=900, stdin=subprocess.DEVNULL,
        env={**kept, "HOME": str(folder), "TMPDIR": str(folder / "tmp"),
             "PYTHONDONTWRITEBYTECODE": "1", "COTEJO_LOCKS": str(folder / "locks"), **variables})


def theirs(places):
    """The files that the user has left in folders that all users share."""
    found = []
    for place in places:
        for entry in os.scandir(place):
            if entry.stat(follow_symlinks=False).st_uid == USER:
                found.append(entry.path)
    return found


def wrong(stack, folder):
    """Description of a failure as an ordinary user, or ''. Only root can try it."""
    for name in ("tmp", "locks", "results"):
        (folder / name).mkdir()
    own_stack(stack, folder)
    before = theirs(["/dev/shm", "/tmp"])
    python, results = stack / "tools/bin/python", folder / "results"
    done = as_user(folder, stack, python, "-m", "reframe_tests.harness", "study", "--tag", "smoke",
                   "--launches", "1", COTEJO_STACK=str(stack), COTEJO_RESULTS=str(results),
                   COTEJO_SITE="local", RFM_CONFIG_FILES=str(REPO / "reframe_tests/config.py"))
    if done.returncode:
        return f"study: status {done.returncode}: {(done.stdout + done.stderr)[-1500:]}"
    done = as_user(folder, stack, "make", "figures", "report", f"STACK={stack}", "SPACK=",
                   f"RESULTS={results}", f"FIGURES={folder}/figures",
                   f"REPORT={folder}/report/report.html")
    if done.returncode or not (folder / "report/report.html").exists():
        return f"report: status {done.returncode}: {(done.stdout + done.stderr)[-1500:]}"
    left = [str(p) for p in (folder / "tmp").iterdir()]
    left += sorted(set(theirs(["/dev/shm", "/tmp"])) - set(before) - {str(folder)})
    return f"left: {left}" if left else ""


def reachable(folder):
    """Whether the user may pass all folders above one."""
    return all(p.stat().st_mode & 0o005 == 0o005 for p in pathlib.Path(folder).resolve().parents)
