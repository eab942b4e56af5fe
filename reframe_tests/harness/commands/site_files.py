# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong in the files of a site, one line each: by their schemas, and what only several
files together tell."""

import re

from ..backends import clusters, simgrid
from ..model import declarations, families, sites, transport


def file_problems(name):
    """All problems of a site; ValueError where there is no such site."""
    folder, wrong = sites.site_folder(name), []

    def attempt(label, check):
        try:
            wrong.extend(f"{label}: {text}" for text in check())
        except declarations.DeclarationError as err:
            wrong.extend(f"{label}: {text}" for text in err.problems)
        except (Exception, SystemExit) as err:  # whatever a site's file does must be said
            wrong.append(f"{label}: {' '.join(str(err).split()) or type(err).__name__}")

    attempt("reframe.py", lambda: system_problems(folder))
    attempt("mpis.yaml", lambda: families.of_site(folder) and [])
    for file in (name for name in sites.SCHEMAS if name != "mpis.yaml"):
        attempt(file, lambda file=file: MORE.get(file, lambda folder, data: [])(
            folder, sites.read(folder, file)))
    for path in sorted(folder.glob("platforms/*.yaml")):
        attempt(f"platforms/{path.name}", lambda path=path: platform_problems(path))
    return wrong


def system_problems(folder):
    system = sites.system(folder)
    try:
        known = families.of_site(folder, simulators=True, layers=True)
    except declarations.DeclarationError:  # said of its own file
        return []
    return [f"partition {partition['name']}: {line}" for partition in system["partitions"]
            for line in partition_problems(partition, known)]


def partition_problems(partition, known):
    """Names that are declared nowhere."""
    extras = partition.get("extras", {})
    wrong = [f"no MPI {mpi!r} is declared; there are {', '.join(known)}"
             for mpi in [*partition.get("environs", []), *extras.get("srun_mpi", {})]
             if mpi not in known]
    if extras.get("cluster", "") not in ("", *clusters.declared()):
        wrong.append(f"extras: no cluster {extras['cluster']!r}; there are "
                     f"{', '.join(clusters.declared())}")
    if "platform" in extras:
        try:
            simgrid.platform(extras["platform"])
        except simgrid.PlatformError as err:
            wrong.append(f"extras: {err}")
    return wrong


def placement_problems(folder, data):
    wrong = [] if "near" in data else ["no placement `near`, which every test uses by default"]
    for name, entry in data.items():
        cpus, hosts = entry.get("cpus"), entry.get("hosts")
        if isinstance(cpus, list) and isinstance(hosts, int) and hosts * len(cpus) < 2:
            wrong.append(f"{name}: has no room for 2 ranks; name a second core")
    return wrong


def scale_problems(folder, data):
    known = transport.load()
    return [f"transports: no transport {name!r} is declared; there are {', '.join(known)}"
            for name in data.get("transports", []) if name not in known]


def cluster_problems(folder, data):
    if not data or folder.name == clusters.SITE.name:
        return []
    return [f"is read by nothing: clusters are declared in {clusters.SITE.name}/clusters.yaml"]


def platform_problems(path):
    if path.parent.parent.name != simgrid.FOLDER.parent.name:
        return [f"is read by nothing: platforms are in {simgrid.FOLDER.parent.name}/platforms"]
    declarations.read(path, "platform")
    return []


def package_problems(folder, data):
    """Externals of another package than the one they stand under."""
    return [f"packages: {name}: an external needs a `spec` of {name}, not {external['spec']!r}"
            for name, entry in data.get("packages", {}).items()
            for external in entry.get("externals", [])
            if not re.match(rf"{re.escape(name)}(?![\w-])", external["spec"])]


#: What a file's schema cannot tell.
MORE = {"placements.yaml": placement_problems, "scale.yaml": scale_problems,
        "clusters.yaml": cluster_problems, "spack/packages.yaml": package_problems}
