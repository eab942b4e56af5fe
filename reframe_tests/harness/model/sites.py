# SPDX-License-Identifier: BSD-3-Clause
"""Sites: which one is measured on, and the files of its folder, read and checked."""

import json
import os
import pathlib
import runpy

from . import ROOTS, declarations, names

#: File of a site -> its schema; `platforms/*.yaml` are `platform`.
SCHEMAS = {"mpis.yaml": "mpis", "placements.yaml": "placements", "scale.yaml": "scale",
           "clusters.yaml": "clusters",
           "spack/packages.yaml": "packages", "references.json": "references"}



def site_name():
    return os.environ.get("COTEJO_SITE", "local")


def site_folder(name=None):
    """The folder of a site; ValueError names the sites there are."""
    given, name = os.environ.get("COTEJO_SITES"), name or site_name()
    places = [pathlib.Path(given)] if given else [root / "site_configs" for root in ROOTS]
    for place in places:
        if (place / name / "reframe.py").exists():
            return place / name
    known = sorted(p.parent.name for place in places for p in place.glob("*/reframe.py"))
    name = (places[0] / name).name
    raise ValueError(f"COTEJO_SITE={name}: no {places[0].name}/{name}/reframe.py; "
                     f"the sites are {', '.join(known)}{names.nearest(name, known)}")


def system(folder):
    """The system that a site's reframe.py declares, with its partitions."""
    path = folder / "reframe.py"
    try:
        data = runpy.run_path(str(path)).get("site_configuration")
    except SystemExit as err:
        raise declarations.DeclarationError(path, [" ".join(f"{err}".split()) or "SystemExit"]) \
            from None
    except Exception as err:  # it is a program: anything may be wrong with it
        reason = " ".join(str(err).split())
        raise declarations.DeclarationError(
            path, [f"not valid Python: {type(err).__name__}: {reason}"]) from None
    if wrong := declarations.problems(data, "site"):
        raise declarations.DeclarationError(path, wrong)
    (found,) = data["systems"]
    if found["name"] != folder.name:
        raise declarations.DeclarationError(
            path, [f"the one system must be called {folder.name!r}, after the folder"])
    return found


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
        if file == "spack/packages.yaml":
            raise declarations.DeclarationError(path, ["lacks `packages`"])
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
