# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong in the files of a site, one line each."""

import re
import runpy

import yaml

from . import clusters, families, placements, references, scales, sessions, simgrid

LAUNCHERS = ("mpirun", "srun", "smpirun")
SCALE_KEYS = ("launches", "largest", "transports")
HOSTS = range(2, 17)  # of a virtual cluster


def file_problems(name):
    """All problems of a site; ValueError where there is no such site."""
    folder, wrong = sessions.site_folder(name), []

    def attempt(label, check):
        try:
            wrong.extend(f"{label}: {text}" for text in check())
        except KeyError as err:
            wrong.append(f"{label}: lacks {err}")
        except (Exception, SystemExit) as err:  # whatever a site's file does must be said
            wrong.append(f"{label}: {' '.join(str(err).split()) or type(err).__name__}")

    attempt("reframe.py", lambda: system_problems(name, folder))
    attempt("placements.yaml", lambda: placement_problems(name))
    attempt("scale.yaml", lambda: scale_problems(read(folder / "scale.yaml")))
    attempt("clusters.yaml", lambda: cluster_problems(folder))
    for path in sorted(folder.glob("platforms/*.yaml")):
        attempt(f"platforms/{path.name}", lambda path=path: platform_problems(path))
    attempt("spack/packages.yaml", lambda: package_problems(folder))
    attempt("references.json", lambda: reference_problems(folder))
    return wrong


def read(path):
    """What a YAML file holds; None where it is not there or says nothing."""
    return yaml.safe_load(path.read_text()) if path.exists() else None


def is_count(value, least=1):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value, above=None):
    """Whether a value is a number from 0 on, or one above `above`. YAML takes 1e6 for a text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return number > above if above is not None else number >= 0


def partitions(folder):
    """The partitions that a site's reframe.py declares."""
    data = runpy.run_path(str(folder / "reframe.py"))["site_configuration"]
    return data["systems"][0]["partitions"]


def system_problems(name, folder):
    data = runpy.run_path(str(folder / "reframe.py")).get("site_configuration")
    systems = data.get("systems") if isinstance(data, dict) else None
    if not isinstance(systems, list) or not all(isinstance(s, dict) for s in systems):
        return ["needs `site_configuration` with a list of `systems`"]
    if [s.get("name") for s in systems] != [name]:
        return [f"the one system must be called {name!r}, after the folder"]
    found = systems[0].get("partitions")
    if not isinstance(found, list) or not found or not all(isinstance(p, dict) for p in found):
        return [f"system {name!r} needs a list of `partitions`"]
    wrong = [] if systems[0].get("hostnames") else [
        f"system {name!r} needs `hostnames`: expressions for the hosts on which ReFrame starts"]
    return wrong + [f"partition {p.get('name', '?')}: {line}" for p in found
                    for line in partition_problems(p)]


def partition_problems(partition):
    missing = [key for key in ("name", "scheduler", "launcher") if key not in partition]
    if missing:
        return [f"lacks `{key}`" for key in missing]
    known, extras = families.load(simulators=True, layers=True), partition.get("extras", {})
    launcher, environs = partition["launcher"], partition.get("environs", [])
    wrong = [f"no MPI {mpi!r} is declared; there are {', '.join(known)}"
             for mpi in environs if mpi not in known]
    if launcher not in LAUNCHERS:
        wrong.append(f"launcher {launcher!r}: use mpirun or srun")
    if launcher == "srun":
        wrong += srun_problems(extras, environs or families.load())
    if "cluster" in extras:
        wrong += virtual_problems(extras)
    if "platform" in extras:
        try:
            simgrid.platform(extras["platform"])
        except simgrid.PlatformError as err:
            wrong.append(f"extras: {err}")
    return wrong


def srun_problems(extras, wanted):
    given = extras.get("srun_mpi", {})
    if not isinstance(given, dict):
        return ["extras: `srun_mpi` must give an interface for each MPI (docs/sites.md)"]
    known, interfaces = families.load(), families.srun_interfaces(extras)
    wrong = [f"extras: srun_mpi names {mpi!r}, which is no MPI; there are {', '.join(known)}"
             for mpi in given if mpi not in known]
    return wrong + [f"extras: srun_mpi must say by which interface srun starts {mpi} "
                    "(`srun --mpi=list`)" for mpi in wanted
                    if mpi in known and not (interfaces.get(mpi)
                                             and isinstance(interfaces[mpi], str))]


def virtual_problems(extras):
    known, cluster, hosts = clusters.declared(), extras["cluster"], extras.get("hosts")
    wrong = [] if cluster in known else [
        f"extras: no cluster {cluster!r}; there are {', '.join(known)}"]
    if not is_count(hosts) or hosts not in HOSTS:
        wrong.append(f"extras: `hosts` must be {HOSTS[0]} to {HOSTS[-1]}, not {hosts!r}")
    return wrong


def placement_problems(name):
    declared = placements.declared(name)
    wrong = [] if "near" in declared else [
        "no placement `near`, which every test uses by default"]
    for placement, entry in declared.items():
        cpus = entry["cpus"]
        if isinstance(cpus, list) and entry["hosts"] != "each" and entry["hosts"] * len(cpus) < 2:
            wrong.append(f"{placement}: has no room for 2 ranks; name a second core")
    return wrong


def scale_problems(data):
    if data is None:
        return []
    if not isinstance(data, dict):
        return [f"must say {', '.join(SCALE_KEYS)}, each with its value"]
    wrong = [f"unknown key {key!r}; there are {', '.join(SCALE_KEYS)}"
             for key in data if key not in SCALE_KEYS]
    launches = data.get("launches", {})
    if not isinstance(launches, dict):
        launches = wrong.append("launches: give a number for each scale, as {quick: 3}") or {}
    for scale, number in launches.items():
        if scale not in scales.LAUNCHES:
            wrong.append(f"unknown scale {scale!r}; there are {', '.join(scales.LAUNCHES)}")
        elif not is_count(number):
            wrong.append(f"launches: {scale}: {number!r} is no number from 1 on")
    if "largest" in data and not is_count(data["largest"]):
        wrong.append(f"largest: {data['largest']!r} is no number of bytes")
    if "transports" in data:
        wrong += transport_problems(data["transports"])
    return wrong


def transport_problems(given):
    known = sorted({t for family in families.load(simulators=True, layers=True).values()
                    for t in family.transports})
    if not isinstance(given, list) or not given:
        return ["transports: must be a list, as [shm, tcp]"]
    return [f"transports: no family declares {name!r}; there are {', '.join(known)}"
            for name in given if name not in known]


def cluster_problems(folder):
    path = folder / "clusters.yaml"
    if not path.exists():
        return []
    if folder.name != clusters.SITE.name:
        return [f"is read by nothing: clusters are declared in {clusters.SITE.name}/{path.name}"]
    data = read(path)
    if not isinstance(data, dict):
        return ["no cluster in it"]
    return [f"{name}: {line}" for name, entry in data.items()
            for line in (one_cluster(entry) if isinstance(entry, dict)
                         else ["needs hosts and rates"])]


def one_cluster(entry):
    rates = entry.get("rates")
    sound = {"hosts": is_count(entry.get("hosts")) and entry["hosts"] in HOSTS,
             "rates": isinstance(rates, list) and bool(rates)
             and all(is_number(r, above=0) for r in rates),
             "kind": entry.get("kind", "switch") in ("switch", "hub"),
             "latency": is_number(entry.get("latency", 0)),
             "queue": is_number(entry.get("queue", 1), above=0),
             "mtu": is_number(entry.get("mtu", 1500), above=0),
             "patience": is_number(entry.get("patience", 0))}
    return ([f"unknown key {key!r}; there are {', '.join(sorted(clusters.KEYS))}"
             for key in entry if key not in clusters.KEYS]
            + [f"{key}: {entry[key]!r} is not what docs/sites.md says" if key in entry
               else f"lacks `{key}`" for key, good in sound.items() if not good])


def platform_problems(path):
    if path.parent.parent.name != simgrid.FOLDER.parent.name:
        return [f"is read by nothing: platforms are in {simgrid.FOLDER.parent.name}/platforms"]
    data = read(path)
    if not isinstance(data, dict):
        return ["no platform in it"]
    wrong = [f"lacks `{key}`" for key in sorted(simgrid.NEEDED - set(data))]
    wrong += [f"unknown key {key!r}" for key in sorted(set(data) - simgrid.NEEDED
                                                       - simgrid.OPTIONAL)]
    wrong += [f"{key}: {data[key]!r} is no number from 1 on"
              for key in ("nodes", "cores", "cells") if key in data and not is_count(data[key])]
    if is_count(data.get("cells"), 2) and "between_cells" not in data:
        wrong.append("lacks `between_cells`, though nodes have several cells")
    for key in ("link", "memory", "between_cells", "shared"):
        links = data.get(key, [])
        wrong += [f"{key}: needs latency (s) and bandwidth (B/s), not {link!r}"
                  for link in (links if isinstance(links, list) else [links]) if not is_link(link)]
    frame = data.get("frame")
    if "frame" in data and not (isinstance(frame, dict) and is_number(frame.get("time"), above=0)
                                and is_count(frame.get("bytes"))):
        wrong.append(f"frame: needs bytes and time (s), not {frame!r}")
    return wrong


def is_link(link):
    return (isinstance(link, dict) and is_number(link.get("latency"))
            and is_number(link.get("bandwidth"), above=0))


def package_problems(folder):
    path = folder / "spack/packages.yaml"
    if not path.exists():
        return []
    data = read(path)
    packages = data.get("packages") if isinstance(data, dict) else None
    if not isinstance(packages, dict):
        return ["no `packages:` in it"]
    wrong = []
    for name, entry in packages.items():
        externals = entry.get("externals", []) if isinstance(entry, dict) else None
        if not isinstance(externals, list):
            wrong.append(f"{name}: must be settings of a package (docs/spack.md)")
            continue
        wrong += [f"{name}: an external needs a `spec` of {name} and a `prefix` or `modules`, "
                  f"not {external}" for external in externals if not is_external(name, external)]
    return wrong


def is_external(name, external):
    return (isinstance(external, dict) and ("prefix" in external or "modules" in external)
            and re.match(rf"{re.escape(name)}(?![\w-])", str(external.get("spec"))) is not None)


def reference_problems(folder):
    path = folder / "references.json"
    if not path.exists():
        return []
    data = sessions.read_json(path)
    again = "write it anew by `make references`"
    if not isinstance(data, dict) or data.get("schema") != references.SCHEMA:
        return [f"is not of schema {references.SCHEMA}; {again}"]
    if not isinstance(data.get("cells"), dict):
        return [f"lacks `cells`; {again}"]
    return [f"cell {name}: needs date, state and groups with their intervals; {again}"
            for name, cell in data["cells"].items() if not is_reference(cell)]


def is_reference(cell):
    """Whether a cell has all that `references.against` looks at."""
    if not isinstance(cell, dict) or not isinstance(cell.get("groups"), dict):
        return False
    state = cell.get("state")
    return (isinstance(state, dict) and all(key in state for key in references.STATE)
            and isinstance(cell.get("date"), str)
            and all(isinstance(group, dict) and is_count(group.get("launches"))
                    and all(is_number(group.get(key), above=0)
                            for key in ("low_s", "median_s", "high_s"))
                    for group in cell["groups"].values()))
