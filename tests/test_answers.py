# SPDX-License-Identifier: BSD-3-Clause
"""The answers beside a report follow their schema, for questions of each kind."""

import json
import re
import subprocess
import tarfile

import jsonschema
import pytest

from reframe_tests.harness.model import families
from tests.launching import STACK

SCHEMA = json.loads((families.REPO / "analysis/inst/answers.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)
pytestmark = pytest.mark.skipif(not (STACK / "R/cotejo").exists(),
                                reason="no R package in the stack: `make build` installs it")

# A winner, configurations that are not settled and one with too few launches.
CARDS = """
set.seed(1)
row <- function(bytes, a, b, effect, n) {
  data.table::data.table(
    site = "s", test = "t", operation = "pingpong", transport = "shm", placement = "near",
    a = a, b = b, bytes = bytes, n_a = n, n_b = n, effect = effect)
}
pairs <- rbind(row(1, "x", "y", -0.5, 6L), row(1, "x", "z", 0.1, 6L), row(1, "y", "z", 0.4, 6L),
               row(8, "x", "y", 0.01, 6L), row(8, "x", "z", 0, 2L), row(8, "y", "z", 0, 2L))
pairs[, c("low", "high") := list(exp(effect - 0.2), exp(effect + 0.2))]
pairs[bytes == 8 & n_a == 6, c("low", "high") := list(0.98, 1.05)]
pairs[n_a < 4, c("low", "high") := NA_real_]
pairs[, c("ratio", "verdict", "scope", "more_launches", "more_sessions") := list(
  exp(effect), cotejo:::judge(low, high, 0.03), "in this session", 12, NA_real_)]
pairs[, c("relevance", "at_most") := list("relevant", pmax(high, 1 / low) - 1)]
cards <- cotejo:::answer(pairs[, !"effect"])
cotejo:::write_answers(%s, "%s")
"""


def written(tmp_path, cards):
    file = tmp_path / "answers.json"
    subprocess.run(["Rscript", "--vanilla", "-e", CARDS % (cards, file)], check=True,
                   capture_output=True, text=True)
    return json.loads(file.read_text())


def test_the_answers_of_a_study_are_as_the_schema_says(tmp_path):
    found = written(tmp_path, "cards")
    VALID.validate(found)
    (card,) = found["answers"]
    first, second = card["orders"]
    assert [one["configuration"] for one in first["configurations"]] == ["x", "z", "y"]
    # It is compared with the best of the first tier, not with the other one.
    assert first["configurations"][2]["low"] == pytest.approx(1.35, rel=0.01)
    assert second["configurations"][2]["tier"] is None and second["within"] == pytest.approx(0.05)
    assert [pair["launches"] for pair in card["open"]] == [12]
    VALID.validate(written(tmp_path, "list()"))
    # And the schema can fail.
    del card["orders"][0]["sizes"]
    assert not VALID.is_valid(found)


# The session whose cards the pages show.
SESSION = "local/20261121T200219Z"
PRINT = """
options(cotejo.cache = FALSE)
study <- cotejo:::analyse("%s")
writeLines(cotejo:::say_cards(cotejo:::answer(study$comparison, study)))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The cards of the session as the terminal shows them: lines by title."""
    folder = tmp_path_factory.mktemp("results")
    with tarfile.open(families.REPO / f"data/reference/{SESSION}.tar.xz") as archive:
        archive.extractall(folder / SESSION)
    done = subprocess.run(["Rscript", "--vanilla", "-e", PRINT % folder], check=True,
                          capture_output=True, text=True)
    parts = re.findall(r"^(\S.*)\n((?:  .*\n)+)", done.stdout, re.M)
    assert len(parts) > 3
    return dict(parts)


@pytest.mark.parametrize("page", ["README.md", "docs/choose.md"])
def test_a_page_shows_a_card_as_it_is_printed(page, printed):
    """A line of three dots stands for lines that the page leaves out."""
    text = (families.REPO / page).read_text()
    blocks = [block.splitlines() for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S)]
    (shown,) = [block for block in blocks if block[0] in printed]
    pattern = "".join("(?:.*\n)*" if line.strip() == "..." else re.escape(line) + "\n"
                      for line in shown[1:] if line != "report/report.html")
    assert re.fullmatch(pattern, printed[shown[0]])
