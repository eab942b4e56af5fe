# SPDX-License-Identifier: BSD-3-Clause
"""The sources of measured operations: what they must have, and what they must not have."""

import re

import pytest

from reframe_tests.harness.model import families

SOURCES = families.REPO / "src"
#: Definitions of an operation: by itself, in a pattern of two ranks, or in a curve of sizes.
WRITTEN = re.compile(
    r"(?:\(struct operation\)|\.operation = |\boperation \w+ = |\bcurve \w+ = \{|"
    r"\bturn \w+(?:\[\d\])? = \{\s*\{?)"
    r"(?=\{\s*\.name\b)")
#: Members that a pattern of two ranks, which is the state itself, fills for all its operations.
OF_A_PATTERN = {"state", "message"}
#: Functions that run between two timed messages.
BETWEEN = {"core/payload.c": ["buffer_slot", "buffer_next"],
           "experiments/p2p/bandwidth.c": ["move_blocking", "next_unit", "make", "post",
                                           "burst_move"],
           "experiments/p2p/pair.c": ["pair_send", "pair_send_whole", "pair_post",
                                      "pair_receive"]}
#: Files that begin samples, and files of the steps directly before them.
STARTS = ["core/sampler.c", "core/start.c", "core/curve.c", "core/ranks.c"]


def without_comments(text):
    return re.sub(r"//.*", "", text)


def inside(text, start):
    """The text between the brace at `start` and the brace that closes it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at]
    raise AssertionError("a brace is not closed")


def top(text):
    """Members that an initializer names itself, without those of the initializers inside it."""
    while (shorter := re.sub(r"\{[^{}]*\}|\([^()]*\)", "", text)) != text:
        text = shorter
    return set(re.findall(r"\.(\w+) =", text))


def members():
    header = without_comments((SOURCES / "core/sampler.h").read_text())
    body = inside(header, re.search(r"struct operation (?=\{)", header).end())
    names = re.findall(r"\(\*(\w+)\)\(|(\w+);", re.sub(r"\([^*][^()]*\)", "(", body))
    return {a or b for a, b in names}


def operations():
    """File, line and members of every operation that is written down."""
    for path in sorted([*SOURCES.rglob("experiments/**/*.c"), *SOURCES.rglob("transport/*.c")]):
        text = without_comments(path.read_text())
        for found in WRITTEN.finditer(text):
            filled = top(inside(text, found.end()))
            more = OF_A_PATTERN if found.group().startswith(".operation") else set()
            yield path.name, text.count("\n", 0, found.start()) + 1, filled | more


def test_the_reader_of_initializers_counts():
    assert top(".name = f(a, b), .message = {.bytes = 1, .payload = g(2)}, .run = run") == {
        "name", "message", "run"}
    assert members() == {"name", "run", "state", "message", "around", "special"}
    assert len(list(operations())) >= 25


def test_every_operation_has_use_for_half_of_the_members():
    few = [(name, line, sorted(filled)) for name, line, filled in operations()
           if 2 * len(filled & members()) < len(members())]
    assert few == []


def body_of(name, function):
    text = without_comments((SOURCES / name).read_text())
    found = re.search(rf"^[\w *]*\b{function}\([^;{{]*\) (?=\{{)", text, re.MULTILINE)
    assert found, f"{function} is not in {name}"
    return inside(text, found.end())


@pytest.mark.parametrize(("file", "function"), [
    (file, function) for file, functions in BETWEEN.items() for function in functions])
def test_nothing_is_divided_between_messages(file, function):
    assert not re.search(r"[/%]", body_of(file, function))


@pytest.mark.parametrize("file", STARTS)
def test_no_start_goes_by_the_librarys_broadcast(file):
    text = without_comments((SOURCES / file).read_text())
    assert not re.search(r"\bMPI_I?bcast\b", text, re.IGNORECASE)


def test_stages_of_operations_are_taken_in_turn_by_one_loop():
    """Five experiments had a loop of their own around the stages of the sampler."""
    texts = {path.relative_to(SOURCES).as_posix(): without_comments(path.read_text())
             for path in SOURCES.rglob("*.[ch]")}
    assert {name for name, text in texts.items()
            if re.search(r"\b(take_stage|sampler_(stage|next|begin))\(", text)} == {
                "core/sampler.c"}
    assert {name for name, text in texts.items() if re.search(r"\bflushed_s\b", text)} == {
        "core/samples.c", "core/samples.h"}


def functions_of(text):
    """The functions of a file: name -> body."""
    return dict(re.findall(r"^\w[\w *]*?\b(\w+)\([^;{}]*?\) \{\n(.*?)^\}", text, re.M | re.S))


def test_no_check_agrees_on_a_failure_itself():
    """sampler_check() does it for all checks: three of them did not, and a launch hung."""
    texts = {path: without_comments(path.read_text())
             for path in [*SOURCES.rglob("experiments/**/*.c"), *SOURCES.glob("transport/*.c")]}
    checks = {name for text in texts.values() for name in re.findall(r"\.check = (\w+)", text)}
    assert len(checks) > 8
    agreeing = set()
    for path, text in texts.items():
        functions = functions_of(text)
        # Static functions of one name are checks in some files only.
        seen, left = set(), {name for name in checks & functions.keys()
                             if f".check = {name}" in text or not re.search(
                                 rf"^static .*\b{name}\(", text, re.M)}
        while left:
            seen |= left
            left = {name for one in left
                    for name in re.findall(r"(?<![>.])\b(\w+)\(", functions[one])
                    if name in functions} - seen
        agreeing |= {(path.name, name) for name in seen if "ranks_agree" in functions[name]}
    assert agreeing == set()


def test_the_sources_stay_small():
    """The C sources without tests had 29,796 lines at commit c9c0be8, and 32,018 before
    experiments included the core by one header."""
    files = [path for path in SOURCES.rglob("*.[ch]") if SOURCES / "tests" not in path.parents]
    assert len(files) > 150 and sum(len(path.read_text().splitlines()) for path in files) <= 29546
    assert len([path for path in SOURCES.rglob("*.c")]) <= 170


def test_messages_outside_timed_zones_use_pmpi():
    """A preloaded library slows or observes operations only."""
    for name in ("clock", "sync", "reading", "ranks", "sampler", "start"):
        text = without_comments((SOURCES / f"core/{name}.c").read_text())
        assert "PMPI_" in text, name
        assert re.findall(r"\bMPI_I?(?:[sS]end|[rR]ecv|[bB]arrier|[bB]cast|[aA]ll|[rR]educe|"
                          r"[gG]ather|[wW]ait|[tT]est|[pP]robe)\w*\(", text) == [], name
