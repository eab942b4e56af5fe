# SPDX-License-Identifier: BSD-3-Clause
"""Kills of a study at random moments, and the account of their cost."""

import collections
import contextlib
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import disk
from reframe_tests.harness.model import families
from tests.launching import unmapped

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]
ROLES = ["study", "reframe", "launcher", "guard", "rank", "switch"]
LAUNCHERS = {"prterun", "mpirun", "mpiexec.hydra", "hydra_pmi_proxy", "mpiexec"}
#: Runs the following command, with a folder in place of /dev/shm for it and all its processes.
OWN_SHARED = ('unshare|--mount|--propagation|slave|sh|-c|mount --bind "$0" /dev/shm && exec "$@"'
              '|{}')
#: Lines of the account; each must be 0.
LOSSES = ["samples lost", "samples counted twice", "launches burnt", "processes left",
          "shared memory left", "temporary folders left", "network namespaces left"]


def same_launch(before, now):
    """Whether the description of a launch is unchanged, as JSON texts. A launch of a block that
    the machine disturbed is marked once another block replaces it."""
    if before == now or now is None:
        return before == now
    old, new = json.loads(before), json.loads(now)
    return (new["status"] == "marked" and new["reason"].startswith("disturbed: ")
            and {**new, "status": old["status"], "reason": old["reason"]} == old)


class Study:
    """A study of its own: results, locks, temporary files and virtual hosts are in one folder. The
    folder identifies its processes, so that no other process is touched."""

    def __init__(self, folder, stack, cells, blocks, *, site="local", tag="smoke"):
        self.folder, self.process = folder, None
        folder.mkdir()
        for name in ("locks", "tmp", "shm"):
            (folder / name).mkdir()
        self.words = ["--tag", tag, "--launches", str(blocks), "--tries", "1000", "--cells", cells]
        self.blocks, self.site, self.published = blocks, site, {}
        kept = {k: v for k, v in os.environ.items()
                if not k.startswith(("COTEJO_", "MAKE", "MFLAGS"))}
        self.environment = {
            **kept, "COTEJO_STACK": str(stack), "COTEJO_RESULTS": str(folder / "results"),
            "COTEJO_SITE": site, "COTEJO_LOCKS": str(folder / "locks"),
            "COTEJO_RUN": str(folder / "run"), "TMPDIR": str(folder / "tmp"),
            "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")}
        self.mark = f"COTEJO_LOCKS={folder}/locks".encode()
        # With root the study has its own /dev/shm, so that all files left there are its own.
        self.prefix = OWN_SHARED.format(folder / "shm").split("|") if os.geteuid() == 0 else []
        self.shared = set(os.listdir("/dev/shm"))

    def start(self):
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                [*self.prefix, sys.executable, "-m", "reframe_tests.harness", "study",
                 *self.words],
                cwd=families.REPO, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True)

    def processes(self):
        """All processes of the study: id -> role; one that has none is ''."""
        found = {}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                place = pathlib.Path(f"/proc/{pid}")
                if self.mark not in (place / "environ").read_bytes().split(b"\0"):
                    continue
                found[pid] = self.role(pid, (place / "comm").read_text().strip(),
                                       (place / "cmdline").read_bytes().split(b"\0"))
            except OSError:
                continue  # it is gone, or a zombie
        return found

    def role(self, pid, name, words):
        if self.process and pid == self.process.pid:
            return "study"
        if any(word.endswith(b"tools/bin/reframe") for word in words[:2]):
            return "reframe"
        if name in LAUNCHERS:
            return "launcher"
        return {"cotejo-guard": "guard", "cotejo": "rank", "cotejo-switch": "switch"}.get(name, "")

    def kill_one(self, role, number, draw, patience_s=60):
        """Kills a process of that role as soon as there is one; False where there was none."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end and self.process.poll() is None:
            there = [pid for pid, has in self.processes().items() if has == role]
            if there:
                try:
                    os.kill(draw.choice(sorted(there)), number)
                except ProcessLookupError:
                    continue
                return True
            time.sleep(0.01)
        return False

    def look(self):
        """Notes the published launches; returns how many of the earlier launches have changed."""
        now = {path: path.read_bytes() for session in (self.folder / "results").glob("*/*")
               for path in sessions.launch_files(session)}
        lost = sum(not same_launch(content, now.get(path))
                   for path, content in self.published.items())
        self.published.update(now)
        return lost

    def finish(self, limit_s):
        """Lets the study end by itself, started again where it was stopped; its last status."""
        end = time.monotonic() + limit_s
        status = self.wait(end)
        while status != 0 and time.monotonic() < end:
            self.start()
            status = self.wait(end)
        return status

    def wait(self, end):
        try:
            return self.process.wait(max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def left(self, patience_s=10):
        """The number of processes that are still there when all should be gone."""
        end = time.monotonic() + patience_s
        while self.processes() and time.monotonic() < end:
            time.sleep(0.1)
        found = self.processes()
        for pid in found:  # their mark shows that they belong to this study
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    def account(self, before):
        """The losses and leftovers: line of LOSSES -> number. `before`: lost while it ran."""
        left = self.left()
        records = [json.loads(text) for text in self.published.values()]
        usable = collections.Counter(r["id"].rpartition(".")[0] for r in records
                                     if r["status"] == "ok")
        plans = [disk.read_json(p) for p in self.folder.glob("results/*/*/session.json")]
        wanted = {cell for plan in plans for cell in plan["cells"]}
        samples = [self.samples(path, json.loads(text)) for path, text in self.published.items()]
        texts = [rows for rows in samples if rows]
        return {
            "samples lost": before + samples.count(None),
            "samples counted twice": len(texts) - len(set(texts)) + max(0, len(plans) - 1),
            "launches burnt": sum(max(0, self.blocks - usable[cell]) for cell in wanted),
            "processes left": left,
            "shared memory left": len(self.own_shared()),
            "temporary folders left": len(self.own_temporary()),
            "network namespaces left": len(list((self.folder / "run").glob("*")))}

    def own_temporary(self):
        return [str(path) for path in (self.folder / "tmp").iterdir()]

    def own_shared(self):
        """Shared memory that is new and that no process has mapped."""
        if self.prefix:
            return os.listdir(self.folder / "shm")
        return unmapped(set(os.listdir("/dev/shm")) - self.shared)

    def samples(self, path, record):
        """The rows of a launch as one text; None where described rows are missing."""
        if record["status"] != "ok":
            return ""
        try:
            with open(path.with_suffix(".csv")) as file:
                rows = [row for row in csv.reader(file) if not row[0].startswith("#")]
        except OSError:
            return None
        return repr(rows) if len(rows) - 1 == record["samples"]["rows"] else None


def strike(study, kills, draw, *, say=lambda words: None, limit_s=3600, span_s=3.0):
    """Kills processes one after the other, each at a random moment, until the study is complete.
    The study is started again whenever it was stopped. Returns the list of (role, signal) that
    were hit, and the number of lost launches; `say` is called after each kill."""
    hit, lost, end = [], 0, time.monotonic() + limit_s
    study.start()
    for number, (role, signal_) in enumerate(kills, 1):
        time.sleep(draw.uniform(0, span_s))
        while time.monotonic() < end and len(hit) < number:
            if study.process.poll() == 0:
                return hit, lost
            if study.process.poll() is not None:
                study.start()
            if study.kill_one(role, signal_, draw):
                hit.append((role, signal_))
        lost += study.look()
        say(f"kill {number} of {len(kills)}: {role}, {signal_.name}; {len(study.published)} "
            f"launches kept, {lost} lost")
    return hit, lost


def drawn(roles, count, seed):
    """So many kills, every role and signal about equally often, in a random order."""
    every = [(role, number) for role in roles for number in SIGNALS]
    draw = random.Random(seed)
    kills = [every[i % len(every)] for i in range(count)]
    draw.shuffle(kills)
    return kills, draw


def run(study, kills, draw, *, say=lambda words: None, limit_s=3600):
    """A complete run: a study with these kills, its end, its account; removes its folder."""
    try:
        hit, lost = strike(study, kills, draw, say=say, limit_s=limit_s)
        status = study.finish(limit_s)
    finally:
        if study.process and study.process.poll() is None:
            study.process.kill()
            study.process.wait()
    lost += study.look()
    found = study.account(lost)
    log = (study.folder / "log").read_text()
    log += f"left: {study.own_temporary()} {sorted(study.own_shared())}\n"
    shutil.rmtree(study.folder)
    return hit, status, found, log
