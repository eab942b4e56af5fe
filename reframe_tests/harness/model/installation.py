# SPDX-License-Identifier: BSD-3-Clause
"""Finds the installation of an MPI library, and checks whether a launch loaded the library.

Installations are the wheels of the embedded stack, the builds of Spack, and the modules, prefixes
and containers that a site lists in its `mpis.yaml`. Benchmarks are built for each installation.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field

#: File beside the benchmarks of a site's own installation: what they were built with.
STAMP = "installation.json"
#: Folder that Spack writes into each prefix.
OF_SPACK = ".spack"


class InstallationError(ValueError):
    """Why an installation cannot be used, in one line."""


def module_command():
    """The program that prints the shell code of a module: Lmod's, or Environment Modules'."""
    return os.environ.get("LMOD_CMD") or shutil.which("modulecmd") or ""


def module_system():
    """ReFrame's name of the module system that this shell has, or ''."""
    if os.environ.get("LMOD_CMD"):
        return "lmod"
    return "envmod" if module_command() else ""


def with_modules(modules, environ):
    """An environment (name -> value) in which these modules are loaded."""
    if not modules:
        return dict(environ)
    command, names = module_command(), " ".join(map(shlex.quote, modules))
    if not command:
        raise InstallationError(f"cannot load {names}: this shell has no module system (Lmod or "
                                "Environment Modules)")
    done = subprocess.run(
        ["bash", "-c", f'set -e; code=$("{command}" bash load {names}); eval "$code"; env -0'],
        env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    if done.returncode:
        raise InstallationError(f"cannot load {names}: {said[:200] or 'no message'}")
    return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)


def alike(wanted, seen):
    """Whether two versions are equal as far as both are given: 5.0 and 5.0.8 are."""
    return all(a == b for a, b in zip(wanted.split("."), seen.split("."), strict=False))


@dataclass(frozen=True)
class Installation:
    """An installation of an MPI library by its name; `site`: the site that lists it."""

    name: str
    site: str = ""
    #: Folder of the library; may begin with `{stack}`.
    home: str = ""
    modules: list = field(default_factory=list)
    version: str = ""
    #: The command that runs a program in the image that has the library.
    container: list = field(default_factory=list)

    @property
    def own(self):
        """Whether it is the site's own, and no part of the stack."""
        return bool(self.modules or self.container
                    or (self.home and not self.home.startswith("{stack}")))

    def kind(self, stack):
        if self.own:
            return "container" if self.container else "module" if self.modules else (
                "spack" if pathlib.Path(self.home, OF_SPACK).is_dir() else "prefix")
        return "spack" if pathlib.Path(stack).name == ".spack-env" else "wheel"

    def apart(self, stack):
        """Whether `make build` builds its benchmarks, apart from the stack. Spack builds them for
        an external into a view of the stack (stack/spack_environments.py)."""
        view = pathlib.Path(stack, "mpi", self.name)
        return self.own and not (view / ".spack/cotejo-bench").exists()

    def bench_prefix(self, stack):
        """The folder of the benchmarks that are built for it."""
        place = ["sites", self.site] if self.apart(stack) else ["mpi"]
        return pathlib.Path(stack, *place, self.name)

    def built(self, stack):
        """The record of the build of the benchmarks for a site's own installation: `home`,
        `compiler` and `version`; {} if there is no build for this installation."""
        try:
            found = json.loads((self.bench_prefix(stack) / STAMP).read_text())
        except (OSError, ValueError):
            return {}
        return found if found["declared"] == self.declared() else {}

    def declared(self):
        return {"home": self.home, "modules": self.modules, **self.of_image()}

    def of_image(self):
        return {"container": self.container} if self.container else {}

    def home_in(self, stack):
        """The folder of the library; '' where it is a module's and not known before `make build`.
        """
        if self.home:
            return self.home.replace("{stack}", str(stack))
        return (self.built(stack).get("home", "") if self.apart(stack)
                else str(self.bench_prefix(stack)))

    def find(self, stack, compiler):
        """Looks for a site's own installation: its `home` and its compiler."""
        environ = with_modules(self.modules, os.environ)
        home = self.home_in(stack) if self.home else ""
        if self.container:
            path = self.find_inside(compiler, environ)
            return {"declared": self.declared(), "home": home or str(path.parent.parent),
                    "compiler": str(self.bench_prefix(stack) / "bin" / path.name),
                    "version": self.version}
        if home and not pathlib.Path(home, "bin").is_dir():
            raise InstallationError(f"{home} has no folder `bin`")
        # Cray's `cc` is on the modules' PATH; the MPI's prefix has `mpicc`.
        path = next((path for name in (compiler, "mpicc")
                     if home and (path := pathlib.Path(home, "bin", name)).exists()), None)
        if not path:
            there, before = (shutil.which(compiler, path=found.get("PATH", ""))
                             for found in (environ, os.environ))
            if not there:
                raise InstallationError(
                    f"no {compiler} in {home}/bin" if not self.modules else
                    f"no {compiler} on PATH with {', '.join(self.modules)} loaded")
            if there == before and not home:
                raise InstallationError(
                    f"{', '.join(self.modules)} has no {compiler}: {there} is on PATH without it")
            path = pathlib.Path(there)
        return {"declared": self.declared(), "home": home or str(path.parent.parent),
                "compiler": str(path), "version": self.version}

    def find_inside(self, compiler, environ):
        """The path of the compiler in the image."""
        below = f"{self.home.rstrip('/')}/bin/" if self.home else ""
        names = [f"{below}{name}" for name in (compiler, "mpicc")]
        try:
            done = subprocess.run(
                [*self.container, "sh", "-c", 'command -v "$0" || command -v "$1"', *names],
                env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as err:
            raise InstallationError(f"cannot run {self.container[0]}: {err}") from None
        if done.returncode or not done.stdout.startswith("/"):
            said = " ".join(done.stderr.split())[:160]
            raise InstallationError(f"no {names[0]} in the image of {shlex.join(self.container)}"
                                    f"{said and ': '}{said}")
        return pathlib.Path(done.stdout.split("\n")[0])

    def expected_version(self, stack):
        """The version that launches must load: as declared, else as `make stack` found it."""
        if self.version or self.apart(stack):
            return self.version or self.built(stack).get("version", "")
        try:
            verified = json.loads((pathlib.Path(stack) / "stack.json").read_text())
        except (OSError, ValueError):
            return ""
        return verified.get("versions", {}).get(self.name, "")

    def describe(self, stack):
        """The member `installation` of `asked` in a launch's description."""
        return {"kind": self.kind(stack), "version": self.expected_version(stack),
                "prefix": self.home_in(stack), "modules": self.modules,
                **self.of_image()}

    def problem(self, stack, version, path):
        """Why a library of this version, loaded from `path`, is not this one; '' where it is."""
        wanted, home = self.expected_version(stack), self.home_in(stack)
        if wanted and not alike(wanted, version):
            return (f"installation {self.name} has version {wanted}, the launch loaded version "
                    f"{version} from {path or 'an unknown file'}")
        # Links of this machine have no meaning for a path in an image.
        if not (path.startswith(f"{home.rstrip('/')}/") if self.container
                else is_below(path, home)):
            return (f"installation {self.name} is in {home or 'no known folder'}, the launch "
                    f"loaded {path or 'a library that is part of the program'} (version "
                    f"{version})")
        return ""


def is_below(path, home):
    """Whether a library is in an installation's folder, or is what links of that folder's
    libraries lead to, as in a view of Spack."""
    if not path or not home:
        return False
    real = os.path.realpath(path)
    if real.startswith(os.path.realpath(home).rstrip("/") + "/"):
        return True
    return any(os.path.realpath(found) == real
               for found in pathlib.Path(home).glob("lib*/**/lib*mpi*"))


def version_in(pattern, library):
    """The version in a library's own words, by its family's expression; '' where it has none."""
    found = re.search(pattern, library)
    return found.groupdict().get("version") or "" if found else ""
