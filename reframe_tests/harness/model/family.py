# SPDX-License-Identifier: BSD-3-Clause
"""MPI families as their YAML declares them, and the options by which each places its ranks.

No other module has these options. This module imports nothing of ReFrame, so that the scripts of
the stack use it, too.
"""

import pathlib
import re
import shlex

from . import binding, declarations, transport
from .installation import Installation, version_in, with_modules

#: Keys of one installation, which another one that is `like` it does not take over.
OF_ONE = ("home", "modules", "container", "version")
#: Place in the schema of families of their keys, and of the keys of entries of some of them.
OVERLAY = ("family", "$defs", "overlay")
ENTRIES = (*OVERLAY, "properties")


@declarations.with_keys(*ENTRIES, "transports", "additionalProperties")
class Selection:
    """A transport of a family: what selects it, and the library's words that prove it."""

    def variables(self, prefix):
        """Environment (name -> value) that selects it, of an MPI installed in `prefix`."""
        return {name: text.replace("{prefix}", str(prefix))
                for name, text in self.environment.items()}


@declarations.with_keys(*ENTRIES, "settings", "additionalProperties", "additionalProperties")
class Setting:
    """How a family takes one setting over one transport, or the reason why it does not."""

    def value_of(self, word, ranks=None):
        """The value that `word` asks for, as text: `least`, `most`, or itself.

        ValueError says why it cannot be set.
        """
        if self.reason:
            raise ValueError(self.reason)
        if ranks in self.wrong.get(word, ()):
            raise ValueError(f"{word} is known to be wrong with {ranks} ranks")
        value = {"least": self.least, "most": self.most}.get(word, word)
        if self.most and not self.least <= int(value) <= self.most:
            raise ValueError(f"{value} is not within {self.least} to {self.most}")
        return str(value)

    def variables(self, value, cpus=()):
        """Environment (name -> value) that sets `value`.

        `cpus`: the core, or list of cores, of each rank of a host; `{last}` is the last of each,
        and what names it is left out where none are bound.
        """
        last = ",".join(str(rank[-1]) for rank in binding.as_sets(cpus))
        return {name: text.format(value=value, last=last)
                for name, text in self.environment.items() if last or "{last}" not in text}


@declarations.with_keys(*ENTRIES, "variables", "additionalProperties")
class Variables:
    """Variables that a study may set, and how to see whether the library knows one of them.

    A library may know a variable, or have read it, although the variable has no effect: see
    `harness.launch.effects`.
    """


@declarations.with_keys(*ENTRIES, "algorithms")
class Algorithms:
    """How a family lists and sets the algorithms of collective operations."""


@declarations.with_keys(*OVERLAY)
class Family:
    """One MPI as its YAML declares it; `docs/mpi-families.md` explains the keys."""

    name: str
    #: The site that lists it as an installation.
    site: str = ""

    @property
    def program(self):
        """The benchmark of cotejo that is in this family's `bin`."""
        return "cotejo-transport" if self.layer else "cotejo"

    @property
    def kind(self):
        """The feature that ReFrame's tests require of an environment."""
        return "layer" if self.layer else "mpi"

    @property
    def installation(self):
        return Installation(self.name, self.site, self.home, self.modules, self.version,
                            self.container)

    def prefix(self, stack):
        """The folder of the benchmarks, of the MPI too where it is the stack's."""
        return self.installation.bench_prefix(stack)

    def installed(self, stack):
        """Whether the stack has it: its launcher, or where it has none of its own its compiler;
        whether benchmarks were built for it, where it is the site's own."""
        if self.installation.apart(stack):
            return bool(self.installation.built(stack)) and (
                self.prefix(stack) / "bin" / self.program).exists()
        return (self.prefix(stack) / "bin" / (self.launcher or self.compiler)).exists()

    def home_in(self, stack):
        """The folder of the MPI itself."""
        return self.installation.home_in(stack)

    def compiler_in(self, stack):
        """The path of its compiler."""
        return pathlib.Path(self.installation.built(stack).get("compiler") or
                            self.prefix(stack) / "bin" / self.compiler)

    def run_environment(self, stack):
        """Variables (name -> value, as a shell reads it) under which its programs run in place."""
        prefix = self.prefix(stack)
        home = self.home_in(stack) or prefix
        places = dict.fromkeys([f"{prefix}/bin", f"{home}/bin"])
        variables = {k: v.format(prefix=prefix, home=home) for k, v in self.environment.items()}
        if "LD_LIBRARY_PATH" in variables:  # the site's modules have their libraries in it, too
            variables["LD_LIBRARY_PATH"] += "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        return {"PATH": f"{':'.join(places)}:$PATH", **variables}

    def process_environment(self, stack, environ):
        """A process's environment with this MPI's modules and variables in it."""
        environ = with_modules(self.modules, environ)

        def filled(text):
            text = re.sub(r"\$\{(\w+):\+:\$\1\}",
                          lambda m: f":{environ[m[1]]}" if environ.get(m[1]) else "", text)
            return text.replace("$PATH", environ["PATH"])

        return {**environ, **{k: filled(v) for k, v in self.run_environment(stack).items()}}

    def installation_problem(self, stack, seen):
        """Why the library that a launch loaded (`observed.mpi`) is not this installation's; ''.
        Simulators and what is below MPI have no library of an MPI."""
        if self.simulator or self.layer or not re.search(self.library, seen["library"]):
            return ""  # a library of another family is another difference
        return self.installation.problem(stack, version_in(self.library, seen["library"]),
                                         seen.get("path", ""))

    def setting(self, name, transport):
        """The `Setting` of that name over a transport; one that is not declared has a reason."""
        found = self.settings.get(name, {}).get(transport)
        return found or Setting(reason=f"{self.title} declares no {name} over {transport}")

    def right(self, operations):
        """Collective operations as options of the benchmark name them, without those that this
        library is known to do wrong."""
        return ",".join([operations, *(f"-{name}" for name in self.wrong)])

    def variables_of(self, name):
        """The `Variables` to which the variable `name` belongs, or None."""
        found = max((begin for begin in self.variables if name.startswith(begin)),
                    key=len, default=None)
        return self.variables.get(found)

    def refusal(self, output):
        """The line in which the library refuses a setting, or ''."""
        return next((line.strip()[:300] for line in output.splitlines()
                     if any(re.search(words, line) for words in self.refusals)), "")

    def started_by(self, kind):
        """Whether launchers of a kind of `binding` start it: its own, or one of a scheduler."""
        return bool(self.launcher) or kind != "library"

    def inside(self, kind):
        """The words before a program that a launcher of a kind of `binding` starts. The own
        launcher of a library in a container starts the ranks inside of it."""
        return [shlex.quote(word) for word in self.container if kind != "library"]

    def start(self, ranks):
        """The words that start so many ranks with the launcher there is."""
        return ([self.launcher, "-np", str(ranks)] if self.launcher
                else ["srun", f"--mpi={self.srun}", f"--ntasks={ranks}",
                      *self.container])

    def remote_flags(self, hosts, agent):
        """Options of the own launcher: one rank on each of `hosts` (names), started by `agent`,
        which is called like ssh and binds what it starts to the host's core.
        """
        fill = {"hosts": ",".join(hosts), "agent": agent, "ranks_per_host": 1,
                "slots": ",".join(f"{host}:1" for host in hosts)}
        return [word.format(**fill) for word in self.remote]

    def flags(self, launcher, cpus, hosts=1):
        """Launcher options that put local rank i of every host on `cpus[i]`.

        `launcher`: a launcher of ReFrame, or a kind of `binding`. An empty `cpus` binds nothing; a
        rank's entry may be a list of several cores.
        """
        if not cpus:
            return []
        kind, sets = binding.LAUNCHERS.get(launcher, launcher), binding.as_sets(cpus)
        several = any(len(rank) > 1 for rank in sets)
        fill = {"cpus": ",".join("+".join(map(str, rank)) for rank in sets),
                "masks": ",".join(f"{sum(1 << c for c in rank):#x}" for rank in sets),
                "each": len(sets[0]), "ranks_per_host": len(cpus)}
        if kind in binding.OPTIONS:
            return binding.OPTIONS[kind](sets, several)
        if kind != "library":
            raise ValueError(f"launcher {launcher!r}: no options are known that place ranks on "
                             "cores; declare `binding` in the extras of the partition: "
                             f"{', '.join(binding.KINDS)}")
        if several and not self.several:
            raise ValueError(f"{self.title} declares no flags for several cores a rank")
        words = self.several if several else self.bind if hosts == 1 else self.per_host
        return [word.format(**fill) for word in words]


def lineage(name, declared, path):
    """The family and those that it is like, the nearest first."""
    names = [name]
    while "like" in declared[names[-1]]:
        like = declared[names[-1]]["like"]
        if like not in declared or like in names:
            raise declarations.DeclarationError(
                path, [f"like: {like!r} is not another family; there are {', '.join(declared)}"])
        names.append(like)
    return names


def release_of(releases, version):
    """The keys that differ in a release of a family, by the version of its installation."""
    return next((entry for begin, entry in releases.items() if version.startswith(begin)), {})


def made(name, declared, path, site="", entry=None):
    """The family of a declaration, with the additions of the files of transports; `site`: the
    site that lists it as an installation, in this `entry`."""
    names = lineage(name, declared, path)
    data = {}
    for by in reversed(names):  # what the nearer one says is kept
        data = declarations.merged(
            data, {key: value for key, value in declared[by].items()
                   if key != "like" and (by == name or key not in OF_ONE)})
        for what, entries in declared[by].get("settings", {}).items():
            # A reason why a setting is not possible replaces the way to set it.
            data["settings"][what].update({place: one for place, one in entries.items()
                                           if "reason" in one})
    if version := data.get("version"):
        otherwise = declarations.merged(
            release_of(data.get("releases", {}), version), entry or {})
        data = declarations.merged(
            data, {key: value for key, value in otherwise.items() if key != "like"})
    if wrong := declarations.problems(data, "family"):
        raise declarations.DeclarationError(path, wrong)
    added = {carrier: t.families[by] for carrier, t in transport.load().items()
             for by in reversed(names) if by in t.families}
    transports = {carrier: Selection(**entry)
                  for carrier, entry in {**added, **data.pop("transports")}.items()}
    settings = {what: {by: Setting(**entry) for by, entry in entries.items()}
                for what, entries in data.pop("settings", {}).items()}
    variables = {begin: Variables(**entry) for begin, entry in data.pop("variables", {}).items()}
    algorithms = Algorithms(**data.pop("algorithms")) if "algorithms" in data else None
    return Family(name=name, transports=transports, settings=settings, variables=variables,
                  algorithms=algorithms, site=site, **data)
