# SPDX-License-Identifier: BSD-3-Clause
"""Installs the embedded default stack: system packages, tools and MPIs from locked wheels.

Uses the standard library alone, since it runs before anything is installed.
Each part is stamped with the hash of its lock once it is whole: a part without
its stamp is made anew, so an interrupted run is simply started again. Finished
downloads are kept beside the stack until then.
"""

import argparse
import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
LOCKS = REPO / "requirements"
RETRIES = ["--retries", "5", "--timeout", "60"]


def say(text):
    print(f"stack: {text}", flush=True)


def run(command, **kwargs):
    """Runs a command quietly; on failure shows its last words and ends with one line."""
    done = subprocess.run(command, text=True, capture_output=True, **kwargs)
    if done.returncode:
        sys.stderr.write("\n".join((done.stdout + done.stderr).splitlines()[-15:]) + "\n")
        sys.exit(f"stack: '{' '.join(map(str, command[:6]))} ...' failed with status "
                 f"{done.returncode}; start `make stack` again to go on from here")


def missing_packages(listed):
    """Debian packages of requirements/LISTED.txt that are not installed; [] without dpkg."""
    wanted = [w for w in (LOCKS / f"{listed}.txt").read_text().splitlines()
              if w and not w.startswith("#")]
    if not shutil.which("dpkg-query"):
        say("no dpkg here: compilers, hwloc and R must come from this system's own packages")
        return []
    known = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n"],
                           text=True, capture_output=True, check=True).stdout
    have = {line.split()[1] for line in known.splitlines() if line.startswith("ii ")}
    return [name for name in wanted if name not in have]


@contextlib.contextmanager
def services_held():
    """Packages that come with a service install it without starting it."""
    policy = pathlib.Path("/usr/sbin/policy-rc.d")
    if policy.exists():
        yield
        return
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink()


def system_packages(listed="debian", *, needed=True):
    missing = missing_packages(listed)
    if not missing:
        return
    command = f"apt-get install --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0:
        text = f"missing system packages; an administrator would type: {command}"
        if needed:
            sys.exit(f"stack: {text}")
        say(text)
        return
    say(f"installing {len(missing)} system packages: {' '.join(missing)}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    with services_held():
        run(["apt-get", "update", "-q"], env=environment)
        run([*command.split()[:2], "-y", "-q", *command.split()[2:]], env=environment)


def lock_hash(*names):
    text = b"".join((LOCKS / f"{name}.txt").read_bytes() for name in names)
    return hashlib.sha256(text).hexdigest()


def stamped(prefix, stamp):
    file = prefix / ".cotejo-stamp"
    return file.exists() and file.read_text() == stamp


def new_environment(prefix, *options):
    """A virtual environment made with the system's Python, replacing what is there."""
    python = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
    shutil.rmtree(prefix, ignore_errors=True)
    run([python, "-m", "venv", *options, str(prefix)])


def install_tools(stack):
    """ReFrame and the tools of the tests in STACK/tools."""
    prefix, stamp = stack / "tools", lock_hash("installer", "tools")
    if stamped(prefix, stamp):
        return
    say("installing ReFrame and tools")
    new_environment(prefix)
    pip = [str(prefix / "bin/python"), "-m", "pip", "install", "-q", "--require-hashes", *RETRIES]
    run([*pip, "-r", str(LOCKS / "installer.txt")])
    run([*pip, "--resume-retries", "10", "--only-binary", ":all:",
         "-r", str(LOCKS / "tools.txt")])
    (prefix / ".cotejo-stamp").write_text(stamp)


def install_languages(stack):
    """mpi4py and NumPy in STACK/languages, for the kernels in Python under every MPI."""
    prefix, stamp = stack / "languages", lock_hash("languages")
    if stamped(prefix, stamp):
        return
    say("installing mpi4py")
    new_environment(prefix, "--without-pip")
    run([str(stack / "tools/bin/python"), "-m", "pip", "--python", str(prefix / "bin/python"),
         "install", "-q", "--require-hashes", "--no-deps", "--only-binary", ":all:", *RETRIES,
         "--resume-retries", "10", "-r", str(LOCKS / "languages.txt")])
    (prefix / ".cotejo-stamp").write_text(stamp)


def install_mpi(stack, name):
    """One MPI in STACK/mpi/NAME, a prefix of its own: their wrappers would collide."""
    prefix, stamp = stack / "mpi" / name, lock_hash(name)
    if stamped(prefix, stamp):
        return
    say(f"installing {name}")
    pip = [str(stack / "tools/bin/python"), "-m", "pip"]
    lock, wheels = ["-r", str(LOCKS / f"{name}.txt")], stack / "wheels" / name
    common = ["-q", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    run([*pip, "download", *common, *RETRIES, "--resume-retries", "10",
         "-d", str(wheels), *lock])
    new_environment(prefix, "--without-pip")
    run([*pip, "--python", str(prefix / "bin/python"), "install", *common,
         "--no-index", "--find-links", str(wheels), *lock])
    (prefix / ".cotejo-stamp").write_text(stamp)
    shutil.rmtree(wheels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path, help="where the stack goes")
    parser.add_argument("--tools", action="store_true", help="install the tools only, no MPI")
    parser.add_argument("--test-packages", action="store_true",
                        help="install what only tests need of the system's packages, where root")
    args = parser.parse_args()
    stack = args.stack.resolve()
    if args.test_packages:
        system_packages("debian-tests", needed=False)
        return
    if args.tools:
        install_tools(stack)
        return
    system_packages()
    (stack / "mpi").mkdir(parents=True, exist_ok=True)
    install_tools(stack)
    install_languages(stack)
    for name in sorted(p.stem for p in (REPO / "reframe_tests/mpi_families").glob("*.yaml")):
        # The others are found on the system, where `make build` looks for them.
        if (LOCKS / f"{name}.txt").exists():
            install_mpi(stack, name)


if __name__ == "__main__":
    main()
