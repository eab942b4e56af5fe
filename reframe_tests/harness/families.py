# SPDX-License-Identifier: BSD-3-Clause
"""MPI families: reads `mpi_families/*.yaml` and turns them into launcher flags.

This is the only place that knows how an MPI is told where its ranks go. It
imports nothing of ReFrame, so the stack's own scripts use it too.
"""

import hashlib
import os
import pathlib
from dataclasses import dataclass, field

import yaml

REPO = pathlib.Path(__file__).resolve().parents[2]
FOLDER = REPO / "reframe_tests/mpi_families"


@dataclass(frozen=True)
class Transport:
    """A transport of a family: what selects it, and the library's words that prove it."""

    environment: dict
    evidence: str

    def variables(self, prefix):
        """Environment (name -> value) that selects it, of an MPI installed in `prefix`."""
        return {name: text.replace("{prefix}", str(prefix))
                for name, text in self.environment.items()}


@dataclass(frozen=True)
class Setting:
    """How a family takes one setting over one transport, or the reason why it does not."""

    environment: dict = field(default_factory=dict)
    reason: str = ""
    least: int = 0
    most: int = 0
    header: int = 0
    receiver: str = "polling"

    def value_of(self, word):
        """The value that `word` asks for, as text: `least`, `most`, or itself.

        ValueError says why it cannot be set.
        """
        if self.reason:
            raise ValueError(self.reason)
        value = {"least": self.least, "most": self.most}.get(word, word)
        if self.most and not self.least <= int(value) <= self.most:
            raise ValueError(f"{value} is not within {self.least} to {self.most}")
        return str(value)

    def variables(self, value, cpus=()):
        """Environment (name -> value) that sets `value`.

        `cpus`: the core, or list of cores, of each rank of a host; `{last}` is the last of each,
        and what names it is left out where none are bound.
        """
        last = ",".join(str(rank[-1] if isinstance(rank, list) else rank) for rank in cpus)
        return {name: text.format(value=value, last=last)
                for name, text in self.environment.items() if last or "{last}" not in text}


@dataclass(frozen=True)
class Family:
    """One MPI as its YAML declares it; `docs/mpi-families.md` explains the keys."""

    name: str
    title: str
    spack: str
    library: str
    bind: list
    per_host: list
    remote: list
    transports: dict
    environment: dict = field(default_factory=dict)
    abi: str = ""
    #: As `per_host`, where each rank has several cores.
    several: list = field(default_factory=list)
    #: Interface by which Slurm's srun starts ranks (`--mpi`), where a site names no other.
    srun: str = ""
    audit: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)
    #: Options of the benchmark that this MPI needs.
    options: dict = field(default_factory=dict)
    #: Runs programs on machines that are simulated, and nowhere else.
    simulator: bool = False
    #: No MPI, but what is below or beside one: runs `cotejo-transport`, and no test of MPI.
    layer: bool = False

    @property
    def program(self):
        """The benchmark of ours that is in this family's `bin`."""
        return "cotejo-transport" if self.layer else "cotejo"

    @property
    def kind(self):
        """What ReFrame's tests ask of an environment."""
        return "layer" if self.layer else "mpi"

    def prefix(self, stack):
        return pathlib.Path(stack) / "mpi" / self.name

    def installed(self, stack):
        return (self.prefix(stack) / "bin" / "mpirun").exists()

    def run_environment(self, stack):
        """Variables (name -> value) under which this MPI's programs run in place."""
        prefix = self.prefix(stack)
        variables = {k: v.format(prefix=prefix) for k, v in self.environment.items()}
        return {"PATH": f"{prefix}/bin:$PATH", **variables}

    def setting(self, name, transport):
        """The `Setting` of that name over a transport; one that is not declared has a reason."""
        found = self.settings.get(name, {}).get(transport)
        return found or Setting(reason=f"{self.title} declares no {name} over {transport}")

    def remote_flags(self, hosts, agent):
        """Options of the own launcher: one rank on each of `hosts` (names), started by `agent`,
        which is called like ssh and binds what it starts to the host's core.
        """
        fill = {"hosts": ",".join(hosts), "agent": agent, "ranks_per_host": 1,
                "slots": ",".join(f"{host}:1" for host in hosts)}
        return [word.format(**fill) for word in self.remote]

    def flags(self, launcher, cpus, hosts=1):
        """Launcher options that put local rank i of every host on `cpus[i]`.

        `launcher` is ReFrame's name of it: `mpirun` takes the family's own words,
        `srun` takes Slurm's for every family. An empty `cpus` binds nothing; a rank's
        entry may be a list of several cores.
        """
        if not cpus:
            return []
        sets = [rank if isinstance(rank, list) else [rank] for rank in cpus]
        several = any(len(rank) > 1 for rank in sets)
        fill = {"cpus": ",".join("+".join(map(str, rank)) for rank in sets),
                "masks": ",".join(f"{sum(1 << c for c in rank):#x}" for rank in sets),
                "each": len(sets[0]), "ranks_per_host": len(cpus)}
        if launcher == "srun":
            kind, value = ("mask", fill["masks"]) if several else ("map", fill["cpus"])
            return [f"--cpu-bind={kind}_cpu:{value}", f"--ntasks-per-node={len(cpus)}",
                    *([f"--cpus-per-task={len(sets[0])}"] if several else [])]
        if launcher != "mpirun":
            raise ValueError(f"launcher {launcher!r}: no binding flags known; use mpirun or srun")
        if several and not self.several:
            raise ValueError(f"{self.title} declares no flags for several cores a rank")
        words = self.several if several else self.bind if hosts == 1 else self.per_host
        return [word.format(**fill) for word in words]


def _read(path):
    try:
        data = yaml.safe_load(path.read_text())
        transports = {n: Transport(**t) for n, t in data.pop("transports").items()}
        settings = {name: {t: Setting(**s) for t, s in by.items()}
                    for name, by in data.pop("settings", {}).items()}
        return Family(name=path.stem, transports=transports, settings=settings, **data)
    except (AttributeError, KeyError, TypeError, yaml.YAMLError) as err:
        reason = " ".join(str(err).split())
        raise ValueError(f"{path}: not a family declaration ({reason}); "
                         "see docs/mpi-families.md") from err


def load(folder=FOLDER, simulators=False, layers=False):
    """All declared families by name, in the order of their names; simulators and what is no MPI
    only if asked for."""
    found = {p.stem: _read(p) for p in sorted(pathlib.Path(folder).glob("*.yaml"))}
    return {name: f for name, f in found.items()
            if (simulators or not f.simulator) and (layers or not f.layer)}


def srun_interfaces(extras):
    """By which interface srun starts each MPI: a partition's `srun_mpi`, else the family's."""
    declared = {name: family.srun for name, family in load().items() if family.srun}
    return {**declared, **extras.get("srun_mpi", {})}


def helper(name):
    """A program of ours that needs no MPI: the same in every MPI's installation.

    FileNotFoundError where none is installed.
    """
    for family in load().values():
        path = family.prefix(stack_prefix()) / "bin" / name
        if path.exists():
            return str(path)
    raise FileNotFoundError(f"no {name} in {stack_prefix()}; run `make stack`")


def stack_prefix():
    """The stack in use: `COTEJO_STACK`, else the active Spack environment, else `.stack`."""
    given = os.environ.get("COTEJO_STACK")
    if given:
        return pathlib.Path(given)
    spack = os.environ.get("SPACK_ENV")
    return pathlib.Path(spack) / ".spack-env" if spack else REPO / ".stack"


def stack_identity(stack):
    """Who provides a stack, and the hash of what fixes its versions: Spack's lock, or those of
    the wheels."""
    spack = stack.name == ".spack-env"
    wheels = sorted((REPO / "requirements").glob("*.txt"))
    locks = [stack.parent / "spack.lock"] if spack else wheels
    text = b"".join(path.read_bytes() for path in locks if path.exists())
    return {"provider": "spack" if spack else "wheels",
            "lock_sha256": hashlib.sha256(text).hexdigest()}
