# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the tests of virtual clusters."""

import subprocess
import time

import pytest

from reframe_tests.harness.backends import clusters, virtual_hosts
from reframe_tests.harness.machine import cores


def why_not():
    """Why there can be no virtual hosts here, or ''."""
    try:
        clusters.program("cotejo-switch")
    except clusters.BackendError as err:
        return str(err)
    return clusters.lacking()


needs_hosts = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")


def output(found, host, *command):
    done = virtual_hosts.on_host(found, host, *command, stdout=subprocess.PIPE)
    return done.communicate(timeout=120)[0]


def gone(pid):
    for _ in range(2000):
        if not cores.started_at(pid):
            return True
        time.sleep(0.01)
    return False
