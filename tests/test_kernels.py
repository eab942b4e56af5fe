# SPDX-License-Identifier: BSD-3-Clause
"""FFT and radix sort: their messages follow the formulas, and wrong results are errors."""

import functools
import os

import pytest

from tests.launching import (
    FAMILIES,
    interposer,
    launch,
    launch_cases,
    refuses,
    refuses_each,
    rows_of,
    said,
)
from tests.test_patterns import CROWDED, ONCE, record

ONCE_KERNEL = ONCE[:3]


def rows(folder):
    return rows_of(folder / "samples.csv")


@functools.cache
def tried(name):
    return launch(FAMILIES[name], "fft", "--log2", "4", "--variant", "fused", *ONCE_KERNEL)


@pytest.fixture
def fft(mpi):
    """The MPI, where its build has FFTW."""
    done = tried(mpi.name)
    if "no FFTW" in done.stderr:
        pytest.skip("the build has no FFTW")
    assert done.returncode == 0, done.stderr
    return mpi


@pytest.mark.one_mpi
@pytest.mark.parametrize(("ranks", "log2"), [(2, 12), (4, 8)])
def test_messages_of_the_fft_are_those_of_the_formula(fft, ranks, log2, tmp_path):
    done = launch(fft, "fft", "--log2", str(log2), "--effort", "estimate", *ONCE_KERNEL,
                  "--output", "samples", ranks=ranks, folder=tmp_path,
                  **(CROWDED if ranks > 2 else {}))
    assert done.returncode == 0, done.stderr
    points, side = 2**log2, 2**(log2 // 2)
    size = {"original": 16 * points // ranks**2, "rows": 16 * side // ranks,
            "threaded": 16 * side // ranks, "nonblocking": 16 * side // ranks}
    found = {row["operation"].split("-")[1]: row for row in rows(tmp_path)}
    for variant, row in found.items():
        sent, count = float(row["sent_bytes"]), float(row["messages"])
        assert sent == 3 * (ranks - 1) * 16 * points // ranks**2
        assert sent == count * float(row["bytes"])
        assert variant == "fused" or int(row["bytes"]) == size[variant]
        phases = sum(float(row[f"{name}_s"]) for name in ("transposition", "rows", "twiddle"))
        assert variant == "threaded" or 0 < phases <= float(row["time_s"])
    assert found.keys() == {*size, "fused"}
    assert record(tmp_path)["observed"]["payload_checked"] is True


@pytest.mark.one_mpi
def test_the_whole_transform_of_rank_0_is_in_the_memory_that_is_asked_for(fft):
    """With 2^30 points each rank has four parts, and rank 0 has all points to check the result."""
    needed = 5 * 16 * 2**30
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > needed:
        pytest.skip("this host has the memory for it")
    done = launch(fft, "fft", "--log2", "30", *ONCE_KERNEL)
    refuses(done, f"need {1e-6 * needed:.0f} MB")


@pytest.mark.one_mpi
def test_a_wrong_byte_of_a_transposition_is_an_error(fft, tmp_path):
    """2^8 points on 2 ranks: blocks of 1 KiB, rows of 128 B."""
    wrong = (("threaded", "sendrecv", 128),  # the first case decides about threads
             ("original", "sendrecv", 1024), ("original", "separate", 1024),
             ("original", "posted", 1024), ("original", "alltoall", 1024), ("rows", "isend", 128),
             ("nonblocking", "isend", 128), ("fused", "auto", 1024))
    cases = [[f"COTEJO_FLIP_BYTES={size}", "fft", "--log2", "8", "--variant", variant, "--way",
              way, *ONCE_KERNEL] for variant, way, size in wrong]
    for (variant, way, _), done in zip(wrong, launch_cases(
            fft, cases, tmp_path / "cases", LD_PRELOAD=interposer(fft, "flip")), strict=True):
        assert done.returncode == 1, (variant, way)
        assert "wrong result" in said(done)[0] and variant in said(done)[0]


@pytest.mark.one_mpi
def test_the_most_memory_is_told_of_every_sample(mpi, tmp_path):
    """At least the keys themselves, twice. This also holds for samples older than a second when
    the last sample ends, since the value is known only then."""
    done = launch(mpi, "radix", "--keys", "100k", "--variant", "serving", "--rse", "0",
                  "--max-repetitions", "1000000", "--budget", "1.2", "--output", "samples",
                  folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "samples.csv")
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("the kernel does not tell")
    assert [row for row in rows if float(row["peak_bytes"]) < 2 * 4 * 100e3] == []


@pytest.mark.one_mpi
def test_a_wrong_key_is_an_error(mpi, tmp_path):
    variants = ("polled", "polled-posted", "serving", "serving-posted")
    cases = [["radix", "--keys", "1000", "--variant", variant, "--buffer", "64", *ONCE_KERNEL]
             for variant in variants]
    for variant, done in zip(variants, launch_cases(
            mpi, cases, tmp_path / "cases", LD_PRELOAD=interposer(mpi, "flip"),
            COTEJO_FLIP_BYTES="64"), strict=True):
        assert done.returncode == 1, variant
        assert f"variant {variant}" in said(done)[0]


@pytest.mark.alone
def test_sends_that_would_deadlock_are_found_and_left_out(mpi, tmp_path):
    """Two ranks that each send the other 1 MiB would wait for ever, unless the library takes that
    much on its own, as it then does in the sort, too."""
    # Few keys and passes: each key asks for arrivals, which takes Intel MPI 2 us.
    words = ["radix", "--keys", "300k", "--key", "64", "--range", "8", "--digit", "16",
             "--patience", "0.05"]
    done = launch(mpi, *words, "--variant", "polled", "--buffer", "1403,1Mi", *ONCE_KERNEL,
                  "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    sizes = {int(row["bytes"]) for row in rows(tmp_path)}
    found = record(tmp_path)["observed"]["found"]["deadlock_bytes"]
    if found is None:
        assert sizes == {1403, 1 << 20}
        return
    assert sizes == {1403}
    assert 1403 < found <= 1 << 20
    assert f"deadlock from {found:.0f} B on" in done.stdout
    done = launch(mpi, *words, "--variant", "polled-posted", "--buffer", "1Mi")
    assert done.returncode == 2 and "give smaller ones" in said(done)[0]


@pytest.mark.one_mpi
def test_any_number_of_ranks_sorts(mpi):
    done = launch(mpi, "radix", "--keys", "1000", "--distribution", "few", "--buffer", "128",
                  *ONCE_KERNEL, ranks=3, **CROWDED)
    assert done.returncode == 0, done.stderr


@pytest.mark.one_mpi
def test_what_cannot_be_is_refused_in_one_line(fft, tmp_path):
    refuses_each(fft, [(["fft", "--log2", "17"], "even"),
                       (["fft", "--variant", "nonblocking", "--way", "separate"], "cannot send"),
                       (["fft", "--variant", "rows", "--way", "alltoallw"], "cannot send"),
                       (["fft", "--variant", "fftw-mpi", "--log2", "4"], "no libfftw3-mpi"),
                       (["radix", "--range", "40"], "--key 32")], tmp_path / "cases")
    done = launch(fft, "fft", "--log2", "4", ranks=3, **CROWDED)
    assert done.returncode == 2 and "power of two" in said(done)[0]
