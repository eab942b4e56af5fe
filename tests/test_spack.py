# SPDX-License-Identifier: BSD-3-Clause
"""The environments, locks, recipes and sites for Spack, as far as tests do not need Spack."""

import ast
import itertools
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

from reframe_tests.harness.model import families
from stack import spack_environments, spack_specs
from tests.spack_files import (
    ENVIRONMENT,
    FAMILIES,
    MPIS,
    RECIPES,
    REPO,
    SITES,
    package_of,
    site_packages,
)

MPICC = families.stack_prefix() / "mpi/mpich/bin/mpicc"
BASE_R = {"grDevices", "graphics", "grid", "methods", "parallel", "splines", "stats", "stats4",
          "tools", "utils"}


@pytest.mark.parametrize("name", sorted(spack_environments.wanted()))
def test_environments_follow_from_the_families(name):
    assert (REPO / name).read_text() == spack_environments.wanted()[name], (
        "run `python3 -m stack.spack_environments`")


def with_family(folder, name, **replaced):
    """The families with another one, a copy of `like` in which text is replaced."""
    for path in families.FOLDERS[0].glob("*.yaml"):
        shutil.copy(path, folder)
    text = (folder / f"{name}.yaml").read_text()
    (folder / f"older-{name}.yaml").write_text(text.replace(*replaced["spec"]))
    return families.load(folder, simulators=True, layers=True)


def test_a_second_family_of_a_package_has_a_view_of_its_own(tmp_path):
    """Adding an MPI library is one file. Two views that select by the name of the package alone
    would hold the same builds, and `spack install` would end in an error."""
    found = with_family(tmp_path, "openmpi", spec=("openmpi@5", "openmpi@4"))
    made = spack_environments.by_default(found.values())
    assert "openmpi@4" in made["definitions"][0]["mpis"]
    assert made["view"]["older-openmpi"] == {"root": "../.spack-env/mpi/older-openmpi",
                                             "select": ["openmpi@4", "^openmpi@4"]}
    assert made["view"]["openmpi"]["select"] == ["openmpi@5", "^openmpi@5"]


def test_families_that_may_be_one_build_are_refused(tmp_path, monkeypatch):
    found = with_family(tmp_path, "openmpi", spec=("openmpi@5", "openmpi@5.0.2"))
    monkeypatch.setattr(families, "load", lambda **_: found)
    with pytest.raises(ValueError,
                       match=r"older-openmpi \(openmpi@5.0.2\) and openmpi \(openmpi@5\)"):
        spack_environments.wanted()


@pytest.mark.parametrize("one, other, same", [
    ("mpich@4:", "mpich@4.0.2", True), ("mpich@4.0.2", "mpich@5", False),
    ("mpich@4", "mpich@4.3", True), ("mpich@:4", "mpich@4.3", True),
    ("mpich@:4", "mpich@5:", False), ("mpich@=4.0", "mpich@4.0.2", False),
    ("mpich@3,5", "mpich@4", False), ("mpich@4.10", "mpich@4.1", False),
    ("mpich", "openmpi", False), ("mpich@4 +slurm", "mpich@4~slurm", False),
    ("openmpi fabrics=ofi", "openmpi fabrics=ucx", True),
    ("openmpi fabrics:=ofi", "openmpi fabrics:=ofi,ucx", False),
    ("openmpi fabrics:=ofi", "openmpi schedulers:=slurm", True)])
def test_specs_that_may_be_one_build(one, other, same):
    assert spack_specs.may_be_one(one, other) is same
    assert spack_specs.may_be_one(other, one) is same


def test_what_few_studies_need_is_added_by_its_user():
    """PVM and SimGrid are no roots, so that their failure does not fail every installation."""
    roots = [spec for spec in ENVIRONMENT["specs"] if isinstance(spec, str)]
    assert roots == ["cotejo", "cotejo-layers library=sockets"]
    pages = ("docs/spack.md", "archaeology/README.md")
    text = "".join((REPO / page).read_text() for page in pages)
    for spec in spack_environments.OPTIONAL:
        assert f"spack -e . add {spec}\n" in text
        assert [spec] in [view["select"] for view in ENVIRONMENT["view"].values()]


def test_an_mpi_that_is_not_built_by_default_is_switched_on_by_a_variable():
    """MVAPICH: no line of spack.yaml changes, so that the checkout does not count as changed."""
    (definition,) = [one for one in ENVIRONMENT["definitions"] if "mvapich@3:" in
                     one.get("mpis", ())]
    assert "mvapich@3:" not in MPIS["definitions"][0]["mpis"]
    for given, on in (({}, False), ({"COTEJO_SPACK_ADD": "mvapich"}, True),
                      ({"COTEJO_SPACK_ADD": "cray-mpich,mvapich"}, True),
                      ({"COTEJO_SPACK_ADD": "mvapich-plus"}, False)):
        assert eval(definition["when"], {"env": given}) is on  # noqa: S307
    assert ENVIRONMENT["view"]["mvapich"]["select"] == ["mvapich@3:", "^mvapich@3:"]
    assert "COTEJO_SPACK_ADD=mvapich" in (REPO / "docs/spack.md").read_text()


def test_versions_and_networks_are_definitions_that_a_variable_switches_on():
    """No build of one is also a build of another, so that each has a view of its own."""
    added = {re.findall("'(.*?)' in", one["when"])[0]: one["mpis"]
             for one in ENVIRONMENT["definitions"] if "when" in one}
    assert added["openmpi-previous"] == ["openmpi@4.1"]
    assert added["mpich-ucx"] == ["mpich@4: netmod:=ucx"]
    for name, specs in added.items():
        assert ENVIRONMENT["view"][name]["select"] == [*specs, f"^{specs[0]}"]
        assert not any(spack_specs.may_be_one(specs[0], spec)
                       for spec in MPIS["definitions"][0]["mpis"])


def test_what_spack_builds_by_default_has_the_networks_of_clusters():
    """Open MPI had none, and measured TCP and shared memory alone. A preference: an external that
    has others is taken all the same."""
    assert MPIS["packages"] == {"openmpi": {"variants": ["fabrics=ofi,ucx"]}}
    assert "mpich@4: netmod:=ofi" in MPIS["definitions"][0]["mpis"]


def test_of_the_intel_mpi_benchmarks_only_what_is_launched_is_built():
    (spec,) = [one for found in ENVIRONMENT["definitions"] for one in found.get("programs", [])
               if "benchmarks" in one]
    assert sorted(re.findall(r"~(\w+)", spec)) == ["ext", "io", "mt", "nbc", "p2p", "rma"]


def test_the_recipes_are_found_by_whoever_adds_the_repository_by_its_url():
    """Each listed path is a repository of Spack, named after its folder as Spack 1 wants it. The
    environment uses the same repositories."""
    index = yaml.safe_load((REPO / "spack-repo-index.yaml").read_text())["repo_index"]["paths"]
    assert index == [*ENVIRONMENT["repos"].values()]
    for path in map(pathlib.PurePath, index):
        repo = yaml.safe_load((REPO / path / "repo.yaml").read_text())["repo"]
        assert path.parts[-2:] == ("spack_repo", repo["namespace"])


def versions_of(path):
    """Keyword arguments of each `version(...)` of a file, by its name."""
    calls = [node for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "version"]
    return {call.args[0].value: {k.arg: k.value.value for k in call.keywords} for call in calls}


@pytest.mark.parametrize("path", [REPO / "spack_repo/cotejo/source.py", *RECIPES],
                         ids=lambda p: p.parent.name)
def test_every_version_of_our_packages_can_be_had(path):
    """A tag that does not exist would be preferred to `main`, and nothing could be installed."""
    for version, where in versions_of(path).items():
        if version == "main":
            assert where in ({"branch": "main"}, {})  # the second has no sources
            continue
        assert where.keys() & {"sha256", "tag"}, version
        if "tag" in where:
            done = subprocess.run(["git", "-C", REPO, "rev-parse", where["tag"] + "^{commit}"],
                                  text=True, capture_output=True)
            assert done.stdout.strip() == where.get("commit"), version


def test_recipes_name_the_public_address_once_there_is_one():
    """Until then the clone is the source, and no homepage or account is invented."""
    cited = yaml.safe_load((REPO / "CITATION.cff").read_text()).get("repository-code")
    source = (REPO / "spack_repo/cotejo/source.py").read_text()
    named = dict(re.findall(r'^    (git|homepage) = "(.+)"$', source, re.M))
    assert named == ({"git": f"{cited}.git", "homepage": cited} if cited else {})
    for path in RECIPES:
        text = path.read_text()
        text += source if "(CotejoSource" in text else ""
        page = re.findall(r'^    homepage = "(.+)"$', text, re.M)
        assert bool(page) == bool(cited or "    url =" in text), path
        assert ("maintainers(" in text) == bool(cited), path


def test_recipes_read_no_configuration_of_the_clone():
    for path in [REPO / "spack_repo/cotejo/source.py", *RECIPES]:
        assert not re.search(r"configparser|\.git\b", path.read_text()), path


def test_every_family_has_a_view_with_the_mpi_itself():
    for family in FAMILIES.values():
        view = MPIS["view"][family.name]
        assert view["root"] == f"../.spack-env/mpi/{family.name}"
        assert view["select"] == [family.spack, f"^{family.spack}"]


def test_programs_of_no_mpi_that_a_user_may_add_have_a_view_and_are_no_part_of_it_all():
    assert ENVIRONMENT["view"]["npb-openmp"] == {
        "root": ".spack-env/npb-openmp", "select": ["npb implementation=openmp"]}
    assert not any("npb" in str(spec) for spec in ENVIRONMENT["specs"])


def test_roots_are_concretized_apart_and_per_mpi():
    assert ENVIRONMENT["concretizer"]["unify"] is False
    matrices = [spec["matrix"] for spec in ENVIRONMENT["specs"] if "matrix" in spec]
    assert [["$programs"], ["$^mpis"]] in matrices


def roots(*files):
    """The root specs of spack.yaml with the definitions of these files, as Spack expands them."""
    lists = {}
    for file in (ENVIRONMENT, *files):
        for entry in file.get("definitions", file.get("definitions:", [])):
            if "when" not in entry:
                (name, specs), = entry.items()
                lists.setdefault(name, []).extend(specs)
    found = []
    for spec in ENVIRONMENT["specs"]:
        rows = spec["matrix"] if isinstance(spec, dict) else [[spec]]
        found += itertools.product(*(
            lists[row[0].strip("$^")] if row[0].startswith("$") else row for row in rows))
    return found


def test_the_default_environment_has_few_roots():
    """Every further root of the default environment is a build for each user."""
    found = roots(MPIS)
    assert len(found) == len(set(found)) == 2 + 2 * len(MPIS["view"])
    assert len(found) < 10


def test_no_recipe_of_ours_hides_one_of_spack():
    """A user who adds the repository gets the same `reframe` and MPI libraries as before. With a
    clone of the recipes of Spack, tests/test_spack_readme.py compares all names."""
    ours = {path.parent.name.replace("_", "-") for path in RECIPES}
    assert {name for name in ours if "cotejo" not in name} == {"reframe-hpc"}
    needed = {package_of(f.spack) for f in families.load().values() if f.spack}
    needed |= {package_of(spec) for spec in itertools.chain.from_iterable(roots(MPIS))} - ours
    needed |= {name.replace("_", "-") for path in RECIPES for name in re.findall(
        r"spack_repo\.builtin\.packages\.(\w+)", path.read_text())}
    assert {"openmpi", "mpich", "intel-mpi-benchmarks"} <= needed
    assert not ours & {*needed, "reframe"}


def test_a_site_may_replace_what_is_pinned():
    """An earlier one of the included files prevails: a site without network names its own copy."""
    paths = [include["path"] for include in ENVIRONMENT["include"]]
    assert paths.index("site_configs/local/spack") < paths.index("spack_repo/pinned")


def test_the_pinned_recipes_have_a_clone_of_their_own():
    """Spack leaves a clone that is there as it is, and shares one for each URL by default."""
    pinned = yaml.safe_load((REPO / "spack_repo/pinned/repos.yaml").read_text())["repos"]
    builtin = pinned["builtin:"]  # with the colon: no key of the user's own is merged in
    assert builtin["tag"] in pathlib.PurePath(builtin["destination"]).name


def test_spack_and_reframe_take_the_same_site():
    """Exactly one of the conditions is true in any environment. The MPI libraries that the site
    lists prevail over those that are built by default."""
    for given in ({}, {"COTEJO_SITE": "x"}, {"COTEJO_SITE": "x", "COTEJO_SITES": "/s"},
                  {"COTEJO_SITES": "/s"}):
        paths = [include["path"] for include in ENVIRONMENT["include"] if "when" in include
                 and eval(include["when"], {"env": given})]  # noqa: S307
        wanted = (f"{'${COTEJO_SITES}' if 'COTEJO_SITES' in given else 'site_configs'}/"
                  f"{'${COTEJO_SITE}' if 'COTEJO_SITE' in given else 'local'}")
        assert paths == [f"{wanted}/spack", f"{wanted}/spack/packages.yaml",
                         f"{wanted}/spack/mpis.yaml"]
    paths = [include["path"] for include in ENVIRONMENT["include"]]
    assert paths.index("spack_repo/mpis.yaml") > max(
        number for number, path in enumerate(paths) if path.endswith("/spack/mpis.yaml"))


@pytest.mark.parametrize("site", SITES)
def test_a_site_builds_what_its_family_selects(site):
    """MPICH cannot use OFI if it is built with ucx alone."""
    built = " ".join(site_packages(site).get("mpich", {}).get("require", []))
    assert "netmod=" not in built


@pytest.mark.parametrize("name", [name for name, f in families.load().items()
                                  if f.spack.startswith("mpich@")])
def test_the_netmod_of_a_build_is_that_of_its_transport(name):
    family = families.load()[name]
    wanted = family.transports["tcp"].environment["MPIR_CVAR_CH4_NETMOD"]
    assert f"netmod:={wanted}" in family.spack


def test_a_missing_site_is_an_error():
    """So is a folder without the file of packages."""
    for include in ENVIRONMENT["include"]:
        assert not include.get("optional") or include["path"].endswith("/mpis.yaml"), (
            "Spack would build everything in silence")


@pytest.mark.parametrize("site", SITES)
def test_site_tells_spack_whole_externals(site):
    for name, settings in site_packages(site).items():
        for external in settings.get("externals", []):
            assert package_of(external["spec"]) == name
            assert os.path.isabs(external["prefix"])


def test_sites_of_one_environment_have_the_same_packages():
    """`reframe` compares these names: sites that differ need environments of their own."""
    named = {}
    for site in SITES:
        (name,) = [v[5:] for v in site_packages(site)["cotejo"]["require"] if v[:5] == "site="]
        named.setdefault(name, []).append(site_packages(site))
    assert named.keys() <= set(SITES)
    for name, packages in named.items():
        assert all(one == site_packages(name) for one in packages)


def test_repository_is_sane():
    folder = REPO / ENVIRONMENT["repos"]["cotejo"]
    about = yaml.safe_load((folder / "repo.yaml").read_text())["repo"]
    assert about["namespace"] == folder.name
    assert re.fullmatch(r"v2\.\d+", about["api"])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda p: p.parent.name)
def test_recipe_has_the_class_of_its_folder(recipe):
    classes = [n.name for n in ast.parse(recipe.read_text()).body if isinstance(n, ast.ClassDef)]
    assert classes == ["".join(word.capitalize() for word in recipe.parent.name.split("_"))]


def test_recipe_has_every_r_package_that_the_analysis_imports():
    fields = re.split(r"\n(?=\S)", (REPO / "analysis/DESCRIPTION").read_text())
    imports = next(f for f in fields if f.startswith("Imports:")).partition(":")[2]
    names = {re.match(r"\s*([\w.]+)", entry).group(1) for entry in imports.split(",")}
    wanted = {f"r-{n.lower().replace('.', '-')}" for n in names - BASE_R}
    recipe = (REPO / "spack_repo/cotejo/packages/r_cotejo/package.py").read_text()
    assert wanted <= set(re.findall(r'depends_on\("(r-[a-z0-9-]+)', recipe))


def test_both_providers_have_the_same_reframe():
    locked = re.search(r"reframe-hpc==([\d.]+)", (REPO / "requirements/tools.in").read_text())
    recipe = (REPO / "spack_repo/cotejo/packages/reframe_hpc/package.py").read_text()
    assert re.findall(r'version\("([\d.]+)"', recipe) == [locked[1]]


def test_a_container_is_made_from_the_checkout_by_a_template_that_is_there():
    (folder,) = ENVIRONMENT["config"]["template_dirs"]
    template = REPO / folder.removeprefix("$env/") / ENVIRONMENT["container"]["template"]
    assert '{% extends "container/Dockerfile" %}' in template.read_text()
    assert f"{ENVIRONMENT['view']['default']['root']} " in template.read_text()


@pytest.mark.parametrize("spack", ["", "/there/bin/spack"])
def test_the_tools_of_spacks_style_check_are_installed_where_spack_is(spack):
    """Otherwise the check of the recipes was skipped by every `make test`."""
    done = subprocess.run(
        ["make", "-n", "test", f"SPACK={spack}"], cwd=REPO, text=True, capture_output=True,
        env={name: value for name, value in os.environ.items() if name[:4] != "MAKE"})
    assert ("wheels.py --only style" in done.stdout) == bool(spack), done.stderr
    lock = (REPO / "requirements/spack/style.txt").read_text()
    assert {"black", "flake8", "isort"} <= {*re.findall(r"^([\w-]+)==", lock, re.M)}


def test_recipes_import_each_name_that_they_use():
    """The part of `spack style` that needs none of its tools."""
    for path in RECIPES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert [name.name for name in node.names if name.name == "*"] == [], path


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda p: p.parent.name)
def test_recipe_has_a_test_of_what_is_installed(recipe):
    """`spack test run` finds the methods by their prefix."""
    (made,) = [n for n in ast.parse(recipe.read_text()).body if isinstance(n, ast.ClassDef)]
    tests = [n for n in made.body if isinstance(n, ast.FunctionDef) and n.name[:5] == "test_"]
    assert tests
    assert all(ast.get_docstring(test) for test in tests)


@pytest.mark.skipif(not MPICC.exists(), reason="no stack: `make stack`")
def test_the_benchmarks_of_the_recipe_need_no_fftw(tmp_path):
    """`cotejo-bench ~fftw` took the FFTW of the machine, where there is one."""
    recipe = (REPO / "spack_repo/cotejo/packages/cotejo_bench/package.py").read_text()
    (option,) = re.findall(r'define_from_variant\("(\w+)", "fftw"\)', recipe)
    done = subprocess.run(["cmake", "-S", REPO / "src", "-B", tmp_path, f"-D{option}=OFF",
                           f"-DCMAKE_C_COMPILER={MPICC}"], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "No FFTW" in done.stdout


def test_completion_and_recipes_name_files_that_exist():
    recipe = (REPO / "spack_repo/cotejo/packages/cotejo/package.py").read_text()
    named = re.findall(r"\$cotejo/([\w/]+\.(?:py|yaml))", recipe)
    assert named
    assert [name for name in named if not pathlib.Path(REPO, name).exists()] == []
