# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clusters of this machine: up, down, verified before use.

`cotejo-switch` makes the hosts and the network between them; this module starts
it from the site's `clusters.yaml` and holds what TCP finds against its model.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from . import commands, families, removal, sessions
from .model import site

SITE = families.REPO / "site_configs/virtual-ethernet"
#: Where the hosts of a cluster are guests with a kernel of their own.
GUESTS = families.REPO / "site_configs/uml-llc"
# The shortest of many round trips takes longer than the wire by four wakings, of the switch and of
# the peer, there and back, and more where both hosts have one core: 58 to 116 us on 2 cores, 144
# at most. Load lengthens medians, not the shortest. Ten times gigabit's latency is 180 us more.
WAKING_S = 200e-6
# How long a stream is measured: the first two hosts, and each further one.
STREAM_S, SHORT_STREAM_S = 0.2, 0.1
# Of the model's rate, what TCP is to find.
RATE_SHARES = 0.88, 1.02
# A network that contradicts its model so often, with nothing else to blame, is wrong.
CONTRADICTIONS = 3
# How long a busy machine is waited for where `clusters.yaml` does not say, and between two looks.
PATIENCE_S, PAUSE_S = 60, 0.5
# Within this a cluster is up, or it never will be.
READY_S = 5


class ClusterError(ValueError):
    """A cluster that cannot be had; the text says why in one line."""


class ClusterBusyError(ClusterError):
    """A machine that had no time to be a cluster: nothing is known to be wrong with that."""


def run_folder():
    return pathlib.Path(os.environ.get("COTEJO_RUN", "/run/cotejo"))


def lacking(guests=False):
    """What this machine lacks for virtual hosts of its own, in words; '' where it has all."""
    if os.geteuid() != 0:
        return "virtual hosts need root: network namespaces and /dev/net/tun"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "virtual hosts need /dev/net/tun, which this machine does not have"
    if guests and not shutil.which("linux.uml"):
        return "no linux.uml on PATH (Debian: user-mode-linux)"
    return ""


def declared():
    """The site's clusters: name -> options of cotejo-switch."""
    return site.read(SITE, "clusters.yaml")


def entry_of(cluster, hosts=None):
    """What is declared of a cluster, for a number of its hosts."""
    known = declared()
    if cluster not in known:
        raise ClusterError(f"no cluster {cluster!r}; there are {', '.join(known)}")
    return {"dilation": 1, **known[cluster], **({"hosts": hosts} if hosts else {})}


def program(name):
    try:
        return families.helper(name)
    except FileNotFoundError as err:
        raise ClusterError(str(err)) from err


def _alive(pid, folder):
    """Whether a process is the switch of a folder, and runs."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text()
        started = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    # One that nobody waited for is still listed, as a zombie.
    return ("(cotejo-switch)" in words and words.rpartition(")")[2].split()[0] != "Z"
            and os.fsencode(folder) in started)


def state(name):
    """What a running cluster says of itself, or None."""
    folder = run_folder() / name
    try:
        found = json.loads((folder / "cluster.json").read_text())
        return {**found, "folder": str(folder)} if _alive(found["pid"], folder) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sweep():
    """Removes the folders of switches that were killed: those had no time for it."""
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
    """Waits until the cluster is described; ClusterError with the switch's own words."""
    for _ in range(100 * READY_S):
        if (folder / "cluster.json").exists():
            return
        if switch.poll() is not None:
            said = switch.stderr.read().strip()
            raise ClusterError(said or "cotejo-switch ended without a word")
        time.sleep(0.01)
    switch.terminate()
    raise ClusterBusyError(f"cotejo-switch was not ready within {READY_S} s")


def on_host(found, host, *command, **kwargs):
    """Starts a command on a host of a running cluster, as the launchers do."""
    realtime = {"COTEJO_CHRT": "chrt -r 5"} if found["realtime"] else {}
    return subprocess.Popen(
        [str(SITE / "agent"), host, *command], text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "COTEJO_CLUSTER": found["folder"], **realtime}, **kwargs)


def probe(found, host, seconds=STREAM_S):
    """What TCP has from the first host to another one, which is an entry of `hosts`: round trips
    of 1 B (s; median and least) and rate (bit/s) of a stream that should take so many seconds, by
    its slices; and the same of the control, past the model. All but `seconds` is in the network's
    own time."""
    slower = found["options"]["dilation"]
    size = int(host["payload_rate"] * seconds / 8 / slower)
    server = on_host(found, host["name"], program("cotejo-probe"), "serve")
    try:
        client = on_host(found, "host1", program("cotejo-probe"), host["address"], str(size),
                         str(slower), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said, wrong = client.communicate(timeout=60)
        server.wait(timeout=60)
    except subprocess.TimeoutExpired as err:
        raise ClusterBusyError(f"no TCP from host1 to {host['name']} within 60 s") from err
    finally:
        server.kill()
    if client.returncode:
        raise ClusterError(f"no TCP from host1 to {host['name']}: {wrong.strip()}")
    return json.loads(said)


def contradiction(measured, model, slower=1):
    """Why what TCP found is not what the model says, or ''. `slower`: the dilation, which makes
    everything but the network quicker."""
    share = measured["rate"] / model["payload_rate"]
    beyond = measured["least_s"] - 2 * model["one_way_s"]
    if not RATE_SHARES[0] <= share <= RATE_SHARES[1]:
        return (f"TCP streams at {measured['rate'] / 1e6:.1f} Mbit/s, the network gives "
                f"{model['payload_rate'] / 1e6:.1f}")
    if not 0 <= beyond <= WAKING_S / slower:
        return (f"TCP's shortest round trip takes {1e6 * measured['least_s']:.0f} us, the wire "
                f"{2e6 * model['one_way_s']:.0f}")
    return ""


def excuse(measured, model, slower=1):
    """Why the machine, and not the network, can be to blame for less than the model says, or ''.

    Too fast a network has none.
    """
    control, payload = measured["control"], model["payload_rate"]
    missing = 1 - measured["rate"] / payload
    if missing < 1 - RATE_SHARES[1] or measured["least_s"] < 2 * model["one_way_s"]:
        return ""
    slow = missing > 1 - RATE_SHARES[0]
    blames = [
        (control["least_s"] > WAKING_S / slower,
         f"without the network a round trip takes {1e6 * control['least_s']:.0f} us"),
        (slow and control["best_rate"] < 1.2 * payload,
         f"without the network TCP streams at {control['best_rate'] / 1e6:.0f} Mbit/s"),
        (slow and control["lost"] > missing / 3,
         f"without the network {100 * control['lost']:.0f} % of the time are lost, too"),
        (slow and measured["best_rate"] >= RATE_SHARES[0] * payload,
         f"a part of the stream had {measured['best_rate'] / 1e6:.1f} Mbit/s")]
    return next((words for applies, words in blames if applies), "")


def mtu_problem(found):
    """Why a host's interface has not the declared longest packet, or ''."""
    for host in found["hosts"]:
        mtu = pathlib.Path(f"/proc/{host['pid']}/root/sys/class/net/eth0/mtu").read_text().strip()
        if mtu != str(found["options"]["mtu"]):
            return f"{host['name']} has MTU {mtu}, {found['options']['mtu']} was asked for"
    return ""


def agreed(found, host, seconds, until):
    """Probes a host until it agrees with the model, and says how often and how long.

    A network that contradicts it repeatedly for no other reason is wrong; while the machine is to
    blame it is waited for, up to the instant `until`.
    """
    slower = found["options"]["dilation"]
    begun, tries, wrong, pause = time.monotonic(), 0, 0, PAUSE_S
    while True:
        measured = probe(found, host, seconds)
        tries += 1
        reason = contradiction(measured, host, slower)
        if not reason:
            return {**measured, "tries": tries,
                    "waited_s": round(time.monotonic() - begun, 3) if tries > 1 else 0}
        blame = excuse(measured, host, slower)
        wrong += not blame
        words = f"host1 to {host['name']}: {reason}"
        if wrong >= CONTRADICTIONS:
            raise ClusterError(f"the cluster is not what it should be: {words}")
        if blame and time.monotonic() + pause > until:
            raise ClusterBusyError(f"the machine was too busy for a cluster, {tries} times in "
                                   f"{time.monotonic() - begun:.0f} s: {words}; {blame}")
        time.sleep(pause if blame else 0)
        pause = min(2 * pause, 8 * PAUSE_S)


def verify(found, patience_s=PATIENCE_S):
    """Holds every host's interface and way from the first one against the model; what was found
    is kept in the run folder. A busy machine is waited for."""
    until = time.monotonic() + patience_s
    if wrong := mtu_problem(found):
        raise ClusterError(f"the cluster is not what it should be: {wrong}")
    second, *others = [host for host in found["hosts"][1:] if host["name"] != "head"]
    measured = {**agreed(found, second, STREAM_S, until), "others": [
        {"name": host["name"], **agreed(found, host, SHORT_STREAM_S, until)} for host in others]}
    sessions.write_json(pathlib.Path(found["folder"]) / "verified.json", measured)
    return measured


def boot(found):
    """Boots a guest in place of each host of a cluster (User-mode Linux); returns its state.

    The cluster goes down where that fails.
    """
    done = subprocess.run([str(GUESTS / "boot"), found["folder"]], text=True, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    if done.returncode:
        down(pathlib.Path(found["folder"]).name)
        raise ClusterError(done.stderr.strip() or "no guests")
    return found


def gone(found, guests=False):
    """Names of the hosts of a cluster that have ended: a host with its first process, which is
    named after it; a guest with its console."""
    def there(host):
        if guests and host["name"] != "head":
            return (pathlib.Path(found["folder"]) / f"{host['name']}.console").exists()
        place = pathlib.Path(f"/proc/{host['pid']}")
        try:
            return ((place / "comm").read_text().strip() == host["name"]
                    and (place / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX")
        except OSError:
            return False

    return [host["name"] for host in found["hosts"] if not there(host)]


def tool(name, guests=False):
    """Path of `agent` or `enter` for hosts, or for guests."""
    return str((GUESTS if guests else SITE) / name)


def up(cluster, name=None, hosts=None, companion=0, verified=True, **changed):
    """Brings a declared cluster up, verified by default; returns its state.

    `name` tells it from others of the same kind; it ends with the process `companion`. `changed`:
    what is otherwise than declared.
    """
    name = name or cluster
    if reason := lacking():
        raise ClusterError(reason)
    entry = {**entry_of(cluster, hosts), **changed}
    sweep()
    if state(name):
        raise ClusterError(f"cluster {name!r} is up already")
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
    except ClusterError:
        down(name)
        raise
    return found


def down(name):
    """Takes a cluster down, with all that runs on its hosts; returns False when there was none."""
    found = state(name)
    if not found:
        return False
    os.kill(found["pid"], signal.SIGTERM)
    for _ in range(500):
        if not (run_folder() / name).exists():
            return True
        time.sleep(0.01)
    os.kill(found["pid"], signal.SIGKILL)  # its hosts die with it
    removal.remove(run_folder(), run_folder() / name)
    return True


def running(cluster, hosts, guests=False):
    """The cluster for this process's launches: the one that is up, else one of its own."""
    name = f"{cluster}-guests" if guests else cluster
    found = state(name)
    if found and len(found["hosts"]) > hosts:
        return found
    own = f"{name}-{hosts}.{os.getpid()}"
    if there := state(own):
        if not gone(there, guests):
            return there
        down(own)
    found = up(cluster, own, hosts, companion=os.getpid())
    return boot(found) if guests else found


def cores(hosts, others=False):
    """The core of each host: those that this process may use, in turn. With `others` a list for
    each host, its own core and then those of the others."""
    here = sorted(os.sched_getaffinity(0))
    turns = [here[i % len(here):] + here[:i % len(here)] for i in range(hosts)]
    return [turn if others and len(turn) > 1 else turn[0] for turn in turns]


def label(cluster, hosts, guests=False):
    """What goes on every figure of such launches."""
    entry = entry_of(cluster, hosts)
    rates = "/".join(dict.fromkeys(f"{float(r) / 1e6:g}" for r in entry["rates"]))
    kind = "User-mode Linux guests" if guests else "hosts"
    slower = (f", {entry['dilation']:g} times slower: processors count as so many times faster"
              if entry["dilation"] > 1 else "")
    return (f"emulated: {hosts} {kind} on {len(os.sched_getaffinity(0))} cores, {cluster} "
            f"({entry.get('kind', 'switch')}, {rates} Mbit/s){slower}")


def description(found, realtime=True):
    """The member `cluster` of a launch's description; `realtime`: whether that was wanted."""
    verified = pathlib.Path(found["folder"]) / "verified.json"
    return {"dilation": found["options"]["dilation"],
            "options": {k: v for k, v in found["options"].items() if k not in ("folder", "while")},
            "realtime": found["realtime"] and realtime, "model": found["model"],
            "verified": sessions.read_json(verified)}


def wire_bytes(stage):
    """Bytes that all hosts received on their interfaces during a launch."""
    def total(name):
        text = (stage / name).read_text() if (stage / name).exists() else ""
        return sum(int(line.split(":")[1].split()[0]) for line in text.splitlines())

    return total("wire.after") - total("wire.before")


def main():
    parser = commands.Parser(description="virtual clusters of this machine")
    parser.add_argument("verb", choices=["up", "down", "list"])
    parser.add_argument("cluster", nargs="?", help="one of clusters.yaml")
    parser.add_argument("--name", help="to tell it from another of the same kind")
    parser.add_argument("--hosts", type=int, help="number of hosts, 2 to 16")
    parser.add_argument("--guests", action="store_true",
                        help="boot a User-mode Linux in place of each host; named NAME-guests")
    args = parser.parse_args()
    if args.guests and args.cluster:
        args.name = args.name or f"{args.cluster}-guests"
    if args.verb == "list":
        sweep()
        for folder in sorted(run_folder().glob("*")):
            if found := state(folder.name):
                print(f"{folder.name}: {len(found['hosts']) - 1} hosts, {found['folder']}")
        return 0
    if not args.cluster:
        parser.error(f"{args.verb} needs the name of a cluster")
    try:
        if args.verb == "down":
            return 0 if down(args.name or args.cluster) else f"cluster: {args.cluster} is not up"
        found = up(args.cluster, args.name, args.hosts)
        if args.guests:
            boot(found)
    except ClusterError as err:
        return f"cluster: {err}"
    print(f"cluster: {len(found['hosts']) - 1} hosts are up; "
          f"start launchers by {tool('enter', args.guests)} {found['folder']}")
    return 0


if __name__ == "__main__":
    commands.run("cluster", main)
