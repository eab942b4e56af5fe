# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clusters of this machine: up, down, verified before use.

`cotejo-switch` makes the hosts and the network between them; this module starts
it from the site's `clusters.yaml` and compares TCP's measurements with its model.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from ..machine import cores, disk, removal
from ..model import sites
from .backend import BackendBusyError, BackendError
from .network_check import PATIENCE_S, verify
from .virtual_hosts import HOSTS, SITE, gone, program

# Within this a cluster is up, or it never will be.
READY_S = 5


def run_folder():
    return pathlib.Path(os.environ.get("COTEJO_RUN", "/run/cotejo"))


def lacking(kind=HOSTS):
    """Why this machine cannot have virtual hosts, in words; '' if it can."""
    if os.geteuid() != 0:
        return "virtual hosts need root: network namespaces and /dev/net/tun"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "virtual hosts need /dev/net/tun, which this machine does not have"
    return kind.lacking()


def declared():
    """The site's clusters: name -> options of cotejo-switch."""
    return sites.read(SITE, "clusters.yaml")


def entry_of(cluster, hosts=None):
    """The declaration of a cluster, for a number of its hosts."""
    known = declared()
    if cluster not in known:
        raise BackendError(f"no cluster {cluster!r}; there are {', '.join(known)}")
    entry = {"dilation": 1, **known[cluster]}
    # With two switches all hosts are up: the placement chooses the hosts that have ranks.
    return {**entry, "hosts": hosts} if hosts and "behind" not in entry else entry


def _alive(pid, folder):
    """Whether a process is the switch of a folder, and runs."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return cores.started_at(pid, "cotejo-switch") > 0 and os.fsencode(folder) in words


def state(name):
    """The description that a running cluster wrote, or None."""
    folder = run_folder() / name
    try:
        found = json.loads((folder / "cluster.json").read_text())
        return {**found, "folder": str(folder)} if _alive(found["pid"], folder) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sweep():
    """Removes the folders of switches that were killed: those had no time for it."""
    removal.sweep(run_folder())
    for folder in run_folder().glob("*"):
        with contextlib.suppress(FileNotFoundError):  # it went down by itself meanwhile
            # Without a description it may be one that comes up right now.
            age = time.time() - folder.stat().st_mtime
            if not state(folder.name) and ((folder / "cluster.json").exists() or age > READY_S):
                with contextlib.suppress(removal.NotOursError):
                    removal.remove(run_folder(), folder)


def _options(entry):
    words = []
    for key, value in entry.items():
        if key == "patience":
            continue
        text = ",".join(f"{float(v):g}" for v in value) if key == "rates" else str(value)
        words += [f"--{key}", text]
    return words


def _await(switch, folder):
    """Waits until the cluster is described; BackendError with the switch's own words."""
    for _ in range(100 * READY_S):
        if (folder / "cluster.json").exists():
            return
        if switch.poll() is not None:
            said = switch.stderr.read().strip()
            raise BackendError(said or "cotejo-switch ended without a word")
        time.sleep(0.01)
    switch.terminate()
    raise BackendBusyError(f"cotejo-switch was not ready within {READY_S} s")


def up(cluster, name=None, hosts=None, *, companion=0, verified=True, kind_of_hosts=HOSTS,
       **changed):
    """Brings a declared cluster up, verified by default; returns its state. It goes down again
    where its network contradicts the model, also between hosts of another kind than the usual one.

    `name` distinguishes it from other clusters of the same kind. It ends with the process
    `companion`. `changed`: options that differ from the declaration.
    """
    name = name or cluster
    if reason := lacking():
        raise BackendError(reason)
    entry = {**entry_of(cluster, hosts), **changed}
    sweep()
    if state(name):
        raise BackendError(f"cluster {name!r} is up already")
    folder = run_folder() / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    switch = subprocess.Popen(
        [program("cotejo-switch"), "--folder", str(folder), "--while", str(companion),
         *_options(entry)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    _await(switch, folder)
    found = state(name)
    try:
        if verified:
            verify(found, entry.get("patience", PATIENCE_S))
        if kind_of_hosts.name:
            kind_of_hosts.boot(found)
            verify(found, kind=kind_of_hosts)
    except BackendError:
        down(name)
        raise
    return found


def down(name):
    """Takes a cluster down, with all that runs on its hosts; returns False when there was none."""
    found = state(name)
    if not found:
        return False
    with contextlib.suppress(ProcessLookupError):  # it ends by itself
        os.kill(found["pid"], signal.SIGTERM)
    for _ in range(500):
        if not (run_folder() / name).exists():
            return True
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.kill(found["pid"], signal.SIGKILL)  # its hosts die with it
    removal.remove(run_folder(), run_folder() / name)
    return True


def named(cluster, kind):
    """The name of a cluster of a kind."""
    return f"{cluster}-{kind.name}" if kind.name else cluster


def running(cluster, hosts, kind=HOSTS):
    """The cluster for this process's launches: the one that is up, else one of its own."""
    name = named(cluster, kind)
    found = state(name)
    if found and len(found["hosts"]) > entry_of(cluster, hosts)["hosts"]:
        return found
    own = f"{name}-{entry_of(cluster, hosts)['hosts']}.{os.getpid()}"
    if there := state(own):
        if not gone(there, kind):
            return there
        down(own)
    return up(cluster, own, hosts, companion=os.getpid(), kind_of_hosts=kind)


def label(cluster, hosts, kind=HOSTS, second=None):
    """The note on every figure of such launches; `second`: the number of the second rank's host,
    if it is not host 2."""
    entry = entry_of(cluster, hosts)
    rates = "/".join(dict.fromkeys(f"{float(r) / 1e6:g}" for r in entry["rates"]))
    joint = (f"two switches of {entry['behind']} hosts, {float(entry['trunk']) / 1e6:g} Mbit/s "
             "between them" if "behind" in entry else entry.get("kind", "switch"))
    slower = (f", {entry['dilation']:g} times slower: processors count as so many times faster"
              if entry["dilation"] > 1 else "")
    which = f", host1 and host{second}" if second else ""
    return (f"emulated: {hosts} {kind.title} on {len(os.sched_getaffinity(0))} cores, {cluster} "
            f"({joint}, {rates} Mbit/s){which}{slower}")


def description(found, realtime=True):
    """The member `cluster` of a launch's description; `realtime`: whether that was wanted."""
    verified = pathlib.Path(found["folder"]) / "verified.json"
    return {"dilation": found["options"]["dilation"],
            "options": {k: v for k, v in found["options"].items() if k not in ("folder", "while")},
            "realtime": found["realtime"] and realtime, "model": found["model"],
            "verified": disk.read_json(verified)}


def wire_bytes(stage):
    """Bytes that all hosts received on their interfaces during a launch."""
    def total(name):
        text = (stage / name).read_text() if (stage / name).exists() else ""
        return sum(int(line.split(":")[1].split()[0]) for line in text.splitlines())

    return total("wire.after") - total("wire.before")
