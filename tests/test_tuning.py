# SPDX-License-Identifier: BSD-3-Clause
"""The search of `make tune` on drawn times: gains are found, noise is not taken for a gain."""

import math
import random

import pytest

from reframe_tests.harness.commands import tune

SIZES = (8, 1 << 10, 1 << 14)
OPERATIONS = ("bcast", "allreduce", "alltoall")


class Drawn(tune.Tuning):
    """A search whose launches have drawn times; `effects`: log ratio of an algorithm to the
    default, the same for all operations and sizes."""

    def __init__(self, effects, seed):  # without a library
        self.effects, self.draw = effects, random.Random(seed)

    def level_files(self, candidates, number):
        return {f"{number}-{name}": dict.fromkeys(candidates, name)
                for name in sorted({name for names in candidates.values() for name in names})}

    def measure(self, files, blocks):
        times = {}
        for block in range(1, blocks + 1):
            for file in ("", *files):
                for operation in OPERATIONS:
                    name = files[file][operation] if file else ""
                    for size in SIZES:
                        times[block, file, operation, size] = math.exp(
                            self.effects.get(name, 0) + self.draw.gauss(0, 0.05))
        return times

    def run(self, names):
        candidates = {operation: list(names) for operation in OPERATIONS}
        return self.choose(self.halve(self.halve(candidates, 1), 2))


def test_identical_algorithms_give_no_rules_in_95_of_100_searches():
    found = [Drawn({}, seed).run("abcdef") for seed in range(100)]
    assert sum(not rules for rules in found) >= 95


def test_a_slower_algorithm_is_never_chosen_and_a_faster_one_is_found():
    effects = {"bad": 0.3, "good": -0.25, "same": 0.0}
    for seed in range(100):
        rules = Drawn(effects, seed).run([*effects, "other"])
        chosen = {name for sizes in rules.values() for _, name in sizes}
        assert "bad" not in chosen
        assert "good" in chosen


def test_rules_that_another_session_does_not_confirm_keep_the_default():
    rules = {"bcast": [(8, "ring"), (1024, "")], "alltoall": [(8, "bruck")]}
    found = {("bcast", 8): "faster", ("bcast", 1024): "slower", ("alltoall", 8): "not settled"}
    assert tune.confirmed(rules, found) == {"bcast": [(8, "ring"), (1024, "")]}
    assert tune.confirmed(rules, {key: "within" for key in found}) == {}


def test_verdicts_are_asked_of_the_r_package(tmp_path):
    with pytest.raises(RuntimeError, match="no launch"):
        tune.verdicts(tmp_path)
