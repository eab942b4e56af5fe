# SPDX-License-Identifier: BSD-3-Clause
"""Makes only the tests that a command line of ReFrame can select, and ends it where it selects
none.

ReFrame makes all tests, at 3 ms each, before it selects, and lists and runs zero tests with status
0. It hands its options to no configuration and no test. A handler of its log therefore keeps the
command that ReFrame writes there, and looks for the line that counts the tests.
"""

import ast
import functools
import logging
import re
import shlex
import sys

from reframe.core.logging import INFO, getlogger, register_log_handler
from reframe.core.pipeline import RunOnlyRegressionTest
from reframe.core.runtime import runtime

from ..model import families, problems, sites
from . import planning, scales, sessions

NONE = re.compile(r"Found 0 check\(s\)|Ran 0/0 test case\(s\)")
COMMAND = re.compile(r"^  command: +(.+)$")
UNWANTED = "not selected by this command"
#: Options of ReFrame that choose tests: the letter of each, and the kind of its names.
OPTIONS = {"--name": ("n", "test"), "--tag": ("t", "tag"), "--filter-expr": ("E", ""),
           "--exclude": ("x", ""), "--exclude-tag": ("T", "")}
PRGENV = {"--prgenv": ("p", "environment")}
#: The job in which a complete study runs (`allocated.py`).
JOB = "one_allocation"
#: Modes of ReFrame (`reframe --mode=NAME`) and the options that each stands for.
MODES = {"quick": ["--tag=^quick$"], "full": ["--tag=^full$"],
         "ci": ["--tag=^smoke$", "--performance-report"]}
#: Letters of options without a value: `-rvn NAME` is `-r -v -n NAME`.
FLAGS = "rRvq"


def known(kind):
    """The names of a kind that this site has."""
    if kind == "tag":
        return scales.known_tags()
    if kind == "environment":
        return list(families.of_site(sites.site_folder(), simulators=True, layers=True))
    return sorted({one.__name__ for one in planning.classes_of(RunOnlyRegressionTest)})


def selected(words, among=OPTIONS):
    """Option and value of each word of a command line that selects tests, in any spelling that
    ReFrame reads."""
    for word, after in zip(words, [*words, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if word.startswith("--"):
            found = [name] if name in among else [
                option for option in among if len(name) > 3 and option.startswith(name)]
        else:
            letters = word[1:].lstrip(FLAGS) if word.startswith("-") else ""
            found = [option for option, (letter, _) in among.items() if letters[:1] == letter]
            equals = value = letters[1:]
        if found:
            yield found[0], value if equals else after


def with_modes(words):
    """A command line of ReFrame with the options of its mode, if it names one."""
    name = re.search(r"(?:^| )--mode[= ](\S+)", " ".join(words))
    return [*words, *MODES.get(name[1] if name else "", [])]


def chosen(words):
    """The values of the options with which a command line of ReFrame chooses tests: option ->
    values."""
    found = {}
    for option, value in selected(with_modes(words)):
        found.setdefault(option, []).append(value)
    return found


def may_have_name(test, pattern):
    """Whether `-n PATTERN` may select a variant of a class, whose name is NAME%P=VALUE%Q=VALUE."""
    if head := re.fullmatch(r"(\^(?:\w+|\([\w|]+\)))(|[%$][^|@]*)", pattern):
        return re.search(head[1] + ("$" if head[2] else ""), test.__name__)
    words = [test.__name__, *(f"{name} {one.format(value)}" for name, one in
                              test.raw_params.items() for value in one.values)]
    return not re.fullmatch(r"\w+", pattern) or re.search(pattern, " ".join(words))


def may_have_tag(test, pattern):
    """Whether `-t PATTERN` may select a variant of a class."""
    return any(re.search(pattern, tag) for scale in test.raw_params["scale"].values
               for tag in {*test.tags, *planning.tags(test, scale)})


#: The classes of tests that may be selected, and the base of all tests of a bare `reframe`.
WANTED, ONLY = set(), []


@functools.cache
def _may_be_selected(test):
    options = chosen(Reader.command)
    found = not WANTED.isdisjoint(test.__mro__) or (  # such as those of `--repeat`
        any(may_have_name(test, one) for one in options.get("--name", [""]))
        and all(may_have_tag(test, one) for one in options.get("--tag", [])))
    if found:
        WANTED.add(test)
    return found


def is_wanted(test):
    """Whether ReFrame may select variants of a class of tests."""
    return issubclass(test, ONLY[0]) if ONLY else _may_be_selected(test)


def files_are_named():
    """Whether the command line names the files of tests, or the session that it restores does."""
    return (runtime().site_config.is_sticky_option("general/check_search_path")
            or any(word.startswith("--rest") for word in Reader.command))


def is_bare():
    """Whether the command line chooses no tests: `reframe -r` does not launch all that there are.
    """
    return bool(Reader.command) and not chosen(Reader.command) and not files_are_named()


def why_none(words):
    """Why a command line of ReFrame selects no test, in one line."""
    if runtime().system.name != sites.system_name():
        return (f"`hostnames` in {sites.site_folder()}/reframe.py does not fit this host, so that "
                f"ReFrame selected the system {runtime().system.name!r}")
    found = []
    for option, value in selected(with_modes(words), {**OPTIONS, **PRGENV}):
        letter, kind = {**OPTIONS, **PRGENV}[option]
        there = known(kind) if kind else []
        # ReFrame finds a name in that of a test with its parameters, `NAME%PARAMETER=VALUE`.
        named = re.sub(r"^(\^?\w+)%.*", r"\1", value)
        if there and not any(re.search(named, name) for name in there):
            found.append(f"-{letter} {value}{problems.nearest(named.strip('^$'), there)}")
    hint = " (`reframe -l` lists the tests)"
    if not found and [one.__name__ for one in ONLY] == [JOB]:
        hint = (f": outside of an allocation, `reframe` without -n and -t has only {JOB}, which "
                "runs under no MPI library; choose tests by -n or -t")
    return (f"no test of site {sites.site_name()!r} is selected by "
            f"{', '.join(found) or 'this command'}{hint}")


class Reader(logging.Handler):
    """Keeps the command of ReFrame, and ends it after the message that there is no test."""

    #: Words of the command; none with `--describe`, of which ReFrame writes nothing.
    command = []

    def emit(self, record):
        text = record.getMessage()
        if said := COMMAND.match(text):
            Reader.command = shlex.split(ast.literal_eval(said[1]))
        elif NONE.search(text):
            said = problems.explained(f"cotejo: {why_none(self.command)}")
            sys.stderr.write(f"{said}\n")
            sys.exit(sessions.NONE_SELECTED)


class Printer(logging.StreamHandler):
    """Prints ReFrame's messages, except those about tests that are not wanted."""

    def setLevel(self, level):  # noqa: N802 - a name of `logging`
        """Has ReFrame make the messages that `-v` wants shown: it looks at all of a test for each,
        1 ms, and dozens of lines a launch, so that it makes no others."""
        super().setLevel(level)
        if self.level < INFO:
            getlogger().setLevel(level)

    def emit(self, record):
        if UNWANTED not in record.getMessage():
            super().emit(record)


@register_log_handler("selection")
def reader(config, prefix):
    return Reader()


@register_log_handler("stream")
def printer(config, prefix):
    return Printer(getattr(sys, config.get(f"{prefix}/name")))
