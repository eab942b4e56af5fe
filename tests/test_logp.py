# SPDX-License-Identifier: BSD-3-Clause
"""LogP's gap, compared with a transport that has an injected gap and drain."""

import pathlib
import tempfile

import pytest

from tests import quiet
from tests.launching import interposer, launch, rows_of

GAP_S, ROW = 20e-6, 16


@pytest.mark.one_mpi
@pytest.mark.parametrize("drain_s", [0, 100e-6])
def test_the_drain_of_a_row_is_not_in_the_gap(mpi, tmp_path, drain_s):
    """With their drain, rows of 16 messages would give 26 us, and no sample would be 20 us."""
    planted = interposer(mpi, "drain")

    def rows():
        folder = pathlib.Path(tempfile.mkdtemp(dir=tmp_path))
        done = launch(mpi, "logp", "--sizes", "1", "--budget", "0.05", "--min-repetitions", "40",
                      "--output", "samples", folder=folder, LD_PRELOAD=planted,
                      COTEJO_GAP_S=str(GAP_S), COTEJO_DRAIN_S=str(drain_s))
        assert done.returncode == 0, done.stderr
        gaps = [float(row["time_s"]) for row in rows_of(folder / "samples.csv")
                if row["operation"] == "logp-g" and row["valid"] == "1"]
        # On a busy machine most rows may be interrupted: the other rows show the gap.
        return sum(0.97 * GAP_S < gap < 1.1 * GAP_S for gap in gaps) >= 3, sorted(gaps)[:9]

    quiet.asked(rows, ROW * GAP_S + drain_s, 1.1, at=0.07)
