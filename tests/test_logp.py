# SPDX-License-Identifier: BSD-3-Clause
"""LogP's gap, held against a transport whose gap and drain are planted."""

import json

import pytest

from tests.launching import STACK, launch

GAP_S = 20e-6


@pytest.mark.parametrize("drain_s", [0, 500e-6])
def test_the_drain_of_a_row_is_not_in_the_gap(mpi, tmp_path, drain_s):
    """Rows of 16 messages with their drain would tell 51 us."""
    planted = STACK / "build" / mpi.name / "tests/libdrain.so"
    done = launch(mpi, "logp", "--sizes", "1", "--budget", "0.05", "--output", "samples",
                  folder=tmp_path, LD_PRELOAD=str(planted), COTEJO_GAP_S=str(GAP_S),
                  COTEJO_DRAIN_S=str(drain_s))
    assert done.returncode == 0, done.stderr
    found = {row["operation"]: row["median_s"]
             for row in json.loads((tmp_path / "samples.json").read_text())["summary"]}
    assert GAP_S * 0.97 < found["logp-g"] < GAP_S * 1.3
