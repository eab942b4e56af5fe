# SPDX-License-Identifier: BSD-3-Clause
"""The search of `make tune` for faster algorithms and eager limits of one library.

The search halves the algorithms of each operation and size from round to round, with the smallest
and the largest size only. It also keeps those that would be the fastest between these sizes if
their times were linear in the size (R. W. Hockney, Parallel Computing 20 (1994) 389). Each round
is a study whose levels are settings files (`model.tuning_files`), which set one algorithm of every
operation. In the last round, with more sizes, blocks 1, 3, ... choose, and blocks 2, 4, ... must
confirm the choice. Between two sizes the choice changes where the times of both algorithms, linear
in the size, are equal. Then eager limits are tried with these algorithms.
"""

import collections
import itertools
import math
import re
import statistics
import subprocess
import sys
import time

from ..launch import messages, sessions
from ..machine import removal
from ..model import algorithm_settings, families, tuning_files

TAG = "tuning"
#: Ending of the names of tests with fewer sizes, and the tag of these tests.
COARSE, COARSE_TAG = "_coarse", "tuning-check"
OPERATIONS = ("bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter",
              "barrier")
#: Blocks of the rounds that halve, and of the round that chooses.
HALVING, CHOOSING = 2, 10
#: So many algorithms of each operation and size reach the round that chooses.
FINALISTS = 2
#: Sizes of the round that chooses, over those of the rounds before.
FINER = 2
#: Eager limits (B) that are tried beside the library's own.
LIMITS = (4 << 10, 64 << 10, 1 << 20)
#: A candidate must be faster by this share of the time.
LEAST_GAIN = 0.03
#: 99.5 % quantile of Student's t with 4 degrees of freedom: half of the blocks that choose.
STUDENT = 4.6


def say(text):
    print(f"tune: {text}", flush=True)


def rounds(candidates):
    """Dictionaries operation -> algorithm, until each of the `candidates` of every operation was
    set once."""
    for names in itertools.zip_longest(*candidates.values()):
        yield {operation: name for operation, name in zip(candidates, names, strict=True) if name}


class Tuning:
    """The search for one library in one folder; `cell`: test, library, transport and ranks."""

    def __init__(self, family, folder, cell, until_s):
        self.family, self.folder, self.cell, self.until_s = family, folder, cell, until_s
        self.transport = cell.split(".")[2]
        self.stack = families.stack_prefix()
        self.offered = algorithm_settings.offered(family.name, str(self.stack))
        self.began, self.sessions, self.ranks = time.monotonic(), [], 0
        self.launches, self.keeps_default = 0, tuning_files.keeps_default(family)

    def measure(self, files, blocks, coarse=False):
        """A study of the default and settings files; returns (block, file, operation, bytes) ->
        median time of a launch (s), except where the library replaced the algorithm of the
        file. The file of the default is ''; `coarse`: with two sizes."""
        test, _, rest = self.cell.partition(".")
        cell = f"{test}{COARSE if coarse else ''}.{rest}"
        before = set(sessions.results_folder().glob("*/*/session.json"))
        levels = "|".join(["default", *map(str, files)])
        done = subprocess.run(
            [sys.executable, "-m", "reframe_tests.harness", "study",
             "--tag", COARSE_TAG if coarse else TAG, "--cells", pattern_of(cell),
             "--launches", str(blocks), "--set", f"algorithm_file={levels}"],
            cwd=families.REPO)
        found = set(sessions.results_folder().glob("*/*/session.json")) - before
        if done.returncode not in (0, 3, 4) or len(found) != 1:
            raise RuntimeError(f"the study ended with status {done.returncode}")
        folder = found.pop().parent
        self.sessions.append(folder)
        times = {}
        for record in sessions.read_launches(folder)[0]:
            if record["status"] != "ok":
                continue
            self.launches += 1
            asked = record["asked"]
            self.ranks = asked["ranks"]
            replaced = {(one["operation"], one["bytes"])
                        for one in record.get("algorithms") or [] if messages.replaced(one)}
            for row in record["summary"]:
                if row["median_s"] and (row["operation"], row["bytes"]) not in replaced:
                    times[asked["launch"], asked["settings"].get("algorithm_file", ""),
                          row["operation"], row["bytes"]] = row["median_s"]
        if not coarse and not any(file for _, file, *_ in times):
            raise RuntimeError(f"no launch with {', '.join(map(str, files))} can be used; the "
                               "lines above say why")
        return times

    def level_files(self, candidates, number):
        """Settings files that together set every candidate once: file -> operation -> name."""
        found = {}
        for index, algorithms in enumerate(rounds(candidates)):
            variables = {}
            for operation, name in algorithms.items():
                variables |= algorithm_settings.environment(
                    self.family, str(self.stack), f"algorithm_{operation}", name)
            path = self.folder / f"round-{number}-{index}.env"
            removal.write_whole(path, tuning_files.text_of(self.family, variables, {
                operation: [(0, name)] for operation, name in algorithms.items()}))
            found[str(path)] = algorithms
        return found

    def ratios(self, times, files):
        """operation -> bytes -> algorithm -> block -> log of its time over the default's."""
        found = collections.defaultdict(lambda: collections.defaultdict(
            lambda: collections.defaultdict(dict)))
        for (block, file, operation, size), seconds in times.items():
            default = times.get((block, "", operation, size))
            if file and default and operation in files.get(file, {}):
                found[operation][size][files[file][operation]][block] = math.log(
                    seconds / default)
        return found

    def halve(self, candidates, number):
        """The better half of the candidates of each size, by operation, the fastest first; then
        `FINALISTS`. With them, those that are the fastest between two sizes."""
        files = self.level_files(candidates, number)
        times = self.measure(files, HALVING, coarse=True)
        kept, ratios = {}, self.ratios(times, files)
        for index, (operation, known) in enumerate(candidates.items()):
            typical = typical_times(times, operation, ratios[operation])
            kept[operation] = fastest_first(typical, number)
            # A library that refuses one algorithm of a file loses the launch of all of them, so
            # that they are measured again beside others.
            lost = [name for name in known if not any(name in of for of in typical.values())]
            if lost:
                say(f"{operation}: launches with {', '.join(lost)} are not usable"
                    + (", and are tried once more" if number == 1 else ""))
                turn = index % len(lost)
                kept[operation] += lost[turn:] + lost[:turn] if number == 1 else []
        return kept

    def choose(self, candidates):
        """Operation -> (size, algorithm) pairs: blocks 1, 3, ... choose, 2, 4, ... confirm."""
        files = self.level_files(candidates, "last")
        times = self.measure(files, CHOOSING)
        rules = {}
        for operation, sizes in self.ratios(times, files).items():
            typical, chosen = typical_times(times, operation, sizes, choosing=True), []
            for size, of in sorted(sizes.items()):
                best = steadiest(typical, size)
                gain = math.log(typical[size][best] / typical[size][""]) if best else 0
                even = [log for block, log in of[best].items() if not block % 2]
                chosen.append((size, best, gains(gain, even)))
            every = any(gain for *_, gain in chosen) and not self.keeps_default
            rules[operation] = with_changes([
                (size, best if gain or every else "") for size, best, gain in chosen], typical)
        return simplified(rules)

    def write(self, rules, limit, words, path=None):
        """Writes the settings file of the library with its rules and its eager limit (B; 0: the
        library's own); returns its path."""
        path = path or self.folder / f"{self.family.name}.env"
        variables, files = tuning_files.render(
            self.family, self.offered, rules, self.ranks, path) if rules else ({}, {})
        if limit:
            setting = self.family.setting("eager_limit", self.transport)
            variables = {**variables, **setting.variables(str(limit))}
            words = [*words, f"eager limit {limit} B over {self.transport}"]
        files[path] = tuning_files.text_of(self.family, variables, rules, words)
        for file, text in files.items():
            removal.write_whole(file, text)
        return path

    def limit_files(self, rules):
        """A settings file of the rules for each eager limit over the transport: file -> limit (B);
        0: the library's own, where there are rules. {}: the library has no limit to set."""
        setting = self.family.setting("eager_limit", self.transport)
        tried = [value for value in LIMITS if setting.least <= value <= setting.most]
        if setting.reason or not tried:
            return {}
        return {str(self.write(rules, value, [], self.folder / f"limit-{value}.env")): value
                for value in ([0] if rules else []) + tried}

    def choose_limit(self, rules):
        """The eager limit (B) with which the operations are faster; 0: the library's own.

        Blocks 1, 3, ... choose by the mean log ratio of all operations and sizes from the
        smallest limit on, blocks 2, 4, ... confirm. Smaller messages are eager with every limit.
        """
        files = self.limit_files(rules)
        if not files:
            return 0
        times = self.measure(list(files), CHOOSING)
        base = next((file for file, value in files.items() if not value), "")
        logs = collections.defaultdict(lambda: collections.defaultdict(list))
        for (block, file, operation, size), seconds in times.items():
            before = times.get((block, base, operation, size))
            if files.get(file) and before and size >= min(LIMITS):
                logs[files[file]][block].append(math.log(seconds / before))
        means = {value: [[statistics.fmean(found) for block, found in of.items()
                          if block % 2 == odd] for odd in (1, 0)] for value, of in logs.items()}
        gain = {value: statistics.fmean(odd) for value, (odd, _) in means.items() if odd}
        best = min(gain, key=gain.get, default=0)
        return best if best and gains(gain[best], means[best][1]) else 0

    def search(self):
        """The rules of the search, after as many rounds as the time allows."""
        candidates = {name: names for name, names in tuning_files.settable(
            self.family, self.offered).items() if name in OPERATIONS}
        for number in (1, 2):
            levels = max(map(len, candidates.values()))
            spent = time.monotonic() - self.began
            # The round that chooses takes about as long as all others together.
            if levels <= FINALISTS or (number > 1 and 2 * spent > self.until_s):
                break
            say(f"round {number}: {sum(map(len, candidates.values()))} algorithms in {levels} "
                "settings files")
            candidates = self.halve(candidates, number)
        most = self.levels_in_time()
        if any(len(names) > most for names in candidates.values()):
            say(f"the time allows {most} settings files: the fastest algorithms so far are kept")
            candidates = {name: names[:most] for name, names in candidates.items()}
        if not any(candidates.values()):
            return {}
        say(f"last round: {sum(map(len, candidates.values()))} algorithms")
        return self.choose(candidates)

    def levels_in_time(self):
        """So many settings files can be measured in the rest of the time by the round that
        chooses; at least 1. A launch with more sizes takes longer by their number."""
        if not self.launches:
            return FINALISTS
        spent = time.monotonic() - self.began
        launch_s = spent / self.launches * FINER
        # The default and the warm-up block are launches, too.
        return max(1, int((self.until_s - spent) / launch_s / (CHOOSING + 1)) - 1)


def pattern_of(cell):
    """The regular expression of a cell's name with any level of the settings file. The name has
    the level before the partition."""
    level = r"([.]algorithm_file=[^.]*)?"
    return f"^{rf'{level}[.]'.join(map(re.escape, cell.split('.')))}{level}$"


def gains(chosen, even):
    """Whether the blocks that did not choose confirm a gain: the interval of their mean log ratio
    excludes equal times."""
    if chosen > math.log(1 - LEAST_GAIN) or len(even) < CHOOSING // 2 - 1:
        return False
    error = statistics.stdev(even) / math.sqrt(len(even))
    return statistics.fmean(even) + STUDENT * error < 0


def typical_times(times, operation, ratios, choosing=False):
    """Size (B) -> algorithm -> time (s) of an operation, whose name is '' for the default;
    `ratios`: bytes -> algorithm -> block -> log ratio; `choosing`: by blocks 1, 3, ... alone."""
    found, defaults = {}, collections.defaultdict(list)
    for (_, file, name, size), seconds in times.items():
        if name == operation and not file:
            defaults[size].append(seconds)
    for size, of in sorted(ratios.items()):
        found[size] = {"": statistics.median(defaults[size])}
        for name, blocks in of.items():
            logs = [log for block, log in blocks.items() if block % 2 or not choosing]
            if logs:
                found[size][name] = found[size][""] * math.exp(statistics.fmean(logs))
    return found


def overtakes(low, high, one, other, gain=0):
    """The share of the way between two sizes at which an algorithm that was slower becomes faster
    by a share of the time (`gain`), if times are linear in the size; None: it does not. `low`,
    `high`: algorithm -> time (s)."""
    lead = low[other] / (1 - gain) - low[one]
    loss = high[one] - high[other] / (1 - gain)
    return lead / (lead + loss) if lead > 0 and loss > 0 else None


def fastest_between(times):
    """The algorithms that are the fastest anywhere between the smallest and the largest size, if
    times are linear in the size; `times`: size -> algorithm -> time (s)."""
    low, high = times[min(times)], times[max(times)]
    names = sorted(filter(None, low.keys() & high.keys()))
    turns = [turn for one, other in itertools.permutations(names, 2)
             if (turn := overtakes(low, high, one, other)) is not None]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(sorted([0, *turns, 1]))]
    return {min(names, key=lambda name, at=at: (1 - at) * low[name] + at * high[name])
            for at in middles if names}


def fastest_first(times, number):
    """The algorithms that a round of a number keeps, the fastest at any size first; `times`:
    size -> algorithm -> time (s)."""
    if not times:
        return []
    orders = [sorted(filter(None, of), key=of.get) for of in times.values()]
    most = FINALISTS if number > 1 else max(
        FINALISTS, *(math.ceil(len(order) / 2) for order in orders))
    first, *others = itertools.zip_longest(*(order[:most] for order in orders))
    return [*dict.fromkeys(filter(None, itertools.chain(
        first, sorted(fastest_between(times)), *others)))]


def steadiest(times, size):
    """The fastest algorithm at a size; of those within `LEAST_GAIN`, the one with the shortest
    times at the other sizes; '': there is none. `times`: size -> algorithm -> time (s)."""
    here = {name: seconds for name, seconds in times[size].items() if name}
    near = [name for name in sorted(here)
            if here[name] * (1 - LEAST_GAIN) <= min(here.values())]
    return min(near, default="", key=lambda name: statistics.fmean(
        math.log(of[name]) for of in times.values() if name in of))


def with_changes(chosen, times):
    """The (size, algorithm) pairs, with a change between two sizes where the times of both
    algorithms, linear in the size, are equal; if the second one is the faster one at both sizes,
    where it gains `LEAST_GAIN`. `times`: size -> algorithm -> time (s)."""
    rules = chosen[:1]
    for (low, before), (high, after) in itertools.pairwise(chosen):
        known = {before, after} <= times[low].keys() & times[high].keys()
        ends = times[low], times[high], before, after
        turn = (overtakes(*ends) or overtakes(*ends, LEAST_GAIN)) if known else None
        rules.append((low + math.ceil((high - low) * turn) if turn else high, after))
    return rules


def simplified(rules):
    """Rules without repetitions; without operations that keep the default everywhere."""
    return {operation: [next(same) for _, same in itertools.groupby(sizes, lambda one: one[1])]
            for operation, sizes in rules.items() if any(name for _, name in sizes)}
