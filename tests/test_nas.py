# SPDX-License-Identifier: BSD-3-Clause
"""NAS kernels in every language verify themselves, and their samples have cotejo's format."""

import json
import os
import subprocess
import sys

import pytest

from reframe_tests.harness.foreign import languages
from stack import build, coarrays
from tests.launching import STACK, launch, rows_of, said


@pytest.mark.parametrize("kernel", ["ep", "is", "cg", "mg", "ft"])
@pytest.mark.parametrize("language", languages.STARTED)
def test_a_kernel_in_another_language_is_right(mpi, language, kernel, tmp_path):
    try:
        words = languages.STARTED[language](mpi, STACK, kernel, 1)
    except languages.NotThereError as err:
        pytest.skip(str(err))
    prefix = mpi.prefix(STACK)
    env = {**build.environment(mpi, STACK), **mpi.transports["shm"].environment,
           "LD_LIBRARY_PATH": f"{prefix}/lib", "COTEJO_DESCRIPTION": "samples.json"}
    done = subprocess.run(
        [*build.test_launcher(mpi).split(";"), "-np", "2", "env",
         f"LD_PRELOAD={prefix}/lib/libcotejo_observe.so", *words, "S", "1", "2", "samples.csv"],
        env=env, cwd=tmp_path, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    languages.complete(tmp_path, language)
    record = json.loads((tmp_path / "samples.json").read_text())
    rows = rows_of(tmp_path / "samples.csv")
    assert [c["name"] for c in record["samples"]["columns"]] == list(rows[0])
    assert record["observed"]["size"] == 2
    assert record["observed"]["payload_bytes"] == 0  # a reader wants the member
    assert [row["operation"] for row in rows] == [f"nas-{kernel}-S"] * 2
    assert float(rows[0]["rate_mops"]) == pytest.approx(
        float(rows[0]["mop"]) / float(rows[0]["time_s"]))
    assert record["summary"][0]["mop"] == pytest.approx(
        {"ep": 33.554432, "is": 0.65536, "cg": 66.654, "mg": 7.602176, "ft": 177.1669558}[kernel])


def test_coarrays_are_linked_to_the_library_that_they_are_beside(tmp_path):
    prefix, programs = tmp_path / "mpi/openmpi", tmp_path / "bin"
    (prefix / "bin").mkdir(parents=True)
    programs.mkdir()
    (programs / "gfortran").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (programs / "gfortran").chmod(0o755)
    caf = coarrays.write_compiler(prefix, tmp_path / "libcaf_openmpi.a")
    assert caf == prefix / "bin/caf"
    done = subprocess.run([caf, "a.f90", "-o", "a"], text=True, capture_output=True, check=True,
                          env={"PATH": f"{programs}:{os.environ['PATH']}"})
    words = done.stdout.split()
    assert words[0] == "-fcoarray=lib"
    # It follows the files that need its symbols, and precedes the library that it needs itself.
    assert words[1:] == ["a.f90", "-o", "a", f"{tmp_path}/libcaf_openmpi.a", f"-L{prefix}/lib",
                         f"-Wl,-rpath,{prefix}/lib", "-lmpi"]


def test_a_package_of_coarrays_is_unpacked_once(tmp_path, monkeypatch):
    calls = []

    def fetch(command, cwd):
        calls.append(command[0])
        if command[0] == "apt-get":
            (cwd / "coarrays.deb").touch()
        else:
            (cwd / "lib").mkdir()
            (cwd / "lib/libcaf_openmpi.a").touch()
            (cwd / "lib/libcaf_mpi.a").symlink_to("libcaf_openmpi.a")

    monkeypatch.setattr(coarrays, "run", fetch)
    for _ in range(2):
        archive = coarrays.unpack("libcoarrays-openmpi-dev", tmp_path / "x")
        assert archive == tmp_path / "x/lib/libcaf_openmpi.a"
    assert calls == ["apt-get", "dpkg-deb"]


def test_where_coarrays_cannot_be_added_the_message_names_what_they_need(tmp_path, monkeypatch):
    """It named a part of a page that was no longer there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["coarrays", str(tmp_path)])
    with pytest.raises(SystemExit, match="needs Debian or Ubuntu with gfortran"):
        coarrays.main()


def test_a_program_that_left_nothing_is_no_launch(tmp_path):
    (tmp_path / "samples.json").write_text("{}")
    languages.complete(tmp_path, "java")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.one_mpi
def test_what_a_kernel_cannot_do_is_said_in_one_line(mpi):
    done = launch(mpi, "nas-ep", "--threads", "2", OMP_THREAD_LIMIT="1")
    assert done.returncode == 2
    has_openmp = b"omp_set_num_threads" in (mpi.prefix(STACK) / "bin/cotejo").read_bytes()
    assert ("2 threads were requested and OpenMP gives 1" if has_openmp
            else "this build has no OpenMP") in said(done)[0]
    done = launch(mpi, "nas-mg", "--class", "X")
    assert done.returncode == 2
    assert "S|W|A|B|C|D" in said(done)[0]
    done = launch(mpi, "nas-ep", "--class", "D")
    assert done.returncode == 2
    assert "ep has classes up to C" in said(done)[0]
