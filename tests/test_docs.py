# SPDX-License-Identifier: BSD-3-Clause
"""The documents agree with the repository: links, commands, jobs, and the list of pages."""

import json
import os
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
import yaml

from reframe_tests.harness.launch import planning, scales
from reframe_tests.harness.model import families
from stack import variables

REPO = families.REPO
#: With Spack, the tools that build the site are beside its stack.
MKDOCS = next((path for path in (families.stack_prefix() / "docs/bin/mkdocs",
                                 REPO / ".stack/docs/bin/mkdocs") if path.exists()), None)
DOCS = REPO / "docs"
PAGES = sorted([*REPO.glob("*.md"), *DOCS.rglob("*.md"), REPO / "archaeology/README.md"])
MAKEFILE = (REPO / "Makefile").read_text()
#: The documents may not grow beyond this number: link to a page instead of repeating it.
MOST_WORDS = 21_600


def name_of(path):
    return str(path.relative_to(REPO))


def prose(path):
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)


def anchors(path):
    """The anchors of a page's headings, as renderers of Markdown derive them."""
    for heading in re.findall(r"^#+ (.*)$", prose(path), re.M):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def links(path):
    """The targets of a page's links and images that are not on the web."""
    text = prose(path)
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings(page):
    wrong = []
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or anchor and anchor not in anchors(target):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tags_of_commands_exist(page):
    """The README named a tag that no test has any more."""
    tags = re.findall(r"(?:--tag[= ]'?\^?|\bTAG=)([a-z][\w-]*)", page.read_text())
    assert {*tags} <= {*scales.known_tags(), *set().union(*planning.exhibits().values())}


def test_the_list_of_documents_leads_to_every_page():
    seen, new = set(), {DOCS / "index.md"}
    while new:
        page = new.pop()
        seen.add(page)
        new |= {target for link in links(page) if link.split("#")[0].endswith(".md")
                for target in [(page.parent / link.split("#")[0]).resolve()]
                if DOCS in target.parents} - seen
    assert sorted(map(name_of, {page for page in PAGES if DOCS in page.parents} - seen)) == []


def test_the_site_and_the_list_of_documents_have_the_same_groups():
    """Pages that the site makes of files outside `docs` are in its navigation alone."""
    def pages(entry):
        return [entry] if isinstance(entry, str) else [
            page for part in entry for page in pages([*part.values()][0] if isinstance(part, dict)
                                                     else part)]

    parts = re.split(r"^## ", (DOCS / "index.md").read_text(), flags=re.M)[1:]
    listed = {part.partition("\n")[0]: {link for link in re.findall(r"\]\((\S+?\.md)\)", part)
                                       if not link.startswith("..")} for part in parts}
    for group in yaml.safe_load((REPO / "mkdocs.yml").read_text())["nav"][1:]:
        (name, entries), = group.items()
        shown = {page for page in pages(entries) if (DOCS / page).exists()}
        records = {page for page in shown if re.match(r"decisions/\d", page)}
        assert shown - records == listed.get(name, set()), name
    assert listed["Concepts"] == {"glossary.md"} and "commands.md" in listed["Reference"]


def test_programs_and_messages_name_pages_and_headings_that_exist():
    listed = subprocess.run(["git", "ls-files", "*.py", "*.R", "*.c", "*.h", "*.json", "*.yaml",
                             "Makefile", "*.java", "*.f90"], cwd=REPO, text=True,
                            capture_output=True, check=True).stdout.split()
    wrong = []
    for name in listed:
        if name.startswith(("data/", "tests/test_docs")) or not (REPO / name).exists():
            continue
        for page, anchor in re.findall(r"docs/([a-z-]+\.md)(?:#([a-z0-9-]+))?",
                                       (REPO / name).read_text(errors="ignore")):
            if not (DOCS / page).exists() or anchor and anchor not in anchors(DOCS / page):
                wrong.append((name, page, anchor))
    assert wrong == []


def test_messages_that_the_page_of_problems_quotes_are_in_the_programs():
    """Each row of its tables of problems, and each heading, quotes a message or a symptom."""
    text = re.sub(r"\s+", " ", (DOCS / "faq.md").read_text().partition("## Problems with")[2])
    quoted = re.findall(r'"([^"]+)"', re.sub(r"[`*]", "", text))
    assert len(quoted) > 12
    listed = subprocess.run(["git", "ls-files", "stack/*.py", "reframe_tests/*.py", "analysis/R"],
                            cwd=REPO, text=True, capture_output=True, check=True).stdout.split()
    # A message may be in several literals, one below the other.
    programs = "".join(re.sub(r'["\'],?\s*f?["\']', "", (REPO / name).read_text())
                       for name in listed).replace("`", "")
    assert [message for message in quoted if message not in programs] == []


def commands(path):
    """The commands of make that a page shows: targets, and the options given to them."""
    code = re.findall(r"`([^`\n]+)`|^((?:    )?(?:[A-Z_]+=\S+ )*make .*)$", path.read_text(), re.M)
    for text in (inline or block for inline, block in code):
        for words in re.findall(r"(?:^|\s|; |&& )make((?:[ ][^\s;&|#]+)+)", " " + text):
            # A value may be quoted, with blanks.
            plain = re.sub(r"'[^']*'?", "", words).split()
            yield ([word for word in plain if re.fullmatch(r"[a-z][a-z-]*", word)],
                   [word.partition("=")[0] for word in plain if re.match(r"[A-Z_]+=", word)])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_options_of_make_exist(page):
    targets = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.M))
    options = set(re.search(r"^GIVEN = ((?:.*\\\n)*.*)$", MAKEFILE, re.M)[1].split())
    options |= {"SPACK"}
    for words, given in commands(page):
        assert set(words) <= targets, words
        assert {name for name in given if not name.startswith("COTEJO_")} <= options, given


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_values_of_options_in_blocks_are_accepted(page):
    """A reader can enter the commands as they are printed."""
    blocks = re.findall(r"^```\n(.*?)^```|((?:^ {4}.*\n)+)", page.read_text(), re.M | re.S)
    lines = [line.strip() for block in blocks for line in "".join(block).splitlines()]
    for line in lines:
        for command in re.findall(r"(?:^|&& )((?:\w+=\S+ )*make .*)", line):
            given = dict(word.split("=", 1) for word in shlex.split(command, comments=True)
                         if re.match("[A-Z_]+=", word))
            # make turns the names of folders into paths.
            assert variables.problem({name: f"/{value}" if name in variables.FOLDERS else value
                                      for name, value in given.items()
                                      if "$" not in value}) == "", command


def test_the_table_of_jobs_has_every_job():
    table = (DOCS / "commands.md").read_text().partition("## Jobs")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.M)
             for name in re.findall(r"`([a-z]+)`", row)}
    named |= set(re.findall(r"^`(\w+)` is the job of", table, re.M))
    named |= set(re.findall(r"and `(\w+)` the job of", table))
    there = {path.stem for path in (REPO / "reframe_tests").glob("*.py")} - set(scales.NO_JOBS)
    # `p2p` is the main job, whose tag is `quick`; `site` is the job of `make check-site`.
    assert named - {"quick"} == there - {"p2p", "site"}


def test_the_schema_of_results_describes_every_member():
    """The page of members is made of these descriptions."""
    parts = json.loads((REPO / "analysis/inst/results.schema.json").read_text())["$defs"]
    described = ("launch", "asked", "observed", "sync", "cluster", "session")
    missing = [(part, name) for part in described
               for name, member in parts[part]["properties"].items()
               if "description" not in member]
    assert missing == []


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_figure_of_the_readme_is_a_small_picture_with_words(look):
    path = DOCS / f"images/pingpong-{look}.svg"
    root = xml.etree.ElementTree.parse(path).getroot()
    words = " ".join(root.itertext())
    assert path.stat().st_size < 100_000
    assert "Shared memory" in words and "MPICH" in words and "launches" in words


def test_make_help_lists_every_documented_target_once_in_a_group():
    groups = ("Start", "Measure", "Compare", "Figures", "Release", "Develop")
    said = re.findall(r"^([a-z-]+):.*?## (\w+): ", MAKEFILE, re.M)
    assert {group for _, group in said} == set(groups)
    assert len(re.findall(r"^[a-z-]+:.*## ", MAKEFILE, re.M)) == len(said)


def test_ci_refuses_arguments_instead_of_testing(tmp_path):
    (tmp_path / "make").write_text("#!/bin/sh\necho tested\n")
    (tmp_path / "make").chmod(0o755)
    done = subprocess.run([REPO / ".ci/run", "--help"], text=True, capture_output=True,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage" in done.stderr


def test_the_documents_stay_short():
    """The words of the README and of the pages of `docs` together, as `wc -w` counts them."""
    pages = [REPO / "README.md", *DOCS.rglob("*.md")]
    words = {name_of(path): len(path.read_text().split()) for path in pages}
    assert sum(words.values()) <= MOST_WORDS, words


def test_the_readme_leads_from_its_purpose_to_the_contact():
    opening, *parts = re.split(r"^## ", (REPO / "README.md").read_text(), flags=re.M)
    title, sentence, picture, _ = opening.strip().split("\n\n")
    assert title == "# cotejo" and re.fullmatch(r"cotejo [^.]+\.", sentence)
    assert picture.startswith("<picture>") and "<picture>" not in "".join(parts)
    assert [part.partition("\n")[0] for part in parts] == [
        "Quick start", "How to read the answer", "Choose your path", "Scope",
        "Reasons to trust the answer", "cotejo and other tools", "With Spack",
        "Cite, contribute, contact"]
    paths = re.findall(r"^\| (.*?) \| `make .*?` \| \[.*?\]\((.*?)\) \|$", parts[2], re.M)
    assert [page for _, page in paths] == [
        "docs/choose.md", "docs/upgrade.md", "docs/programs.md", "docs/sites.md",
        "docs/studies.md", "CONTRIBUTING.md"]


def test_the_readme_is_short():
    text = re.sub(r"<[^>]+>|\]\([^)]*\)", "", prose(REPO / "README.md"))
    assert len(re.findall(r"[A-Za-z0-9'-]+[A-Za-z0-9]", text)) < 700


@pytest.fixture
def copy(tmp_path):
    """A copy of all that the site is made of."""
    if MKDOCS is None:
        pytest.skip("no MkDocs: `make docs` installs it")
    top = tmp_path / "top"
    for folder in ("docs", "reframe_tests", "src/experiments"):
        shutil.copytree(REPO / folder, top / folder,
                        ignore=shutil.ignore_patterns("__pycache__"))
    tops = [path.name for path in REPO.glob("*.md")]
    for name in ["mkdocs.yml", "LICENSE", "CITATION.cff", "analysis/inst/COPYRIGHTS",
                 "analysis/inst/results.schema.json", "archaeology/README.md", *tops]:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, top / name)
    return top


def build_site(top):
    return subprocess.run([MKDOCS, "build", "--site-dir", "site"], cwd=top, text=True,
                          capture_output=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})


def test_the_site_is_built_and_its_links_lead_to_files(copy):
    done = build_site(copy)
    assert done.returncode == 0, done.stderr
    pages = sorted((copy / "site").rglob("*.html"))
    assert len(pages) > len(PAGES)
    broken = []
    for page in pages:
        for link in re.findall(r'(?:href|src|srcset)="([^"#?:]+)[#"]', page.read_text()):
            if page.name != "404.html" and not (page.parent / link).exists():
                broken.append((page.name, link))
    assert broken == []


@pytest.mark.parametrize("link", [
    "no-such-page.md", "glossary.md#no-such-term", "../README.txt"])
def test_a_broken_link_fails_the_site(copy, link):
    page = copy / "docs/faq.md"
    page.write_text(f"{page.read_text()}\n[broken]({link})\n")
    done = build_site(copy)
    assert done.returncode and link.partition("#")[0].rpartition("/")[2] in done.stderr
