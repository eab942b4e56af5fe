# SPDX-License-Identifier: BSD-3-Clause
"""Lists the cells, names each cell, and selects the cells of this run."""

import collections
import functools
import inspect
import pathlib
import random
import re

import yaml

from ..model import REPO
from . import accidents, scales, sessions

#: The exhibits of the R package, with the tests from whose launches each is drawn.
REGISTER = REPO / "analysis/inst/exhibits.yaml"


@functools.cache
def exhibits():
    """Name of a test in cells -> its exhibits."""
    found = collections.defaultdict(set)
    rows = yaml.load(REGISTER.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    for exhibit, row in rows["exhibits"].items():
        for test in re.findall(r"\w+", row.get("tests", "")):
            found[test].add(exhibit)
    return found


def tags(test, scale):
    """Tags of a class of tests at a scale: its job's, the main job's own, its exhibits, and the
    studies that these are of."""
    job = pathlib.Path(inspect.getfile(test)).stem
    main = test.main_job or scale == "full"
    drawn = exhibits()[test_name(test, scale)]
    return {scales.tag(job, scale), *([scale] if main else []), *drawn,
            *(name.partition("-")[0] for name in drawn)}


#: How often this ReFrame has prepared a launch: (cell, number) -> times.
PREPARED = collections.Counter()


def numbered(cell, launch):
    """The number of a launch that `reframe --repeat=N` may have repeated: its own the first time,
    later numbers behind those of the test."""
    PREPARED[cell, launch] += 1
    return launch + (PREPARED[cell, launch] - 1) * len(scales.numbers())


def drawn_order(seed, questions):
    """The launches of a block: questions in a random order, in each its libraries one after the
    other in a random order, because the noise of a machine may last longer than a launch."""
    draw = random.Random(seed)
    return [one for question in draw.sample(questions, len(questions))
            for one in draw.sample(question, len(question))]


def declaring(test):
    """The class that declares the scales of a class of tests."""
    return next(one for one in test.__mro__ if "by_scale" in vars(one))


def of_scale(test, scale):
    """The values of variables and of parameters that a class of tests declares for a scale."""
    return test.by_scale.get(scale, {})


def inherited(test, name):
    """The value of a variable in the bases of the class that declares the scales."""
    return next(getattr(base, name) for base in declaring(test).__bases__ if hasattr(base, name))


def is_there(test, params):
    """Whether a class of tests has a variant: at a scale, parameters may have some of their values
    only, except those that the command line gives."""
    declared = declaring(test).raw_params
    return all(params[name] in values for name, values in of_scale(test, params["scale"]).items()
               if name in params and test.raw_params[name].values == declared[name].values)


def test_name(test, scale):
    """The name that cells have for a class of tests at a scale."""
    return test.names.get(scale) or (
        f"{test.__name__}_{scale}" if test.by_scale else test.__name__)


def classes_of(base):
    """A class and those that derive from it, as far as they are tests: in lower case."""
    if base.__name__.islower():
        yield base
    for one in base.__subclasses__():
        yield from classes_of(one)


def tests_of(base, modules):
    """The tests of some modules: name in cells -> (class, scale)."""
    return {test_name(one, scale): (one, scale) for one in classes_of(base)
            if one.__module__ in modules for scale in one.raw_params["scale"].values}


def identity_parameters(test, scale):
    """Names of the parameters that distinguish variants of a class of tests at a scale, beside
    block, transport and placement: those that the class lists, and every other parameter with
    several values except the parameter of `reframe --repeat`."""
    own = of_scale(test, scale)
    named = [*test.settings, *own.get("varied", test.varied)]
    return named + [
        name for name, found in test.raw_params.items()
        if name not in ("block", "scale", "transport", "placement", ".repeat_no", *named)
        and len(own.get(name, found.values)) > 1]


def cell_name(test, family, chosen, values, partition):
    """The name of a cell: the test, the MPI, transport, placement, the values that distinguish
    variants, and the partition, unless its `extras` say otherwise (`partition_in_names`)."""
    if partition.extras.get("partition_in_names", True):
        values = [*values, partition.name]
    return ".".join(map(str, [test, family, chosen["transport"], chosen["placement"], *values]))


def values_told(test):
    """The parameters that distinguish a test's variants: name -> value."""
    names = test.told or identity_parameters(type(test), test.scale)
    return {name: getattr(test, name) for name in names}


def name_of(test, family, partition):
    """The name of a test's cell under a family in a partition."""
    chosen = {"transport": test.transport, "placement": test.placement}
    return cell_name(test_name(type(test), test.scale), family, chosen, values_told(test).values(),
                     partition)


def note_unsupported(test, partitions):
    """Notes the cells that partitions cannot have because they lack features. Notes the tags, too,
    since this runs for every test that ReFrame loads, not only for the selected tests."""
    if not sessions.listing():
        return
    ways = [{word[1:] for word in way.split() if word[0] == "+"} for way in test.valid_systems]
    for partition in partitions:
        lacking = [", ".join(sorted(wanted - set(partition.features))) for wanted in ways]
        for environ in partition.environs if all(lacking) else ():
            if {test.kind, test.transport} <= set(environ.features):
                sessions.note(name_of(test, environ.name, partition), tags=sorted(test.tags),
                              skipped=f"the partition lacks {' or '.join(lacking)}")


def note(test):
    """Notes a cell that there is."""
    sessions.note(test.cell, file=inspect.getfile(type(test)), scale=test.scale,
                  partition=test.current_partition.fullname, hosts=test.request.place.hosts,
                  has_sizes=test.has_sizes)


def note_left_out(test, reason):
    """Notes a cell that cannot be here."""
    sessions.note(test.cell, skipped=reason, kind=test.left_out, mpi=test.current_environ.name,
                  partition=test.current_partition.name, placement=test.placement,
                  transport=test.transport)


def why_not_now(cell, launch):
    """Why this run does not launch a cell that there is, or ''."""
    if sessions.listing():
        return "listed"
    return "already in this session" if sessions.measured(cell, launch) else ""


def why_stop():
    """Why it makes no sense to launch any more, or ''."""
    if len(accidents.ROW) >= accidents.MOST_IN_A_ROW:
        return f"the last {accidents.MOST_IN_A_ROW} launches were lost to accidents"
    return ""
