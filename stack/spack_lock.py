# SPDX-License-Identifier: BSD-3-Clause
"""Says whether an installed Spack environment follows from the present files of its site.

Spack uses a `spack.lock` that is there, even if the site's files have changed since. Preferences
(`variants`, `target`) are not compared, because Spack may decide against them.
"""

import hashlib
import json
import os
import pathlib
import re

from reframe_tests.harness.model import places_of_sites

from . import spack_specs

try:
    import yaml
except ImportError:  # ReFrame's Python has it; another Python compares names and sums alone
    yaml = None

REPO = pathlib.Path(__file__).resolve().parent.parent


def folder_of(name):
    """The folder of a site, where ReFrame looks for it."""
    places = places_of_sites()
    return next((place / name for place in places if (place / name).exists()), places[0] / name)


def other_site(tools, site):
    """Why the environment is of another site than COTEJO_SITE, or ''; both must name a site, if
    the site has a file of packages."""
    packages = site / "spack/packages.yaml"
    try:
        nodes = json.loads((tools / ".spack/cotejo/spec.json").read_text())["spec"]["nodes"]
        text = packages.read_text() if packages.exists() else None
    except OSError:
        return ""
    installed = nodes[0]["parameters"].get("site", "none")
    if text is None and installed != "none":
        return (f"the packages of site {installed} are installed, and {packages} is missing; "
                "write it")
    found = re.search(r"\bsite=([\w-]+)", text or "")
    if not found or installed in ("none", found[1]):
        return ""
    return (f"COTEJO_SITE={site.name} takes the packages of site {found[1]}, but those of "
            f"{installed} are installed")


def old_file(site):
    """Why Spack's file of the site's MPI libraries does not follow from mpis.yaml, or ''. Clones
    may share a folder of sites, but the file names the clone that gets the views."""
    listed, written = site / "mpis.yaml", site / "spack/mpis.yaml"
    if listed.exists():
        digest = hashlib.sha256(listed.read_bytes()).hexdigest()
        text = written.read_text() if written.exists() else ""
        clones = {os.path.realpath(written.parent / clone) for clone in
                  re.findall(r"root: '?(.+)/\.spack-env/mpi/", text)}
        if digest in text and clones <= {str(REPO)}:
            return ""
        if digest in text:
            return f"{written} is for the views of {min(clones)}"
    elif not written.exists():
        return ""
    return f"{written} does not follow from {listed}"


def words(spec):
    """A spec as a set, since Spack writes variants and their values in an order of its own."""
    return frozenset(frozenset(re.split("[=,]", part)) for part in
                     [re.match(r"[\w-]*", spec)[0], *spack_specs.PART.findall(spec)])


def libraries(data):
    """The specs of MPI libraries in the definitions of a file of Spack."""
    return [spec for name in ("definitions", "definitions:") for one in data.get(name) or ()
            for spec in one.get("mpis", ())]


def satisfies(node, constraint):
    """False if a package in spack.lock contradicts a version, variant or target of its own."""
    for part in spack_specs.PART.findall(re.split("[%^]", constraint)[0]):
        key, equals, value = part.partition("=")
        target = node["arch"]["target"]
        have = {**node["parameters"],
                "target": target if isinstance(target, str) else target["name"]}
        if part[0] == "@":
            good = spack_specs.versions_meet(part[1:], f"={node['version']}")
        elif part[0] in "+~":
            good = have.get(part[1:], part[0] == "+") is (part[0] == "+")
        elif (key := key.rstrip(":")) in have and re.fullmatch(r"[\w,.-]+", value):
            there = have[key] if isinstance(have[key], list) else [have[key]]
            good = {*value.lower().split(",")} <= {str(one).lower() for one in there}
        else:
            good = True
        if not good:
            return False
    return True


def contradicts(node, listed, everywhere, elsewhere):
    """Whether a package in spack.lock is not as the site's files require it."""
    place = node.get("external") or {}
    mine = any(satisfies(node, one["spec"].partition(" ")[0])
               and (place.get("path") == os.path.expandvars(one.get("prefix", "")).rstrip("/")
                    or {*one.get("modules", ())} & {*(place.get("module") or ())})
               for one in listed.get("externals", ()))
    users = place.get("path") and place["path"] in elsewhere
    if listed.get("buildable") is False and not mine and not users:
        return True
    required = listed.get("require", everywhere)
    return not place and not all(
        satisfies(node, one) for one in ([required] if isinstance(required, str) else required)
        if isinstance(one, str))


def other_externals(environment):
    """The files in which Spack also finds externals, as text."""
    user = os.environ.get("SPACK_USER_CONFIG_PATH", os.path.expanduser("~/.spack"))
    places = (user, "/etc/spack", os.path.join(os.environ.get("SPACK_ROOT", "/"), "etc/spack"))
    return "".join(path.read_text() for path in [
        environment / "spack.yaml", *(pathlib.Path(one, "packages.yaml") for one in places)]
        if path.exists())


def merged(own, mpis):
    """The packages of both files; Spack joins the lists of externals."""
    packages = dict(own.get("packages") or {})
    for name, entry in (mpis.get("packages") or {}).items():
        before = packages.get(name, {})
        packages[name] = {**entry, **before, "externals": [*before.get("externals", ()),
                                                           *entry.get("externals", ())]}
    return packages


def is_older(environment, lock, names):
    """Whether a view has another build than spack.lock."""
    records = [environment / ".spack-env/tools/.spack/cotejo/spec.json",
               *(environment / f".spack-env/mpi/{name}/.spack/cotejo-bench/spec.json"
                 for name in names)]
    return any(json.loads(path.read_text())["spec"]["nodes"][0]["hash"]
               not in lock["concrete_specs"] for path in records if path.exists())


def changed(environment, site):
    """Why spack.lock does not follow from the site's files, or the views from it, with the
    commands, or ''."""
    mine = site / "spack/mpis.yaml"
    try:
        lock = json.loads((environment / "spack.lock").read_text())
        own, mpis, checkout = (yaml.safe_load(path.read_text()) or {} for path in (
            site / "spack/packages.yaml",
            mine if mine.exists() else environment / "spack_repo/mpis.yaml",
            environment / "spack.yaml"))
    except (OSError, yaml.YAMLError):
        return ""
    built = [root["spec"].partition("^")[2] for root in lock["roots"]
             if root["spec"].startswith("cotejo-bench ")]
    listed, added = libraries(mpis), libraries(checkout["spack"])
    added += [one.partition("^")[2] for one in checkout["spack"]["specs"] if isinstance(one, str)]
    known, locked = ({*map(words, specs)} for specs in (listed + added, built))
    packages, elsewhere = merged(own, mpis), other_externals(environment)
    everywhere = (packages.get("all") or {}).get("require", [])
    complete = any("$^mpis" in str(one) for one in checkout["spack"]["specs"])
    differs = [*(spec for spec in listed if complete and words(spec) not in locked),
               *(spec for spec in built if words(spec) not in known),
               *(f"{node['name']}@{node['version']}" for node in lock["concrete_specs"].values()
                 if contradicts(node, packages.get(node["name"], {}), everywhere, elsewhere))]
    if differs:
        return (f"the files of site {site.name} have changed since `spack install` "
                f"({differs[0]}); run `{commands(environment, site)}`")
    if is_older(environment, lock, mpis.get("view:", mpis.get("view", ()))):
        return ("the packages of spack.lock are not installed; run "
                f"`spack -e {environment} install`")
    return ""


def commands(environment, site):
    """The commands that install the site's packages. Spack looks for sites in one folder only."""
    known = os.environ.get("COTEJO_SITES") or site.parent == REPO / "site_configs"
    return (("" if known else f"export COTEJO_SITES={site.parent} && ")
            + f"spack -e {environment} concretize --force --fresh-roots && "
              f"spack -e {environment} install")


def outdated(environment):
    """Why the environment does not follow from the site's files, with the commands, or ''."""
    site = folder_of(os.environ.get("COTEJO_SITE", "local"))
    again = commands(environment, site)
    if why := other_site(environment / ".spack-env/tools", site):
        return f"{why}; run `{again}`"
    if why := old_file(site):
        return f"{why}; run `cd {REPO} && python3 -m stack.spack_environments && {again}`"
    return changed(environment, site) if yaml else ""
