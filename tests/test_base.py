# SPDX-License-Identifier: BSD-3-Clause
"""The steps of every test of ReFrame before and after its launch."""

import pathlib
import re
import types

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.backends import clusters
from reframe_tests.harness.backends.backend import Backend
from reframe_tests.harness.launch import planning, recording
from reframe_tests.harness.launch.request import Request
from reframe_tests.harness.model import families, transport
from reframe_tests.harness.model.placement import Place

exceptions = pytest.importorskip("reframe.core.exceptions")
base = pytest.importorskip("reframe_tests.base")
builtins = pytest.importorskip("reframe.core.builtins")


class Launch:
    """As much of a test of ReFrame as comes before its hosts are reached."""

    stagedir = "."
    limit_s, local, messages_counted, env_vars, prerun_cmds = 60, False, False, {}, []
    job = types.SimpleNamespace(launcher=types.SimpleNamespace(options=[]))
    request = Request(families.load()["mpich"], transport.load()["tcp"], "near", 2,
                      backends.of("p", {"cluster": "gigabit", "hosts": 2}, True),
                      place=Place([0, 1], 2))

    def command_line(self):
        return "cotejo", []

    def is_dry_run(self):
        return False

    def reach_machine(self):
        base.Experiment.reach_machine(self)


def compose(monkeypatch, wrong, kind=clusters.BackendError):
    def running(*words):
        raise kind(wrong)

    monkeypatch.setattr(clusters, "running", running)
    monkeypatch.setattr(recording, "lose", lambda test, kind, evidence: f"{kind}: {evidence}")
    base.Experiment.compose(Launch())


def test_a_launch_is_skipped_only_where_there_can_be_no_hosts(monkeypatch):
    """A missing feature is detected before planning; a present but wrong one is a failure."""
    monkeypatch.setattr(clusters, "lacking", lambda kind: "virtual hosts need root")
    assert Launch.request.backend.available() == "virtual hosts need root"
    with pytest.raises(exceptions.SanityError, match="^no cluster .* TCP streams at 50 Mbit/s"):
        compose(monkeypatch, "TCP streams at 50 Mbit/s")


def test_a_machine_too_busy_for_a_cluster_is_an_accident_and_a_wrong_cluster_is_none(monkeypatch):
    with pytest.raises(exceptions.SanityError, match="^cluster: no cluster .*too busy"):
        compose(monkeypatch, "the machine was too busy", clusters.BackendBusyError)


def test_a_dry_run_brings_no_cluster_up(monkeypatch):
    monkeypatch.setattr(Launch, "is_dry_run", lambda self: True)
    compose(monkeypatch, "asked for a cluster")
    words = " ".join(Launch.job.launcher.options)
    assert "-hosts host1,host2" in words  # the command line is complete all the same


def test_a_parameter_that_was_forgotten_is_in_the_name_of_the_cell():
    """Two variants of one name: the second was left out as measured already."""

    class forgetful(base.Smoke, base.Experiment):  # noqa: N801
        experiment = "pingpong"
        shape = builtins.parameter(["round", "square"])
        only = builtins.parameter(["one"])

    class other(forgetful):  # noqa: N801
        varied = ["only"]

    assert planning.identity_parameters(forgetful, "smoke") == ["shape"]
    assert planning.identity_parameters(other, "smoke") == ["only", "shape"]


def test_a_test_has_of_each_scale_the_variants_and_the_names_that_it_declares():
    class scaled(base.Experiment):  # noqa: N801
        by_scale = {"smoke": {"shape": ["round"]}, "full": {"varied": ["colour", "shape"]}}
        scale = builtins.parameter(by_scale, type=str)
        shape = builtins.parameter(["round", "square"])
        colour = builtins.parameter(["red", "blue"])
        names = {"full": "as_ever"}

    variants = [scaled.get_variant_info(n)["params"] for n in range(scaled.num_variants)]
    there = [(one["scale"], one["shape"]) for one in variants if planning.is_there(scaled, one)
             and one["transport"] == "shm" and one["colour"] == "red"]
    assert there == [("smoke", "round"), ("full", "round"), ("full", "square")]
    assert planning.identity_parameters(scaled, "smoke") == ["colour"]
    assert planning.identity_parameters(scaled, "full") == ["colour", "shape"]
    assert planning.tests_of(scaled, {__name__}) == {
        "scaled_smoke": (scaled, "smoke"), "as_ever": (scaled, "full")}

    class given(scaled):  # as of `reframe -P shape=square,oval`
        shape = builtins.parameter(["square", "oval"])

    assert planning.is_there(given, {"scale": "smoke", "shape": "square"})


def test_neither_tests_nor_their_base_ask_for_a_backend_by_name():
    """The properties of a kind of machine are features of its partitions."""
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
    for folder in ("reframe_tests", "site_configs", "stack", "archaeology/reframe_tests",
                   "archaeology/site_configs"):
        for path in (repo / folder).rglob("*"):
            if path.is_file() and path.suffix not in (".pyc", ".json"):
                used |= set(re.findall(r"\bCOTEJO_[A-Z_]+[A-Z]", path.read_text(errors="ignore")))
    cmake = {name for name in used if f"-D{name}" in (repo / "stack/build.py").read_text()
             or f"-D{name}" in (repo / "stack/ctest.py").read_text()}
    page = "".join((repo / name).read_text()
                   for name in ("docs/launching.md", "archaeology/README.md"))
    assert sorted(name for name in used - cmake if f"`{name}`" not in page) == []


def test_the_page_on_launching_names_every_question_that_is_asked_of_a_machine():
    page = (pathlib.Path(base.__file__).parents[1] / "docs/launching.md").read_text()
    row = next(line for line in page.splitlines() if "One protocol (`backend.py`)" in line)
    asked = {name for name in vars(Backend) if not name.startswith("_")} - {"key"}
    assert sorted(asked) == sorted(asked & set(re.findall(r"`([a-z_]+)`", row)))
