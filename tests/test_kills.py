# SPDX-License-Identifier: BSD-3-Clause
"""A few kills of a study at random moments; `make bench PART=faults` has a hundred."""

import signal

import pytest

from tests import kills
from tests.launching import FAMILIES, STACK

PRESENT = [f.name for f in FAMILIES.values() if (f.prefix(STACK) / "bin/cotejo").exists()]
pytestmark = pytest.mark.skipif(not PRESENT or not (STACK / "tools/bin/reframe").exists(),
                                reason="no stack: `make stack` builds it")


def test_a_study_that_is_killed_here_and_there_loses_nothing(tmp_path):
    cells = f"^pingpong_smoke.({'|'.join(PRESENT[:2])}).shm"
    few = [("study", signal.SIGKILL), ("rank", signal.SIGTERM)]
    _, draw = kills.drawn(["rank"], 1, seed=1)
    study = kills.Study(tmp_path / "study", STACK, cells, 2)
    hit, status, found, log = kills.run(study, few, draw, limit_s=200)
    assert len(hit) == len(few), log[-3000:]
    assert status == 0, log[-3000:]
    assert found == dict.fromkeys(kills.LOSSES, 0), log[-3000:]
