# SPDX-License-Identifier: BSD-3-Clause
"""Writes the folder of a new site from what it finds on the machine, to be read and corrected."""

import json
import re
import socket
import textwrap

import yaml

from stack import installations, spack_environments

from ..machine import inventory, removal, topology
from ..model import families, installation, sites
from ..model.placement import Placement, PlacementError
from . import shared

HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n"
#: Launchers of the ranks; under PBS, LSF and Grid Engine it is the MPI's own.
LAUNCHERS = {"slurm": "srun", "flux": "flux"}
#: Schedulers that cotejo was never run on: the words of `access` with the first queue, and a hint.
UNTRIED = {
    "pbs": ("-q {}", 'If PALS starts the ranks (HPE Cray), the launcher is "mpiexec".'),
    "lsf": ("-q {}", 'If jsrun starts the ranks (IBM), the launcher is "jsrun".'),
    "sge": ("-q {}", 'Name the parallel environment: "environment" in extras (docs/sites.md).'),
    "flux": ("", "Add the options that `flux batch` needs here to access.")}
WIDTH = 99
#: Nodes that launches of a new site may have, however many there are: who wants more says so.
MOST_NODES = 4


def _unlike(nodes):
    """Lines for a queue whose nodes differ: `nodes` is how many there are of each kind."""
    if len(nodes) < 2:
        return []
    kinds = [f"{count} of {kind}" for kind, count in nodes.items()]
    return [f"# Its nodes differ: {', '.join(kinds)}.",
            "# This partition is for the first kind: add to access what asks for it (Slurm: "
            "--constraint,",
            "# --exclude), and write a partition of each other kind, with its own topology."]


def _partition(found):
    """The lines of reframe.py that hang on the scheduler."""
    scheduler, queues = found["scheduler"]
    there = next(iter(found["nodes"].values()), 1)
    name, extras = scheduler, {"nodes": min(there, MOST_NODES)}
    if scheduler == "slurm" and not found.get("accounting", True):
        name = "squeue"  # of ReFrame, for a Slurm whose sacct does not answer
    if found.get("shared_cores"):
        extras["shared_cores"] = True
    lines = [f'"scheduler": "{name}",',
             f'"launcher": "{LAUNCHERS.get(scheduler, "mpirun")}",']
    if scheduler == "slurm":
        lines += ["# Options that sbatch needs here; the account is yours to add.",
                  f'"access": ["--partition={(queues or ["compute"])[0]}", "--exclusive"],',
                  f"# How many of the {there} nodes a launch may have. srun starts each MPI by "
                  "the", "# interface that its family declares; another one: "
                  '"srun_mpi": {MPI: INTERFACE}.',
                  *_unlike(found["nodes"]),
                  *(["# All nodes are one machine, whose cores they share."]
                    if "shared_cores" in extras else []),
                  f'"extras": {json.dumps(extras).replace("true", "True")},']
    elif scheduler in UNTRIED:
        access, hint = UNTRIED[scheduler]
        access = [access.format(queues[0])] if queues and access else []
        lines += [f"# {scheduler} is untried: correct what does not fit.", f"# {hint}",
                  f'"access": {json.dumps(access)},',
                  f"# How many of the {there} nodes a launch may have.",
                  *_unlike(found["nodes"]), f'"extras": {json.dumps(extras)},']
    elif silent := found.get("silent"):
        lines += [f"# {', '.join(silent)}: installed, but no scheduler answers. Name it, or "
                  "launches", "# run on this host, which may be a login node."]
    return lines


def _missing(found):
    """The parts of a site that the machine does not have."""
    scheduler, queues = found["scheduler"]
    return [what for what, is_there in (
        ("a scheduler that answers", scheduler != "local"),
        ("its partitions or queues", scheduler == "local" or queues),
        ("a module system", found["modules"]), ("an MPI library of the machine", found["mpis"]),
        ("a network card", found["topology"].cards),
        ("externals of Spack", found["externals"])) if not is_there]


def reframe_py(name, found):
    """Text of the site's reframe.py."""
    queues, missing = found["scheduler"][1], _missing(found)
    seen = "".join(f"# {line}\n" for line in
                   [f"partitions: {', '.join(queues)}"] * bool(queues)
                   + [f"not found: {', '.join(missing)}"] * bool(missing))
    host = re.sub(r"\d+", r"\\d+", re.escape(found["host"]).replace(r"\-", "-"))
    return (f'{HEAD}"""Site {name}; written by `make site`, to be read and corrected."""\n\n'
            + (f"# Looked for on the machine:\n{seen}\n" if seen else "")
            + "site_configuration = {\n"
            '    "systems": [\n        {\n'
            f'            "name": "{name}",\n'
            "            # The hosts on which ReFrame is started.\n"
            f'            "hostnames": [r"{host}"],\n'
            '            "partitions": [\n                {\n'
            '                    "name": "compute",\n'
            + textwrap.indent("\n".join(_partition(found)), 20 * " ") + "\n"
            "                }\n            ],\n        }\n    ]\n}\n")


def _seen(there, is_local):
    """The topology that was found, as comments."""
    lines = ["# Placements (docs/sites.md: policies, lists of cores). Found by hwloc:"]
    lines += [f"# package {d.package}, NUMA node {d.numa}: cores {topology.spans(d.cores)}"
              for d in there.domains]
    if there.allowed < there.units:
        lines += [f"# This shell may use {there.allowed} of the {there.units} hardware threads of "
                  "this machine: the rest is not here"
                  + ("." if is_local else ",\n# but in topology/compute.xml, of which launches "
                     "have all.")]
    kinds = there.kinds()
    if len(kinds) > 1:
        lines += ["# Kinds of core, the fastest first; a policy keeps to one kind:",
                  *(f"# cores {topology.spans([c.units[0] for c in kind.cores])}"
                    for kind in kinds)]
    if len({c.numa for c in there.cards if c.numa >= 0}) > 1:
        lines.append("# The cards are on several NUMA nodes: name the one that carries the "
                     'messages (extras: "card").')
    return lines + [f"# {c.kind} card {c.name}"
                    + (f" on NUMA node {c.numa}" if c.numa >= 0 else ", place not told")
                    for c in there.cards]


def has(there, policy):
    """Whether a machine has the distance of a policy."""
    try:
        return Placement(policy, policy=policy).room(there) > 1
    except PlacementError:
        return False


def placements_yaml(found):
    """Text of the site's placements.yaml: policies, as far as they differ on this machine."""
    there, is_local = found["topology"], found["scheduler"][0] == "local"
    lines = [*_seen(there, is_local),
             "# Cores that share most, from those beside the network card on.",
             "near: {policy: compact}"]
    if len(there.domains) > 1:
        lines += ["# As far apart as the machine allows, and one rank on each NUMA node.",
                  "far: {policy: spread}", "per-numa: {policy: per-numa}"]
    else:
        lines += ["# One NUMA node: what is far shares a cache less at most.",
                  "far: {policy: spread}"]
    for policy, what in (("other-cache", "another cache of the NUMA node"),
                         ("other-numa", "another NUMA node of the package")):
        if has(there, policy):
            lines += [f"# Every other rank on {what}.", f"{policy}: {{policy: {policy}}}"]
    if any(len(core.units) > 1 for core in there.cores):
        lines += ["# The hardware threads of a core together.", "packed: {policy: siblings}"]
    lines += ["# A second core for each rank, for a thread of the library.",
              "spare: {policy: compact, threads: 2}"]
    if not is_local:
        lines += ["# Across the network: beside the card, and away from it.",
                  "one-per-host: {policy: one-per-node}"]
        if len(there.domains) > 1:
            lines.append("one-per-host-far: {policy: one-per-node, card: far}")
    return HEAD + "\n".join(lines) + "\n"


def packages_yaml(name, found):
    """Text of the site's spack/packages.yaml: that of `local`, what Spack has as externals, and
    on a cluster the network and scheduler of the MPI libraries that Spack builds."""
    text = (sites.ROOTS[0] / "site_configs/local/spack/packages.yaml").read_text()
    scheduler = found["scheduler"][0]
    fabrics = {spack_environments.package(f.spack): {"require": f.cluster[scheduler]}
               for f in families.load().values() if f.default and scheduler in f.cluster}
    entries = yaml.safe_load(found["mpis"]) or {}
    # Its own libraries make it another environment than that of `local`.
    if not found["externals"] and not fabrics and not entries:
        return text
    data = yaml.safe_load(text)
    # Those of the MPI libraries in mpis.yaml follow from that file.
    listed = {spack_environments.package(families.load()[entry.get("like", key)].spack)
              for key, entry in entries.items() if {"home", "modules"} & entry.keys()}
    added = {**fabrics, **found["externals"]}
    data["packages"].update({key: added[key] for key in added if key not in listed},
                            cotejo={"require": [f"site={name}"]})
    return (f"{HEAD}# The externals are those of Spack's configuration on this machine. They must "
            "satisfy the specs of\n# spack.yaml: remove what does not fit. docs/spack.md lists "
            "all that a site can say.\n"
            + yaml.safe_dump(data, sort_keys=False, default_flow_style=False, width=WIDTH))


def inspect():
    scheduler, queues = inventory.scheduler()
    return {"host": socket.gethostname(), "topology": topology.here(), "xml": topology.xml(),
            "scheduler": (scheduler, queues), "nodes": inventory.nodes(scheduler, queues),
            "silent": inventory.silent_schedulers() if scheduler == "local" else [],
            "accounting": inventory.has_accounting(), "shared_cores": inventory.is_virtual_host(),
            "modules": installation.module_system(),
            "mpis": installations.mpis_yaml(families.stack_prefix()),
            "externals": inventory.externals()}


def write(name, found, folder):
    """Writes the complete site or nothing; FileExistsError if it exists already."""
    texts = {"reframe.py": reframe_py(name, found), "placements.yaml": placements_yaml(found),
             "spack/packages.yaml": packages_yaml(name, found)}
    if found["mpis"]:
        texts["mpis.yaml"] = found["mpis"]
    if found["scheduler"][0] != "local":
        # ReFrame runs on another host than the ranks.
        texts["topology/compute.xml"] = found["xml"]
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = removal.place_beside(folder)
    try:
        for file, text in texts.items():
            path = place / folder.name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            removal.write_whole(path, text)
        if folder.exists():
            raise FileExistsError(folder)
        (place / folder.name).rename(folder)
        removal.sync_folder(folder.parent)
    finally:
        removal.empty(place)
    try:
        spack_environments.write_site(folder)
    except ValueError as err:
        print(f"site: Spack cannot use mpis.yaml: {err}")


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="name of the new site")
    name = parser.parse_args().name
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name == "generic":
        return f"site: NAME={name}: give small letters, digits and dashes (`generic` is ReFrame's)"
    folder = sites.ROOTS[0] / "site_configs" / name
    if folder.exists():
        return f"site: {folder} is there already; remove it to write it anew"
    try:
        found = inspect()
        write(name, found, folder)
    except topology.TopologyError as err:
        return f"site: {err}"
    if found["silent"]:
        print(f"site: {', '.join(found['silent'])}: installed, but no scheduler answers; if this "
              f"is a login node, name the scheduler in {folder}/reframe.py")
    print(f"site: wrote {folder}; read its files, then `make check-site NAME={name}`")
    return 0
