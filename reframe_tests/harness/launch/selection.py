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

from ..model import families, names, sites
from . import scales

NONE = re.compile(r"Found 0 check\(s\)|Ran 0/0 test case\(s\)")
COMMAND = re.compile(r"^  command: +(.+)$")
#: Options of ReFrame that select by name, and where the known names come from.
OPTIONS = {"-n": "test", "--name": "test", "-t": "tag", "--tag": "tag",
           "-p": "environment", "--prgenv": "environment"}


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


def selected(words):
    """Option and value of each word of a command line that selects tests by name."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        if option in OPTIONS:
            yield option, value if equals else after
        elif word[:2] in OPTIONS and not word.startswith("--"):
            yield word[:2], word[2:]


def why_none(words):
    """Why a command line of ReFrame selects no test, in one line."""
    if runtime().system.name != sites.site_name():
        return (f"`hostnames` in {sites.site_folder()}/reframe.py does not fit this host, so that "
                f"ReFrame selected the system {runtime().system.name!r}")
    found = []
    for option, value in selected(words):
        bare, there = value.strip("^$"), known(OPTIONS[option])
        if not any(re.search(value, name) for name in there):
            found.append(f"{option} {value}{names.nearest(bare, there)}")
    return (f"no test of site {sites.site_name()!r} is selected by "
            f"{', '.join(found) or 'this command'} (`reframe -l` lists the tests)")


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
            sys.exit(f"cotejo: {why_none(self.command)}")


@register_log_handler("stream")
def printer(config, prefix):
    return Printer(getattr(sys, config.get(f"{prefix}/name")))
