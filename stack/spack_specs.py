# SPDX-License-Identifier: BSD-3-Clause
"""Decides without Spack whether two specs of one package could be the same build.

Two specs are disjoint only if their versions, a boolean variant (`+x`, `~x`) or an exact value
(`name:=value`) exclude each other. `name=value` alone excludes nothing, because a variant may have
several values (`fabrics=ofi,ucx`).
"""

import itertools
import re

PART = re.compile(r"@=?[\w.,:=-]+|[+~][\w-]+|[\w-]+:?=[^\s~+@]+")
LAST = (float("inf"),)


def numbers(version):
    """A version as a tuple that compares: words go before numbers, as in Spack."""
    return tuple(int(part) if part.isdigit() else -1
                 for part in re.findall(r"\d+|[A-Za-z]+", version))


def ranges(text):
    """The version ranges of `@...`: first and last, where `5` is everything that begins with 5."""
    for part in text.split(","):
        if part.startswith("="):
            yield numbers(part[1:]), numbers(part[1:])
        else:
            low, colon, high = part.partition(":")
            yield (numbers(low), (numbers(high) + LAST if high else LAST) if colon
                   else numbers(low) + LAST)


def versions_meet(one, other):
    return any(max(a, c) <= min(b, d) for a, b in ranges(one) for c, d in ranges(other))


def parse(spec):
    """Package, versions and variants of a spec."""
    name = re.match(r"[\w-]+", spec)[0]
    versions, variants = ":", {}
    for part in PART.findall(spec[len(name):]):
        if part[0] == "@":
            versions = part[1:]
        elif part[0] in "+~":
            variants[part[1:]] = part[0]
        elif ":=" in part:
            key, value = part.split(":=")
            variants[key] = frozenset(value.split(","))
    return name, versions, variants


def may_be_one(one, other):
    """Whether a build could satisfy both specs."""
    (a, versions, variants), (b, others, theirs) = parse(one), parse(other)
    return (a == b and versions_meet(versions, others)
            and all(variants[key] == theirs[key] for key in variants.keys() & theirs.keys()))


def overlaps(specs):
    """One sentence for each two of `specs` (name -> spec) that may be one build."""
    return [f"families {a} ({specs[a]}) and {b} ({specs[b]}) may be one build: give them versions "
            "or variants that exclude each other (@4 and @5, +x and ~x, name:=a and name:=b)"
            for a, b in itertools.combinations(specs, 2) if may_be_one(specs[a], specs[b])]
