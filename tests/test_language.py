# SPDX-License-Identifier: BSD-3-Clause
"""Documents and the texts of commands follow the language rules of CONTRIBUTING.md."""

import ast
import re

import pytest
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, String

from reframe_tests.harness.model import families

REPO = families.REPO
PAGES = sorted({str(path.relative_to(REPO)) for path in [
    *REPO.glob("*.md"), *(REPO / "docs").rglob("*.md"), *(REPO / "src").rglob("*.md"),
    REPO / "archaeology/README.md", REPO / "programs/README.md", REPO / "requirements/README.md"]})

#: Folders whose programs follow the rules in comments and docstrings.
FOLDERS = ["analysis", "archaeology", "bench", "docs", "reframe_tests", "site_configs",
           "spack_repo", "src", "stack", "tests"]
PROGRAMS = {".c", ".cmake", ".f90", ".h", ".java", ".py", ".R", ".sh", ".yaml", ".yml"}
#: The marks of a comment, and the tags of its documentation.
MARKS = re.compile(r"^\s*(#+[:'!]?|//+|/\*+|\*/?|!)|\*+/$")
TAGS = re.compile(r"^ *@param +[\w.,]+|^ *@\w+|SPDX-License-Identifier.*$", re.M)

#: Programs that follow the rules in messages, too.
CODE = ["docs/site.py", *(f"{folder}/{name}.py" for folder, names in {
    "stack": "abi analysis artifact build coarrays ctest metadata release releases reproduce "
             "variables verify",
    "reframe_tests": "arrivals bothways collectives datatypes devices guidelines hosts imb "
                     "kernels libraries logp matching method nas npb onesided overlap p2p "
                     "partitioned patterns programs simulated site startup threads thresholds "
                     "transports",
    "reframe_tests/mixins": "__init__ figures planned question ranks scale usual varied",
    "tests": "test_artifact test_docs test_examples test_release",
}.items() for name in names.split())]

#: Words that the project does not use, and the words to use.
WORDS = {
    r"pits?": "slow relative address",
    r"plant(s|ed|ing)?": "injected slowdown",
    r"told": "reported, recorded",
    r"tells?": "reports, records, shows",
    r"asked": "requested",
    r"sides?": "library, configuration",
    r"ours|theirs": "the name of the tool",
    r"spells?": "the name of the effect",
    r"doubts?": "contradiction",
    r"odd": "unusual",
    r"whole": "all, complete",
    r"held against": "compared with",
    r"(is|are|be) to be had": "is available",
    r"(which|that) (is|are) none": "do not exist",
    r"mend(s|ed)?": "repair",
    r"learnt": "measured",
    r"further ones?|those ones?": "the noun",
    r"by turns": "interleaved",
    r"goes? on": "continues",
}
#: No sentence of a statement begins with these.
OPENERS = re.compile(r"(Of|What|Who|Where|That|From|Which) ")
LONGEST = 30


def blocks_of(text):
    """Paragraphs, items of lists and cells of tables, without code and markup."""
    text = re.sub(r"^```.*?^```|<!--.*?-->|<[a-z/][^>]*>", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |\||#)", text):
        for part in block.split("|") if block.lstrip().startswith("|") else [block]:
            words = " ".join(part.split()).strip("#*- ")
            if words:
                yield words


def sentences_of(text):
    for block in blocks_of(text):
        yield from filter(None, re.split(r"(?<=[.!?:;])[*\"]*\s+", block))


def faults_of(text):
    """The broken rules, one line each."""
    for sentence in sentences_of(text):
        words = re.findall(r"[\w'-]+", sentence)
        if len(words) > LONGEST:
            yield f"{len(words)} words: {sentence}"
        if OPENERS.match(sentence) and not sentence.rstrip("*").endswith("?"):
            yield f"begins with {words[0]}: {sentence}"
        for word, better in WORDS.items():
            if re.search(rf"\b({word})\b", sentence, re.I):
                yield f"{word} (better: {better}): {sentence}"


def comments_of(path):
    """The comments and docstrings of a program; adjacent lines of comments are one text."""
    text, place, found = path.read_text(), 0, []
    for begin, kind, value in get_lexer_for_filename(path.name).get_tokens_unprocessed(text):
        if kind not in Comment and kind not in String.Doc \
                or kind in Comment.Preproc or kind in Comment.PreprocFile:
            continue
        words = "\n".join(MARKS.sub("", line) for line in value.splitlines())
        if found and re.fullmatch(r"[ \t]*\n?[ \t]*", text[place:begin].removeprefix("\n")):
            found[-1] += f"\n{words}"
        else:
            found.append(words)
        place = begin + len(value.rstrip("\n"))
    return [TAGS.sub("\n\n", words) for words in found]


def messages_of(path):
    """The texts of a Python program that a user may see."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "VALUE"
                          for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if len(re.findall(r"[a-z]+ ", text)) >= 3 and not re.search(r"[\\^{}()=|]{2}", text):
                yield text


@pytest.mark.parametrize("folder", FOLDERS)
def test_comments_follow_the_rules(folder):
    programs = [path for path in sorted((REPO / folder).rglob("*"))
                if path.suffix in PROGRAMS and "golden" not in path.parts
                or path.name == "CMakeLists.txt"]
    assert programs
    assert [f"{path.relative_to(REPO)}: {fault}" for path in programs
            for text in comments_of(path) for fault in faults_of(text)] == []


@pytest.mark.parametrize("name", CODE)
def test_messages_follow_the_rules(name):
    assert [fault for text in messages_of(REPO / name) for fault in faults_of(text)] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_follows_the_rules(page):
    assert [*faults_of((REPO / page).read_text())] == []


def test_make_help_and_comments_of_the_makefile_follow_the_rules():
    text = (REPO / "Makefile").read_text()
    lines = re.findall(r"^[a-z-]+:.*## \w+: (.*)$", text, re.M)
    comments = re.findall(r"^# .*(?:\n# .*)*", text, re.M)
    assert lines and comments
    assert [*faults_of("\n\n".join(lines + [words.replace("#", "") for words in comments]))] == []


@pytest.mark.parametrize("text, fault", [
    ("Of 54 comparisons 20 are faster.", "begins with Of"),
    ("A launch is told by its name.", "told"),
    ("| cell | One side is faster. |", "sides?"),
    ("word " * 31 + ".", "31 words"),
])
def test_the_rules_find_what_breaks_them(text, fault):
    assert any(line.startswith(fault) for line in faults_of(text))


@pytest.mark.parametrize("text", [
    "A launch *records* `what was told` and [the asked](told.md) value.",
    "```\nOf the whole\n```", "What is a launch?", "word " * 16 + "; " + "word " * 16])
def test_the_rules_leave_code_links_and_questions_alone(text):
    found = [*faults_of(text)]
    assert all(line.startswith("asked") for line in found)
