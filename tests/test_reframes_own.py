# SPDX-License-Identifier: BSD-3-Clause
"""What ReFrame brings by itself works on our tests: its database, report, distribution, CI."""

import re

import pytest
import yaml

from tests.fake_mpi import REFRAME, Fake

pytestmark = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm libfabric provider: tcp",
         [("a", 0), ("a", 1)])
ONE = ("-n", "pingpong_smoke.*transport=shm")


@pytest.fixture
def site(tmp_path):
    return Fake(tmp_path, "intel-mpi", INTEL)


def test_results_are_stored_and_reported_by_default(site, tmp_path):
    (tmp_path / "temporary").mkdir()
    output = site.run("-r", "--performance-report", *ONE, TMPDIR=str(tmp_path / "temporary"))
    # ReFrame begins a log there before it knows where it belongs.
    assert list((tmp_path / "temporary").glob("rfm-*")) == []
    assert re.search(r"PERFORMANCE REPORT.* latency +│ us +│ +1 │", output, re.S), output[-2500:]
    assert (site.stack / "reframe/results.db").exists()
    stored = site.run("--list-stored-sessions")
    assert len(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", stored)) == 1, stored[-1500:]
    compared = site.run("--performance-compare=now-1d:now/now-1d:now/mean:/")
    assert "pingpong_smoke" in compared, compared[-1500:]


def test_tests_are_distributed_over_nodes(site):
    output = site.run("-l", "--distribute=all", *ONE)
    assert re.search(r"pingpong_smoke.*\.nid=\S+", output), output[-2500:]


def test_a_pipeline_is_generated(site):
    path = site.folder / "pipeline.yml"
    output = site.run(f"--ci-generate={path}", *ONE)
    assert path.exists(), output[-2500:]
    jobs = yaml.safe_load(path.read_text())
    (job,) = (job for name, job in jobs.items() if name.startswith("pingpong_smoke"))
    assert re.search(r"-n /[0-9a-f]{8} -r", job["script"][0])


def test_performance_logs_hold_the_figures(site):
    """Each line ended behind the result."""
    site.run("-r", *ONE)
    (path,) = site.stack.glob("reframe/perflogs/*/*/pingpong_smoke.log")
    header, line = (text.split("|") for text in path.read_text().splitlines()[:2])
    assert "latency=1" in line or "latency=1.0" in line, line
    assert len(header) == len(line)
