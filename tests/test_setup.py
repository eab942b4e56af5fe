# SPDX-License-Identifier: BSD-3-Clause
"""The set-up recovers from a kill at any moment, blocks nothing, and replaces only its own."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from stack import build, wheels
from tests import fake_mpi
from tests.launching import STACK

REPO = families.REPO


def analysis(stack, **kwargs):
    return subprocess.Popen([sys.executable, "stack/analysis.py", str(stack)], cwd=REPO, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True, **kwargs)


def test_the_r_package_needs_no_stack_and_a_killed_installation_heals(tmp_path):
    stack = tmp_path / "stack"
    killed = analysis(stack)
    for _ in range(600):
        if list(stack.glob(f"{removal.WAITING}*/00LOCK*")):
            break
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert not (stack / "R/cotejo").exists()
    (stack / "R/00LOCK-cotejo").mkdir(parents=True, exist_ok=True)  # of R, before this was so
    removal.claim(stack / "R.new")  # where it was made before this was so
    again = analysis(stack, env={**os.environ, "R_COMPILE_PKGS": "0"})  # to compile takes 15 s
    said, wrong = again.communicate(timeout=300)
    assert (again.returncode, wrong) == (0, ""), said
    assert (stack / "R/cotejo/DESCRIPTION").exists()
    once_more = analysis(stack)
    assert once_more.communicate(timeout=120) == ("", "")  # nothing to do
    assert sorted(path.name for path in stack.iterdir()) == [removal.MARK, "R"]


@pytest.mark.parametrize(("place", "kept"), [("", True), ("/moved/from", False)])
def test_a_build_folder_of_another_place_is_made_anew(tmp_path, capsys, place, kept):
    folder = tmp_path / "build"
    folder.mkdir()
    (folder / "CMakeCache.txt").write_text(
        f"CMAKE_CACHEFILE_DIR:INTERNAL={place or folder}\n"
        f"CMAKE_HOME_DIRECTORY:INTERNAL={place or REPO}/src\n")
    build.begin(folder, folder / "log")
    assert (folder / "CMakeCache.txt").exists() == kept
    assert ("is made anew" in capsys.readouterr().out) != kept


@pytest.mark.parametrize("wrong", ["without its variables", "named to itself"])
def test_a_wrapper_that_builds_nothing_is_refused_before_it_calls_itself(tmp_path, wrong):
    family = families.load()["intel-mpi"]
    compiler = family.prefix(STACK) / "bin" / family.compiler
    if not compiler.exists() or not shutil.which("cmake"):
        pytest.skip(f"no CMake, or no {compiler}")
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = (plain if wrong == "without its variables"
           else {**family.process_environment(STACK, plain), "I_MPI_CC": str(compiler)})
    configured = subprocess.Popen(
        ["cmake", "-S", "src", "-B", tmp_path, f"-DCMAKE_C_COMPILER={compiler}"], cwd=REPO,
        env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    try:
        said = configured.communicate(timeout=120)[0]
    finally:
        if configured.poll() is None:
            os.killpg(configured.pid, signal.SIGKILL)
    assert configured.returncode != 0
    reason = " ".join(said.split())
    assert ("unset it" if wrong == "named to itself" else "`make build`") in reason, said
    assert "compiler identification" not in said


@pytest.fixture(scope="module")
def configured(tmp_path_factory):
    """A build folder of the first MPI library of the stack, without tests and for debuggers."""
    folder = tmp_path_factory.mktemp("build")
    family = next((f for f in families.load().values() if f.installed(STACK)
                   and (f.prefix(STACK) / "bin" / f.compiler).exists()), None)
    if not family or not shutil.which("cmake"):
        pytest.skip(f"no CMake, or no MPI in {STACK}")
    done = subprocess.run(
        ["cmake", "-S", "src", "-B", folder, "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_C_FLAGS_DEBUG=-O0 -g3", "-DBUILD_TESTING=OFF",
         f"-DCMAKE_C_COMPILER={family.prefix(STACK)}/bin/{family.compiler}"],
        cwd=REPO, env=family.process_environment(STACK, os.environ), text=True,
        capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def test_flags_of_the_build_that_was_asked_for_are_in_its_descriptions(configured):
    told = (configured / "CMakeFiles/core.dir/flags.make").read_text()
    assert re.search("COTEJO_FLAGS=.*-O0 -g3", told), told


def test_a_build_without_tests_compiles_none(configured):
    """`spack install` needs no tests, which are a third of the files to compile."""
    assert not (configured / "tests").exists()
    recipe = (REPO / "spack_repo/cotejo/packages/cotejo_bench/package.py").read_text()
    assert 'define("BUILD_TESTING", self.run_tests)' in recipe


def test_without_r_it_is_one_line(tmp_path):
    (tmp_path / "python3").symlink_to(sys.executable)
    done = analysis(tmp_path / "stack", env={"PATH": str(tmp_path)})
    _, wrong = done.communicate(timeout=120)
    assert done.returncode == 1
    assert wrong == ("analysis: no R on PATH (Debian: r-base-core); install it, or run "
                     "`make stack`\n")


@pytest.mark.parametrize("target", ["figures", "report", "paper", "proof-page", "compare-layers"])
def test_what_draws_brings_the_r_package_along_and_needs_no_mpi(tmp_path, target):
    done = subprocess.run(["make", "-n", target, "DATA=reference", "SPACK=", f"STACK={tmp_path}"],
                          cwd=REPO, text=True, capture_output=True, timeout=120,
                          env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")})
    lines = done.stdout.splitlines()
    assert 'python3 stack/analysis.py "$STACK"' in lines
    assert not any("wheels.py" in line or "stack.build" in line for line in lines)


@pytest.fixture
def pip(monkeypatch):
    """Replaces the installer: makes the prefix's Python, and notes the commands that are run."""
    ran = []

    def run(command, **kwargs):
        ran.append(command)
        if "venv" in command:
            (pathlib.Path(command[-1]) / "bin").mkdir()
    monkeypatch.setattr(wheels, "run", run)
    return ran


PARTS = {"tools": wheels.install_tools,
         "languages": lambda stack: wheels.install_packages(stack, "languages"),
         "vale": wheels.install_vale,
         "mpi/mpich": lambda stack: wheels.install_locked(
             stack, "mpich", wheels.LOCKS / "mpich.txt", wheels.lock_hash("mpich"))}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_was_cut_short_is_made_anew(tmp_path, pip, part):
    removal.claim(tmp_path / part)  # as a kill leaves it: marked, half, without its stamp
    (tmp_path / part / "half").write_text("x")
    PARTS[part](tmp_path)
    assert not (tmp_path / part / "half").exists()
    before = len(pip)
    PARTS[part](tmp_path)
    assert len(pip) == before > 0  # complete: nothing is done again
    assert not list(tmp_path.glob("wheels/*"))


def test_what_a_killed_installation_downloaded_goes_in_the_end(tmp_path, pip):
    PARTS["mpi/mpich"](tmp_path)
    removal.claim(tmp_path / "wheels/mpich")  # killed after the part was complete
    PARTS["mpi/mpich"](tmp_path)
    assert not list(tmp_path.glob("wheels/*"))


def test_places_of_a_killed_installation_go_in_the_end(tmp_path, pip, monkeypatch):
    monkeypatch.setattr(wheels, "system_packages", lambda: None)
    places = [tmp_path / folder / f"{removal.WAITING}999999999.{removal.processes()}.x"
              for folder in (".", "mpi")]
    removal.claim(tmp_path)
    for place in places:
        removal.claim(place)
    wheels.install(tmp_path)
    assert not any(place.exists() for place in places)


@pytest.mark.parametrize("part", PARTS)
def test_a_folder_of_others_is_never_replaced(tmp_path, pip, part):
    (tmp_path / part / "bin").mkdir(parents=True)
    (tmp_path / part / "bin/theirs").write_text("x")
    with pytest.raises(removal.NotOursError, match="is left as it is: it has no"):
        PARTS[part](tmp_path)
    assert (tmp_path / part / "bin/theirs").exists()


@pytest.fixture
def policy(tmp_path, monkeypatch):
    path = tmp_path / "policy-rc.d"
    monkeypatch.setattr(wheels, "POLICY", path)
    return path


def asked(path):
    return subprocess.run(["sh", str(path)]).returncode


def test_services_are_held_while_packages_come_and_free_after_a_kill(policy):
    with wheels.services_held():
        assert asked(policy) == 101
    assert not policy.exists()
    child = os.fork()
    if child == 0:
        holding = wheels.services_held()
        holding.__enter__()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert asked(policy) == 0, "a kill holds services back"
    wheels.release_services()
    assert not policy.exists()


def test_the_policy_of_another_is_left_alone(policy):
    policy.write_text("#!/bin/sh\nexit 101\n")
    with wheels.services_held():
        assert policy.read_text() == "#!/bin/sh\nexit 101\n"
    wheels.release_services()
    assert asked(policy) == 101


#: An installation that was killed within slurmctld, and before munge was configured.
KILLED = """\
#!/bin/sh
echo "${{0##*/}} $*" >>{log}
case $0 in
  */dpkg-query) printf 'iHR slurmctld 22\niF  munge 0.5\niF  man-db 2\nii  bash 5\nun  vim \n' ;;
  */dpkg) grep -q reinstall {log} ;;
esac
"""


def test_a_package_of_which_half_was_unpacked_is_installed_again(tmp_path, policy, monkeypatch):
    """dpkg does not configure it, and apt takes it for installed."""
    log = tmp_path / "log"
    log.touch()
    for name in ("dpkg-query", "dpkg", "apt-get", "apt-cache"):
        fake_mpi.executable(tmp_path / "bin" / name, KILLED.format(log=log))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(wheels, "listed_packages", lambda listed: ["munge", "slurmctld", "bash"])
    wheels.system_packages()
    installs = [line.split() for line in log.read_text().splitlines() if " install " in line]
    assert [words for words in installs if "--reinstall" in words] == [installs[0]]
    assert [words[-2:] for words in installs] == [["DPkg::Lock::Timeout=300", "slurmctld"],
                                                  ["munge", "slurmctld"]]
    log.write_text("")
    monkeypatch.setattr(wheels, "listed_packages", lambda listed: ["bash"])
    wheels.system_packages()  # all listed ones are installed, man-db is half configured
    assert "dpkg --force-confold --configure --pending\n" in log.read_text()


def test_what_the_system_gave_is_recorded_with_its_version(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "package_versions", lambda: {"gcc": "4:12.2.0-3", "vim": "9"})
    wheels.record_packages(tmp_path)
    assert json.loads((tmp_path / "packages.json").read_text()) == {"gcc": "4:12.2.0-3"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give it up")
@pytest.mark.parametrize("command", [
    ["stack/wheels.py"], ["stack/analysis.py"], ["-m", "stack.build"], ["-m", "stack.verify"]])
def test_a_stack_of_root_is_one_line_for_others(tmp_path, command):
    stack = pathlib.Path("/run") / f"cotejo-test-{os.getpid()}"
    removal.claim(stack)
    try:
        (stack / "mpi/mpich/bin").mkdir(parents=True)
        (stack / "mpi/mpich/bin/mpirun").write_text("")
        done = subprocess.run(
            ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, *command,
             str(stack)], cwd=REPO, text=True, capture_output=True, timeout=120,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"})
    finally:
        removal.remove("/run", stack)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "STACK" in done.stderr
    assert "Permission denied" in done.stderr or command == ["-m", "stack.verify"]
