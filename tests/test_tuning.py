# SPDX-License-Identifier: BSD-3-Clause
"""The search of `make tune` on drawn times: gains are found, noise is not taken for a gain."""

import itertools
import math
import random
import re
import statistics
import subprocess
import time
import types

import pytest

from reframe_tests.harness.commands import tune
from reframe_tests.harness.launch import messages, planning, sessions
from reframe_tests.harness.model import algorithm_settings, families
from reframe_tests.harness.study import tuning_search

SIZES = (8, 512, 1 << 13, 1 << 17)
OPERATIONS = tuning_search.OPERATIONS
#: 99.4 % quantile of Student's t, 9 degrees of freedom: a two-sided test at 5 % over four sizes.
STUDENT = 3.1


class Drawn(tuning_search.Tuning):
    """A search whose launches have drawn times; `effects`: log ratio of an algorithm to the
    default, the same for all operations and sizes."""

    keeps_default, sessions, effects_from = True, [None], 0

    def __init__(self, effects, seed):  # without a library
        self.effects, self.draw = effects, random.Random(seed)

    def level_files(self, candidates, number):
        return {f"{number}-{name}": dict.fromkeys(candidates, name)
                for name in sorted({name for names in candidates.values() for name in names})}

    def measure(self, files, blocks, coarse=False):
        times = {}
        for block in range(1, blocks + 1):
            for file in ("", *files):
                for operation in OPERATIONS:
                    name = files[file][operation] if file else ""
                    for size in SIZES:
                        effect = self.effects.get(name, 0) * (size >= self.effects_from)
                        times[block, file, operation, size] = math.exp(
                            effect + self.draw.gauss(0, 0.05))
        return times

    def run(self, names):
        candidates = {operation: list(names) for operation in OPERATIONS}
        return self.choose(self.halve(self.halve(candidates, 1), 2))


def confirmed_by_drawn_times(search, rules, monkeypatch):
    """What a further session with drawn times leaves of rules. Each operation is tested at 5 %
    with a paired t test of 10 blocks, corrected for its sizes."""
    monkeypatch.setattr(search, "write", lambda *words: "", raising=False)

    def verdicts(folder):
        files = {"file": {operation: "" for operation in OPERATIONS}}
        ratios = search.ratios(search.measure(files, 10), files)
        found = {}
        for operation, size in itertools.product(OPERATIONS, SIZES):
            logs = [*ratios[operation][size][""].values()]
            t = statistics.fmean(logs) / statistics.stdev(logs) * math.sqrt(len(logs))
            found[operation, size] = "not settled" if abs(t) < STUDENT else (
                "faster" if t < 0 else "slower")
        return found

    monkeypatch.setattr(tune, "verdicts", verdicts)
    return tune.confirm(search, rules, 0, 10)[0]


def test_tuning_among_identical_algorithms_writes_nothing_in_95_of_100_times(monkeypatch):
    searches = [Drawn({}, seed) for seed in range(100)]
    found = [search.run("abcdefghi") for search in searches]
    left = [confirmed_by_drawn_times(search, rules, monkeypatch) if rules else {}
            for search, rules in zip(searches, found, strict=True)]
    assert sum(map(bool, found)) > 0  # the further session has something to judge
    assert sum(not rules for rules in left) >= 95


class Refusing(Drawn):
    """Settings files with one algorithm of each operation; the library ends a launch that sets
    `nb` for any of them."""

    def level_files(self, candidates, number):
        return {f"{number}-{i}": names for i, names in enumerate(tuning_search.rounds(candidates))}

    def measure(self, files, blocks, coarse=False):
        times = super().measure({file: {**dict.fromkeys(OPERATIONS, ""), **names}
                                 for file, names in files.items()}, blocks)
        lost = {file for file, names in files.items() if "nb" in names.values()}
        return {key: seconds for key, seconds in times.items() if key[1] not in lost}


def test_algorithms_whose_launches_are_lost_by_another_one_are_tried_again(capsys):
    search = Refusing({"good": -0.25}, 1)
    # Each operation has the usable algorithm beside one that another operation loses.
    candidates = {operation: ["nb", "good", "same"] if index % 2 else ["good", "nb", "same"]
                  for index, operation in enumerate(OPERATIONS)}
    once = search.halve(candidates, 1)
    assert "good" in {name for names in once.values() for name in names}
    assert "bcast: launches with good, nb are not usable, and are tried once more" in (
        capsys.readouterr().out)
    twice = search.halve(once, 2)
    assert all("nb" not in names for names in twice.values())
    assert sum("good" in names for names in twice.values()) >= len(OPERATIONS) / 2


def test_a_slower_algorithm_is_never_chosen_and_a_faster_one_is_found():
    effects = {"bad": 0.3, "good": -0.25, "same": 0.0}
    for seed in range(100):
        rules = Drawn(effects, seed).run([*effects, "other"])
        chosen = {name for sizes in rules.values() for _, name in sizes}
        assert "bad" not in chosen
        assert "good" in chosen


class Limits(tuning_search.Tuning):
    """Eager limits with drawn times; `effects`: log ratio of a limit to the library's own, of
    messages that are larger than the smallest limit."""

    def __init__(self, effects, seed):
        self.effects, self.draw = effects, random.Random(seed)

    def limit_files(self, rules):
        return {"own": 0, **{str(value): value for value in self.effects}}

    def measure(self, files, blocks, coarse=False):
        return {(block, file, operation, size): math.exp(
                    self.effects.get(int(file) if file.isdigit() else 0, 0) * (size >= 4096)
                    + self.draw.gauss(0, 0.05))
                for block in range(1, blocks + 1) for file in ("", *files)
                for operation in OPERATIONS for size in SIZES}


def test_identical_eager_limits_keep_the_library_s_own_in_95_of_100_searches():
    found = [Limits({4096: 0, 65536: 0, 1 << 20: 0}, seed).choose_limit({}) for seed in range(100)]
    assert sum(not limit for limit in found) >= 95


def test_a_faster_eager_limit_is_found_and_a_slower_one_never():
    found = [Limits({4096: 0.3, 65536: -0.25}, seed).choose_limit({}) for seed in range(100)]
    assert {*found} == {65536}
    assert {Limits({4096: 0.3}, seed).choose_limit({}) for seed in range(100)} == {0}


RULES = {"bcast": [(8, "ring")], "reduce": [(8, "tree")]}
FAST = dict.fromkeys([("bcast", 8), ("reduce", 8)], "faster")
SLOW = {**FAST, ("reduce", 8): "slower"}
OTHER = {**FAST, ("gather", 8): "slower"}


@pytest.mark.parametrize(("limit", "answers", "confirmed"), [
    (65536, [FAST], (RULES, 65536)),
    # The limit alone makes other sizes faster.
    (65536, [{("gather", 8): "faster"}, {("gather", 8): "faster"}], ({}, 65536)),
    # With the limit something is slower; without it nothing is.
    (65536, [SLOW, FAST], (RULES, 0)),
    # One operation is slower in any case, and is left out.
    (0, [SLOW, {("bcast", 8): "faster"}], ({"bcast": RULES["bcast"]}, 0)),
    (65536, [SLOW, SLOW, {("bcast", 8): "faster"}], ({"bcast": RULES["bcast"]}, 0)),
    # A layer that is closed for all operations slows one down that no rule sets, each time.
    (0, [OTHER, OTHER], ({}, 0)),
    # The default was slower than itself by chance.
    (0, [OTHER, FAST], (RULES, 0)),
    (0, [dict.fromkeys(FAST, "not settled")], ({}, 0))])
def test_a_file_is_measured_again_until_a_session_confirms_all_of_it(
        tmp_path, monkeypatch, limit, answers, confirmed):
    answers = list(answers)
    tuning = tuning_search.Tuning.__new__(tuning_search.Tuning)
    tuning.sessions, tuning.keeps_default = [tmp_path], True
    monkeypatch.setattr(tuning, "measure", lambda files, blocks: None, raising=False)
    monkeypatch.setattr(tune, "verdicts", lambda folder: answers.pop(0))
    monkeypatch.setattr(tuning, "write", lambda *words: tmp_path)
    assert tune.confirm(tuning, RULES, limit, 4)[:2] == confirmed
    assert answers == []


def measured(tmp_path, monkeypatch, *records):
    """The times of a study that had these launches."""
    def study(*_, **__):
        (tmp_path / "site/now").mkdir(parents=True)
        (tmp_path / "site/now/session.json").touch()
        return subprocess.CompletedProcess([], 3)

    monkeypatch.setattr(subprocess, "run", study)
    monkeypatch.setattr(sessions, "results_folder", lambda: tmp_path)
    monkeypatch.setattr(sessions, "read_launches", lambda folder: (records,))
    tuning = tuning_search.Tuning.__new__(tuning_search.Tuning)
    tuning.cell, tuning.sessions, tuning.launches = "tuning.mpich.tcp", [], 0
    return tuning.measure(["mpich.env"], 10)


DEFAULT = {"status": "ok", "asked": {"ranks": 8, "launch": 1, "settings": {}},
           "summary": [{"operation": "bcast", "bytes": 8, "median_s": 1e-6}]}


def test_a_file_whose_launches_all_fail_ends_the_search_with_its_name(tmp_path, monkeypatch):
    with pytest.raises(RuntimeError, match="no launch with mpich.env can be used"):
        measured(tmp_path, monkeypatch, DEFAULT, {**DEFAULT, "status": "failed"})


def test_an_algorithm_has_no_time_where_the_library_replaced_it(tmp_path, monkeypatch):
    """Open MPI runs another allreduce than Rabenseifner's with fewer elements than ranks."""
    def proof(size, verdict):
        return {"operation": "allreduce", "bytes": size, "requested": "rabenseifner",
                "verdict": verdict, "known": True}

    times = measured(tmp_path, monkeypatch, DEFAULT, {
        "status": "ok", "asked": {"ranks": 8, "launch": 1,
                                  "settings": {"algorithm_file": "mpich.env"}},
        "summary": [{"operation": "allreduce", "bytes": size, "median_s": 1e-6}
                    for size in (8, 512)],
        "algorithms": [proof(8, messages.AS), proof(512, messages.REQUESTED)]})
    assert [size for _, file, _, size in times if file] == [512]


def test_the_file_of_a_limit_sets_the_variables_of_its_transport(tmp_path):
    tuning = tuning_search.Tuning.__new__(tuning_search.Tuning)
    tuning.family, tuning.transport = families.load()["openmpi"], "tcp"
    tuning.folder, tuning.offered, tuning.ranks = tmp_path, {}, 2
    files = tuning.limit_files({})
    assert [*files.values()] == [*tuning_search.LIMITS]
    text = next(iter(files))
    assert "OMPI_MCA_btl_tcp_eager_limit=4096" in (tmp_path / text).read_text()
    tuning.transport = "nowhere"
    assert tuning.limit_files({}) == {}


def test_rules_that_another_session_does_not_confirm_keep_the_default():
    rules = {"bcast": [(8, "ring"), (1024, "")], "alltoall": [(8, "bruck")]}
    found = {("bcast", 8): "faster", ("bcast", 1024): "slower", ("alltoall", 8): "not settled"}
    assert tune.confirmed(rules, found) == {"bcast": [(8, "ring"), (1024, "")]}
    assert tune.confirmed(rules, {key: "within" for key in found}) == {}


def test_a_library_without_its_default_at_some_sizes_keeps_all_rules_of_an_operation_or_none():
    rules = {"bcast": [(8, "1"), (1024, "4")], "alltoall": [(8, "2")]}
    found = {("bcast", 8): "faster", ("bcast", 1024): "within", ("alltoall", 8): "not settled"}
    assert tune.confirmed(rules, found, keeps_default=False) == {"bcast": rules["bcast"]}
    search = Drawn({"good": -0.25}, 1)
    search.effects_from = 1 << 13  # no gain at smaller messages
    search.keeps_default = False
    chosen = search.run(["good", "other"])
    assert all(name for sizes in chosen.values() for _, name in sizes)
    assert {*chosen} == {*OPERATIONS}


@pytest.mark.parametrize(("left_s", "levels"), [(100, 1), (1110, 4), (11_100, 49)])
def test_the_round_that_chooses_measures_as_many_files_as_the_time_allows(left_s, levels):
    search = tuning_search.Tuning.__new__(tuning_search.Tuning)
    # 20 launches took 10 s each; with twice the sizes they are expected to take twice as long.
    search.began, search.launches = time.monotonic() - 200, 20
    search.until_s = 200 + left_s
    assert search.levels_in_time() == levels
    search.launches = 0
    assert search.levels_in_time() == tuning_search.FINALISTS


def test_a_file_is_compared_with_the_default_at_any_later_time(tmp_path, monkeypatch):
    file, measured = tmp_path / "x.env", []
    file.write_text("A=1\n")
    monkeypatch.setattr(tune, "the_cell", lambda *_: "tuning.openmpi.tcp")
    monkeypatch.setattr(families, "stack_prefix", lambda: tmp_path)
    monkeypatch.setattr(algorithm_settings, "offered", lambda *_: {})

    def measure(self, files, blocks, coarse=False):
        measured.append((files, blocks))
        self.sessions.append(tmp_path / "session-1")

    monkeypatch.setattr(tuning_search.Tuning, "measure", measure)
    asked = types.SimpleNamespace(folder=tmp_path / "t", cells="", budget=60, check=str(file),
                                  launches=None)
    assert tune.run(asked, families.load()["openmpi"]) == 0
    assert measured == [([file], tune.CONFIRMING)]
    # The page shows this session; the file stays as it was.
    assert (tmp_path / "t" / "session").read_text() == f"{tmp_path / 'session-1'}\n"
    assert file.read_text() == "A=1\n"
    file.write_text("no setting\n")
    with pytest.raises(tune.tuning_files.TuningError, match="is not NAME=VALUE"):
        tune.run(asked, families.load()["openmpi"])


def test_a_choice_changes_between_two_sizes_where_both_take_as_long():
    times = {8: {"": 9e-6, "tree": 4e-6, "ring": 8e-6},
             1032: {"": 9e-6, "tree": 12e-6, "ring": 10e-6}}
    # The tree is 4 us faster at the lower size, and 2 us slower at the upper one.
    assert tuning_search.with_changes(
        [(8, "tree"), (1032, "ring")], times) == [(8, "tree"), (691, "ring")]
    # If one is faster at both sizes, or a time is missing, the choice begins at the measured size.
    for same in ([(8, ""), (1032, "ring")], [(8, "pair"), (1032, "ring")]):
        assert tuning_search.with_changes(same, times) == same
    # An algorithm that was hardly faster at the lower size is used from where it gains 3 % on.
    times = {8: {"": 29e-6, "tree": 28.8e-6}, 1032: {"": 429e-6, "tree": 33e-6}}
    (_, name), (size, after) = tuning_search.with_changes([(8, ""), (1032, "tree")], times)
    assert (name, after) == ("", "tree") and 8 < size <= 10


def test_the_fastest_between_two_sizes_reaches_the_round_that_chooses():
    times = {8: {"": 9, "flat": 1, "flat2": 1, "tree": 3, "pair": 7},
             1 << 17: {"": 9, "flat": 50, "flat2": 50, "tree": 20, "pair": 10}}
    assert tuning_search.fastest_between(times) == {"flat", "tree", "pair"}
    assert tuning_search.fastest_between({8: {"": 9, "one": 3}}) == {"one"}


def test_of_algorithms_that_take_equally_long_the_one_that_stays_fast_is_chosen():
    times = {8: {"": 9, "split": 3, "steps": 2}, 8192: {"": 9, "split": 4, "steps": 8},
             1 << 17: {"": 99, "split": 10, "steps": 10}}
    assert [tuning_search.steadiest(times, size) for size in times] == ["steps", "split", "split"]


def test_an_algorithm_that_begins_between_two_sizes_is_confirmed_by_the_upper_one():
    rules = {"bcast": [(8, "tree"), (691, "ring"), (16384, "")]}
    found = {("bcast", 8): "faster", ("bcast", 1032): "not settled", ("bcast", 16384): "within"}
    assert tune.confirmed(rules, found) == {"bcast": [(8, "tree"), (691, "")]}
    found = {("bcast", 8): "slower", ("bcast", 1032): "faster", ("bcast", 16384): "faster"}
    assert tune.confirmed(rules, found) == {
        "bcast": [(8, ""), (691, "ring"), (16384, "")]}


@pytest.mark.parametrize("named", [True, False])
def test_the_levels_of_a_settings_file_are_found_with_and_without_partitions_in_names(named):
    partition = types.SimpleNamespace(name="gigabit-8", extras={"partition_in_names": named})
    chosen = {"transport": "tcp", "placement": "near"}

    def name(*values):
        return planning.cell_name("tuning_hosts", "openmpi", chosen, values, partition)
    for before, after in (((), ()), ((), ("4",)), (("4",), ())):
        pattern = tuning_search.pattern_of(name(*before, *after))
        for level in ((), ("algorithm_file=_tmp_x_env-f301fc48",)):
            assert re.search(pattern, name(*before, *level, *after))
        assert not re.search(pattern, name("8", "algorithm_file=_tmp_x_env-f301fc48"))


def test_several_configurations_are_named_and_none_is_searched(monkeypatch):
    cells = [f"tuning_quick.openmpi.{carrier}.near.2" for carrier in ("shm", "tcp")]
    monkeypatch.setattr(tune.plans, "list_cells",
                        lambda tag, like: ([cell for cell in cells if like in ("", cell[21:24])
                                            or "openmpi" in like], [], [], {}, 1, 10))
    family = families.load()["openmpi"]
    assert tune.the_cell(family, "tcp") == cells[1]
    with pytest.raises(RuntimeError, match=r"one of 2 configurations with CELLS=, .*shm.*tcp"):
        tune.the_cell(family, "")


def test_verdicts_are_asked_of_the_r_package(tmp_path):
    with pytest.raises(RuntimeError, match="no launch"):
        tune.verdicts(tmp_path)
