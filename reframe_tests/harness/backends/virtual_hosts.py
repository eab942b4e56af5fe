# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of virtual clusters: where what makes them is, and how a command is started on one."""

import os
import pathlib
import subprocess

from ..machine.cores import started_at
from ..model import families

SITE = families.REPO / "site_configs/virtual-ethernet"
#: Where the hosts of a cluster are guests with a kernel of their own.
GUESTS = families.REPO / "archaeology/site_configs/uml-llc"


class ClusterError(ValueError):
    """A cluster that cannot be had; the text says why in one line."""


class ClusterBusyError(ClusterError):
    """A machine that had no time to be a cluster: nothing is known to be wrong with that."""


def program(name):
    try:
        return families.helper(name)
    except FileNotFoundError as err:
        raise ClusterError(str(err)) from err


def tool(name, guests=False):
    """Path of `agent` or `enter` for hosts, or for guests."""
    return str((GUESTS if guests else SITE) / name)


def on_host(found, host, *command, guests=False, **kwargs):
    """Starts a command on a host of a running cluster, or in its guest, as the launchers do."""
    realtime = {"COTEJO_CHRT": "chrt -r 5"} if found["realtime"] else {}
    return subprocess.Popen(
        [tool("agent", guests), host, *command], text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "COTEJO_CLUSTER": found["folder"], **realtime}, **kwargs)


def gone(found, guests=False):
    """Names of the hosts of a cluster that have ended: a host with its first process, which is
    named after it; a guest with its console."""
    def there(host):
        if guests and host["name"] != "head":
            return (pathlib.Path(found["folder"]) / f"{host['name']}.console").exists()
        return started_at(host["pid"], host["name"]) > 0

    return [host["name"] for host in found["hosts"] if not there(host)]


def cores(hosts, others=False):
    """The core of each host: those that this process may use, in turn. With `others` a list for
    each host, its own core and then those of the others."""
    here = sorted(os.sched_getaffinity(0))
    turns = [here[i % len(here):] + here[:i % len(here)] for i in range(hosts)]
    return [turn if others and len(turn) > 1 else turn[0] for turn in turns]
