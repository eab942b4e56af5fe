# SPDX-License-Identifier: BSD-3-Clause
"""Writes the folder of a new site from what it finds on the machine, to be read and corrected."""

import argparse
import re
import shutil
import socket
import sys

from . import machine, sessions

HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n"
LAUNCHERS = {"slurm": "srun", "pbs": "mpirun", "local": "mpirun"}


def reframe_py(name, found):
    """Text of the site's reframe.py."""
    scheduler, queues = found["scheduler"]
    lines = [f'                    "scheduler": "{scheduler}",',
             f'                    "launcher": "{LAUNCHERS[scheduler]}",']
    if scheduler == "slurm":
        lines += ["                    # What sbatch must be given here; the account is yours to "
                  "add.",
                  f'                    "access": ["--partition={(queues or ["compute"])[0]}", '
                  '"--exclusive"],',
                  "                    # srun must speak the MPI's process manager interface.",
                  '                    "extras": {',
                  '                        "srun_mpi": {"openmpi": "pmix", "mpich": "pmi2", '
                  '"intel-mpi": "pmi2"}',
                  "                    },"]
    elif scheduler == "pbs":
        lines += [f'                    "access": ["-q {(queues or ["workq"])[0]}"],']
    seen = "".join(f"# {line}\n" for line in
                   [f"partitions: {', '.join(queues)}"] * bool(queues) + found["mpis"])
    host = re.sub(r"\d+", r"\\d+", re.escape(found["host"]).replace(r"\-", "-"))
    return (f'{HEAD}"""Site {name}; written by `make site`, to be read and corrected."""\n\n'
            + (f"# Found on the machine:\n{seen}\n" if seen else "")
            + "site_configuration = {\n"
            '    "systems": [\n        {\n'
            f'            "name": "{name}",\n'
            f'            "descr": "{name}",\n'
            "            # The hosts on which ReFrame is started.\n"
            f'            "hostnames": [r"{host}"],\n'
            '            "partitions": [\n                {\n'
            '                    "name": "compute",\n'
            '                    "descr": "Ranks on whole nodes",\n'
            + "\n".join(lines) + "\n"
            "                    # One launch at a time: two would disturb each other.\n"
            '                    "max_jobs": 1,\n'
            "                }\n            ],\n        }\n    ]\n}\n")


def placements_yaml(found):
    """Text of the site's placements.yaml."""
    nodes = found["cores"]
    card = next((c for c in found["cards"] if c.numa in nodes), None)
    home = card.numa if card else next(iter(nodes))
    away = next((n for n in reversed(list(nodes)) if n != home), None)
    own = nodes[home]
    lines = ["# Placements: `cpus` is one core (as Linux numbers them) per rank of a host.",
             "# Found: " + "; ".join(f"NUMA node {n}: cores {c[0]} to {c[-1]}"
                                     for n, c in nodes.items()) + "."]
    lines += [f"# {c.kind} card {c.name}"
              + (f" on NUMA node {c.numa}." if c.numa in nodes else ", place not told.")
              for c in found["cards"]]
    if away is None:
        lines += [f"{name}: {{hosts: 1, cpus: auto}}"
                  for name in ("near", "far", "packed", "scatter")]
    else:
        spread = [c for pair in zip(*nodes.values(), strict=False) for c in pair]
        lines += [f"near: {{hosts: 1, cpus: {own[:2]}}}",
                  "# Between two NUMA nodes.",
                  f"far: {{hosts: 1, cpus: {[own[0], nodes[away][0]]}}}",
                  f"packed: {{hosts: 1, cpus: {own}}}",
                  f"scatter: {{hosts: 1, cpus: {spread}}}"]
    if found["scheduler"][0] != "local":
        lines += ["# Across the network: beside the card, and away from it.",
                  f"one-per-host: {{hosts: 2, cpus: {own[:1]}}}"]
        if away is not None:
            lines.append(f"one-per-host-far: {{hosts: 2, cpus: {nodes[away][:1]}}}")
    return HEAD + "\n".join(lines) + "\n"


def inspect():
    return {"host": socket.gethostname(), "cores": machine.cores_by_numa(),
            "cards": machine.cards(), "scheduler": machine.scheduler(), "mpis": machine.mpis()}


def write(name, found, folder):
    """Writes the site; FileExistsError where it is there already."""
    folder.mkdir(parents=True)
    (folder / "reframe.py").write_text(reframe_py(name, found))
    (folder / "placements.yaml").write_text(placements_yaml(found))
    (folder / "spack").mkdir()
    shutil.copyfile(sessions.REPO / "site_configs/local/spack/packages.yaml",
                    folder / "spack/packages.yaml")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    name = parser.parse_args().name
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name == "generic":
        return f"site: NAME={name}: give small letters, digits and dashes (`generic` is ReFrame's)"
    folder = sessions.REPO / "site_configs" / name
    try:
        write(name, inspect(), folder)
    except FileExistsError:
        return f"site: {folder} is there already; remove it to write it anew"
    print(f"site: wrote {folder}; read its files, then `make check-site NAME={name}`")
    return 0


if __name__ == "__main__":
    sys.exit(main())
