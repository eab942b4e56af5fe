# SPDX-License-Identifier: BSD-3-Clause
"""Documents and the texts of commands follow the language rules of CONTRIBUTING.md."""

import ast
import functools
import re

import pytest
import yaml
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
#: The marks of a comment, and the tags of its documentation with the code of examples.
MARKS = re.compile(r"^\s*(#+[:'!]?|//+|/\*+|\*/?|!)|\*+/$")
TAGS = re.compile(r"^ *@examples\b(?:(?!^ *@)[\s\S])*|^ *@param +[\w.,]+|^ *@\w+"
                  r"|SPDX-License-Identifier.*$", re.M)

#: Programs that follow the rules in messages, too.
CODE = sorted(str(path.relative_to(REPO)) for path in [
    *(path for folder in ("archaeology", "bench", "docs", "reframe_tests", "site_configs", "src",
                          "stack") for path in (REPO / folder).rglob("*.*")
      if path.suffix in (".c", ".h", ".py")),
    *(REPO / f"tests/test_{name}.py" for name in ("artifact", "docs", "examples", "release"))])

#: Templates of pages, and programs with the texts of reports, captions and exhibits.
R_PAGES = sorted(str(path.relative_to(REPO)) for path in [
    REPO / "analysis/inst/exhibits.yaml", REPO / "analysis/paper.Rmd",
    *(REPO / "analysis/inst/report").glob("*.Rmd"),
    # The strings of package.R are names of columns.
    *(path for path in (REPO / "analysis/R").glob("*.R") if path.name != "package.R")])

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
#: Texts of reports and exhibits also name the thing in place of a relative clause with "what".
NAMELESS = {
    r"(and|by|in|less|not|of|than|to|with|within) what": "the noun",
    r"(is|are|was|were) what": "the noun",
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


def faults_of(text, refused=WORDS):
    """The broken rules, one line each."""
    for sentence in sentences_of(text):
        words = re.findall(r"[\w'-]+", sentence)
        if len(words) > LONGEST:
            yield f"{len(words)} words: {sentence}"
        if OPENERS.match(sentence) and not sentence.rstrip("*").endswith("?"):
            yield f"begins with {words[0]}: {sentence}"
        for word, better in refused.items():
            if re.search(rf"\b({word})\b", sentence, re.I):
                yield f"{word} (better: {better}): {sentence}"


@functools.cache
def parts_of(path):
    """The comments and strings of a program: [(place, kind, text)]."""
    lexer = get_lexer_for_filename(path.name)
    return [part for part in lexer.get_tokens_unprocessed(path.read_text())
            if part[1] in Comment or part[1] in String]


def comments_of(path):
    """The comments and docstrings of a program; adjacent lines of comments are one text."""
    text, place, found = path.read_text(), 0, []
    for begin, kind, value in parts_of(path):
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


def is_prose(text, words):
    """Whether a string has so many words in a row, and is no code."""
    return (len(re.findall(r"[a-z]+ ", text)) >= words
            and not re.search(r"[\\^{}()=|&]{2}", text))


def strings_of_c(path):
    """The strings of a program in C; adjacent ones are one."""
    text, place, found = path.read_text(), 0, []
    for begin, kind, value in parts_of(path):
        if kind not in String:
            continue
        if found and not text[place:begin].strip(' \n\t"'):
            found[-1] += value
        else:
            found.append(value)
        place = begin + len(value)
    return [text.replace("\\n", "\n\n") for text in found]


def texts_of_r(path):
    """The texts of pages and captions: the strings of R, joined where only a comma is between
    them, the paragraphs of a template, and the words of the exhibits."""
    text = path.read_text()
    if path.suffix == ".yaml":
        for row in yaml.safe_load(text)["exhibits"].values():
            for field in {"title", "differs", "needs", "without"} & {*row}:
                yield row[field] if isinstance(row[field], str) else " ".join(row[field])
        return
    if path.suffix == ".Rmd":
        body = text.split("---", 2)[2]
        yield re.sub(r"^```.*?^```", "", body, flags=re.M | re.S).replace("`r ", "`")
        text = "\n".join(re.findall(r"^```\{.*?\}\n(.*?)^```", body, re.M | re.S))
    place, found = 0, []
    for begin, kind, value in get_lexer_for_filename("x.R").get_tokens_unprocessed(text):
        if kind in String:
            between = text[place:begin].strip(' \n')
            if found and between in ("", ","):
                found[-1] += " " * len(between) + value
            else:
                found.append(value)
            place = begin + len(value)
    for value in found:
        pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
        # Names of columns, of operations and of members of a description are no prose.
        if any(is_prose(piece, 2) for piece in pieces):
            yield re.sub(r"-pit\b|\basked\.\w+", "CODE", " ".join(pieces))


def messages_of(path):
    """The texts of a program that a user may see."""
    if path.suffix != ".py":
        # Operations keep the names that they have in old data.
        yield from (re.sub(r"\w+-pit\b", "CODE", text) for text in strings_of_c(path)
                    if is_prose(text, 3))
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "VALUE"
                           for part in node.values)
            if is_prose(text, 2):
                yield re.sub(r"\b[a-z]+\.VALUE", "CODE", text)  # a member of a record
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) \
                and is_prose(node.value, 3):
            yield node.value


@pytest.mark.parametrize("folder", FOLDERS)
def test_comments_follow_the_rules(folder):
    programs = [path for path in sorted((REPO / folder).rglob("*"))
                if path.suffix in PROGRAMS and "golden" not in path.parts
                or path.name == "CMakeLists.txt"]
    assert programs
    assert [f"{path.relative_to(REPO)}: {fault}" for path in programs
            for text in comments_of(path) for fault in faults_of(text)] == []


@pytest.mark.parametrize("folder", sorted({name.split("/")[0] for name in CODE}))
def test_messages_follow_the_rules(folder):
    assert [f"{name}: {fault}" for name in CODE if name.startswith(f"{folder}/")
            for text in messages_of(REPO / name) for fault in faults_of(text)] == []


@pytest.mark.parametrize("page", R_PAGES)
def test_texts_of_reports_and_exhibits_follow_the_rules(page):
    texts = [*texts_of_r(REPO / page)]
    assert texts or not page.endswith("Rmd")
    assert [fault for text in texts for fault in faults_of(text, WORDS | NAMELESS)] == []


def test_words_of_figures_follow_the_rules():
    def texts(part):
        for value in part.values() if isinstance(part, dict) else part:
            yield from [value] if isinstance(value, str) else texts(value)
    refused = {**WORDS, "our": "cotejo's", "least|greatest": "minimum, maximum"}
    words = yaml.safe_load((REPO / "analysis/inst/words.yaml").read_text())
    assert [fault for text in texts(words) for fault in faults_of(text, refused)] == []
    assert [*faults_of("our barrier", refused)] != []


def test_a_relative_clause_without_a_noun_is_refused_in_reports():
    text = "3 not drawn, and what they wait for"
    assert any("the noun" in fault for fault in faults_of(text, WORDS | NAMELESS))


def test_texts_of_a_template_are_its_paragraphs_and_strings(tmp_path):
    page = tmp_path / "x.Rmd"
    page.write_text('---\ntitle: x\n---\n\nOf this `r n`.\n\n```{r}\npaste(\n  "One is told",\n'
                    '  "of the \\"side\\"."\n)\nc("a_b", "told")\n```\n')
    faults = [fault.partition(":")[0] for text in texts_of_r(page) for fault in faults_of(text)]
    assert sorted(fault.partition(" (")[0] for fault in faults) == [
        "begins with Of", "sides?", "told"]


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


def test_messages_are_found_in_c_and_python(tmp_path):
    (tmp_path / "a.c").write_text('f("a launch is told by " /* x */ "its name\\n");')
    (tmp_path / "a.py").write_text('f(f"a launch is told by {name}")')
    for path in tmp_path.iterdir():
        assert any(fault.startswith("told") for text in messages_of(path)
                   for fault in faults_of(text))


@pytest.mark.parametrize("text", [
    "A launch *records* `what was told` and [the asked](told.md) value.",
    "```\nOf the whole\n```", "What is a launch?", "word " * 16 + "; " + "word " * 16])
def test_the_rules_leave_code_links_and_questions_alone(text):
    found = [*faults_of(text)]
    assert all(line.startswith("asked") for line in found)
