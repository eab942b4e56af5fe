# SPDX-License-Identifier: BSD-3-Clause
"""Bad input ends in one line that names the problem, for every reader; also random input."""

import os
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.model import families
from tests import bad_input
from tests.bad_input import PROGRAM, READERS, Fault, Reader, fits, fuzz, said_of

CASES = [(name, data, said) for name, reader in READERS.items() for data, said in reader.bad]


def reader_of(name):
    if name == "C options" and not PROGRAM.exists():
        pytest.skip("no layers in the stack: `make build`")
    return READERS[name]


@pytest.mark.parametrize(("name", "data", "said"), CASES)
def test_each_is_named_in_one_line(name, data, said, tmp_path):
    assert fits(said_of(reader_of(name), data, tmp_path), said)


@pytest.mark.parametrize("name", READERS)
def test_sound_input_is_read(name, tmp_path):
    said = said_of(reader_of(name), READERS[name].sound, tmp_path)
    assert said == "" or (name == "C options" and "needs 2 ranks" in said)


@pytest.mark.parametrize("name", READERS)
def test_input_that_was_spoiled_by_chance_is_read_or_refused(name, tmp_path):
    number = 80
    assert 0 < fuzz(reader_of(name), tmp_path, number, seed=20261123) <= number


def test_only_a_reader_that_works_or_waits_too_long_hangs(tmp_path, monkeypatch):
    """Beside other work on the machine, sound readers were called hanging."""
    def limit(work_s, wait_s):
        monkeypatch.setattr(bad_input, "TIMERS", [
            (number, timer, seconds) for (number, timer, _), seconds in zip(
                bad_input.TIMERS, (work_s, wait_s), strict=True)])

    def spin(data, folder):
        while True:
            pass

    limit(0.2, 100)
    said_of(Reader(b"", lambda *_: time.sleep(0.3), ()), b"", tmp_path)  # the machine is busy
    with pytest.raises(Fault, match="processor time"):
        said_of(Reader(b"", spin, ()), b"", tmp_path)
    limit(100, 0.3)
    with pytest.raises(Fault, match=r"within \d+ s of"):
        said_of(Reader(b"", lambda *_: time.sleep(3), ()), b"", tmp_path)


@pytest.mark.parametrize(("command", "words", "variables", "said"), [
    ("study", ["--launches", "0"], {}, "study: argument --launches: '0' is no number from 1 on"),
    ("study", ["--cells", "("], {}, "study: argument --cells: '(' is no regular expression"),
    ("study", ["--tag", "quick"], {"COTEJO_SITE": "no"}, "study: COTEJO_SITE=no: no site_configs"),
    ("study", ["--until", "x"], {}, "study: argument --until: "),
    ("references", ["nowhere"], {}, "references: COTEJO_SITE=nowhere: no site_configs"),
    ("check-site", ["nowhere"], {}, "site: COTEJO_SITE=nowhere: no site_configs"),
    ("new-experiment", ["a b"], {}, "experiment: NAME='a b': give small letters"),
    ("new-site", ["a b"], {}, "site: NAME=a b: give"),
    ("cluster", ["fly"], {}, "cluster: argument verb: invalid choice: 'fly'"),
])
def test_commands_end_in_one_line(command, words, variables, said, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", command, *words],
        cwd=families.REPO, text=True, capture_output=True, timeout=120,
        env={**os.environ, "COTEJO_LOCKS": str(tmp_path), "COTEJO_RESULTS": str(tmp_path),
             **variables})
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1, done.stderr
