# SPDX-License-Identifier: BSD-3-Clause
"""Checks a site: its files, then one short launch per placement and MPI; one line each."""

import argparse
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile

import yaml

from . import families, placements, scales, sessions


def file_problems(name):
    """What is wrong in the files of a site, one line each."""
    folder, wrong = sessions.site_folder(name), []

    def attempt(label, check):
        try:
            wrong.extend(f"{label}: {text}" for text in check() or [])
        except Exception as err:  # whatever a site's file does must be said, not raised
            wrong.append(f"{label}: {' '.join(str(err).split()) or type(err).__name__}")

    def packages():
        path = folder / "spack/packages.yaml"
        data = yaml.safe_load(path.read_text()) if path.exists() else {"packages": {}}
        return [] if isinstance(data, dict) and "packages" in data else ["no `packages:` in it"]

    def references():
        path = folder / "references.json"
        if path.exists():
            sessions.read_json(path)

    attempt("reframe.py", lambda: system_problems(name, folder))
    attempt("placements.yaml", lambda: [] if "near" in placements.declared(name)
            else ["no placement `near`, which every test uses by default"])
    attempt("scale.yaml", lambda: scale_problems(folder))
    attempt("spack/packages.yaml", packages)
    attempt("references.json", references)
    return wrong


def system_problems(name, folder):
    found = runpy.run_path(str(folder / "reframe.py"))["site_configuration"]["systems"]
    wrong = [] if [s["name"] for s in found] == [name] else [
        f"the one system must be called {name!r}, after the folder"]
    known = families.load(simulators=True)
    for partition in found[0]["partitions"]:
        at = f"partition {partition['name']}"
        if partition["launcher"] not in ("mpirun", "srun", "smpirun"):
            wrong.append(f"{at}: launcher {partition['launcher']!r}: use mpirun or srun")
        wrong += [f"{at}: no MPI {mpi!r} is declared; there are {', '.join(known)}"
                  for mpi in partition.get("environs", []) if mpi not in known]
        if partition["launcher"] == "srun" and "srun_mpi" not in partition.get("extras", {}):
            wrong.append(f"{at}: extras must say `srun_mpi` for each MPI (docs/sites.md)")
    return wrong


def scale_problems(folder):
    path = folder / "scale.yaml"
    data = yaml.safe_load(path.read_text()) if path.exists() else {}
    return [f"unknown scale {scale!r}; there are {', '.join(scales.LAUNCHES)}"
            for scale in data.get("launches", {}) if scale not in scales.LAUNCHES]


def launch(name):
    """Runs the placements' launches; yields (true where good, line)."""
    reframe = families.stack_prefix() / "tools/bin/reframe"
    with tempfile.TemporaryDirectory(prefix="cotejo-check-") as results:
        done = subprocess.run(
            [str(reframe), "-r", "-n", "placement_check|simulated_pingpong_smoke"], text=True,
            capture_output=True,
            env={**os.environ, "COTEJO_SITE": name, "COTEJO_RESULTS": results,
                 "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py")})
        records = [sessions.read_json(p) for p in sorted(pathlib.Path(results).glob("*/*/*.json"))]
        for record in records:
            asked = record["asked"]
            what = " ".join([asked["partition"], asked["placement"], asked["mpi"],
                             asked["transport"]])
            yield record["status"] == "ok", f"{what}: {record['reason'] or 'ok'}"
        for place, why in re.findall(r"SKIP.*%placement=(\S+).*\[(.*)\]", done.stdout):
            yield True, f"{place}: left out: {why}"
        if not records:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            yield False, f"no launch ran: {' '.join(last)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    name = parser.parse_args().name
    try:
        wrong = file_problems(name)
    except ValueError as err:
        return f"site: {err}"
    for line in wrong:
        print(f"site: {name}: wrong: {line}")
    if wrong:
        return 1
    print(f"site: {name}: files are sound")
    lines = list(dict.fromkeys(launch(name)))
    for good, line in lines:
        print(f"site: {name}: {'' if good else 'wrong: '}{line}", flush=True)
    return 0 if all(good for good, _ in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
