# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the Intel MPI Benchmarks become samples."""

import json

from reframe_tests.harness.foreign import imb_tables, mpiperf

PRINTED = """
# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.12         0.00
            1         1000         0.13         7.76
      1048576           40        22.43     46743.62
"""


def test_the_column_with_more_digits_counts():
    assert imb_tables.rows(PRINTED) == [
        ("imb-pingpong", 0, 1000, 0.12e-6),
        ("imb-pingpong", 1, 1000, 1 / 7.76e6),
        ("imb-pingpong", 1 << 20, 40, (1 << 20) / 46743.62e6)]


def test_of_the_ranks_the_slowest_counts():
    printed = """
# Benchmarking Bcast
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.21         0.36         0.29
# Benchmarking Barrier
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.40         0.43         0.41
"""
    assert imb_tables.rows(printed) == [("imb-bcast", 8, 1000, 0.36 * 1e-6),
                                 ("imb-barrier", 0, 1000, 0.43 * 1e-6)]


def test_a_rate_counts_all_messages_of_a_rank():
    printed = """
# Benchmarking Sendrecv
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            1         1000         0.39         0.39         0.39         5.11
      1048576           40       160.00       164.20       162.10     12771.94
# Benchmarking Exchange
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            1         1000         0.78         0.79         0.78         5.08
"""
    assert imb_tables.rows(printed) == [
        ("imb-sendrecv", 1, 1000, 2 / 5.11e6),
        ("imb-sendrecv", 1 << 20, 40, (2 << 20) / 12771.94e6),
        ("imb-exchange", 1, 1000, 4 / 5.08e6)]


def test_samples_are_complete(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"program": "?"}}')
    imb_tables.write_samples(tmp_path, PRINTED)
    lines = (tmp_path / "samples.csv").read_text().splitlines()
    record = json.loads((tmp_path / "samples.json").read_text())
    assert lines[:2] == ["# cotejo-samples/1", "operation,bytes,repetition,calls,time_s,valid"]
    assert record["samples"]["rows"] == len(lines) - 2 == 3
    assert record["observed"]["program"] == "IMB-MPI1"


def test_a_run_without_a_table_is_no_launch(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {}}')
    imb_tables.write_samples(tmp_path, "IMB-MPI1: cannot open file\n")
    assert not (tmp_path / "samples.json").exists()


def test_a_broadcast_moves_a_message_to_each_rank(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 4}}')
    imb_tables.write_samples(tmp_path, """
# Benchmarking Bcast
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.21         0.36         0.29
""")
    observed = json.loads((tmp_path / "samples.json").read_text())["observed"]
    assert observed["payload_bytes"] == 3 * 8 * 1000


MPIPERF = """# Timer: rdtsc
# [Procs] [Count] [Runs] [Correct] [Kept] [Mean us] [Error] [Min] [Max]
2 8 101 40 30 1.25 0.01 1.10 1.40
2 16 101 40 30 1.50 0.01 1.10 1.40
4 8 101 40 30 9.99 0.01 1.10 1.40
"""


def test_a_report_of_mpiperf_is_samples(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 2}}')
    assert mpiperf.write_samples(tmp_path, MPIPERF, "bcast", 2) == ""
    record = json.loads((tmp_path / "samples.json").read_text())
    assert [(row["operation"], row["bytes"], round(row["median_s"], 9))
            for row in record["summary"]] == [("mpiperf-bcast", 8, 1.25e-6),
                                              ("mpiperf-bcast", 16, 1.5e-6)]
    assert record["observed"]["payload_bytes"] == 24 * 30


def test_what_has_no_sizes_is_of_0_bytes_and_no_report_is_no_launch(tmp_path):
    assert [size for size, _, _ in mpiperf.rows(MPIPERF, "barrier", 4)] == [0]
    (tmp_path / "samples.json").write_text('{"observed": {"size": 2}}')
    assert mpiperf.write_samples(tmp_path, "mpiperf: error\n", "bcast", 2)
    assert not (tmp_path / "samples.json").exists()
