# SPDX-License-Identifier: BSD-3-Clause
"""Installs releases of one MPI library from locked wheels, and builds, verifies and audits them.

`python3 -m stack.releases lock NAME` writes requirements/releases/NAME.txt: all releases of the
packages in requirements/NAME.in, one line for each wheel with its hash.
"""

import argparse
import hashlib
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import yaml

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from reframe_tests.harness.model.family import release_of
from stack import build, verify, wheels

LOCKS = wheels.LOCKS / "releases"
LINE = re.compile(r"([A-Za-z0-9_-]+)==([0-9][0-9.]*) --hash=sha256:([0-9a-f]{64})")


def family_name(name, version):
    """The name of a release's family, without dots, which separate the parts of file names."""
    return f"{name}-{version.replace('.', '-')}"


def order(version):
    return tuple(map(int, version.split(".")))


def packages(name):
    """The packages that an MPI library consists of, from its lock."""
    path = wheels.LOCKS / f"{name}.in"
    if not path.exists():
        known = sorted(p.stem for p in wheels.LOCKS.glob("*.in")
                       if p.stem in families.load())
        raise ValueError(f"MPI={name}: no wheels of it are known; there are {', '.join(known)}")
    return [line.partition("==")[0] for line in path.read_text().split()]


def locked(name):
    """The locked releases: version -> lines of the lock, oldest first."""
    packages(name)
    path, found = LOCKS / f"{name}.txt", {}
    if not path.exists():
        raise ValueError(f"{path}: not there; `python3 -m stack.releases lock {name}` writes it")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            match = LINE.fullmatch(line)
            if not match:
                raise ValueError(f"{path}:{number}: {line[:60]!r} is not NAME==VERSION "
                                 "--hash=sha256:...")
            found.setdefault(match[2], []).append(line)
    return dict(sorted(found.items(), key=lambda item: order(item[0])))


def chosen(name, first="", last=""):
    """The versions from `first` to `last`, oldest first; ValueError lists the available ones."""
    known = list(locked(name))
    for version in filter(None, (first, last)):
        if version not in known:
            raise ValueError(f"{name} {version} is not locked; there are {', '.join(known)}")
    found = [v for v in known if (not first or order(v) >= order(first))
             and (not last or order(v) <= order(last))]
    if len(found) < 2:
        raise ValueError(f"{name}: two releases are needed, FROM and TO leave {len(found)}")
    return found


def ask(*words):
    python = families.stack_prefix() / "tools/bin/python"
    done = subprocess.run([str(python), "-m", "pip", *words], text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"pip {' '.join(words[:3])}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def lock(name):
    """Writes the lock: every final release of each package for this processor."""
    parts = packages(name)
    known = [{version for version in re.search(
        r"Available versions: (.*)", ask("index", "versions", part))[1].split(", ")
        if re.fullmatch(r"[0-9.]+", version)} for part in parts]
    lines = []
    for version in sorted(set.intersection(*known) - {"0.0.0"}, key=order):
        try:
            entries = [json.loads(ask(
                "install", "-q", "--dry-run", "--no-deps", "--ignore-installed", "--only-binary",
                ":all:", "--report", "-", f"{part}=={version}"))["install"][0] for part in parts]
        except RuntimeError as err:
            print(f"stack: left out: {name} {version}: {err}", flush=True)
            continue
        for part, entry in zip(parts, entries, strict=True):
            digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
            lines.append(f"{part}=={version} --hash=sha256:{digest}")
    LOCKS.mkdir(exist_ok=True)
    head = f"# Written by `python3 -m stack.releases lock {name}`; wheels for {machine()}.\n"
    removal.write_whole(LOCKS / f"{name}.txt", head + "\n".join(lines) + "\n")


def machine():
    return f"{platform.system()} {platform.machine()}"


def shade(share):
    """A colour from blue to orange."""
    ends = ((0x00, 0x4C, 0x97), (0xE6, 0x7E, 0x00))
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in zip(*ends, strict=True))


def declare(stack, name, versions):
    """The file that declares the releases as families (`COTEJO_MPIS`)."""
    family, found = families.load()[name], {}
    for number, version in enumerate(versions):
        found[family_name(name, version)] = {
            **release_of(family.releases, version), "like": name,
            "title": f"{family.title} {version}", "order": number + 1,
            "colour": shade(number / (len(versions) - 1)), "releases": {}}
    path = stack / "releases" / f"{name}-{versions[0]}-{versions[-1]}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    removal.write_whole(path, yaml.safe_dump(found, sort_keys=False))
    return path


def install(stack, name, version):
    lines = locked(name)[version]
    stamp = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(line.replace(" --hash", " \\\n    --hash") for line in lines) + "\n")
        file.flush()
        wheels.install_locked(stack, family_name(name, version), pathlib.Path(file.name), stamp)
    return stamp


def prepare(stack, name, versions):
    """Installs, builds, verifies and audits releases; returns the families and the audit.

    A release that does not compile or run on this machine is left out with a message."""
    path, sound, records = declare(stack, name, versions), {}, []
    declared = families.declared_in(path)
    for version in versions:
        family = declared[family_name(name, version)]
        stamp = install(stack, name, version)
        try:
            build.build_benchmarks(family, stack, [])
            with tempfile.TemporaryDirectory() as folder:
                seen = verify.check(family, stack, pathlib.Path(folder))
            if seen != version and not seen.startswith(f"{version}."):
                sys.exit(f"{family.title} reports version {seen}")
            records += [*verify.audit(family, stack, seen),
                        {"mpi": family.name, "item": "lock of the wheels", "value": stamp}]
        except SystemExit as err:
            print(f"stack: left out: {family.title}: {err}", flush=True)
            continue
        sound[version] = family
        print(f"stack: {family.title} compiles and runs 2 ranks", flush=True)
    if len(sound) < 2:
        raise RuntimeError(f"{len(sound)} releases of {name} run here; two are needed")
    if len(sound) < len(versions):
        path = declare(stack, name, list(sound))
    return path, records


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["lock"])
    parser.add_argument("name", help="an MPI with a file in requirements/")
    args = parser.parse_args()
    try:
        lock(args.name)
    except (ValueError, RuntimeError) as err:
        return f"stack: {err}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
