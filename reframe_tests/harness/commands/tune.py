# SPDX-License-Identifier: BSD-3-Clause
"""`make tune`: find faster algorithms for the collectives of one library, and confirm the gain.

The search halves the algorithms of each operation and size from round to round. Each round is a
study whose levels are settings files (`model.tuning_files`), which set one algorithm of every
operation. In the last round the odd blocks choose, and the even blocks must confirm the choice.
A further session compares the resulting file with the default. Sizes without a confirmed gain keep
the default.
"""

import collections
import csv
import itertools
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

from ..launch import sessions
from ..machine import disk, r, removal
from ..model import algorithm_settings, families, sites, tuning_files
from ..study import until
from . import shared

TAG = "tuning"
OPERATIONS = ("bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter",
              "barrier")
#: Blocks of the rounds that halve, of the round that chooses, and of the session that confirms.
HALVING, CHOOSING, CONFIRMING = 2, 10, 10
#: So many algorithms of each operation and size reach the round that chooses.
FINALISTS = 2
#: A candidate must be faster by this share of the time.
LEAST_GAIN = 0.03
#: 99.5 % quantile of Student's t with 4 degrees of freedom: half of the blocks that choose.
STUDENT = 4.6


def say(text):
    print(f"tune: {text}", flush=True)


class Tuning:
    """The search for one library in one folder; `cells`: which tests, transport and ranks."""

    def __init__(self, family, folder, cells, until_s):
        self.family, self.folder, self.cells, self.until_s = family, folder, cells, until_s
        self.stack = families.stack_prefix()
        self.offered = algorithm_settings.offered(family.name, str(self.stack))
        self.began, self.sessions, self.ranks = time.monotonic(), [], 0

    def measure(self, files, blocks):
        """A study of the default and settings files; returns (block, file, operation, bytes) ->
        median time of a launch (s). The file of the default is ''."""
        before = set(sessions.results_folder().glob("*/*/session.json"))
        levels = "|".join(["default", *map(str, files)])
        done = subprocess.run(
            [sys.executable, "-m", "reframe_tests.harness", "study", "--tag", TAG, "--cells",
             self.cells, "--launches", str(blocks), "--set", f"algorithm_file={levels}"],
            cwd=families.REPO)
        found = set(sessions.results_folder().glob("*/*/session.json")) - before
        if done.returncode not in (0, 3, 4) or len(found) != 1:
            raise RuntimeError(f"the study ended with status {done.returncode}")
        folder = found.pop().parent
        self.sessions.append(folder)
        times = {}
        for path in sessions.launch_files(folder):
            record = disk.read_json(path)
            if record["status"] != "ok":
                continue
            asked = record["asked"]
            self.ranks = asked["ranks"]
            for row in record["summary"]:
                if row["median_s"]:
                    times[asked["launch"], asked["settings"].get("algorithm_file", ""),
                          row["operation"], row["bytes"]] = row["median_s"]
        return times

    def level_files(self, candidates, number):
        """Settings files that together set every candidate once: file -> operation -> name."""
        found = {}
        columns = itertools.zip_longest(*candidates.values())
        for index, names in enumerate(columns):
            rules = {operation: [(0, name)] for operation, name in
                     zip(candidates, names, strict=True) if name}
            variables = {}
            for operation, ((_, name),) in rules.items():
                variables.update(algorithm_settings.environment(
                    self.family, str(self.stack), f"algorithm_{operation}", name))
            path = self.folder / f"round-{number}-{index}.env"
            removal.write_whole(path, tuning_files.text_of(self.family, variables, rules))
            found[str(path)] = {operation: name for operation, ((_, name),) in rules.items()}
        return found

    def ratios(self, times, files):
        """(operation, bytes) -> algorithm -> block -> log of its time over the default's."""
        found = collections.defaultdict(lambda: collections.defaultdict(dict))
        for (block, file, operation, size), seconds in times.items():
            default = times.get((block, "", operation, size))
            if file and default and operation in files.get(file, {}):
                found[operation, size][files[file][operation]][block] = math.log(
                    seconds / default)
        return found

    def halve(self, candidates, number):
        """The better half of the candidates of each size, by operation."""
        files = self.level_files(candidates, number)
        ratios = self.ratios(self.measure(files, HALVING), files)
        kept = collections.defaultdict(set)
        for (operation, _), of in ratios.items():
            order = sorted(of, key=lambda name, of=of: statistics.fmean(of[name].values()))
            kept[operation].update(order[:max(FINALISTS, math.ceil(len(order) / 2))]
                                   if number == 1 else order[:FINALISTS])
        return {operation: sorted(names) for operation, names in kept.items()}

    def choose(self, candidates):
        """Operation -> (size, algorithm) pairs: odd blocks choose, even blocks confirm."""
        files = self.level_files(candidates, "last")
        ratios = self.ratios(self.measure(files, CHOOSING), files)
        rules = collections.defaultdict(list)
        for (operation, size), of in sorted(ratios.items()):
            odd = {name: statistics.fmean(values) for name, blocks in of.items()
                   if (values := [log for block, log in blocks.items() if block % 2])}
            best = min(odd, key=odd.get, default="")
            even = [log for block, log in of[best].items() if not block % 2] if best else []
            rules[operation].append((size, best if odd and gains(odd[best], even) else ""))
        return simplified(rules)

    def search(self):
        """The rules of the search, after as many rounds as the time allows."""
        candidates = {name: list(choice.names) for name, choice in self.offered.items()
                      if name in OPERATIONS}
        for number in (1, 2):
            levels = max(map(len, candidates.values()))
            spent = time.monotonic() - self.began
            # The round that chooses takes about as long as all others together.
            if levels <= FINALISTS or (number > 1 and 2 * spent > self.until_s):
                break
            say(f"round {number}: {sum(map(len, candidates.values()))} algorithms in {levels} "
                "settings files")
            candidates = self.halve(candidates, number)
        say(f"last round: {sum(map(len, candidates.values()))} algorithms")
        return self.choose(candidates)


def gains(chosen, even):
    """Whether the blocks that did not choose confirm a gain: the interval of their mean log ratio
    excludes equal times."""
    if chosen > math.log(1 - LEAST_GAIN) or len(even) < CHOOSING // 2 - 1:
        return False
    error = statistics.stdev(even) / math.sqrt(len(even))
    return statistics.fmean(even) + STUDENT * error < 0


def simplified(rules):
    """Rules without repetitions; without operations that keep the default everywhere."""
    found = {}
    for operation, sizes in rules.items():
        kept = [one for i, one in enumerate(sizes) if i == 0 or one[1] != sizes[i - 1][1]]
        if any(name for _, name in kept):
            found[operation] = kept
    return found


def verdicts(folder):
    """(operation, bytes) -> verdict on the file against the default, from the R package."""
    told = r.output_of(f"cotejo::run_command(print_tuning({r.text(folder)}))")
    return {(operation, int(size)): verdict for operation, size, verdict in
            csv.reader(told.splitlines(), delimiter="\t")}


def confirmed(rules, found):
    """The rules of those sizes at which another session found the file faster."""
    kept = {}
    for operation, sizes in rules.items():
        measured = sorted(size for name, size in found if name == operation)
        kept[operation] = [(size, tuning_files.algorithm_at(sizes, size)
                            if found[operation, size] == "faster" else "") for size in measured]
    return simplified(kept)


def write(tuning, rules, words):
    """Writes the settings file of the library with its rules; returns its path."""
    path = tuning.folder / f"{tuning.family.name}.env"
    variables, files = tuning_files.render(
        tuning.family, tuning.offered, rules, tuning.ranks, path)
    files[path] = tuning_files.text_of(tuning.family, variables, rules, words)
    for file, text in files.items():
        removal.write_whole(file, text)
    return path


def run(args, family):
    folder = pathlib.Path(args.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "session").unlink(missing_ok=True)
    cells = args.cells or rf"[.]{re.escape(family.name)}[.]"
    tuning = Tuning(family, folder, cells, args.budget)
    if args.check:
        path = pathlib.Path(args.check).resolve()
        tuning_files.read(path)
        tuning.measure([path], args.launches or CONFIRMING)
    else:
        rules = tuning.search()
        if not rules:
            say("no algorithm is faster than the default; no file is written")
            return 0
        path = write(tuning, rules, ["not confirmed by another session yet"])
        tuning.measure([path], args.launches or CONFIRMING)
        rules = confirmed(rules, verdicts(tuning.sessions[-1]))
        if rules:
            write(tuning, rules, [f"confirmed by session {tuning.sessions[-1].name} on "
                                  f"{tuning.ranks} ranks of site {sites.site_name()}"])
        else:
            path.unlink()
        say(f"confirmed: {path}" if rules else "another session confirms no gain; no file is kept")
    # The page shows the session that compares the file with the default.
    removal.write_whole(folder / "session", f"{tuning.sessions[-1]}\n")
    return 0


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("mpi", help="name of an MPI library in the stack")
    parser.add_argument("folder", help="where the files of the search and the result go")
    parser.add_argument("--cells", default="", metavar="REGEX", help="only these configurations")
    parser.add_argument("--launches", type=shared.count, help="blocks of the confirming session")
    parser.add_argument("--budget", type=until.seconds, default=1800, metavar="TIME",
                        help="time of the search (30m)")
    parser.add_argument("--check", default="", metavar="FILE",
                        help="compare the default with this settings file, without a search")
    args = parser.parse_args()
    family = families.with_site(simulators=True).get(args.mpi)
    if not family or not family.installed(families.stack_prefix()):
        sys.exit(f"tune: {args.mpi!r} is not installed in {families.stack_prefix()}")
    os.environ.pop("COTEJO_SET", None)
    try:
        return run(args, family)
    except (RuntimeError, tuning_files.TuningError,
            algorithm_settings.UnknownAlgorithmError) as err:
        sys.exit(f"tune: {err}")
