# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of virtual clusters: where what makes them is, and how a command is started on one."""

import os
import subprocess

from ..machine.cores import started_at
from ..model import families
from .backend import BackendError

SITE = families.REPO / "site_configs/virtual-ethernet"
#: Beginning of the text of an error whose cause is the machine alone.
BUSY = "the machine was too busy for a cluster"


def program(name):
    try:
        return families.helper(name)
    except FileNotFoundError as err:
        raise BackendError(str(err)) from err


class Kind:
    """A kind of hosts: namespaces of this kernel. The backend of a site may derive another one."""

    #: Folder of `agent` and `enter`.
    folder = SITE
    #: Word in the name and description of a cluster of this kind; '' for the usual kind.
    name = ""
    #: Name of its hosts on figures, and the prefix of the name of one host.
    title, one = "hosts", ""
    # The shortest of many round trips takes longer than the wire by four wake-ups: of the switch
    # and of the peer, in both directions. It takes more if both hosts have one core: 58 to 116 us
    # on 2 cores, 144 us at most. Load lengthens the median, not the shortest round trip. Ten times
    # the latency of gigabit Ethernet is 180 us more.
    waking_s = 200e-6

    def lacking(self):
        """Why this machine cannot have such hosts though it can have virtual hosts, or ''."""
        return ""

    def boot(self, found):
        """Prepares the hosts of a cluster that is up; BackendError."""

    def there(self, found, host):
        """Whether a host has not ended: it does with its first process, named after it."""
        return started_at(host["pid"], host["name"]) > 0


HOSTS = Kind()


def tool(name, kind=HOSTS):
    """Path of `agent` or `enter`."""
    return str(kind.folder / name)


def on_host(found, host, *command, kind=HOSTS, **kwargs):
    """Starts a command on a host of a running cluster, as the launchers do."""
    realtime = {"COTEJO_CHRT": "chrt -r 5"} if found["realtime"] else {}
    return subprocess.Popen(
        [tool("agent", kind), host, *command], text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "COTEJO_CLUSTER": found["folder"], **realtime}, **kwargs)


def gone(found, kind=HOSTS):
    """Names of the hosts of a cluster that have ended."""
    return [host["name"] for host in found["hosts"] if not kind.there(found, host)]


def cores(hosts, others=False):
    """The core of each host: those that this process may use, in turn. With `others` a list for
    each host, its own core and then those of the others."""
    here = sorted(os.sched_getaffinity(0))
    turns = [here[i % len(here):] + here[:i % len(here)] for i in range(hosts)]
    return [turn if others and len(turn) > 1 else turn[0] for turn in turns]
