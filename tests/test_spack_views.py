# SPDX-License-Identifier: BSD-3-Clause
"""Installations of Spack are completed to a stack, here on views like Spack's."""

import json
import os
import re
import subprocess
import sys

import pytest

from reframe_tests.harness.model import installation
from stack import split_prefix
from tests.spack_files import REPO


def program(path, words="real"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho {words} "$@"\n')
    path.chmod(0o755)


@pytest.fixture
def environment(tmp_path):
    """An environment whose view `some` has benchmarks on an MPI; gives its folders."""
    view = tmp_path / "env/.spack-env/mpi/some"
    program(view / "bin/cotejo")
    program(view / "bin/cotejo-guard")
    (view / "lib").mkdir()
    (view / "lib/libcotejo_observe.so").touch()

    def record(external, version="5.0.1"):
        nodes = [{"name": "cotejo-bench", "hash": "a", "dependencies": [
                     {"hash": "b", "parameters": {"virtuals": ["c"]}},
                     {"hash": "d", "parameters": {"virtuals": ["mpi"]}}]},
                 {"name": "gcc", "hash": "b", "version": "12"},
                 {"name": "some", "hash": "d", "version": version,
                  "external": {"path": str(external)} if external else None}]
        path = view / ".spack/cotejo-bench/spec.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"spec": {"nodes": nodes}}))
        return view
    return record


def complete(view, **variables):
    folder = view.parents[2]
    return subprocess.run([sys.executable, REPO / "stack/spack_complete.py", folder],
                          text=True, capture_output=True, cwd="/", env={**os.environ, **variables})


def write_site(variables):
    write = [sys.executable, "-c", "from stack import spack_environments; from reframe_tests.harn"
             "ess.model import sites; spack_environments.write_site(sites.site_folder())"]
    subprocess.run(write, cwd=REPO, env={**os.environ, **variables}, check=True)


def an_mpi(folder):
    for name in ("mpicc", "mpirun", "hydra_proxy"):
        program(folder / "bin" / name, f"{name} real")
    (folder / "lib").mkdir()
    (folder / "lib/libmpi.so").touch()
    (folder / "etc").mkdir()
    return folder


@pytest.mark.parametrize("layout", ["", "mpi/5.0", "mpi/latest"])
def test_external_mpi_is_added_to_its_view(environment, tmp_path, layout):
    home = an_mpi(tmp_path / "opt" / layout)
    view = environment(tmp_path / "opt")
    assert complete(view).returncode == 0
    said = subprocess.run([view / "bin/mpirun", "-np", "2 3"], text=True, capture_output=True)
    assert said.stdout == "mpirun real -np 2 3\n"
    assert (view / "bin/hydra_proxy").exists()
    assert (view / "lib/libmpi.so").resolve() == home / "lib/libmpi.so"
    assert (view / "lib/libcotejo_observe.so").exists(), "what Spack put there stays"


def test_mpi_below_the_prefix_of_a_view_is_added(environment):
    view = environment(None)
    an_mpi(view / "mpi/5.0")
    assert complete(view).returncode == 0
    assert (view / "bin/mpirun").exists()
    assert (view / "lib/libmpi.so").exists()


def test_second_completion_changes_nothing(environment, tmp_path):
    an_mpi(tmp_path / "opt")
    view = environment(tmp_path / "opt")

    def state():
        return {p: p.lstat().st_mtime_ns for p in view.rglob("*")}
    complete(view)
    before = state()
    assert complete(view).returncode == 0
    assert state() == before


def test_prefix_without_an_mpi_is_one_clear_line(environment, tmp_path):
    view = environment(tmp_path / "nowhere")
    done = complete(view)
    assert done.returncode == 1
    assert re.fullmatch(r"spack: some: no bin/mpicc in \S*/nowhere .* right\?\n", done.stderr)
    assert not (view / "bin/mpicc").exists()


def test_environment_that_is_not_installed_is_one_clear_line(tmp_path):
    done = complete(tmp_path / "a/b/c")
    assert done.returncode == 1
    assert "run `spack install`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_environment_of_another_site_is_named(environment, tmp_path):
    view = environment(an_mpi(tmp_path / "opt"))
    record = view.parents[1] / "tools/.spack/cotejo/spec.json"
    record.parent.mkdir(parents=True)
    for installed, wrong in (("local", False), ("none", False), ("x", True)):
        record.write_text(json.dumps({"spec": {"nodes": [{"parameters": {"site": installed}}]}}))
        done = complete(view, COTEJO_SITE="simulated")  # which has the packages of `local`
        assert done.returncode == 0
        assert done.stderr.startswith("spack: COTEJO_SITE=simulated takes the packages of site "
                                      "local, but those of x are installed; run") is wrong
        assert bool(done.stderr) is wrong


def test_an_environment_under_a_site_that_spack_does_not_know_is_named(environment, tmp_path):
    """A site that only ReFrame knows, and one that Spack finds by COTEJO_SITES alone."""
    view = environment(an_mpi(tmp_path / "opt"))
    record = view.parents[1] / "tools/.spack/cotejo/spec.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"spec": {"nodes": [{"parameters": {"site": "local"}}]}}))
    site = tmp_path / "sites/mine"
    site.mkdir(parents=True)
    said = complete(view, COTEJO_SITES=str(tmp_path / "sites"), COTEJO_SITE="mine").stderr
    assert said.startswith("spack: the packages of site local are installed, and "
                           f"{site}/spack/packages.yaml is missing; write it; run `spack -e ")
    said = complete(view, COTEJO_SITES="", COTEJO_SITE="uml-llc").stderr
    assert said.startswith("spack: COTEJO_SITE=uml-llc takes the packages of site uml-llc, but "
                           "those of local are installed; run `export COTEJO_SITES="
                           f"{REPO}/archaeology/site_configs && spack -e ")


def test_a_file_for_spack_that_does_not_follow_from_the_site_is_named(environment, tmp_path):
    view, site = environment(an_mpi(tmp_path / "opt")), tmp_path / "sites/mine"
    site.mkdir(parents=True)
    variables = {"COTEJO_SITES": str(tmp_path / "sites"), "COTEJO_SITE": "mine"}
    assert complete(view, **variables).stderr == ""
    (site / "reframe.py").touch()
    (site / "mpis.yaml").write_text("mpich: {home: /opt/mpich, version: '4.3'}\n")
    line = "mpis.yaml; run `cd "
    assert line in complete(view, **variables).stderr
    write_site(variables)
    assert complete(view, **variables).stderr == ""
    (site / "mpis.yaml").write_text("mpich: {home: /opt/mpich, version: '4.2'}\n")
    assert line in complete(view, **variables).stderr
    (site / "mpis.yaml").unlink()
    assert line in complete(view, **variables).stderr


def test_a_file_for_spack_that_another_clone_wrote_is_named(environment, tmp_path):
    """Spack would put the MPI libraries into the views of that clone, without a word."""
    view, site = environment(an_mpi(tmp_path / "opt")), tmp_path / "sites/mine"
    (site / "spack").mkdir(parents=True)
    variables = {"COTEJO_SITES": str(tmp_path / "sites"), "COTEJO_SITE": "mine"}
    (site / "reframe.py").touch()
    (site / "mpis.yaml").write_text("mpich: {home: /opt/mpich, version: '4.3'}\n")
    write_site(variables)
    assert complete(view, **variables).stderr == ""
    made = site / "spack/mpis.yaml"
    made.write_text(made.read_text().replace(str(REPO), "/another/clone"))
    assert complete(view, **variables).stderr.startswith(
        f"spack: {made} is for the views of /another/clone; run `cd {REPO} && python3 -m stack."
        "spack_environments && spack -e ")


PACKAGES = """packages:
  all: {require: [target=x86_64_v3]}
  cmake: {buildable: false, externals: [{spec: cmake@3.25, prefix: /usr}]}
  slurm: {buildable: false, externals: [{spec: slurm@23, modules: [slurm/23]}]}
  mpich: {require: [target=x86_64_v3, +slurm, fabrics=ofi]}
"""
LISTED = """openmpi: {home: /opt/openmpi, version: "5.0.7", spack: openmpi@5.0.7 +cxx fabrics=ofi}
mpich: {spack: "mpich@4.3"}
"""


def node(name, version, external=None, module=None, **parameters):
    place = {"path": external, "module": module} if external else None
    return {"name": name, "version": version, "external": place, "parameters": parameters,
            "arch": {"target": {"name": "x86_64_v3"}}}


@pytest.fixture
def installed(environment, tmp_path):
    """A view on an environment that was concretized for the site `mine`; Spack writes the lock."""
    view = environment(an_mpi(tmp_path / "opt"))
    site, folder = tmp_path / "sites/mine", view.parents[2]
    (site / "spack").mkdir(parents=True)
    (site / "reframe.py").touch()
    (site / "mpis.yaml").write_text(LISTED)
    (site / "spack/packages.yaml").write_text(PACKAGES)
    (folder / "spack.yaml").write_text((REPO / "spack.yaml").read_text())
    nodes = {"a": node("cotejo", "main", site="none"), "b": node("cotejo-bench", "main"),
             "c": node("openmpi", "5.0.7", "/opt/openmpi", fabrics=["ofi"], cxx=True),
             "d": node("mpich", "4.3.0", slurm=True, fabrics=["ofi", "ucx"]),
             "e": node("cmake", "3.25", "/usr"), "f": node("slurm", "23", "/opt/s", ["slurm/23"])}
    roots = ["cotejo", "cotejo-bench ^mpich@4.3", "cotejo-bench ^openmpi@=5.0.7+cxx fabrics=ofi"]
    (folder / "spack.lock").write_text(json.dumps({
        "roots": [{"hash": "b", "spec": spec} for spec in roots], "concrete_specs": nodes}))
    record = folder / ".spack-env/tools/.spack/cotejo/spec.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"spec": {"nodes": [{"hash": "a", **nodes["a"]}]}}))
    variables = {"COTEJO_SITES": str(site.parent), "COTEJO_SITE": "mine", "HOME": str(tmp_path)}
    write_site(variables)
    assert complete(view, **variables).stderr == ""
    return view, site, variables


@pytest.mark.parametrize("file, old, new, named", [
    ("mpis.yaml", "/opt/openmpi", "/opt/openmpi-5", "openmpi@5.0.7"),
    ("mpis.yaml", "5.0.7", "5.0.8", "openmpi@=5.0.8 +cxx fabrics=ofi"),
    ("mpis.yaml", "mpich: {spack: \"mpich@4.3\"}\n", "", "mpich@4.3"),
    ("mpis.yaml", "mpich@4.3", "mpich@4.2", "mpich@4.2"),
    ("spack/packages.yaml", "all: {require: [target=x86_64_v3]}",
     "all: {require: [target=x86_64_v4]}", "cotejo@main"),
    ("spack/packages.yaml", "+slurm", "~slurm", "mpich@4.3.0"),
    ("spack/packages.yaml", "fabrics=ofi", "fabrics=psm3", "mpich@4.3.0"),
    ("spack/packages.yaml", "cmake@3.25", "cmake@3.26", "cmake@3.25"),
    ("spack/packages.yaml", "prefix: /usr", "prefix: /usr/local", "cmake@3.25"),
    ("spack/packages.yaml", "slurm/23", "slurm/24", "slurm@23")])
def test_an_installation_that_is_older_than_the_sites_files_is_named(installed, file, old, new,
                                                                     named):
    """A lock that is there wins over changed files, and Spack does not report it."""
    view, site, variables = installed
    text = (site / file).read_text()
    assert old in text
    (site / file).write_text(text.replace(old, new))
    write_site(variables)
    done = complete(view, **variables)
    command = f"spack -e {view.parents[2]} "
    assert done.returncode == 0
    assert done.stderr == (
        f"spack: the files of site mine have changed since `spack install` ({named}); run "
        f"`{command}concretize --force --fresh-roots && {command}install`\n")


@pytest.mark.parametrize("file, old, new", [
    ("mpis.yaml", "mpich:", "# built\nmpich:"),
    ("spack/packages.yaml", "  mpich:", "  ucx: {externals: [{spec: ucx, prefix: /u}]}\n  mpich:"),
    ("spack/packages.yaml", "  mpich:", "  zlib: {require: +shared}\n  mpich:"),
    ("spack/packages.yaml", "+slurm",
     "+slurm, {one_of: [+x, ~x]}, \"@4:\", +unknown, \"%gcc@13\"")])
def test_a_change_that_needs_no_installation_is_not_named(installed, file, old, new):
    view, site, variables = installed
    text = (site / file).read_text()
    assert old in text
    (site / file).write_text(text.replace(old, new, 1))
    write_site(variables)
    assert complete(view, **variables).stderr == ""


def test_additions_of_the_user_are_no_change_of_the_site(installed, tmp_path):
    view, _, variables = installed
    lock, external = view.parents[2] / "spack.lock", tmp_path / ".spack/packages.yaml"
    data = json.loads(lock.read_text())
    data["roots"] += [{"hash": "b", "spec": spec} for spec in (
        "npb names=ep ^openmpi", "cotejo-bench ^mvapich@3:")]
    data["concrete_specs"]["e"] = node("cmake", "3.30", "/of/user")
    lock.write_text(json.dumps(data))
    assert "(cmake@3.30)" in complete(view, **variables).stderr
    external.parent.mkdir()
    external.write_text("packages: {cmake: {externals: [{spec: cmake@3.30, prefix: /of/user}]}}")
    assert complete(view, **variables).stderr == ""
    data["roots"].append({"hash": "b", "spec": "cotejo-bench ^unknown-mpi"})
    lock.write_text(json.dumps(data))
    assert "(unknown-mpi)" in complete(view, **variables).stderr


def test_a_lock_that_is_not_installed_yet_is_named(installed):
    view, _, variables = installed
    lock = view.parents[2] / "spack.lock"
    lock.write_text(lock.read_text().replace('"a": ', '"other": '))
    assert complete(view, **variables).stderr == (
        "spack: the packages of spack.lock are not installed; run "
        f"`spack -e {view.parents[2]} install`\n")


@pytest.mark.parametrize("package, programs", [
    ("cotejo-layers", ["mpirun", "cotejo-transport", "cotejo-start"]),
    ("cotejo-simulator", ["mpirun", "mpicc", "cotejo"])])
def test_layers_and_simulators_are_whole_without_the_programs_of_an_mpi(tmp_path, package,
                                                                        programs):
    """Each `reframe` printed a false alarm for every one of them."""
    view = tmp_path / "env/.spack-env/mpi/some"
    for name in programs:
        program(view / "bin" / name)
    record = view / f".spack/{package}/spec.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    done = complete(view)
    assert (done.returncode, done.stderr) == (0, "")
    (view / "bin/mpirun").unlink()
    assert "has no mpirun; run `spack install`" in complete(view).stderr


def test_the_empty_view_of_a_simulator_that_nobody_added_is_not_named(environment, tmp_path):
    view = environment(an_mpi(tmp_path / "opt"))
    (view.parent / "simgrid").mkdir()
    lock = view.parents[2] / "spack.lock"
    for roots, named in ((None, False), (["cotejo"], False), (["cotejo-simulator"], True)):
        if roots is not None:
            lock.write_text(json.dumps({"roots": [{"spec": spec} for spec in roots]}))
        done = complete(view)
        assert done.returncode == 0
        assert ("simgrid" in done.stderr) is named
        assert bool(done.stderr) is named


@pytest.mark.parametrize("given, line", [
    ("mvapih", "COTEJO_SPACK_ADD: no library 'mvapih'; there are cray-mpich, mpich-ucx, mvapich, "
     "openmpi-previous"),
    ("some, mvapich", "COTEJO_SPACK_ADD: no library ' mvapich'; there are cray-mpich, "),
    ("some,mvapich", "mvapich of COTEJO_SPACK_ADD is missing; run `spack -e {} install`"),
    ("simgrid", "simgrid of COTEJO_SPACK_ADD is missing; run "
     "`spack -e {0} add cotejo-simulator && spack -e {0} install`"),
    ("some,openmpi-previous,", "")])
def test_a_name_to_add_that_adds_nothing_is_named(environment, tmp_path, given, line):
    """Spack ignores such a name, and the library is in no comparison."""
    view = environment(an_mpi(tmp_path / "opt"))
    folder = view.parents[2]
    (folder / "spack.lock").write_text(json.dumps({"roots": [
        {"spec": "cotejo-bench ^openmpi@4.1"}]}))
    done = complete(view, COTEJO_SPACK_ADD=given)
    assert done.returncode == 0
    assert done.stderr.startswith("spack: " + line.format(folder) if line else "")
    assert done.stderr.count("\n") == bool(line)


def test_the_python_beside_an_external_mpi_stays_out_of_the_view(environment, tmp_path):
    home = an_mpi(tmp_path / "opt")
    for name in ("python", "python3", "pip3", "activate"):
        program(home / "bin" / name)
    view = environment(tmp_path / "opt")
    assert complete(view).returncode == 0
    assert sorted(p.name for p in (view / "bin").iterdir()) == [
        "cotejo", "cotejo-guard", "hydra_proxy", "mpicc", "mpirun"]


def test_split_prefix_keeps_two_mpis_apart(tmp_path):
    for mpi in ("openmpi", "mpich"):
        for name in split_prefix.NEEDED:
            program(tmp_path / "bin" / f"{name}.{mpi}", f"{name} of {mpi}")
    for mpi, (command, _) in split_prefix.VERSION.items():
        program(tmp_path / "bin" / command[0])
        assert split_prefix.split(mpi, tmp_path / "bin", tmp_path / mpi) == []
        said = subprocess.run([tmp_path / mpi / "bin/mpirun", "x"], text=True,
                              capture_output=True)
        assert said.stdout == f"mpirun of {mpi} x\n"
    (tmp_path / "bin/mpicc.mpich").unlink()
    assert split_prefix.split("mpich", tmp_path / "bin", tmp_path / "other") == ["mpicc"]


def test_a_split_prefix_holds_the_library_that_its_launches_load(tmp_path):
    usr = tmp_path / "usr"
    (usr / "lib").mkdir(parents=True)
    for name in split_prefix.NEEDED:
        program(usr / f"bin/{name}.openmpi")
    for words, text in ((f"-shared -fPIC -Wl,-soname,libmpi.so.40 -o {usr}/lib/libmpi.so.40", ""),
                        (f"-Wl,--no-as-needed,-rpath,{usr}/lib -L{usr}/lib -l:libmpi.so.40 "
                         f"-o {usr}/bin/ompi_info", "int main(void) { return 0; }")):
        subprocess.run(["gcc", "-xc", "-", "-xnone", *words.split()], text=True, check=True,
                       input=text)
    assert split_prefix.split("openmpi", usr / "bin", tmp_path / "openmpi") == []
    assert installation.is_below(str(usr / "lib/libmpi.so.40"), str(tmp_path / "openmpi"))
    assert not installation.is_below(str(usr / "lib/libother.so"), str(tmp_path / "openmpi"))
