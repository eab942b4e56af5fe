# SPDX-License-Identifier: BSD-3-Clause
"""Ends ReFrame with one line and a status where its command line selects no test.

ReFrame itself lists and runs zero tests with status 0, and it has no hook behind the selection. A
handler of its log therefore looks for the line that counts the tests. The configuration imports
this module.
"""

import ast
import logging
import re
import shlex
import sys

from reframe.core.logging import INFO, getlogger, register_log_handler
from reframe.core.pipeline import RunOnlyRegressionTest
from reframe.core.runtime import runtime

from ..model import families, names, problems, sites
from . import scales, sessions

NONE = re.compile(r"Found 0 check\(s\)|Ran 0/0 test case\(s\)")
COMMAND = re.compile(r"^  command: +(.+)$")
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
    found, classes = set(), [RunOnlyRegressionTest]
    while classes:
        one = classes.pop()
        classes += one.__subclasses__()
        found |= {one.__name__} if one.__name__.islower() else set()
    return sorted(found)


def selected(words, among=OPTIONS):
    """Option and value of each word of a command line that selects tests, in any spelling that
    ReFrame reads."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
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
    """Whether a command line of ReFrame chooses tests, the one tag that it chooses, or '', and the
    tests that it names in full, where it names each so: `^NAME$`, or NAME for a part of the name.

    ReFrame passes nothing of the command line to a configuration. Without this, a bare
    `reframe -r` would launch every test, or `reframe -n NAME` would need `-c` as well.
    """
    found = list(selected(with_modes(words)))
    # ReFrame finds a tag by a part of its name, and no other tag has these two words in it.
    tags = [re.fullmatch(r"\^([\w-]+)\$|(smoke|quick)", value)
            for option, value in found if option == "--tag"]
    full = [re.fullmatch(r"(\^?)(\w+)([%$]?).*", value) if "|" not in value else None
            for option, value in found if option == "--name"]
    return (bool(found), tags[0][tags[0].lastindex] if len(tags) == 1 and tags[0] else "",
            [f"^{m[2]}$" if m[1] and m[3] else m[2] for m in full] if all(full) else [])


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
            found.append(f"-{letter} {value}{names.nearest(named.strip('^$'), there)}")
    return (f"no test of site {sites.site_name()!r} is selected by "
            f"{', '.join(found) or 'this command'}"
            + (f": outside of an allocation a bare `reframe` has {JOB} alone, which is of no MPI "
               "library; choose tests with -n or -t, too"
               if not found and JOB in known("test") else " (`reframe -l` lists the tests)"))


class Printer(logging.StreamHandler):
    """Prints ReFrame's messages, and ends it after the one that says that there is no test."""

    def __init__(self, stream):
        super().__init__(stream)
        self.command = []

    def setLevel(self, level):  # noqa: N802 - a name of `logging`
        """Has ReFrame make the messages that `-v` wants shown: it looks at all of a test for each,
        1 ms, and dozens of lines a launch, so that it makes no others."""
        super().setLevel(level)
        if self.level < INFO:
            getlogger().setLevel(level)

    def emit(self, record):
        super().emit(record)
        text = record.getMessage()
        if said := COMMAND.match(text):
            self.command = shlex.split(ast.literal_eval(said[1]))
        elif NONE.search(text):
            said = problems.explained(f"cotejo: {why_none(self.command)}")
            sys.stderr.write(f"{said}\n")
            sys.exit(sessions.NONE_SELECTED)


@register_log_handler("stream")
def printer(config, prefix):
    return Printer(getattr(sys, config.get(f"{prefix}/name")))
