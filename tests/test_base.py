# SPDX-License-Identifier: BSD-3-Clause
"""What every test of ReFrame does before and after its launch."""

import types

import pytest

from reframe_tests.harness import clusters

exceptions = pytest.importorskip("reframe.core.exceptions")
base = pytest.importorskip("reframe_tests.base")


class Skipped(Exception):
    """The launch was skipped."""


class Launch:
    """As much of a test of ReFrame as reaching its hosts takes."""

    current_partition = types.SimpleNamespace(extras={"cluster": "gigabit", "hosts": 2})

    def skip_if(self, condition, reason):
        if condition:
            raise Skipped(reason)

    def skip(self, reason):
        raise Skipped(reason)


def reach_hosts(monkeypatch, lacks, wrong):
    def running(*words):
        raise clusters.ClusterError(wrong)

    monkeypatch.setattr(clusters, "lacking", lambda guests: lacks)
    monkeypatch.setattr(clusters, "running", running)
    base.Unreal.reach_hosts(Launch())


def test_a_launch_is_skipped_only_where_there_can_be_no_hosts(monkeypatch):
    with pytest.raises(Skipped, match="need root"):
        reach_hosts(monkeypatch, "virtual hosts need root", "")
    with pytest.raises(exceptions.SanityError, match="gigabit-2: TCP streams at 50 Mbit/s"):
        reach_hosts(monkeypatch, "", "TCP streams at 50 Mbit/s")
