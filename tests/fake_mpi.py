# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that are not on this machine: a prefix whose programs tell what they were given.

Launchers leave their command line and environment in the stage folder and then what a sound
launch leaves, so that all of ReFrame's way is gone, from the site's files to the record.
"""

import json
import os
import pathlib
import shutil
import subprocess

from reframe_tests.harness.model import families, installation

REFRAME = families.stack_prefix() / "tools/bin/reframe"

SITE = """site_configuration = {{"systems": [{{"name": "fake", "hostnames": [".*"], "partitions": [
    {{"name": "compute", "scheduler": "{scheduler}", "launcher": "{launcher}"{more}}}]}}]}}
"""

LAUNCHER = """#!/usr/bin/env python3
import json, os, pathlib, sys
library, evidence, placed = {said!r}
pathlib.Path("received.json").write_text(json.dumps(
    {{"words": [os.path.basename(sys.argv[0]), *sys.argv[1:]], "environment": dict(os.environ)}}))
print(evidence)
pathlib.Path("samples.csv").write_text("# cotejo-samples/1\\n")
node = {{"kernel": "k", "cpu_model": "c", "governor": "g", "cores": 2, "memory_bytes": 1,
        "cache_bytes": 1, "load_1min": 0}}
pathlib.Path("samples.json").write_text(json.dumps({{
    "observed": {{"size": len(placed), "mpi": {{"library": library, "path": {path!r}}},
                 "tcp_bytes": 0, "payload_bytes": 0, "node": node, "interfaces": {{}}, "ranks": [
                     {{"rank": i, "host": host, "cpus": str(cpu)}}
                     for i, (host, cpu) in enumerate(placed)]}},
    "samples": {{"file": "samples.csv", "rows": 1, "columns": []}},
    "summary": [{{"operation": "pingpong", "bytes": size, "n": 1, "median_s": 1e-6,
                 "min_s": 1e-6, "p95_s": 1e-6}} for size in (1, 1 << 20)]}}))
"""


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def real(name):
    """A program of the stack in use that needs no MPI."""
    return next((families.stack_prefix() / "mpi").glob(f"*/bin/{name}"))


def tree(folder):
    """A copy of what launches need, to which a test may add files."""
    for name in ("reframe_tests", "site_configs", "requirements"):
        shutil.copytree(families.REPO / name, folder / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    return folder


class Fake:
    """A stack and a site with one MPI; `said`: library, evidence, (host, core) of each rank;
    `loaded`: the file that the library was loaded from; `modules`: those of the installation,
    which is the site's own. `repo`: a copy of this project's
    tree with what a test added."""

    def __init__(self, folder, mpi, said, *, launcher="mpirun", scheduler="local", more="",
                 repo=families.REPO, loaded="", modules=(), **files):
        self.folder, self.mpi, self.stack, self.repo = folder, mpi, folder / "stack", repo
        prefix = self.stack / ("sites/fake" if modules else "mpi") / mpi
        executable(prefix / "bin/cotejo", "#!/bin/sh\n")
        (prefix / "bin/cotejo-guard").symlink_to(real("cotejo-guard"))
        text = LAUNCHER.format(said=said, path=str(loaded or prefix / "lib/libmpi.so.40"))
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
        """ReFrame on this site; returns what it printed. `bare`: of all files, not of p2p."""
        files = [] if bare else ["-c", str(self.repo / "reframe_tests/p2p.py")]
        return self.start(str(REFRAME), *files, *words, **variables)

    def start(self, *words, **variables):
        """Any command for this site; returns what it printed."""
        done = subprocess.run(
            words, text=True, capture_output=True, timeout=120, cwd=self.folder, env={
                **os.environ, "PATH": f"{self.folder}/path:{os.environ['PATH']}",
                "COTEJO_SITE": "fake", "COTEJO_SITES": str(self.folder / "sites"),
                "COTEJO_STACK": str(self.stack), "COTEJO_RESULTS": str(self.folder / "results"),
                "COTEJO_SESSION": "s", "COTEJO_BLOCK": "1",
                "RFM_CONFIG_FILES": str(self.repo / "reframe_tests/config.py"), **variables})
        return done.stdout + done.stderr

    def received(self, cell):
        """What the launcher of a cell was given: (words, environment)."""
        (path,) = [p for p in self.stack.glob("reframe/**/received.json") if cell in str(p)]
        found = json.loads(path.read_text())
        return found["words"], found["environment"]

    def records(self):
        return [json.loads(p.read_text())
                for p in sorted(pathlib.Path(self.folder / "results/fake/s").glob("*.001.json"))]
