# SPDX-License-Identifier: BSD-3-Clause
"""Times are taken in one place: who else may read a clock, and what for."""

import re

from reframe_tests.harness.model import families

READS = re.compile(
    r"\b(clock_now|clock_time|clock_row|clock_wait|MPI_Wtime|clock_gettime|gettimeofday|"
    r"monotonic_s)\s*\(")
MARKS = re.compile(r"\bprogram_mark\s*\(")

#: The clock, the sampler, and what both stand on.
MEASURING = {"core/clock.c", "core/clock.h", "core/standard.h", "core/sampler.c",
             "core/sampler.h", "core/sync.c", "core/reading.c", "core/start.c",
             "core/overhead.c"}
#: Files that calibrate: they measure the time of a computation or of a wait before the first
#: sample.
CALIBRATION = {"core/compute.c", "experiments/method/waitpattern.c"}
#: Deadlines, and times of MPI_Init.
DEADLINES = {"experiments/p2p/deadlock.c", "cotejo.c"}
#: Separate programs and libraries, and what a machine is like.
PROGRAMS = {"core/hazards.c", "core/host.c", "core/surroundings.c",
            "preload/delay.c", "preload/slow.c", "preload/arrivals.c"}
PROGRAM_FOLDERS = ("tools/", "tests/", "transport/")
#: Waits that belong to the operation.
WAITS = {"experiments/p2p/moves.c", "experiments/p2p/eager.c"}


def readers(pattern):
    """Files of src/ whose code has it, comments left out."""
    found = set()
    for path in (families.REPO / "src").rglob("*.[ch]"):
        code = re.sub(r"//.*", "", path.read_text())
        name = path.relative_to(families.REPO / "src").as_posix()
        if pattern.search(code) and not name.startswith(PROGRAM_FOLDERS):
            found.add(name)
    return found


def test_no_other_file_reads_a_clock():
    allowed = MEASURING | CALIBRATION | DEADLINES | PROGRAMS | WAITS
    assert readers(READS) - allowed == set()


def test_the_list_names_none_that_does_not():
    """So that it shrinks as what is left moves to the sampler."""
    assert (CALIBRATION | DEADLINES | WAITS) - readers(READS) == set()


def test_marks_are_of_whole_programs_alone():
    """And of a way to time a burst that is shown to be wrong."""
    programs = re.compile(r"core/sampler\.h|"
                          r"experiments/(kernels/.*|p2p/(train|moves|bandwidth)|nas/mz)\.c")
    assert [name for name in readers(MARKS) if not programs.fullmatch(name)] == []
