# SPDX-License-Identifier: BSD-3-Clause
"""Compares TCP measurements between the hosts of a virtual cluster with the network's model.

At the same time, a control measures TCP without the model. It distinguishes a wrong network from a
busy machine.
"""

import json
import pathlib
import subprocess
import time

from ..machine import disk
from .backend import BackendBusyError, BackendError
from .virtual_hosts import BUSY, HOSTS, on_host, program

# How long a stream is measured (s): between the first two hosts, and to each other host.
STREAM_S, SHORT_STREAM_S = 0.2, 0.1
# The smallest and the largest share of the model's rate that TCP must reach.
RATE_SHARES = 0.88, 1.02
# A network that contradicts its model so often, without another cause, is wrong.
CONTRADICTIONS = 3
# Beginning of a message that names a result of the control as the cause.
CONTROL = "without the network"
# How long to wait for a busy machine by default (`clusters.yaml`), and between two tries (s).
PATIENCE_S, PAUSE_S = 60, 0.5


def probe(found, host, seconds=STREAM_S, kind=HOSTS):
    """Measures TCP from the first host to another host, which is an entry of `hosts`: round trips
    of 1 B (s; median and minimum), and the rate (bit/s) of a stream that should take so many
    seconds, by its slices. Measures the same for the control, without the model. All times but
    `seconds` are in the network's own time."""
    slower = found["options"]["dilation"]
    size = int(host["payload_rate"] * seconds / 8 / slower)
    server = on_host(found, host["name"], program("cotejo-probe"), "serve", kind=kind)
    try:
        client = on_host(found, "host1", program("cotejo-probe"), host["address"], str(size),
                         str(slower), kind=kind, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
        said, wrong = client.communicate(timeout=60)
        server.wait(timeout=60)
    except subprocess.TimeoutExpired as err:
        raise BackendBusyError(f"no TCP from host1 to {host['name']} within 60 s") from err
    finally:
        server.kill()
    if client.returncode:
        raise BackendError(f"no TCP from host1 to {host['name']}: {wrong.strip()}")
    return json.loads(said)


def contradiction(measured, model, slower=1, waking_s=HOSTS.waking_s):
    """Why what TCP found is not what the model says, or ''. `slower`: the dilation, which makes
    everything but the network quicker."""
    share = measured["rate"] / model["payload_rate"]
    beyond = measured["least_s"] - 2 * model["one_way_s"]
    if not RATE_SHARES[0] <= share <= RATE_SHARES[1]:
        return (f"TCP streams at {measured['rate'] / 1e6:.1f} Mbit/s, the network gives "
                f"{model['payload_rate'] / 1e6:.1f}")
    if not 0 <= beyond <= waking_s / slower:
        return (f"TCP's shortest round trip takes {1e6 * measured['least_s']:.0f} us, the wire "
                f"{2e6 * model['one_way_s']:.0f}")
    return ""


def excuse(measured, model, slower=1, waking_s=HOSTS.waking_s):
    """Why the machine, and not the network, can be to blame for less than the model says, or ''.

    Too fast a network has none.
    """
    control, payload = measured["control"], model["payload_rate"]
    missing = 1 - measured["rate"] / payload
    if missing < 1 - RATE_SHARES[1] or measured["least_s"] < 2 * model["one_way_s"]:
        return ""
    slow = missing > 1 - RATE_SHARES[0]
    blames = [
        (control["least_s"] > waking_s / slower,
         f"{CONTROL} a round trip takes {1e6 * control['least_s']:.0f} us"),
        (slow and control["best_rate"] < 1.2 * payload,
         f"{CONTROL} TCP streams at {control['best_rate'] / 1e6:.0f} Mbit/s"),
        (slow and control["lost"] > missing / 3,
         f"{CONTROL} {100 * control['lost']:.0f} % of the time are lost, too"),
        (slow and measured["best_rate"] >= RATE_SHARES[0] * payload,
         f"a part of the stream had {measured['best_rate'] / 1e6:.1f} Mbit/s")]
    return next((words for applies, words in blames if applies), "")


def commonest_blame(blames):
    """The last message of the more frequent kind of cause in several tries: a result of the
    control, or a stream that reached its rate only for a part of the time."""
    by_control = [words for words in blames if words.startswith(CONTROL)]
    others = [words for words in blames if words not in by_control]
    return max(by_control, others, key=len)[-1]


def mtu_problem(found):
    """Why a host's interface has not the declared longest packet, or ''."""
    for host in found["hosts"]:
        mtu = pathlib.Path(f"/proc/{host['pid']}/root/sys/class/net/eth0/mtu").read_text().strip()
        if mtu != str(found["options"]["mtu"]):
            return f"{host['name']} has MTU {mtu}, {found['options']['mtu']} was requested"
    return ""


def agreed(found, host, seconds, until, kind=HOSTS):
    """Probes a host until it agrees with the model; says how often and how long.

    A network that contradicts it repeatedly for no other reason is wrong; while the machine is to
    blame it is waited for, up to the instant `until`.
    """
    slower, waking_s = found["options"]["dilation"], kind.waking_s
    begun, tries, blames, pause = time.monotonic(), 0, [], PAUSE_S
    while True:
        measured = probe(found, host, seconds, kind)
        tries += 1
        reason = contradiction(measured, host, slower, waking_s)
        if not reason:
            return {**measured, "tries": tries,
                    "waited_s": round(time.monotonic() - begun, 3) if tries > 1 else 0}
        blame = excuse(measured, host, slower, waking_s)
        blames += [blame] if blame else []
        words = f"{kind.one}host1 to {host['name']}: {reason}"
        if tries - len(blames) >= CONTRADICTIONS:
            raise BackendError(f"the cluster is not what it should be: {words}")
        if blame and time.monotonic() + pause > until:
            raise BackendBusyError(f"{BUSY}, {tries} times in {time.monotonic() - begun:.0f} s: "
                                   f"{words}; {commonest_blame(blames)}")
        time.sleep(pause if blame else 0)
        pause = min(2 * pause, 8 * PAUSE_S)


def verify(found, patience_s=PATIENCE_S, kind=HOSTS):
    """Compares every host's interface and way from the first one with the model; what was found is
    kept in the run folder. A busy machine is waited for."""
    until = time.monotonic() + patience_s
    if wrong := "" if kind.name else mtu_problem(found):
        raise BackendError(f"the cluster is not what it should be: {wrong}")
    second, *others = [host for host in found["hosts"][1:] if host["name"] != "head"]
    measured = {**agreed(found, second, STREAM_S, until, kind), "others": [
        {"name": host["name"], **agreed(found, host, SHORT_STREAM_S, until, kind)}
        for host in others]}
    path = pathlib.Path(found["folder"]) / "verified.json"
    disk.write_json(path, {**disk.read_json(path), kind.name: measured}
                    if kind.name and path.exists() else measured)
    return measured
