# SPDX-License-Identifier: BSD-3-Clause
"""Reads the topology from hwloc: cores by package and NUMA node, network cards."""

import ctypes
import functools
import itertools
import os
import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace

from ..model import families
from ..model.placement import PlacementError

LIBRARY = "libhwloc.so.15"
# Numbers of hwloc 2: flags and filters of hwloc.h, kinds of operating system devices in its XML.
INCLUDE_DISALLOWED, KEEP_IMPORTANT = 1, 3
KINDS = {"2": "Ethernet", "3": "InfiniBand"}


class TopologyError(PlacementError):
    """Why hwloc reports nothing here, in one line."""


def names_of(card):
    """The names of network cards that `extras: card` declares: a name or a list of names."""
    return (card,) if isinstance(card, str) else tuple(card)


def spans(cores):
    """Cores as Linux lists them: [0, 1, 2, 8] -> '0-2,8'."""
    runs = [[core for _, core in run] for _, run in
            itertools.groupby(enumerate(cores), key=lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


@dataclass(frozen=True)
class Card:
    """A network card, and the NUMA node that it hangs on (-1: the machine does not say)."""

    name: str
    kind: str
    numa: int


@dataclass(frozen=True)
class Core:
    """A core: its hardware threads that may be used, and what it shares with others.

    `cache` is the number of the last-level cache that it is below (-1: the machine does not say),
    `kind` the rank of its kind by performance, 0 the slowest (of hybrid processors).
    """

    units: tuple
    package: int
    numa: int
    cache: int = -1
    kind: int = 0

    def shared(self, other):
        """Whether two cores share a package, a NUMA node and a last-level cache. The more they
        share, the nearer they are."""
        return tuple(getattr(self, level) == getattr(other, level)
                     for level in ("package", "numa", "cache"))


@dataclass(frozen=True)
class Domain:
    """Cores that share a package and a NUMA node: of each one hardware thread."""

    package: int
    numa: int
    cores: list


@dataclass(frozen=True)
class Topology:
    """Cores in hwloc's order, in which neighbours share most.

    `units`: hardware threads of the machine; `allowed`: how many of them this shell may use.
    """

    cores: list
    cards: list
    units: int
    allowed: int

    @property
    def domains(self):
        found = {}
        for core in self.cores:
            found.setdefault((core.package, core.numa), []).append(core.units[0])
        # Cores without memory of their own come last: others are nearer to memory.
        return [Domain(*place, units) for place, units in
                sorted(found.items(), key=lambda item: (item[0][1] < 0, item[0]))]

    def home(self):
        """The domain beside the network card, the first where the machine does not say, and the
        one that is farthest from it, or None."""
        numa = next((c.numa for c in self.cards if c.numa in {d.numa for d in self.domains}), None)
        home = next((d for d in self.domains if d.numa == numa), self.domains[0])
        others = [d for d in self.domains if d != home and d.numa >= 0]
        return home, max(others, key=lambda d: d.package != home.package, default=None)

    def kinds(self):
        """The machine with the cores of one kind alone, for each kind, the fastest first."""
        ranks = sorted({core.kind for core in self.cores}, reverse=True)
        return [replace(self, cores=[core for core in self.cores if core.kind == rank])
                for rank in ranks]

    def with_cards(self, names):
        """The machine with the network cards that carry the messages, the first one first; none:
        any card."""
        return replace(self, cards=[card for name in names for card in self.cards
                                    if card.name == name]) if names else self


def _cpuset(element):
    """The bits of hwloc's words of 32, the most significant first."""
    words = element.get("cpuset", "0x0").split(",")
    return int("".join(f"{int(word or '0', 16):08x}" for word in words), 16)


def _of_type(root, kind):
    return [e for e in root.iter("object") if e.get("type") == kind]


def _numbered(root, kind):
    """The objects of a type as the system numbers them: [(number, set of processing units)]."""
    return [(int(e.get("os_index", "0")), _cpuset(e)) for e in _of_type(root, kind)]


def _around(numbered, bits):
    """Number of the first of some objects that has all of these processing units, or -1."""
    return next((number for number, own in numbered if bits & ~own == 0), -1)


def _cores(root, allowed):
    """The cores in hwloc's order, each with those of its hardware threads that are allowed."""
    packages, nodes = _numbered(root, "Package"), _numbered(root, "NUMANode")
    # Not every system numbers its caches: their order does.
    last = _of_type(root, "L3Cache") or _of_type(root, "L2Cache")
    caches = [*enumerate(map(_cpuset, last))]
    # hwloc writes kinds of cores in the order of their performance, the slowest first.
    kinds = [*enumerate(map(_cpuset, root.iter("cpukind")))]
    found = []
    for core in _of_type(root, "Core") or _of_type(root, "PU"):
        bits = _cpuset(core)
        units = [int(e.get("os_index")) for e in _of_type(core, "PU")]
        usable = tuple(unit for unit in units if unit in allowed)
        if usable:
            found.append(Core(usable, *(_around(objects, bits)
                                        for objects in (packages, nodes, caches)),
                              max(_around(kinds, bits), 0)))
    return found


def _cards(root):
    """Network cards, InfiniBand first. Each card is on the NUMA node of the object to which it is
    attached: a part of a node, such as a cache, or a package, whose first node is then taken."""
    above = {child: parent for parent in root.iter("object") for child in parent}
    nodes, packages = _numbered(root, "NUMANode"), _numbered(root, "Package")

    def numa(element):
        while "cpuset" not in element.attrib and element in above:
            element = above[element]
        whole = _cpuset(element)
        inside = [number for number, own in nodes if own and own & ~whole == 0]
        if inside:
            return inside[0] if len(inside) == 1 or _around(packages, whole) >= 0 else -1
        return _around(nodes, whole) if whole else -1

    found = [Card(e.get("name"), KINDS[e.get("osdev_type")], numa(e))
             for e in _of_type(root, "OSDev") if e.get("osdev_type") in KINDS]
    return sorted(found, key=lambda c: (c.kind != "InfiniBand", c.name))


def parse(text, allowed=None):
    """The topology in hwloc's XML; `allowed`: the processing units that may be used (all)."""
    root = ET.fromstring(text)
    if not root.get("version", "").startswith("2."):
        raise TopologyError("hwloc's XML is not of version 2, and cotejo needs hwloc 2; "
                            "convert it with hwloc 3's `lstopo --of xml --export-xml-flags v2`")
    units = {int(e.get("os_index")) for e in _of_type(root, "PU")}
    usable = units if allowed is None else units & set(allowed)
    return Topology(_cores(root, usable), _cards(root), len(units), len(usable))


def _of_stack():
    """The hwloc that a benchmark of the stack loads: Spack's is not where the loader looks."""
    for family in families.load().values():
        program = family.prefix(families.stack_prefix()) / "bin/cotejo"
        if program.exists():
            done = subprocess.run(["ldd", str(program)], text=True, capture_output=True)
            found = re.search(rf"{re.escape(LIBRARY)} => (\S+)", done.stdout)
            if found:
                return found[1]
    raise TopologyError("no hwloc 2 on this machine: run `make stack` first")


def _library():
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError:
        return ctypes.CDLL(_of_stack())


def xml():
    """All of this machine as hwloc writes it, also what this process may not use."""
    library, topology, length = _library(), ctypes.c_void_p(), ctypes.c_int()
    text = ctypes.c_char_p()
    steps = (lambda: library.hwloc_topology_init(ctypes.byref(topology)),
             lambda: library.hwloc_topology_set_flags(topology,
                                                      ctypes.c_ulong(INCLUDE_DISALLOWED)),
             lambda: library.hwloc_topology_set_io_types_filter(topology, KEEP_IMPORTANT),
             lambda: library.hwloc_topology_load(topology),
             lambda: library.hwloc_topology_export_xmlbuffer(
                 topology, ctypes.byref(text), ctypes.byref(length), ctypes.c_ulong(0)))
    if any(step() != 0 for step in steps):
        raise TopologyError("hwloc cannot read this machine's topology")
    return text.value.decode()  # this process ends soon: nothing is given back


@functools.cache
def of_file(path):
    """The topology of a file that hwloc wrote."""
    try:
        return parse(path.read_text())
    except (ET.ParseError, TopologyError) as err:
        raise TopologyError(f"{path}: {err}") from None


@functools.cache
def _here(allowed):
    return parse(xml(), allowed)


def here():
    """This machine, of which only what this shell may use (affinity, cgroup) has cores."""
    return _here(frozenset(os.sched_getaffinity(0)))
