# SPDX-License-Identifier: BSD-3-Clause
"""Installs the embedded default stack: system packages, tools and MPIs from locked wheels.

Uses the standard library alone, since it runs before anything is installed.
Each part is stamped with the hash of its lock once it is complete. A part of
cotejo without its stamp is made anew, so an interrupted run is simply started
again. Finished downloads are kept beside the stack until then.
STACK/packages.json records the versions of the system's packages.
"""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
from reframe_tests.harness.machine import removal  # noqa: E402
from reframe_tests.harness.model import problems  # noqa: E402
from stack.variables import path_problem  # noqa: E402

#: The script that Debian's tools run before they start a service.
POLICY = pathlib.Path("/usr/sbin/policy-rc.d")
HELD = """\
#!/bin/sh
# Written by `make stack` of cotejo while it installs packages, so that none of them starts a
# service. Without effect once that process has ended; may be removed then.
[ "$(cut -d ' ' -f 22 /proc/{pid}/stat 2>/dev/null)" = "{start}" ] && exit 101
exit 0
"""
LOCKS = REPO / "requirements"
VALE = REPO / "tests/vale"
RETRIES = ["--retries", "5", "--timeout", "60"]
#: Packages of Python beside the tools, most of single commands: folder of the stack -> lock, and
#: name in messages.
BESIDE = {"languages": ("languages", "mpi4py"), "docs": ("docs/mkdocs", "MkDocs"),
          "validators": ("artifact/validators", "validators of metadata"), "go": ("go", "Go"),
          "style": ("spack/style", "the tools of `spack style`")}


def say(text):
    print(f"stack: {text}", flush=True)


def run(command, **kwargs):
    """Runs a command quietly; on failure shows its last words and ends with one line."""
    done = subprocess.run(command, text=True, capture_output=True, **kwargs)
    if done.returncode:
        sys.stderr.write("\n".join((done.stdout + done.stderr).splitlines()[-15:]) + "\n")
        sys.exit(f"stack: '{' '.join(map(str, command[:6]))} ...' failed with status "
                 f"{done.returncode}; start `make stack` again to continue")


def listed_packages(listed):
    """Debian packages of requirements/LISTED.txt."""
    return [w for w in (LOCKS / f"{listed}.txt").read_text().splitlines()
            if w and not w.startswith("#")]


def known_packages():
    """State, name and version of each Debian package that dpkg knows; None without dpkg. A state
    has two or three letters: the requested state, the found state, and R to reinstall it."""
    if not shutil.which("dpkg-query"):
        return None
    known = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version}\n"],
        text=True, capture_output=True, check=True).stdout
    return [line.split() for line in known.splitlines()]


def package_versions():
    """Versions of the Debian packages that are installed, by name; None without dpkg."""
    known = known_packages()
    return known and {words[1]: words[2] for words in known if words[0][1:] == "i"}


def unfinished_packages():
    """Debian packages within which dpkg was ended, by name: whether they must be reinstalled."""
    return {words[1]: words[0][2:] == "R" for words in known_packages() or []
            if words[0][0] == "i" and words[0][1] in "HUFWt"}


def missing_packages(listed):
    """Those that are not installed; [] without dpkg."""
    have = package_versions()
    if have is None:
        say("no dpkg here: compilers, hwloc and R must come from this system's own packages")
        return []
    return [name for name in listed_packages(listed) if name not in have]


def record_packages(stack):
    """Notes the versions of what the lists name: nothing of it is pinned."""
    have = package_versions()
    if have is None:
        return
    named = sorted({*listed_packages("debian"), *listed_packages("debian-tests")} & have.keys())
    removal.write_whole(stack / "packages.json",
                        json.dumps({name: have[name] for name in named}, indent=1) + "\n")


def release_services():
    """Removes the policy script of a `make stack` that was killed. Leaves a script of other
    software, and of a `make stack` that still installs."""
    if POLICY.exists() and "`make stack` of cotejo" in POLICY.read_text(errors="replace") \
            and subprocess.run(["sh", str(POLICY)]).returncode == 0:
        POLICY.unlink(missing_ok=True)


@contextlib.contextmanager
def services_held():
    """Packages that come with a service install it without starting it."""
    release_services()
    if POLICY.exists():
        yield
        return
    start = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    removal.write_whole(POLICY, HELD.format(pid=os.getpid(), start=start), mode=0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def system_packages(listed="debian", *, needed=True):
    if os.geteuid() == 0 and os.access(POLICY.parent, os.W_OK):
        release_services()
    missing = missing_packages(listed)
    unfinished = unfinished_packages() if os.geteuid() == 0 else {}
    if not missing and not unfinished:
        return
    command = f"apt-get install --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0:
        text = f"missing system packages; ask an administrator to run: {command}"
        if needed:
            sys.exit(f"stack: {text}")
        say(text)
        return
    if unfinished:
        say(f"finishing {len(unfinished)} system packages: {' '.join(unfinished)}")
    if missing:
        say(f"installing {len(missing)} system packages: {' '.join(missing)}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    wait = ["-q", "-o", "DPkg::Lock::Timeout=300"]
    with services_held():
        # Some may belong to other software, and fail again: apt reports if cotejo needs them.
        quietly = dict(env=environment, stdin=subprocess.DEVNULL, capture_output=True)
        subprocess.run(["dpkg", "--force-confold", "--configure", "--pending"], **quietly)
        # Half unpacked ones are not configured by dpkg, and apt takes them for installed.
        again = [name for name, half in unfinished.items() if half]
        if missing:
            run(["apt-get", "update", *wait], env=environment)
        if again:
            subprocess.run(["apt-get", "install", "--reinstall", "-y", *wait, *again], **quietly)
        if not missing:
            return
        words = command.split()
        if not needed:  # releases of Debian and Ubuntu differ in what they have
            words = [word for word in words if word not in missing or subprocess.run(
                ["apt-cache", "show", word], capture_output=True).returncode == 0]
        run([*words[:2], "-y", *wait, *words[2:]], env=environment)


def lock_hash(*names):
    return hash_of(*(LOCKS / f"{name}.txt" for name in names))


def hash_of(*paths):
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def new_environment(stack, prefix, *options):
    """Makes a virtual environment with the system's Python, in place of an old one of cotejo."""
    python = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
    removal.renewed(stack, prefix)
    run([python, "-m", "venv", *options, str(prefix)])


def install_tools(stack):
    """ReFrame and the tools of the tests in STACK/tools."""
    prefix, stamp = stack / "tools", lock_hash("installer", "tools")
    if removal.stamped(prefix, stamp):
        return
    say("installing ReFrame and tools")
    new_environment(stack, prefix)
    pip = [str(prefix / "bin/python"), "-m", "pip", "install", "-q", "--require-hashes", *RETRIES]
    run([*pip, "-r", str(LOCKS / "installer.txt")])
    run([*pip, "--resume-retries", "10", "--only-binary", ":all:",
         "-r", str(LOCKS / "tools.txt")])
    removal.stamp_placed(prefix, stamp)


def install_packages(stack, name):
    """Some of `BESIDE` in STACK/NAME, a Python environment of its own."""
    lock, said = BESIDE[name]
    prefix, stamp = stack / name, lock_hash(lock)
    if removal.stamped(prefix, stamp):
        return
    say(f"installing {said}")
    new_environment(stack, prefix, "--without-pip")
    run([str(stack / "tools/bin/python"), "-m", "pip", "--python", str(prefix / "bin/python"),
         "install", "-q", "--require-hashes", "--no-deps", "--only-binary", ":all:", *RETRIES,
         "--resume-retries", "10", "-r", str(LOCKS / f"{lock}.txt")])
    removal.stamp_placed(prefix, stamp)


def install_vale(stack):
    """The linter of texts in STACK/vale, compiled by a Go that is removed afterwards."""
    prefix, go = stack / "vale", stack / "go"
    locks = [VALE / name for name in ("go.mod", "go.sum")]
    stamp = hash_of(LOCKS / "go.txt", *locks)
    if removal.stamped(prefix, stamp):
        removal.remove(stack, go)  # of one that was killed when only that was left to do
        return
    install_packages(stack, "go")
    say("compiling Vale")
    removal.renewed(stack, prefix)
    # Parsers of programming languages take most of the time, and are not used.
    run([*go.glob("lib/python*/site-packages/go/bin/go"), "build", "-C", str(VALE),
         "-modcacherw", "-o", str(prefix / "bin/vale"), "github.com/errata-ai/vale/v3/cmd/vale"],
        env=dict(os.environ, CGO_CFLAGS="-O0", GOTOOLCHAIN="local", GOFLAGS="",
                 GOPATH=str(go / "path"), GOCACHE=str(go / "cache")))
    removal.stamp_placed(prefix, stamp)
    removal.remove(stack, go)


def install_locked(stack, name, path, stamp):
    """Installs the packages of a lock in STACK/mpi/NAME, unless they are there with this stamp.
    Each MPI has a prefix of its own, since the compilers of two would collide."""
    prefix, wheels = stack / "mpi" / name, stack / "wheels" / name
    if removal.stamped(prefix, stamp):
        removal.remove(stack, wheels)  # of one that was killed when only that was left to do
        return
    say(f"installing {name}")
    pip = [str(stack / "tools/bin/python"), "-m", "pip"]
    lock = ["-r", str(path)]
    common = ["-q", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    removal.claim(wheels)
    run([*pip, "download", *common, *RETRIES, "--resume-retries", "10",
         "-d", str(wheels), *lock])
    new_environment(stack, prefix, "--without-pip")
    run([*pip, "--python", str(prefix / "bin/python"), "install", *common,
         "--no-index", "--find-links", str(wheels), *lock])
    removal.stamp_placed(prefix, stamp)
    removal.remove(stack, wheels)


def install(stack):
    """All parts, one after the other."""
    system_packages()
    removal.claim(stack)
    (stack / "mpi").mkdir(exist_ok=True)
    record_packages(stack)
    install_tools(stack)
    install_packages(stack, "languages")
    for name in sorted(p.stem for p in (REPO / "reframe_tests/mpi_families").glob("*.yaml")):
        # The others are found on the system, where `make build` looks for them.
        if (LOCKS / f"{name}.txt").exists():
            install_locked(stack, name, LOCKS / f"{name}.txt", lock_hash(name))
    for folder in (stack, stack / "mpi", stack / "wheels"):
        removal.sweep(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path, help="where the stack goes")
    parser.add_argument("--only", choices=["tools", *BESIDE, "vale"],
                        help="install this part alone")
    parser.add_argument("--test-packages", action="store_true",
                        help="install what only tests need of the system's packages, where root")
    args = parser.parse_args()
    stack = args.stack.resolve()
    if reason := path_problem(str(stack)):
        return f"stack: {reason}; give another place"
    # On a signal to end, `sys.exit` first releases everything that is held.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    signal.signal(signal.SIGHUP, lambda number, _: sys.exit(128 + number))
    try:
        if args.test_packages:
            system_packages("debian-tests", needed=False)
        elif args.only:
            removal.claim(stack)
            install_tools(stack)
            if args.only == "vale":
                install_vale(stack)
            elif args.only != "tools":
                install_packages(stack, args.only)
        else:
            install(stack)
    except removal.NotOursError as err:
        return f"stack: {err}; remove it yourself, or give another STACK"
    except OSError as err:
        return f"stack: {err.filename}: {err.strerror}; give a STACK that you may write to"
    return 0


if __name__ == "__main__":
    problems.run(main)
