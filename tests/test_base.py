# SPDX-License-Identifier: BSD-3-Clause
"""What every test of ReFrame does before and after its launch."""

import pathlib
import re

import pytest

from reframe_tests.harness import backends, clusters, recording

exceptions = pytest.importorskip("reframe.core.exceptions")
base = pytest.importorskip("reframe_tests.base")


class Skipped(Exception):
    """The launch was skipped."""


class Launch:
    """As much of a test of ReFrame as comes before its hosts are reached."""

    executable = experiment = ""
    program = "cotejo"
    options = {}
    stagedir = "."

    class request:  # noqa: N801
        prefix = pathlib.Path("/")
        backend = backends.of({"cluster": "gigabit", "hosts": 2})

    class family:  # noqa: N801
        options = {}

    def skip(self, reason):
        raise Skipped(reason)


def compose(monkeypatch, lacks, wrong):
    def running(*words):
        raise clusters.ClusterError(wrong)

    monkeypatch.setattr(clusters, "lacking", lambda guests: lacks)
    monkeypatch.setattr(clusters, "running", running)
    monkeypatch.setattr(recording, "lose", lambda test, kind, evidence: f"{kind}: {evidence}")
    base.Experiment.compose(Launch())


def test_a_launch_is_skipped_only_where_there_can_be_no_hosts(monkeypatch):
    with pytest.raises(Skipped, match="need root"):
        compose(monkeypatch, "virtual hosts need root", "")
    with pytest.raises(exceptions.SanityError, match="^cluster: .* TCP streams at 50 Mbit/s"):
        compose(monkeypatch, "", "TCP streams at 50 Mbit/s")


def test_neither_tests_nor_their_base_ask_for_a_backend_by_name():
    """What a kind of machine has is a feature of its partitions."""
    folder = pathlib.Path(base.__file__).parent
    words = ("cluster", "platform", "guests", "simgrid", "namespaces")
    asked = {path.name: [word for word in words
                         if f'extras["{word}"]' in path.read_text()
                         or f'extras.get("{word}"' in path.read_text()
                         or f"harness.{word}" in path.read_text()
                         or f"import {word}" in path.read_text()]
             for path in folder.glob("*.py")}
    assert {name: found for name, found in asked.items() if found} == {}


def test_the_page_on_launching_names_every_variable_of_the_protocol():
    repo = pathlib.Path(base.__file__).parents[1]
    used = set()
    for folder in ("reframe_tests", "site_configs", "stack"):
        for path in (repo / folder).rglob("*"):
            if path.is_file() and path.suffix not in (".pyc", ".json"):
                used |= set(re.findall(r"\bCOTEJO_[A-Z_]+[A-Z]", path.read_text(errors="ignore")))
    cmake = {name for name in used if f"-D{name}" in (repo / "stack/build.py").read_text()
             or f"-D{name}" in (repo / "stack/ctest.py").read_text()}
    page = (repo / "docs/launching.md").read_text()
    assert sorted(name for name in used - cmake if f"`{name}`" not in page) == []
