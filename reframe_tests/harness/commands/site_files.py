# SPDX-License-Identifier: BSD-3-Clause
"""Finds errors in the files of a site, one line each: each file is checked against its schema, and
then several files against each other."""

import re

from ..backends import clusters, placements, simgrid
from ..model import binding, declarations, families, problems, sites, transport
from ..model.placement import PlacementError

try:
    from reframe.core import backends as registered
    from reframe.core.exceptions import ConfigError

    from ..backends import launchers
except ImportError:  # before `make stack`
    launchers = None

#: Known names, of which the nearest is suggested; a site may have names of its own.
SCHEDULERS = ("local", "slurm", "squeue", "pbs", "pbspro", "torque", "lsf", "flux", "sge", "oar",
              "ssh")
LAUNCHERS = ("local", "srun", "srunalloc", "mpirun", "mpirun-openmpi", "mpirun-intelmpi",
             "mpiexec", "ibrun", "lrun", "jsrun", "flux", "alps", "smpirun")


def is_registered(kind, name, folder):
    """Whether ReFrame knows a scheduler or launcher, or the site registers it; one whose library
    is missing is known."""
    if not launchers:
        return True
    launchers.register_of_site(folder)
    try:
        getattr(registered, f"get{kind}")(name)
    except ConfigError as err:
        return not str(err).startswith("no such")
    return True


def file_problems(name=None):
    """All problems in the files of a site; ValueError where there is no such site."""
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
    if not wrong:
        attempt("placements.yaml", lambda: core_problems(folder))
    for path in sorted(folder.glob("platforms/*.yaml")):
        attempt(f"platforms/{path.name}", lambda path=path: platform_problems(path))
    return wrong


def system_problems(folder):
    declared = sites.systems(folder)
    try:
        known = families.of_site(folder, simulators=True, layers=True)
    except declarations.DeclarationError:  # said of its own file
        return []
    return [f"partition {partition['name']}: {line}"
            for system in declared for partition in system["partitions"]
            for line in partition_problems(partition, known, folder)]


def partition_problems(partition, known, folder):
    """Names that are declared nowhere."""
    extras = partition.get("extras", {})
    wrong = [f"no MPI {mpi!r} is declared; {problems.there_are(mpi, known)}"
             for mpi in [*partition.get("environs", []), *extras.get("srun_mpi", {})]
             if mpi not in known]
    wrong += [f"no {kind} {partition[kind]!r} is registered with ReFrame"
              f"{problems.nearest(partition[kind], there)}"
              for kind, there in (("scheduler", SCHEDULERS), ("launcher", LAUNCHERS))
              if not is_registered(kind, partition[kind], folder)]
    if not wrong and not binding.kind_of(partition["launcher"], extras):
        wrong.append(f"launcher {partition['launcher']!r}: no options are known that place ranks "
                     f"on cores; declare `binding` in extras ({', '.join(binding.KINDS)})")
    if extras.get("cluster", "") not in ("", *clusters.declared()):
        wrong.append(f"extras: no cluster {extras['cluster']!r}; "
                     f"{problems.there_are(extras['cluster'], clusters.declared())}")
    if "platform" in extras:
        try:
            simgrid.platform(extras["platform"])
        except PlacementError as err:
            wrong.append(f"extras: {err}")
    return wrong


def placement_problems(folder, data):
    wrong = [] if "near" in data else ["no placement `near`, which every test uses by default"]
    for name, entry in data.items():
        cpus, hosts = entry.get("cpus"), entry.get("hosts")
        if isinstance(cpus, list) and isinstance(hosts, int) and hosts * len(cpus) < 2:
            wrong.append(f"{name}: has no room for 2 ranks; name a second core")
    return wrong


def core_problems(folder):
    """Cores in lists that the nodes of a partition do not have."""
    for partition in [p for one in sites.systems(folder) for p in one["partitions"]]:
        nodes = placements.Nodes(partition["name"], partition.get("extras", {}),
                                 partition["scheduler"] == "local", folder.name)
        for name in placements.names(folder.name):
            try:
                nodes.check_cores(nodes.get(name))
            except PlacementError as err:
                yield f"partition {partition['name']}: {err}"


def scale_problems(folder, data):
    known = transport.load()
    return [f"transports: no transport {name!r} is declared; {problems.there_are(name, known)}"
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
    """Externals of another package than the one they stand under, or declared twice."""
    packages, path = data.get("packages", {}), folder / "spack/mpis.yaml"
    listed = declarations.parse(path)["packages"] if path.exists() else {}
    return [*(f"packages: {name}: an external needs a `spec` of {name}, not {external['spec']!r}"
              for name, entry in packages.items() for external in entry.get("externals", [])
              if not re.match(rf"{re.escape(name)}(?![\w-])", external["spec"])),
            *(f"packages: {name}: remove the externals, which follow from mpis.yaml"
              for name in packages if name in listed and "externals" in packages[name])]


def unbuilt(folder, stack):
    """Installations that the site lists in `mpis.yaml` and for which nothing was built."""
    return [f"{folder}/mpis.yaml: {name} is not built in {stack}; run `COTEJO_SITE={folder.name} "
            "make build`" for name, family in families.of_site(folder).items()
            if family.installation.apart(stack) and not family.installed(stack)]


#: Checks that the schema of a file cannot express.
MORE = {"placements.yaml": placement_problems, "scale.yaml": scale_problems,
        "clusters.yaml": cluster_problems, "spack/packages.yaml": package_problems}
