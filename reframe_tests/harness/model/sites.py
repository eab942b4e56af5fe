# SPDX-License-Identifier: BSD-3-Clause
"""Sites: which one is measured on, and the files of its folder, read and checked."""

import collections
import json
import os
import re
import runpy
import socket

from . import ROOTS, declarations, places_of_sites, problems

#: File of a site -> its schema; `platforms/*.yaml` are `platform`.
SCHEMAS = {"mpis.yaml": "mpis", "placements.yaml": "placements", "scale.yaml": "scale",
           "clusters.yaml": "clusters",
           "spack/packages.yaml": "packages", "references.json": "references"}


def site_name():
    return os.environ.get("COTEJO_SITE", "local")


def site_folder(name=None):
    """The folder of a site; ValueError names the sites there are."""
    places, name = places_of_sites(ROOTS), name or site_name()
    for place in places:
        if (place / name / "reframe.py").exists():
            return place / name
    known = sorted(p.parent.name for place in places for p in place.glob("*/reframe.py"))
    name = (places[0] / name).name
    raise ValueError(f"COTEJO_SITE={name}: no {places[0].name}/{name}/reframe.py; "
                     f"the sites are {', '.join(known)}{problems.nearest(name, known)}")


def systems(folder):
    """The systems that a site's reframe.py declares, with their partitions."""
    path = folder / "reframe.py"
    try:
        data = runpy.run_path(str(path)).get("site_configuration")
    except SystemExit as err:
        wrong = [" ".join(f"{err}".split()) or "SystemExit"]
    except Exception as err:  # it is a program: anything may be wrong with it
        reason = " ".join(str(err).split())
        wrong = [f"not valid Python: {type(err).__name__}: {reason}"]
    else:
        wrong = declarations.problems(data, "site") or [*_misnamed(data["systems"], folder)]
    if wrong:
        raise declarations.DeclarationError(path, wrong)
    return data["systems"]


def _misnamed(found, folder):
    """The errors in the names of the systems of a site, one line each."""
    places = collections.Counter()
    for one in found:
        if one["name"] != folder.name and not (
                len(found) > 1 and one["name"].startswith(f"{folder.name}-")):
            yield (f"system {one['name']!r} must be called {folder.name!r}, after the folder (one "
                   f"of several: {folder.name}-SUFFIX)")
        places.update(["system " + one["name"], *(p["name"] for p in one["partitions"])])
        for text in one["hostnames"]:
            try:
                re.compile(text)
            except re.error as err:
                yield f"hostnames: {text!r} is no regular expression: {err}"
    # Results and topologies of a site are named by partitions alone.
    for name in (name for name, number in places.items() if number > 1):
        yield (f"two are called {name!r}; give each system and partition of a site a name of its "
               "own")


def system(folder):
    """The one of a site's systems that is measured: `COTEJO_SYSTEM`, or the first for this host
    by `hostnames`, as ReFrame chooses it."""
    found, host = systems(folder), socket.gethostname()
    wanted = os.environ.get("COTEJO_SYSTEM")
    fitting = [one for one in found if (
        one["name"] == wanted if wanted else
        len(found) == 1 or any(re.match(text, host) for text in one["hostnames"]))]
    if not fitting:
        known = [one["name"] for one in found]
        raise declarations.DeclarationError(folder / "reframe.py", [
            f"no system {wanted!r}; {problems.there_are(wanted, known)}" if wanted else
            f"no system is for host {host!r}; set COTEJO_SYSTEM to one of {', '.join(known)}"])
    # ReFrame asks the host once more.
    return {**fitting[0], "hostnames": [".*"]} if wanted else fitting[0]


def system_name():
    """ReFrame's name of the system that is measured, on the site in use."""
    return system(site_folder())["name"]


def read(folder, file):
    """The content of a file of a site; {} if the file is missing or empty."""
    path = folder / file
    if not path.exists():
        return {}
    if path.suffix == ".json":
        try:
            data = json.loads(path.read_text())
        except (ValueError, RecursionError) as err:
            raise declarations.DeclarationError(path, [f"not JSON: {err}"]) from None
    else:
        data = declarations.parse(path)
    if data is None and file != "placements.yaml":
        data = {}
    if wrong := declarations.problems(data, SCHEMAS[file]):
        raise declarations.DeclarationError(path, wrong)
    return with_environment_names(data, path) if file == "mpis.yaml" else data


def environment_name(name):
    """The name of an installation in ReFrame and in names of cells, which have no dot."""
    return name.replace(".", "-")


def with_environment_names(listed, path):
    """The entries of a file of installations by their names in ReFrame."""
    found = {environment_name(name): entry for name, entry in listed.items()}
    if len(found) < len(listed):
        raise declarations.DeclarationError(
            path, ["two names differ in a dot only, which ReFrame does not allow in names"])
    return {name: {**entry, "like": environment_name(entry["like"])} if "like" in entry else entry
            for name, entry in found.items()}


def bounds(name=None):
    """The site's `scale.yaml` (optional): `launches` by scale, `largest` message in B,
    `transports` that are compared."""
    return read(site_folder(name), "scale.yaml")


def transports():
    """Transports that are compared on this site: `transports` of its `scale.yaml`."""
    return bounds().get("transports", ["shm", "tcp"])
