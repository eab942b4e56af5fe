# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that are not on this machine: a prefix whose programs record their arguments.

A launcher leaves its command line and environment in the stage folder. It then leaves the files of
a sound launch, so that a test covers all steps of ReFrame, from the site's files to the record.
"""

import functools
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys

from reframe_tests.harness.model import families, installation

REFRAME = families.stack_prefix() / "tools/bin/reframe"

SITE = """site_configuration = {{"systems": [{{"name": "fake", "hostnames": [".*"], "partitions": [
    {{"name": "compute", "scheduler": "{scheduler}", "launcher": "{launcher}"{more}}}]}}]}}
"""

LAUNCHER = """#!/usr/bin/env python3
import json, os, pathlib, sys
pathlib.Path("received.json").write_text(json.dumps(
    {{"words": [os.path.basename(sys.argv[0]), *sys.argv[1:]], "environment": dict(os.environ)}}))
print({evidence!r})
pathlib.Path("samples.csv").write_text("# cotejo-samples/1\\n")
pathlib.Path("samples.json").write_text({record!r})
"""
SUMMARY = [{"operation": "pingpong", "bytes": size, "n": 1, "median_s": 1e-6, "min_s": 1e-6,
            "p95_s": 1e-6} for size in (1, 1 << 20)]


def observed(library, placed, *, path="", **more):
    """The observations of a sound launch; `placed`: (host, core) of each rank."""
    return {
        "program": "cotejo", "version": "0", "experiment": "pingpong", "options": {},
        "arguments": [], "build": {}, "size": len(placed), "timer": {}, "interfaces": {},
        "mpi": {"library": library, "path": path}, "tcp_bytes": 0, "payload_bytes": 0,
        "payload_checked": True,
        "node": {"kernel": "k", "cpu_model": "c", "governor": "g", "cores": 2, "memory_bytes": 1,
                 "cache_bytes": 1, "load_1min": 0},
        "ranks": [{"rank": i, "host": host, "cpus": str(cpu), "cores": [cpu], "numa": [0],
                   "package": [0]} for i, (host, cpu) in enumerate(placed)], **more}


def asked(**more):
    """The member `asked` of a description."""
    return {**dict.fromkeys(("site", "session", "experiment", "test", "scale", "mpi", "transport",
                             "placement"), "x"), "launch": 1, "seed": 1, "cpus": [0, 1],
            "hosts": 1, "ranks": 2, "settings": {}, "parameters": {}, "time_limit_s": 60, **more}


def left(seen, summary=()):
    """The text of the file `samples.json` that a launch leaves."""
    return json.dumps({"observed": seen, "summary": [*summary],
                       "samples": {"file": "samples.csv", "rows": len(summary), "columns": []}})


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def real(name):
    """A program of the stack in use that needs no MPI."""
    return next((families.stack_prefix() / "mpi").glob(f"*/bin/{name}"))


@functools.cache
def server():
    """The process that runs commands in forked processes (`tests.forked`), started once. It ends
    with its standard input."""
    python = REFRAME.parent / "python"
    return subprocess.Popen(
        [str(python) if python.exists() else sys.executable, "-m", "tests.forked"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=families.REPO)


def forked(words, environment, folder=families.REPO, limit_s=120):
    """Status and output of `reframe` or a command of the harness, without the time to load them.
    """
    process = server()
    process.stdin.write(json.dumps([words, environment, str(folder)]) + "\n")
    process.stdin.flush()
    if not select.select([process.stdout], [], [], limit_s)[0]:
        process.kill()
        server.cache_clear()
        raise subprocess.TimeoutExpired(words, limit_s)
    return json.loads(process.stdout.readline())


def tree(folder):
    """A copy of the files that launches need, to which a test may add files."""
    for name in ("reframe_tests", "site_configs", "requirements", "stack",
                 "analysis/inst"):
        shutil.copytree(families.REPO / name, folder / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    return folder


class Fake:
    """A stack and a site with one MPI. `said`: library, evidence, (host, core) of each rank.
    `loaded`: the file that the library was loaded from. `modules`: the modules of the
    installation, which is the site's own. `repo`: a copy of this project's tree with additions."""

    def __init__(self, folder, mpi, said, *, launcher="mpirun", scheduler="local", more="",
                 repo=families.REPO, loaded="", modules=(), **files):
        self.folder, self.mpi, self.stack, self.repo = folder, mpi, folder / "stack", repo
        prefix = self.stack / ("sites/fake" if modules else "mpi") / mpi
        executable(prefix / "bin/cotejo", "#!/bin/sh\n")
        (prefix / "bin/cotejo-guard").symlink_to(real("cotejo-guard"))
        library, evidence, placed = said
        path = str(loaded or prefix / "lib/libmpi.so.40")
        text = LAUNCHER.format(evidence=evidence, record=left(
            observed(library, placed, path=path), SUMMARY))
        executable(prefix / "bin/mpirun" if launcher == "mpirun" else folder / "path" / launcher,
                   text)
        site = folder / "sites/fake"
        site.mkdir(parents=True)
        (site / "reframe.py").write_text(SITE.format(
            launcher=launcher, scheduler=scheduler, more=more))
        for name, content in {"placements": "near: {hosts: 1, cpus: [0, 1]}\n", **files}.items():
            (site / f"{name}.yaml").write_text(content)
        if modules:  # the stamp of `make build`
            (prefix / installation.STAMP).write_text(json.dumps({
                "declared": {"home": "", "modules": [*modules]}, "home": str(prefix),
                "compiler": f"{prefix}/bin/mpicc", "version": ""}))
        self.prefix = prefix

    def run(self, *words, bare=False, **variables):
        """ReFrame on this site; returns its output. `bare`: with all files, not only p2p."""
        files = [] if bare else ["-c", str(self.repo / "reframe_tests/p2p.py")]
        return self.start(str(REFRAME), *files, *words, **variables)

    def start(self, *words, **variables):
        """Any command for this site; returns its output."""
        environment = {
            **os.environ, "PATH": f"{self.folder}/path:{os.environ['PATH']}",
            "COTEJO_SITE": "fake", "COTEJO_SITES": str(self.folder / "sites"),
            "COTEJO_STACK": str(self.stack), "COTEJO_RESULTS": str(self.folder / "results"),
            "COTEJO_SESSION": "s", "COTEJO_BY": str(os.getpid()),
            "RFM_CONFIG_FILES": str(self.repo / "reframe_tests/config.py"), **variables}
        if words[0] == str(REFRAME) and self.repo == families.REPO:
            return forked(words, environment, self.folder)[1]
        done = subprocess.run(words, text=True, capture_output=True, timeout=120, cwd=self.folder,
                              env=environment)
        return done.stdout + done.stderr

    def received(self, cell):
        """The arguments of the launcher of a cell: (words, environment)."""
        (path,) = [p for p in self.stack.glob("reframe/**/received.json") if cell in str(p)]
        found = json.loads(path.read_text())
        return found["words"], found["environment"]

    def records(self):
        return [json.loads(p.read_text())
                for p in sorted(pathlib.Path(self.folder / "results/fake/s").glob("*.001.json"))]
