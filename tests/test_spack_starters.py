# SPDX-License-Identifier: BSD-3-Clause
"""The starters that the recipe `cotejo` installs, run without Spack in a view like Spack's."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

from tests.spack_files import REPO

RECIPE = REPO / "spack_repo/cotejo/packages/cotejo/package.py"
needs_r = pytest.mark.skipif(not shutil.which("Rscript"), reason="no R on PATH")


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Spec:
    """A concrete spec, as far as the recipe asks for it: ReFrame is an external."""

    def __init__(self, analysis, site="none"):
        self.true = [analysis and "+analysis", f"site={site}"]
        self.variants = {"site": types.SimpleNamespace(value=site)}

    def satisfies(self, constraint):
        return constraint in self.true

    def __getitem__(self, name):
        return {}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Runs the recipe's installation, and gives the view `.spack-env/tools` of an environment."""
    def nothing(*words, **options):
        pass
    api = types.SimpleNamespace(
        depends_on=nothing, license=nothing, variant=nothing, version=nothing,
        mkdirp=lambda path: pathlib.Path(path).mkdir(parents=True),
        which=lambda name, required: types.SimpleNamespace(path=shutil.which(name)))
    generic = types.SimpleNamespace(Package=object)
    for name, module in {"spack": api, "spack.package": api, "spack_repo.builtin": generic,
                         "spack_repo.builtin.build_systems": generic,
                         "spack_repo.builtin.build_systems.generic": generic}.items():
        monkeypatch.setitem(sys.modules, name, module)
    loaded = importlib.util.spec_from_file_location("recipe", RECIPE)
    recipe = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(recipe)

    def run(reframe=f"#!{sys.executable}\nimport yaml\nprint('ran', *__import__('sys').argv[1:])",
            r_libs="", **options):
        script(tmp_path / "there/reframe", reframe)
        with monkeypatch.context() as there:
            there.setenv("PATH", f"{tmp_path}/there", prepend=os.pathsep)
            there.setenv("R_LIBS", r_libs)
            there.delenv("PYTHONPATH", raising=False)
            package = recipe.Cotejo()
            package.prefix = types.SimpleNamespace(bin=tmp_path / "store/cotejo/bin")
            package.install(Spec(**options), package.prefix)
        folder = tmp_path / "checkout"
        folder.mkdir()
        for name in ("spack.yaml", "stack", "reframe_tests", "analysis", "data"):
            (folder / name).symlink_to(REPO / name)
        view = folder / ".spack-env/tools/bin"
        view.mkdir(parents=True)
        for path in package.prefix.bin.iterdir():
            (view / path.name).symlink_to(path)
        script(folder / ".spack-env/mpi/some/bin/mpirun", "#!/bin/sh\n")
        (folder / ".spack-env/mpi/some/.spack/cotejo-layers").mkdir(parents=True)
        (folder / ".spack-env/mpi/some/.spack/cotejo-layers/spec.json").write_text("{}")
        script(folder / ".spack-env/mpi/some/bin/cotejo-transport", "#!/bin/sh\n")
        return folder
    return run


def activated(folder, *words, path=None, **variables):
    """Runs words as in a shell after `spack env activate`, from another folder."""
    kept = {name: value for name, value in os.environ.items()
            if not re.match(r"COTEJO_|RFM_|R_LIBS|SPACK_ENV", name)}
    view = folder / ".spack-env/tools/bin"
    kept["PATH"] = f"{view}:{kept['PATH'] if path is None else path}"
    return subprocess.run(words, text=True, capture_output=True, cwd=variables.pop("cwd", "/"),
                          env={**kept, "SPACK_ENV": str(folder), **variables})


def commands():
    """The commands of docs/spack.md that draw."""
    section = (REPO / "docs/spack.md").read_text().partition("\n## Files of a bare")[2]
    return re.findall(r"^(Rscript .*)$", section.partition("\n## ")[0], re.M)


def test_after_spack_load_the_starters_need_only_an_active_environment(install, tmp_path):
    """Spack sets the path of the store. So the recipe has no `setup_run_environment`."""
    folder, store = install(analysis=True), str(tmp_path / "store/cotejo/bin/reframe")
    done = activated(folder, store, "-l")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran -l\n", "")
    done = activated(folder, "env", "-u", "SPACK_ENV", store, "-l")
    assert done.returncode
    assert re.search("SPACK_ENV: no Spack environment of cotejo is active\n$", done.stderr)


@needs_r
def test_figures_report_and_paper_need_no_make_where_r_is_the_machines_own(install, tmp_path):
    """With `~analysis`, a plain Rscript found no package."""
    folder = install(analysis=False)
    shutil.copytree(REPO / "data/reference/questions/program-fickle", folder / "results")
    assert len(commands()) == 3
    for line in commands():
        done = activated(folder, "sh", "-c", line, cwd=folder,
                         R_USER_CACHE_DIR=str(tmp_path / "cache"),
                         R_COMPILE_PKGS="0")  # to compile takes longer than to draw
        assert done.returncode == 0, done.stderr
        assert (folder / done.stdout.split()[-1]).stat().st_size > 1000
    assert (folder / ".spack-env/R/cotejo/DESCRIPTION").exists()
    told = activated(folder, "R", "-s", "-e", "cat(find.package('cotejo'))")
    assert told.stdout == str(folder / ".spack-env/R/cotejo")


def test_where_no_r_is_the_starters_say_so_in_a_line_and_reframe_runs(install, tmp_path):
    folder = install(analysis=False, site="mine")
    line = "analysis: no R on PATH (Debian: r-base-core); install it, or run `make stack`\n"
    tools = tmp_path / "few"
    tools.mkdir()
    for name in ("sh", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    done = activated(folder, "reframe", "-l", path=str(tools))
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran -l\n", line)
    done = activated(folder, "Rscript", "-e", "1", path=str(tools))
    assert done.returncode == 127
    assert done.stderr.startswith(line)


def test_where_spack_has_r_its_starters_have_its_packages(install, tmp_path):
    script(tmp_path / "there/Rscript", "#!/bin/sh\necho $R_LIBS $*\n")
    script(tmp_path / "there/R", "#!/bin/sh\n")
    folder = install(r_libs="/r-cotejo/rlib:/r-yaml/rlib:/r-cotejo/rlib", analysis=True)
    done = activated(folder, "Rscript", "x", R_LIBS="/mine")
    assert (done.stdout, done.stderr) == ("/r-cotejo/rlib:/r-yaml/rlib:/mine x\n", "")
    assert activated(folder, "reframe").stderr == ""
    assert not (folder / ".spack-env/R").exists()


@pytest.mark.parametrize("reframe, python", [
    ("#!/opt/venv/bin/python3.11\n", "/opt/venv/bin/python3.11"),
    ("#!/bin/sh\nexec /opt/venv/bin/python -m reframe\n", "/opt/venv/bin/python"),
    ("#!/usr/bin/env python3\nimport reframe\n", shutil.which("python3"))])
def test_the_python_of_an_external_reframe_is_that_of_its_script(install, reframe, python):
    text = (install(reframe, analysis=False) / ".spack-env/tools/bin/python").read_text()
    assert f'exec "{python}" "$@"' in text
