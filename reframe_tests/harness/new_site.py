# SPDX-License-Identifier: BSD-3-Clause
"""Writes the folder of a new site from what it finds on the machine, to be read and corrected."""

import argparse
import itertools
import re
import socket
import sys

import yaml

from . import machine, sessions, topology

HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n"
LAUNCHERS = {"slurm": "srun", "pbs": "mpirun", "local": "mpirun"}
WIDTH = 99


def _partition(scheduler, queues):
    """The lines of reframe.py that hang on the scheduler."""
    lines = [f'                    "scheduler": "{scheduler}",',
             f'                    "launcher": "{LAUNCHERS[scheduler]}",']
    if scheduler == "slurm":
        lines += ["                    # What sbatch must be given here; the account is yours to "
                  "add.",
                  f'                    "access": ["--partition={(queues or ["compute"])[0]}", '
                  '"--exclusive"],',
                  "                    # srun starts each MPI by the interface that its family "
                  "declares; another one:",
                  '                    # "extras": {"srun_mpi": {"openmpi": "pmix_v4"}},']
    elif scheduler == "pbs":
        lines += ["                    # PBS is untried: correct what does not fit.",
                  f'                    "access": ["-q {(queues or ["workq"])[0]}"],']
    return lines


def reframe_py(name, found):
    """Text of the site's reframe.py."""
    scheduler, queues = found["scheduler"]
    seen = "".join(f"# {line}\n" for line in
                   [f"partitions: {', '.join(queues)}"] * bool(queues) + found["mpis"])
    host = re.sub(r"\d+", r"\\d+", re.escape(found["host"]).replace(r"\-", "-"))
    return (f'{HEAD}"""Site {name}; written by `make site`, to be read and corrected."""\n\n'
            + (f"# Found on the machine:\n{seen}\n" if seen else "")
            + "site_configuration = {\n"
            '    "systems": [\n        {\n'
            f'            "name": "{name}",\n'
            "            # The hosts on which ReFrame is started.\n"
            f'            "hostnames": [r"{host}"],\n'
            '            "partitions": [\n                {\n'
            '                    "name": "compute",\n'
            + "\n".join(_partition(scheduler, queues)) + "\n"
            "                }\n            ],\n        }\n    ]\n}\n")


def spans(cores):
    """Cores as Linux lists them: [0, 1, 2, 8] -> '0-2,8'."""
    runs = [[core for _, core in run] for _, run in
            itertools.groupby(enumerate(cores), key=lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _seen(there):
    """What was found, as comments."""
    lines = ["# Placements: `cpus` is one core (as Linux numbers them) per rank of a host.",
             "# Found by hwloc:"]
    lines += [f"# package {d.package}, NUMA node {d.numa}: cores {spans(d.cores)}"
              for d in there.domains]
    if there.allowed < there.units:
        lines.append(f"# This shell may use {there.allowed} of the {there.units} hardware threads "
                     "of this machine: the rest is not here.")
    return lines + [f"# {c.kind} card {c.name}"
                    + (f" on NUMA node {c.numa}" if c.numa >= 0 else ", place not told")
                    for c in there.cards]


def _homes(there):
    """The domain beside the network card, and the one that is farthest from it, or None."""
    numa = next((c.numa for c in there.cards if c.numa in {d.numa for d in there.domains}), None)
    home = next((d for d in there.domains if d.numa == numa), there.domains[0])
    others = [d for d in there.domains if d != home]
    return home, max(others, key=lambda d: d.package != home.package, default=None)


def _cores(name, cpus, hosts=1):
    """A line of placements.yaml; several where the cores do not fit into one."""
    text = f"{name}: {{hosts: {hosts}, cpus: {cpus}}}"
    if len(text) <= WIDTH:
        return [text]
    rows = [cpus[i:i + 16] for i in range(0, len(cpus), 16)]
    return [f"{name}:", f"  hosts: {hosts}", "  cpus: ["
            + ",\n         ".join(str(row)[1:-1] for row in rows) + "]"]


def _within_a_host(there, is_local):
    """near, far, packed, scatter and spare, as far as the machine has them."""
    home, away = _homes(there)
    own = home.cores
    if away is None and is_local and there.allowed == there.units:
        return ["# One NUMA node: hwloc chooses when ranks are launched; nothing to scatter over.",
                *(f"{name}: {{hosts: 1, cpus: auto}}"
                  for name in ("near", "far", "packed", "spare"))]
    lines = _cores("near", own[:2])
    if away is None:
        lines.append("# One NUMA node: there is no `far`, and nothing to scatter over.")
    else:
        spread = [core for turn in itertools.zip_longest(*(d.cores for d in there.domains))
                  for core in turn if core is not None]
        lines += ["# Between two NUMA nodes.", *_cores("far", [own[0], away.cores[0]]),
                  "# In turns over all NUMA nodes.", *_cores("scatter", spread)]
    lines += ["# All of one NUMA node.", *_cores("packed", own)]
    if len(own) >= 4:
        lines += ["# A second core for each rank, for a thread of the library.",
                  *_cores("spare", [own[:2], own[2:4]])]
    return lines


def placements_yaml(found):
    """Text of the site's placements.yaml. With a scheduler cores are listed, not found when ranks
    are launched: ReFrame runs on another host than they."""
    there, is_local = found["topology"], found["scheduler"][0] == "local"
    lines = _seen(there) + _within_a_host(there, is_local)
    if not is_local:
        home, away = _homes(there)
        lines += ["# Across the network: beside the card, and away from it.",
                  *_cores("one-per-host", home.cores[:1], 2)]
        if away is not None:
            lines += _cores("one-per-host-far", away.cores[:1], 2)
    return HEAD + "\n".join(lines) + "\n"


def packages_yaml(found):
    """Text of the site's spack/packages.yaml: that of `local`, and what Spack has as externals."""
    text = (sessions.REPO / "site_configs/local/spack/packages.yaml").read_text()
    if not found["externals"]:
        return text
    data = yaml.safe_load(text)
    data["packages"].update(found["externals"])
    return (f"{HEAD}# The externals are those of Spack's configuration on this machine. They must "
            "satisfy the specs of\n# spack.yaml: remove what does not fit. docs/spack.md tells "
            "what else a site can say.\n"
            + yaml.safe_dump(data, sort_keys=False, default_flow_style=False, width=WIDTH))


def inspect():
    return {"host": socket.gethostname(), "topology": topology.here(),
            "scheduler": machine.scheduler(), "mpis": machine.mpis(),
            "externals": machine.externals()}


def write(name, found, folder):
    """Writes the site; FileExistsError where it is there already."""
    texts = {"reframe.py": reframe_py(name, found), "placements.yaml": placements_yaml(found),
             "spack/packages.yaml": packages_yaml(found)}
    folder.mkdir(parents=True)
    (folder / "spack").mkdir()
    for file, text in texts.items():
        (folder / file).write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    name = parser.parse_args().name
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name == "generic":
        return f"site: NAME={name}: give small letters, digits and dashes (`generic` is ReFrame's)"
    folder = sessions.REPO / "site_configs" / name
    if folder.exists():
        return f"site: {folder} is there already; remove it to write it anew"
    try:
        write(name, inspect(), folder)
    except topology.TopologyError as err:
        return f"site: {err}"
    print(f"site: wrote {folder}; read its files, then `make check-site NAME={name}`")
    return 0


if __name__ == "__main__":
    sys.exit(main())
