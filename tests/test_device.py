# SPDX-License-Identifier: BSD-3-Clause
"""Buffers in a device's memory, against libraries of no device that are built here: their memory
holds the complement of each byte, so that only what goes by their copies is found to be right."""

import csv
import json
import shutil
import subprocess

import pytest

from reframe_tests.harness.model import families
from stack.build import environment
from tests.launching import BRIEF, PRESENT, STACK, launch, refuses, refuses_each, said

FILES = {"cuda": "libcudart.so", "hip": "libamdhip64.so"}
every = pytest.mark.parametrize("mpi", PRESENT, ids=lambda family: family.name)
one = pytest.mark.parametrize("mpi", PRESENT[-1:], ids=lambda family: family.name)


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """A folder with a folder of each library."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("stubs")
    source = families.REPO / "tests/stubs/device.c"
    for prefix, name in FILES.items():
        (folder / prefix).mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror",
                        f"-DPREFIX={prefix}", f"-Wl,-soname,{name}", str(source), "-o",
                        str(folder / prefix / name)], check=True, timeout=120)
    return folder


def found(mpi, stubs, prefix):
    """The variables of a launch that finds a library and, before the MPI's own, its answers."""
    path = environment(mpi, STACK).get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": f"{stubs / prefix}:{path}".rstrip(":"),
            "LD_PRELOAD": str(stubs / prefix / FILES[prefix])}


def on_device(mpi, stubs, prefix, folder, *words, memory=None, **more):
    """A launch that finds a library, and the requests of each rank to the library."""
    folder.mkdir(exist_ok=True)
    log = folder / "log"
    log.unlink(missing_ok=True)
    done = launch(mpi, *words, "--memory", memory or prefix, folder=folder, STUB_LOG=str(log),
                  **found(mpi, stubs, prefix), **more)
    lines = log.read_text().splitlines() if log.exists() else []
    return done, [json.loads(line) for line in lines]


# Experiments for each kind of buffer. If MPI computes, memory must be plain.
PLAIN = {"STUB_PLAIN": "1"}
WORK = [
    (["pingping", "--layout", "0,16"], {}), (["bandwidth", "--queue", "4", "--ways", "both"], {}),
    (["partitioned"], {}), (["threads", "--threads", "1"], {}), (["fans"], {}),
    (["matching-posted", "--depth", "0,4", "--sizes", "1,4000"], {}),
    (["onesided", "--window", "create,dynamic"], {}),
    (["onesided", "--window", "create", "--operation", "all", "--sizes", "8"], PLAIN),
    (["collective", "--operation", "bcast,alltoallv,gather"], {}),
    (["collective", "--operation", "alltoall", "--datatype", "vector", "--sizes", "64,64000"], {}),
    (["collective", "--operation", "allreduce,scan", "--sizes", "64"], PLAIN),
]


def check_device(record, ranks, prefix, words):
    layout = record["observed"]["layout"]
    assert record["observed"]["payload_checked"]
    assert layout["memory"] == record["observed"]["options"]["memory"] == prefix
    assert {b["device"] for b in layout["buffers"]} == {0, 1}, words
    assert sorted(rank["device"] for rank in ranks) == [0, 1]
    assert {rank["library"] for rank in ranks} == {prefix}
    for rank in ranks:
        assert rank["allocated"] == rank["freed"] > 0
        assert rank["in"] > 0 or rank["out"] > 0
        assert rank["managed"] == 0


@one
@pytest.mark.parametrize(("words", "more"), WORK, ids=" ".join)
def test_payloads_pass_through_a_device_s_memory(mpi, stubs, tmp_path, words, more):
    words = [*words, "--output", "samples", *BRIEF]
    words += [] if "--sizes" in words else ["--sizes", "1,40000"]
    done, ranks = on_device(mpi, stubs, "cuda", tmp_path, *words, **more)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "samples.json").read_text())
    check_device(record, ranks, "cuda", words)
    assert list(csv.reader((tmp_path / "samples.csv").read_text().splitlines()[1:]))


@every
@pytest.mark.parametrize("prefix", FILES)
def test_every_mpi_takes_either_library(mpi, stubs, tmp_path, prefix):
    done, ranks = on_device(mpi, stubs, prefix, tmp_path, "pingpong", "--sizes", "1,70000",
                            "--output", "samples", *BRIEF)
    assert done.returncode == 0, done.stderr
    check_device(json.loads((tmp_path / "samples.json").read_text()), ranks, prefix, "")


@one
@pytest.mark.parametrize("prefix", FILES)
def test_managed_memory_is_of_whichever_library_is_there(mpi, stubs, tmp_path, prefix):
    done, ranks = on_device(mpi, stubs, prefix, tmp_path, "datatypes", "--sizes", "640",
                            "--output", "samples", *BRIEF, memory="managed")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "samples.json").read_text())["observed"]["payload_checked"]
    for rank in ranks:
        assert rank["managed"] == rank["freed"] > 0
        assert rank["allocated"] == 0


@one
@pytest.mark.parametrize("words", [["pingpong"], ["collective", "--operation", "bcast"]],
                         ids=lambda words: words[0])
def test_a_wrong_byte_in_a_device_s_memory_is_found(mpi, stubs, tmp_path, words):
    done, _ = on_device(mpi, stubs, "cuda", tmp_path, *words, "--sizes", "9", *BRIEF,
                        STUB_SPOIL="1")
    assert done.returncode == 1
    assert "byte 8 of" in said(done)[0]


@one
@pytest.mark.parametrize(("more", "expected"), [
    ({"STUB_DEVICES": "0"}, "no device here (none is there)"),
    ({"STUB_CANNOT": "1"}, "this MPI says that it cannot send from there")])
def test_a_device_that_cannot_be_used_is_said(mpi, stubs, tmp_path, more, expected):
    done, _ = on_device(mpi, stubs, "cuda", tmp_path, "pingpong", **more)
    refuses(done, expected)


@one
def test_what_a_device_cannot_is_said(mpi, stubs, tmp_path):
    refuses_each(mpi, [([*words, "--memory", "cuda"], expected) for words, expected in (
        # The first case decides how many threads may call the library.
        (["fft"], "the processor itself works on the buffers of fft; use --memory host"),
        (["datatypes"], "the processor itself works on the buffers of datatypes; use --memory "
                        "managed or host"),
        (["onesided", "--window", "allocate"], "use --window create or dynamic"),
        (["collective", "--written", "no"], "only the host's memory can be unwritten"))],
        tmp_path / "cases", **found(mpi, stubs, "cuda"))


@one
def test_where_there_is_no_library_it_is_said(mpi, tmp_path):
    refuses_each(mpi, [(["pingpong", "--memory", kind], f"--memory {kind}: no lib")
                       for kind in ("cuda", "hip", "managed")], tmp_path / "cases")
