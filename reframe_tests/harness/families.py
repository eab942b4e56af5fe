# SPDX-License-Identifier: BSD-3-Clause
"""MPI families: reads `mpi_families/*.yaml` and turns them into launcher flags.

This is the only place that knows how an MPI is told where its ranks go. It
imports nothing of ReFrame, so the stack's own scripts use it too.
"""

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

    def variables(self, value):
        """Environment (name -> value) that sets `value`."""
        return {name: text.format(value=value) for name, text in self.environment.items()}


@dataclass(frozen=True)
class Family:
    """One MPI as its YAML declares it; `docs/mpi-families.md` explains the keys."""

    name: str
    title: str
    spack: str
    library: str
    bind: list
    per_host: list
    transports: dict
    environment: dict = field(default_factory=dict)
    bind_threads: list = field(default_factory=list)
    abi: str = ""
    audit: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)

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

    def flags(self, launcher, cpus, hosts=1):
        """Launcher options that put local rank i of every host on `cpus[i]`.

        `launcher` is ReFrame's name of it: `mpirun` takes the family's own words,
        `srun` takes Slurm's for every family. An empty `cpus` binds nothing. Where ranks
        have threads, `cpus[i]` is a list: a core for each.
        """
        if not cpus:
            return []
        if isinstance(cpus[0], list):
            return self._thread_flags(launcher, cpus)
        fill = {"cpus": ",".join(map(str, cpus)), "ranks_per_host": len(cpus)}
        if launcher == "srun":
            return [f"--cpu-bind=map_cpu:{fill['cpus']}", f"--ntasks-per-node={len(cpus)}"]
        if launcher != "mpirun":
            raise ValueError(f"launcher {launcher!r}: no binding flags known; use mpirun or srun")
        return [word.format(**fill) for word in (self.bind if hosts == 1 else self.per_host)]

    def _thread_flags(self, launcher, groups):
        masks = [hex(sum(1 << cpu for cpu in group)) for group in groups]
        fill = {"sets": ",".join("+".join(map(str, group)) for group in groups),
                "masks": ",".join(masks), "threads": len(groups[0]),
                "ranks_per_host": len(groups)}
        if launcher == "srun":
            return ["--cpu-bind=mask_cpu:" + ",".join(masks),
                    f"--ntasks-per-node={len(groups)}", f"--cpus-per-task={len(groups[0])}"]
        if launcher != "mpirun" or not self.bind_threads:
            raise ValueError(f"{self.title} under {launcher}: ranks with threads cannot be bound; "
                             f"declare `bind_threads` in {self.name}.yaml and use mpirun or srun")
        return [word.format(**fill) for word in self.bind_threads]


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


def load(folder=FOLDER):
    """All declared families by name, in the order of their names."""
    return {p.stem: _read(p) for p in sorted(pathlib.Path(folder).glob("*.yaml"))}


def stack_prefix():
    """The stack in use: `COTEJO_STACK`, else the active Spack environment, else `.stack`."""
    given = os.environ.get("COTEJO_STACK")
    if given:
        return pathlib.Path(given)
    spack = os.environ.get("SPACK_ENV")
    return pathlib.Path(spack) / ".spack-env" if spack else REPO / ".stack"
