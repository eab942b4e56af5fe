# SPDX-License-Identifier: BSD-3-Clause
"""Documents and the texts of commands follow the language rules of CONTRIBUTING.md."""

import ast
import csv
import functools
import json
import re
import subprocess

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

VALE = next((path for path in (families.stack_prefix() / "vale/bin/vale",
                               REPO / ".stack/vale/bin/vale") if path.exists()), None)


def faults_in(folder, texts):
    """The rules of tests/vale that texts break: {name: [fault]}. A text is a list of paragraphs,
    or the path of a page."""
    assert VALE, "no Vale: `make language-tools` installs it"
    names = {}
    for name, text in texts.items():
        path = text
        if isinstance(text, list):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join("\n".join(line.strip() for line in part.splitlines())
                                        for part in text) + "\n")
        names[str(path)] = name
    done = subprocess.run([VALE, "--config", REPO / "tests/vale/vale.ini", "--output=JSON",
                           "--no-exit", *names], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return {names[path]: [f"{fault['Check']}, line {fault['Line']}: {fault['Message']}"
                          for fault in faults]
            for path, faults in json.loads(done.stdout).items()}


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
        if any(is_prose(piece, 1) for piece in pieces):
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


def lines_of_make():
    text = (REPO / "Makefile").read_text()
    lines = re.findall(r"^[a-z-]+:.*## \w+: (.*)$", text, re.M)
    comments = re.findall(r"^# .*(?:\n# .*)*", text, re.M)
    assert lines and comments
    return lines + [words.replace("#", "") for words in comments]


def words_of_figures():
    def texts(part):
        for value in part.values() if isinstance(part, dict) else part:
            yield from [value] if isinstance(value, str) else texts(value)
    return [*texts(yaml.safe_load((REPO / "analysis/inst/words.yaml").read_text()))]


def texts_of_data():
    """The descriptions of the JSON schemas, and the conclusions of the studies."""
    def descriptions(part):
        for name, value in part.items() if isinstance(part, dict) else enumerate(part):
            if name in ("description", "title") and isinstance(value, str):
                yield value
            elif isinstance(value, dict | list):
                yield from descriptions(value)
    texts = {f"{path.name}.md": [*descriptions(json.loads(path.read_text()))]
             for path in (REPO / "analysis/inst").glob("*.schema.json")}
    with (REPO / "data/published/claims.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    return {**texts, "claims.csv.md": [row[name] for row in rows for name in ("says", "note")]}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """All texts, and the rules that they break."""
    texts = {name: REPO / name for name in PAGES}
    texts |= {f"{path.relative_to(REPO)}.comments.md": comments_of(path)
              for folder in FOLDERS for path in sorted((REPO / folder).rglob("*"))
              if path.suffix in PROGRAMS and "golden" not in path.parts
              or path.name == "CMakeLists.txt"}
    texts |= {f"{name}.messages.md": [*messages_of(REPO / name)] for name in CODE}
    texts |= {f"{name}.report.md": [*texts_of_r(REPO / name)] for name in R_PAGES}
    texts |= {"make.md": lines_of_make(), "words.figures.md": words_of_figures()}
    texts |= texts_of_data()
    return texts, faults_in(tmp_path_factory.mktemp("texts"), texts)


KINDS = [*(f"{folder}/.*[.]comments[.]md" for folder in FOLDERS),
         *(f"{folder}/.*[.]messages[.]md" for folder in sorted({n.split("/")[0] for n in CODE})),
         *(re.escape(f"{name}.report.md") for name in R_PAGES), *map(re.escape, PAGES),
         "make[.]md", "words[.]figures[.]md", *map(re.escape, texts_of_data())]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_follow_the_rules(checked, kind):
    texts, faults = checked
    names = [name for name in texts if re.fullmatch(kind, name)]
    assert any(texts[name] for name in names) or "analysis/R/" in kind
    assert {name: faults[name] for name in names if name in faults} == {}


def example_of(pattern):
    """A text that a pattern of a style finds: its first alternatives, without optional words and
    conditions of the words around it."""
    pattern = re.sub(r"\(\?: [^)]*\)\{0,\d\}\?|\(\?<?!(?:\(.*?\)|[^()])*\)", "", pattern)
    return re.sub(r"\(\?:(\w*)[^)]*\)\??", r"\1", pattern).split("|")[0].replace("?", "")


@pytest.mark.parametrize("style, kind", [
    ("Cotejo/Words", ""), ("Reports/Nameless", ".report"), ("Figures/Words", ".figures")])
def test_each_forbidden_word_is_found(style, kind, tmp_path):
    swap = yaml.safe_load((REPO / f"tests/vale/styles/{style}.yml").read_text())["swap"]
    words = {f"{number}{kind}.md": example_of(pattern) for number, pattern in enumerate(swap)}
    found = faults_in(tmp_path, {name: [f"A launch, {word} the rank."]
                                 for name, word in words.items()})
    assert found == {name: [f"{style.replace('/', '.')}, line 1: "
                            f"write '{better}' in place of '{words[name]}'"]
                     for name, better in zip(words, swap.values(), strict=True)}


BROKEN = [
    ("Of 54 comparisons 20 are faster.", "begins with 'Of "),
    ("A launch is slow. *Which* is *that*? Which is slow.", "begins with '? Which "),
    ("# From here on", "begins with 'From "),
    ("- One.\n- Where it is slow, stop.", "begins with 'Where "),
    ("| cell | text |\n|---|---|\n| cell | One side is faster. |", "place of 'side'"),
    ("word " * 31 + ".", "over 30 words"),
    ("See a.py and 1.5 s: " + "word\n" * 31, "over 30 words"),
]
SOUND = [
    "A launch *records* `what was told` and [the value](told.md).",
    "```\nOf the whole\n```", "What is a launch?", "word " * 16 + "; " + "word " * 16,
    "word " * 30, "**What is it?** A launch."]


def test_the_rules_find_texts_that_break_them(tmp_path):
    found = faults_in(tmp_path, {f"{number}.md": [text]
                                 for number, (text, _) in enumerate(BROKEN)})
    for number, (_, fault) in enumerate(BROKEN):
        (line,) = found[f"{number}.md"]
        assert fault in line


def test_the_rules_leave_code_links_and_questions_alone(tmp_path):
    assert faults_in(tmp_path, {f"{number}.md": [text]
                                for number, text in enumerate(SOUND)}) == {}


def test_more_words_are_refused_in_reports_and_figures_than_elsewhere(tmp_path):
    text = ["3 not drawn, and what they wait for our launch"]
    found = faults_in(tmp_path, {"x.md": text, "x.report.md": text, "x.figures.md": text})
    assert "x.md" not in found
    assert "the noun" in str(found["x.report.md"])
    assert "cotejo's" in str(found["x.figures.md"])


def test_texts_of_a_template_are_its_paragraphs_and_strings(tmp_path):
    page = tmp_path / "x.Rmd"
    page.write_text('---\ntitle: x\n---\n\nOf this `r n`.\n\n```{r}\npaste(\n  "One is told",\n'
                    '  "of the \\"side\\"."\n)\nc("a_b", "told")\n```\n')
    faults = faults_in(tmp_path, {"x.md": [*texts_of_r(page)]})["x.md"]
    assert sorted(re.sub(".*'(.*)'", r"\1", fault).strip() for fault in faults) == [
        "Of", "side", "told"]


def test_messages_are_found_in_c_and_python(tmp_path):
    (tmp_path / "a.c").write_text('f("a launch is told by " /* x */ "its name\\n");')
    (tmp_path / "a.py").write_text('f(f"a launch is told by {name}")')
    found = faults_in(tmp_path, {f"{name}.md": [*messages_of(tmp_path / name)]
                                 for name in ("a.c", "a.py")})
    assert "told" in str(found["a.c.md"]) and "told" in str(found["a.py.md"])


def test_headings_know_the_transports_that_carry_within_and_between_hosts():
    words = yaml.safe_load((REPO / "analysis/inst/words.yaml").read_text())
    reach = {path.stem: yaml.safe_load(path.read_text())["reach"]
             for path in (REPO / "reframe_tests/mpi_transports").glob("*.yaml")}
    assert {*words["anywhere"]} == {
        name for name, far in reach.items() if far == "any"} - {"simulated"}
