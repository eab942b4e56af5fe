# SPDX-License-Identifier: BSD-3-Clause
"""Compares times of cotejo with those of another program, by interleaved launches.

If the two times differ by more than the goal allows, as many blocks follow with controls, which
change one property of one program, or of both. cotejo is also launched twice: if its own times
differ as much, the machine is too noisy for a result. The control with the closest times decides
whether the goal is met. Controls that change one program alone count if they alter its time by
more than launches differ. `CONTROLS=yes` always runs all controls, `CONTROLS=no` none,
`CONTROLS=clocked,kept` these two.
"""

import functools
import math
import os
import random
import statistics
import sys
import typing

from bench.common import say, skip

CONTROLS = os.environ.get("CONTROLS", "")
#: The ways that decide whether the goal is met. The other ways explain why it is not.
FIRST = ("theirs", "ours", "again")
FEWEST = 5


def in_turns(ways, blocks):
    """Way -> block -> the result of its launch, if there is one; `ways`: way -> function that
    launches. Each block draws the order of its launches, since a launch gets the memory that the
    launch before it left."""
    found = {way: {} for way in ways}
    for block in range(blocks):
        for way in random.Random(block).sample(list(ways), len(ways)):
            if (result := ways[way]()) is not None:
                found[way][block] = result
    return found


def quieter(times):
    """Mean of the lower half: as blind to disturbed launches as a lower quartile, less noisy."""
    times = sorted(times)
    return statistics.fmean(times[:(len(times) + 1) // 2])


class Ratio(typing.NamedTuple):
    value: float
    low: float
    high: float
    blocks: int

    def __str__(self):
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], {self.blocks} blocks"


def over_blocks(of, blocks, replicates=2000):
    """The value of `of` for the blocks, with a 95 % interval by bootstrap over them."""
    if len(blocks) < FEWEST:
        sys.exit("bench: fewer than 5 blocks have both tools; see the session for the reasons")
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(blocks, k=len(blocks))) for _ in range(replicates))
    return Ratio(of(blocks), drawn[int(0.025 * replicates)], drawn[int(0.975 * replicates) - 1],
                 len(blocks))


def ratio_of(ours, theirs):
    """Ratio of two tools' quieter launches over blocks.

    Both tools do the same work. A disturbance only adds time, so the quiet launches compare them.
    """
    def of(chosen):
        return quieter(ours[b] for b in chosen) / quieter(theirs[b] for b in chosen)

    return over_blocks(of, sorted(ours.keys() & theirs.keys()))


def ratio_within(ratios):
    """Median of ratios that were each measured within one launch."""
    return over_blocks(lambda chosen: statistics.median(ratios[b] for b in chosen), list(ratios))


def side_of(way):
    """The program that a way launches or is a control of: `theirs` or `ours`."""
    return "theirs" if way.startswith("theirs") else "ours"


def would_decide(found, share):
    """The number of blocks whose interval is about as wide as the goal allows. The width falls
    with the square root of the number of blocks."""
    return math.ceil(found.blocks * ((found.high - found.low) / (2 * share)) ** 2)


def say_beside(goal, share, found, again=None):
    """Reports whether a ratio of cotejo over the other tool is within a share of 1. If it is not,
    but its interval reaches that far, or cotejo differs as much from itself, the goal is open:
    launches differ by too much. The output has the number of blocks that would decide."""
    text = f"{found}; cotejo again over cotejo {again}" if again else str(found)
    needed = would_decide(found, share)
    if needed > found.blocks:
        text += f"; {needed} blocks would have an interval as narrow as the goal"
    off = abs(found.value - 1)
    reaches = found.low <= 1 + share and found.high >= 1 - share
    if off > share and (reaches or (again and abs(again.value - 1) >= off)):
        print(f"bench: open    {goal}: {text}", flush=True)
    else:
        say(goal, text, off <= share)


class Comparison(typing.NamedTuple):
    """cotejo and another program at some keys, such as sizes. Each way is a function that launches
    one of them: keys -> key -> time (s)."""

    goal: typing.Callable  # key -> words
    share: float  # by which the times may differ
    keys: tuple
    first: dict
    controls: dict = {}
    #: Words -> the ways of cotejo and of the other program that should take equally long.
    pairs: dict = {}
    #: Keys -> key -> words -> block -> ratio of launches with both programs in one process.
    within: typing.Callable = lambda keys: {}
    #: Times of all ways, times of cotejo -> its times as they are compared with those of a pair.
    adjusted: typing.Callable = lambda of, times: times

    def far(self, of):
        """Whether the times of a key differ by more than the goal allows."""
        return not few(of, FIRST) and abs(
            ratio_of(of["ours"], of["theirs"]).value - 1) > self.share

    def explanations(self, of):
        """Words -> ratio, of the pairs that were launched."""
        found = {}
        for words, pair in self.pairs.items():
            changed = [way for way in pair if way not in FIRST]
            if not {*pair} <= of.keys():
                continue
            effect = ratio_of(of[changed[0]], of[side_of(changed[0])]) if changed else None
            if len(changed) != 1 or not effect.low <= 1 <= effect.high:
                found[words] = ratio_of(self.adjusted(of, of[pair[0]]), of[pair[1]])
        return found


def few(of, ways=()):
    """The ways with too few launches, among some or all."""
    return [way for way, times in of.items() if len(times) < FEWEST and (way in ways or not ways)]


def blocks_of(ways, keys, blocks):
    """Key -> way -> block -> time."""
    found = in_turns({way: functools.partial(run, keys) for way, run in ways.items()}, blocks)
    return {key: {way: {block: times[key] for block, times in runs.items() if key in times}
                  for way, runs in found.items()} for key in keys}


def asked(control):
    return CONTROLS in ("", "yes") or control in CONTROLS.split(",")


def hold(one, blocks):
    """Launches both programs of a comparison, with controls where they differ, and reports."""
    found = blocks_of(one.first, one.keys, blocks) if CONTROLS in ("", "no") else {}
    within = {}
    off = [key for key in one.keys if key not in found or one.far(found[key])]
    if off and CONTROLS != "no":
        controls = {way: run for way, run in one.controls.items()
                    if asked(way.removeprefix("theirs "))}
        found |= blocks_of({**one.first, **controls}, off, blocks)
        off = [key for key in off if one.far(found[key])]
        within = one.within(off) if off and asked("one process") else {}
    for key, of in found.items():
        report(one, key, of, within.get(key, {}))


def report(one, key, of, within):
    """Prints the results of one key. `of` is way -> block -> time, and `within` is words -> block
    -> ratio in one process."""
    goal = one.goal(key)
    if lacking := few(of) if one.far(of) else few(of, FIRST):
        skip(goal, "fewer than 5 launches of " + ", ".join(lacking))
        return
    found = ratio_of(of["ours"], of["theirs"])
    again = ratio_of(of["again"], of["ours"]) if "again" in of else None
    of = {way: times for way, times in of.items() if len(times) >= FEWEST}
    effects = {way: ratio_of(times, of[side_of(way)]) for way, times in of.items()
               if way not in FIRST}
    ways = {**one.explanations(of),
            **{words: ratio_within(over) for words, over in within.items()
               if len(over) >= FEWEST}}
    if effects or ways:
        print(f"bench: {goal}: {found}",
              *(f"{way} over {side_of(way)} {effect}" for way, effect in effects.items()),
              *(f"with {words} {ratio}" for words, ratio in ways.items()), sep="; ", flush=True)
    if one.far(of):
        # A ratio with a difference of launches can be below 0 on a busy machine.
        sensible = [("", found), *((way, ratio) for way, ratio in ways.items() if ratio.low > 0)]
        way, found = min(sensible, key=lambda pair: abs(math.log(pair[1].value)))
        goal = ", ".join(filter(None, [goal, way]))
    say_beside(goal, one.share, found, again)
