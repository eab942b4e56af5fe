# SPDX-License-Identifier: BSD-3-Clause
"""Builds `src/` by every compiler of this machine without a warning, and runs the programs.

Compilers of this processor (`gcc`, `gcc-N`, `clang`, `clang-N` on PATH) build the benchmark under
one MPI library, with OpenMP and without. `musl-gcc` compiles all sources, and builds and runs the
programs that need no MPI library. `aarch64-linux-gnu-gcc` builds for a root that COTEJO_PEER_ARM
names, and two ranks run under `qemu-aarch64`, started by MPICH of the stack:

COTEJO_PEER_ARM  FOLDER/{usr (unpacked arm64 packages of Debian: libhwloc15, libhwloc-dev,
                 libudev1), mpi/{include,lib} (MPICH's wheel for aarch64, unpacked)}
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from bench.common import check_goals, parser_of, say, skip
from reframe_tests.harness.model import families
from stack.build import environment
from tests.launching import BRIEF, PRESENT

SRC = families.REPO / "src"
NATIVE = re.compile(r"(gcc|clang)(-\d+)?$")
LEVEL = ["-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE"]
WITHOUT_OPENMP = "-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON"
ONCE = ["--min-repetitions", "1", "--max-repetitions", "1"]
#: The launches of each build: the core, a collective, a window, and a kernel with OpenMP.
LAUNCHES = (["pingpong", "--sizes", "8,1000", *BRIEF],
            ["collective", "--operation", "bcast,allreduce", "--sizes", "8,1000", *BRIEF],
            ["onesided", "--sizes", "8", *BRIEF], ["nas-ep", "--class", "S", *ONCE])
INCLUDE = pathlib.Path("/usr/include")
HEADERS = ("hwloc", "hwloc.h", "linux", "asm", "asm-generic")
ARM_ROOT = "/usr/aarch64-linux-gnu"


def version(compiler):
    return subprocess.run([compiler, "--version"], text=True, capture_output=True,
                          check=True).stdout.splitlines()[0]


def native():
    """Compilers for this processor, one name for each version."""
    names = sorted({path.name for folder in os.get_exec_path() if os.path.isdir(folder)
                    for path in pathlib.Path(folder).iterdir() if NATIVE.match(path.name)})
    found = {}
    for name in names:
        found.setdefault(re.sub(r"^\S+", "", version(name)), name)
    return sorted(found.values())


def last_words(done):
    words = (done.stdout + done.stderr).strip().splitlines()
    return next((word for word in words if re.search("error:|undefined|cannot find", word)),
                words[-1] if words else f"status {done.returncode}")[:300]


def run(command, **kwargs):
    """Runs a command; returns a description of the failure, or ''."""
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=1800, **kwargs)
    return last_words(done) if done.returncode else ""


def built(folder, compiler, options, env):
    """Builds src/, where a warning is an error; returns a description of the failure, or ''."""
    return run(["cmake", "-S", SRC, "-B", folder, "-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}",
                "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", *options], env=env) or run(
        ["cmake", "--build", folder], env=env)


def launched(start, program, env, folder):
    """Launches each of LAUNCHES; returns a description of the failure, and the timer's name."""
    timer = ""
    for words in LAUNCHES:
        wrong = run([*start, program, *words, "--output", "samples"], env=env, cwd=folder)
        if wrong:
            return f"{words[0]}: {wrong}", timer
        timer = json.loads((folder / "samples.json").read_text())["observed"]["timer"]["name"]
        for left in folder.glob("samples*"):
            left.unlink()
    return "", timer


def fault(family, compiler, options, folder, stack):
    """Builds src/ for an MPI by another compiler than its own, and launches the benchmark there;
    returns a description of the failure, or ''."""
    env = {**environment(family, stack), **family.transports["shm"].environment,
           **dict.fromkeys(("MPICH_CC", "OMPI_CC", "I_MPI_CC"), compiler)}
    return built(folder, family.compiler_in(stack), options, env) or launched(
        ["mpirun", "-n", "2"], folder / "cotejo", env, folder)[0]


def hold_native(family, stack, compiler, openmp, folder):
    wrong = fault(family, compiler, [] if openmp else [WITHOUT_OPENMP], folder, stack)
    say(f"{version(compiler)}, {'with' if openmp else 'without'} OpenMP: builds without a "
        "warning, and runs", wrong or f"under {family.title}", not wrong)


def hold_musl(family, stack, folder):
    compiler = shutil.which("musl-gcc")
    if not compiler:
        return skip("musl", "musl-gcc is not installed")
    # Headers of hwloc and the kernel; /usr/include also has headers of another C library.
    for name in HEADERS:
        for path in (INCLUDE / name, *INCLUDE.glob(f"*-linux-*/{name}")):
            if path.exists():
                place = folder / path.parent.name
                place.mkdir(exist_ok=True)
                (place / name).symlink_to(path)
    mpi = subprocess.run([family.compiler_in(stack), "-show"], text=True, capture_output=True,
                         check=True, env=environment(family, stack)).stdout
    flags = [compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
             *LEVEL, *re.findall(r"-I\S+", mpi),
             *(f"-isystem{path}" for path in folder.iterdir()),
             *(f"-I{path}" for path in [SRC, *SRC.rglob("*")] if path.is_dir()
               and not {"transport", "tests"} & set(path.parts)),
             '-DCOTEJO_VERSION="0"', '-DCOTEJO_FLAGS=""']
    sources = [path for path in sorted(SRC.rglob("*.c"))
               if not {"transport", "tests"} & set(path.parts)
               and not path.name.startswith("fft_")]
    wrong = run([*flags, "-fsyntax-only", *sources])
    say("musl: all sources compile without a warning", wrong or f"{len(sources)} files", not wrong)
    # Files of the core that CMake adds to programs without MPI.
    core = [SRC / name for name in sorted({
        *re.findall(r"core/\w+\.c", (SRC / "CMakeLists.txt").read_text())})]
    for name, part, words in (
            ("cotejo-guard", "guard", ["10", "-r", folder / "end.json", "true"]),
            ("cotejo-switch", "net", ["--help"])):
        own = [path for path in sorted((SRC / "tools" / part).glob("*.c"))
               if path.name != "probe.c"]
        program = folder / name
        wrong = run([*flags, "-static", *own, *core, "-lm", "-o", program]) or run(
            [program, *words], env={**os.environ, "COTEJO_LOCKS": str(folder)})
        say(f"musl: {name} builds without a warning, and runs", wrong or "static", not wrong)
    return None


def hold_arm(family, stack, folder):
    compiler, emulator = map(shutil.which, ("aarch64-linux-gnu-gcc", "qemu-aarch64"))
    root = os.environ.get("COTEJO_PEER_ARM")
    goal = "aarch64: builds without a warning, and runs under emulation"
    if not compiler or not emulator:
        return skip(goal, "aarch64-linux-gnu-gcc or qemu-aarch64 is not installed")
    if not root:
        return skip(goal, "COTEJO_PEER_ARM names no folder")
    root = pathlib.Path(root).resolve()
    libraries = root / "usr/lib/aarch64-linux-gnu"
    wrapper = folder / "mpicc"
    wrapper.write_text(
        f'#!/bin/sh\nexec {compiler} -I{root}/mpi/include -I{root}/usr/include/aarch64-linux-gnu '
        f'"$@" -L{root}/mpi/lib -lmpi -Wl,--allow-shlib-undefined\n')
    wrapper.chmod(0o755)
    env = {**environment(family, stack), "PKG_CONFIG_LIBDIR": f"{libraries}/pkgconfig",
           "PKG_CONFIG_SYSROOT_DIR": str(root)}
    wrong = built(folder / "build", wrapper, ["-DCMAKE_SYSTEM_NAME=Linux",
                                              "-DCMAKE_SYSTEM_PROCESSOR=aarch64"], env)
    timer = ""
    if not wrong:
        wrong, timer = launched(
            ["mpirun", "-n", "2", emulator, "-L", ARM_ROOT, "-E",
             f"LD_LIBRARY_PATH={root}/mpi/lib:{libraries}"], folder / "build/cotejo", env, folder)
    say(goal, wrong or f"{version(compiler)}, timer {timer}", not wrong and timer == "cntvct")
    return None


def main():
    parser = parser_of(__doc__)
    parser.add_argument("parts", nargs="*", metavar="COMPILER",
                        help="some of the compilers, musl and aarch64 (all)")
    args = parser.parse_args()
    family = next((f for f in PRESENT if f.name == "mpich"), PRESENT[0])
    others = {"musl": hold_musl, "aarch64": hold_arm}
    for part in args.parts or [*native(), *others]:
        for openmp in (True, False) if part not in others else (True,):
            with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
                folder = pathlib.Path(name)
                if part in others:
                    others[part](family, args.stack, folder)
                else:
                    hold_native(family, args.stack, part, openmp, folder)


if __name__ == "__main__":
    check_goals(main)
