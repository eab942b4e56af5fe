# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm on one machine, started and stopped by whoever uses it. Needs root.

Its daemons listen on all addresses: they, and who uses them, are in a network of their own, which
has a loopback and nothing else. They end with the process that started them, however it ends, and
what they run on a node ends with the node.

python3 -m tests.slurm_machine COMMAND... runs a command while it is up.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from reframe_tests.harness import removal

NODES = ["node1", "node2"]
# Before a command: it is killed when who started it ends.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sinfo"]

CONF = """\
ClusterName=cotejo
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
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
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
# One launch at a time, whatever nodes it takes: they have the same cores.
Licenses=cores:1
{nodes}
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
    return "" if os.geteuid() == 0 else "daemons of Slurm need root"


def search_path():
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in made:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in made]


def configure(folder):
    """Writes slurm.conf, cgroup.conf and munge's key."""
    port, *ports = _free_ports(1 + len(NODES))
    cores = os.cpu_count()
    nodes = "\n".join(f"NodeName={n} NodeAddr=127.0.0.1 Port={p} CPUs={cores} State=UNKNOWN"
                      for n, p in zip(NODES, ports, strict=True))
    (folder / "slurm.conf").write_text(CONF.format(
        folder=folder, host=socket.gethostname(), port=port, nodes=nodes))
    (folder / "hosts").write_text("127.0.0.1 " + " ".join(["localhost", *NODES]) + "\n")
    (folder / "cgroup.conf").write_text(
        f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={folder}/cgroup\n")
    for name in ["state", "cgroup", *(f"spool.{n}" for n in NODES)]:
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)


def _end_jobs(environment):
    """Ends what still runs: it would outlive the daemons."""
    def words(*command):
        return subprocess.run(command, env=environment, text=True, capture_output=True,
                              timeout=20).stdout

    words("scancel", "--user=root")
    for _ in range(50):
        if not words("squeue", "-h").strip():
            return
        time.sleep(0.1)


def _wait_until_idle(environment, daemons):
    for _ in range(300):
        for daemon in daemons:
            if daemon.poll() is not None:
                raise RuntimeError(f"{daemon.args[-1]} ended with status {daemon.returncode}")
        said = subprocess.run(["sinfo", "-h", "-o", "%T %D"], env=environment, text=True,
                              capture_output=True, timeout=20).stdout
        if said.strip() == f"idle {len(NODES)}":
            return
        time.sleep(0.1)
    raise RuntimeError(f"nodes of Slurm were not idle within 30 s: {said.strip()}")


@contextlib.contextmanager
def own_network():
    """Puts this thread, and what it starts meanwhile, into a network of its own."""
    libc, new_net = ctypes.CDLL(None, use_errno=True), 0x40000000  # CLONE_NEWNET
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.unshare(new_net) != 0:
            raise RuntimeError(f"no network of its own: {os.strerror(ctypes.get_errno())}")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # Names are not looked up where there is no address but 127.0.0.1.
        subprocess.run(["ip", "address", "add", "10.88.0.1/32", "dev", "lo"], check=True)
        yield
    finally:
        libc.setns(before, new_net)
        os.close(before)


@contextlib.contextmanager
def running():
    """Slurm, up; gives the environment in which its commands find it, to this thread alone."""
    with own_network(), daemons_up() as environment:
        yield environment


@contextlib.contextmanager
def daemons_up():
    folder = removal.place_beside(pathlib.Path(tempfile.gettempdir()) / "slurm")
    folder.chmod(0o755)
    configure(folder)
    environment = {**os.environ, "PATH": search_path(), "SLURM_CONF": str(folder / "slurm.conf")}
    daemons = []

    def start(*command):
        with open(folder / "daemons.log", "a") as log:
            daemons.append(subprocess.Popen(
                [*ENDS_WITH_US, *command], env=environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log))

    try:
        start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
              f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
              f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        for _ in range(100):
            if (folder / "munge.socket").exists():
                break
            time.sleep(0.05)
        start("slurmctld", "-D", "-f", f"{folder}/slurm.conf")
        for node in NODES:
            # A name of its own, which launchers within an allocation can look up.
            start("unshare", "--uts", "--mount-proc", "--pid", "--fork", "--kill-child",
                  "sh", "-c",
                  'hostname "$0" && mount --bind "$1/hosts" /etc/hosts && '
                  'exec slurmd -D -N "$0" -f "$1/slurm.conf"', node, str(folder))
        _wait_until_idle(environment, daemons)
        yield environment
    except RuntimeError:
        for log in sorted(folder.glob("*.log")):
            sys.stderr.write("".join(log.read_text(errors="replace").splitlines(True)[-8:]))
        raise
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            _end_jobs(environment)
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
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
    with running() as environment:
        return subprocess.run([*ENDS_WITH_US, *sys.argv[1:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
