# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a commit can be released: `make release-check`.

All files that state the version agree, CHANGELOG.md has a dated section for it and nothing under
"Unreleased", and the working tree has no changes. Prints one line for each problem.
"""

import datetime
import pathlib
import re
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
VERSION = r"(\d+\.\d+\.\d+)"
#: Files that state the version, and how.
PLACES = {
    "CITATION.cff": rf"^version: {VERSION}$",
    "analysis/DESCRIPTION": rf"^Version: {VERSION}$",
    "src/CMakeLists.txt": rf"project\(\w+ VERSION {VERSION}",
    "src/transport/CMakeLists.txt": rf"project\([\w-]+ VERSION {VERSION}",
}


def stated(top):
    """The versions that each file states; a file that states none has an empty set."""
    found = {}
    for name, pattern in PLACES.items():
        groups = re.findall(pattern, (top / name).read_text(), re.M)
        found[name] = {text for group in groups for text in
                       (group if isinstance(group, tuple) else [group]) if text}
    return found


def problems_of_versions(top):
    """Files without a version, and files whose version differs from that of CITATION.cff."""
    found = stated(top)
    for name, versions in found.items():
        if not versions:
            yield f"{name}: states no version; this file must state it"
        elif versions != found["CITATION.cff"]:
            yield (f"{name}: states {', '.join(sorted(versions))}, but CITATION.cff states "
                   f"{', '.join(sorted(found['CITATION.cff']))}; make them equal")


def problems_of_changelog(top):
    """Missing entries of CHANGELOG.md and CITATION.cff for a release of the version."""
    citation = (top / "CITATION.cff").read_text()
    version = re.search(PLACES["CITATION.cff"], citation, re.M)
    released = re.search(r"^date-released: (\S+)$", citation, re.M)
    sections = re.split(r"^## ", (top / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    titles = [section.partition("\n")[0].strip() for section in sections]
    for title, section in zip(titles, sections, strict=True):
        if title == "Unreleased" and re.search(r"^- ", section, re.M):
            yield "CHANGELOG.md: has entries under Unreleased; move them to the new version"
    dated = [re.fullmatch(rf"{VERSION} - (\d{{4}}-\d\d-\d\d)", title) for title in titles
             if title != "Unreleased"]
    if not (version and released and dated and dated[0]):
        yield "CHANGELOG.md: its newest section has no title such as `VERSION - YYYY-MM-DD`"
    elif dated[0].groups() != (version[1], released[1]):
        yield (f"CHANGELOG.md: its newest version is {dated[0][1]} of {dated[0][2]}, that of "
               f"CITATION.cff {version[1]} of {released[1]}; make them equal")
    elif released[1] > datetime.date.today().isoformat():
        yield f"CITATION.cff: {released[1]} is in the future; use the date of the release"


def problems_of_tree(top):
    """Uncommitted changes, and a tag of this version that names another commit."""
    def git(*words):
        return subprocess.run(["git", "-C", top, *words], text=True, capture_output=True)

    if (status := git("status", "--porcelain")).returncode:
        yield f"git: {status.stderr.strip()}"
        return
    for line in status.stdout.splitlines()[:5]:
        yield f"{line[3:]}: not committed; commit or remove it"
    version = re.search(PLACES["CITATION.cff"], (top / "CITATION.cff").read_text(), re.M)
    tag = git("rev-parse", "--verify", "--quiet", f"v{version[1]}^{{commit}}").stdout.strip()
    if tag and tag != git("rev-parse", "HEAD").stdout.strip():
        yield f"v{version[1]}: this tag names commit {tag[:12]}; choose the next version"


def main(top=REPO):
    problems = [*problems_of_versions(top), *problems_of_changelog(top), *problems_of_tree(top)]
    for problem in problems:
        print(f"release-check: {problem}", file=sys.stderr)
    if not problems:
        version = min(stated(top)["CITATION.cff"])
        print(f"release-check: version {version} can be released: git tag -a v{version}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
