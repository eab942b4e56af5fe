# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm over hosts of one machine, started and stopped by its user. Needs root.

`python3 -m tests.slurm_machine COMMAND...` runs a command on its head while it is up. The hosts
belong to a virtual Ethernet: each slurmd has its own network, name, processes and shared memory.
All hosts end with this process, whatever ends it.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from reframe_tests.harness.backends import clusters
from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families

HOSTS = 4
NODES = [f"host{n}" for n in range(1, HOSTS + 1)]
# Before a command: it is killed when who started it ends.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sinfo"]

CONF = """\
ClusterName=cotejo
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmdParameters=config_overrides
# A host that was killed is found within this (s). On a busy machine one that lives may be silent
# for some seconds, and a job goes with its first host.
SlurmdTimeout=30
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
# One launch at a time, whatever nodes it takes: they have the same cores.
Licenses=cores:1
NodeName=host[1-{hosts}] CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
"""


def why_not():
    """Why there can be no Slurm here, or ''."""
    missing = [p for p in PROGRAMS if not shutil.which(p, path=search_path())]
    if missing:
        return (f"no {', '.join(missing)} on this machine (Debian: slurmctld slurmd slurm-client "
                "munge)")
    if not list(pathlib.Path("/usr/lib").glob("*/pmix2/lib/libpmix.so")):
        return "srun cannot start Open MPI here: its plugin loads libpmix.so (Debian: libpmix-dev)"
    return clusters.lacking()


def search_path():
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def configure(folder):
    """Writes slurm.conf, cgroup.conf and munge's key."""
    (folder / "slurm.conf").write_text(CONF.format(
        folder=folder, hosts=HOSTS, cores=os.cpu_count()))
    (folder / "cgroup.conf").write_text(
        f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={folder}/cgroup\n")
    for name in ["state", "cgroup", *(f"{kind}.{n}" for kind in ("spool", "tmp") for n in NODES)]:
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)


class Machine:
    """A running Slurm; `environment` has the variables that its commands need."""

    def __init__(self, folder, found):
        self.folder, self.found = folder, found
        self.environment = {**os.environ, "PATH": search_path(),
                            "SLURM_CONF": str(folder / "slurm.conf")}
        self.daemons = []

    def on(self, host, *command):
        """The words that run a command on a host, or on the head, from which all daemons and
        launchers can be reached."""
        pid = next(h["pid"] for h in self.found["hosts"] if h["name"] == host)
        spaces = ["-n", "-u", "-m"] if host == "head" else ["-n", "-u", "-i", "-p", "-m"]
        return ["nsenter", "-t", str(pid), *spaces, f"--wd={families.REPO}", *map(str, command)]

    def run(self, *command, host="head", limit_s=280, **variables):
        return subprocess.run(self.on(host, *command), env={**self.environment, **variables},
                              text=True, capture_output=True, timeout=limit_s,
                              stdin=subprocess.DEVNULL)

    def start(self, host, *command):
        """A daemon, which ends with this process."""
        with open(self.folder / "daemons.log", "a") as log:
            self.daemons.append(subprocess.Popen(
                [*ENDS_WITH_US, *self.on(host, *command)],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def start_node(self, name):
        # There are more ranks than cores: a rank yields its core only with real-time priority.
        priority = ["chrt", "-r", "5"] if self.found["realtime"] else []
        self.start(name, *priority, "slurmd", "-D", "-N", name, "-f", self.folder / "slurm.conf")

    def kill_node(self, name):
        """Ends a host with all that runs on it, as a machine that loses its power."""
        os.kill(next(h["pid"] for h in self.found["hosts"] if h["name"] == name), signal.SIGKILL)

    def states(self):
        """Node -> state."""
        lines = self.run("sinfo", "-h", "-N", "-o", "%N %T").stdout.splitlines()
        return dict(line.split() for line in lines)

    def wait_until(self, wanted, limit_s=30):
        """Waits until nodes have these states (node -> state)."""
        seen = {}
        for _ in range(10 * limit_s):
            if any(daemon.poll() is not None for daemon in self.daemons[:2]):
                break
            seen = self.states()
            if wanted.items() <= seen.items():
                return
            time.sleep(0.1)
        raise RuntimeError(f"nodes of Slurm were not {wanted} within {limit_s} s: {seen}")

    def batch(self, *words, limit_s=280, **variables):
        """Runs a job to its end; returns its number and last state. `sbatch --wait` would look
        after 2, 10 and 42 s, and not between."""
        submitted = self.run("sbatch", "--parsable", *words, **variables)
        number = submitted.stdout.strip()
        for _ in range(10 * limit_s if number else 0):
            (state,) = re.findall(r"JobState=(\w+)",
                                  self.run("scontrol", "show", "job", number).stdout)
            if state not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"):
                return number, state
            time.sleep(0.1)
        raise RuntimeError(f"job {number} did not end: {submitted.stderr}")

    def end_jobs(self):
        """Ends what still runs."""
        self.run("scancel", "--user=root")
        for _ in range(50):
            if not self.run("squeue", "-h").stdout.strip():
                return
            time.sleep(0.1)


@contextlib.contextmanager
def running():
    """Slurm, up; gives the `Machine`."""
    folder = removal.place_beside(pathlib.Path(tempfile.gettempdir()) / "slurm")
    folder.chmod(0o755)
    configure(folder)
    name = f"slurm{folder.name}"  # two at once are two clusters
    machine = Machine(folder, clusters.up("gigabit", name, hosts=HOSTS, companion=os.getpid(),
                                          verified=False))
    try:
        machine.start(
            "head", "munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
            f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
            f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        for _ in range(100):
            if (folder / "munge.socket").exists():
                break
            time.sleep(0.05)
        machine.start("head", "slurmctld", "-D", "-f", folder / "slurm.conf")
        for node in NODES:
            machine.start_node(node)
        machine.wait_until(dict.fromkeys(NODES, "idle"))
        yield machine
    except RuntimeError:
        for log in sorted(folder.glob("*.log")):
            sys.stderr.write("".join(log.read_text(errors="replace").splitlines(True)[-8:]))
        raise
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            machine.end_jobs()
        clusters.down(name)  # with all that runs on its hosts
        for daemon in reversed(machine.daemons):
            daemon.terminate()
        for daemon in machine.daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        removal.empty(folder)


def main():
    if why_not():
        return f"slurm: {why_not()}"
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with running() as machine:
        return subprocess.run([*ENDS_WITH_US, *machine.on("head", *sys.argv[1:])],
                              env=machine.environment).returncode


if __name__ == "__main__":
    sys.exit(main())
