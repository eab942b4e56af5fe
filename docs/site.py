# SPDX-License-Identifier: BSD-3-Clause
"""Hook of MkDocs: adds documents of other folders and a page of the members of result files."""

import json
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

TOP = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(TOP))
from reframe_tests.harness.model import experiment_table  # noqa: E402

#: The table of experiments, which has a page.
TABLE = "src/experiments/experiments.def"
#: JSON Schemas of declarations whose keys have a page each.
SCHEMAS = "reframe_tests/harness/model/schemas"
KEYS = ("family", "placements", "clusters", "platform")
#: The places of the documents of other folders on the site.
PLACES = {"README.md": "start.md", "CONTRIBUTING.md": "contributing.md",
          "CHANGELOG.md": "changelog.md", "CODE_OF_CONDUCT.md": "code_of_conduct.md",
          "SECURITY.md": "security-policy.md", "archaeology/README.md": "archaeology.md",
          "LICENSE": "LICENSE",
          "CITATION.cff": "CITATION.cff", "analysis/inst/COPYRIGHTS": "COPYRIGHTS",
          "analysis/inst/results.schema.json": "members.md",
          TABLE: "experiments-list.md",
          **{f"{SCHEMAS}/{name}.json": f"keys-{name}.md" for name in KEYS}}
#: Parts of the schema of results -> headings of the page that is made of their descriptions.
PARTS = {"launch": "Launch description", "ran": "Members of a launch that ran",
         "asked": "Member `asked`", "observed": "Member `observed`",
         "sync": "Member `observed.sync`", "cluster": "Member `cluster`",
         "samples": "Member `samples`", "session": "Session"}
LINK = re.compile(r'(\]\(|src="|srcset=")([^)\s":#]+)')


def adapted(text, folder, here):
    """A page's text with links that are right on the site.

    `folder`: of the page, from the top folder; `here`: the same on the site.
    """
    def link(found):
        target = posixpath.normpath(posixpath.join(folder, found[2]))
        place = PLACES.get(target) or target.removeprefix("docs/")
        return found[1] + posixpath.relpath(place, here or ".")

    return LINK.sub(link, text)


def described(schema, prefix=""):
    """The members that a schema describes, as rows of a table; those of nested objects too."""
    for name, member in schema.get("properties", {}).items():
        if "description" in member:
            yield f"| `{prefix}{name}` | {member['description']} |"
        yield from described(member.get("items", member), f"{prefix}{name}.")


def page_of_members(text):
    """The page of the members of result files, from their JSON Schema."""
    lines = ["# Members of descriptions and plans",
             "`analysis/inst/results.schema.json` describes these members; "
             "[Data formats](data.md) explains the files."]
    for part, heading in PARTS.items():
        rows = "\n".join(described(json.loads(text)["$defs"][part]))
        lines.append(f"## {heading}\n\n| member | meaning |\n|---|---|\n{rows}")
    return "\n\n".join(lines)


def page_of_keys(text):
    """The page of the keys of a declaration, from its JSON Schema."""
    schema = json.loads(text)
    keys = schema.get("$defs", {}).get("overlay") or schema.get("additionalProperties") or schema
    rows = "\n".join(f"| `{key}` | {value['title']} |" for key, value in
                     keys["properties"].items())
    name, _, file = schema["title"].partition(": ")
    return f"# {name}\n\nKeys of `{file}`:\n\n| key | meaning |\n|---|---|\n{rows}\n"


def page_of_experiments(text):
    """The page of all experiments, from their table."""
    rows = "\n".join(f"| `{row.name}` | {experiment_table.summary(row)} |"
                     for row in experiment_table.load(text))
    return ("# List of experiments\n\nEvery experiment of the benchmark; "
            "[Experiments](experiments.md) explains them.\n\n"
            f"| experiment | measures |\n|---|---|\n{rows}\n")


def on_files(files, config):
    for name, place in PLACES.items():
        text = (TOP / name).read_text()
        if name.endswith(".schema.json"):
            text = page_of_members(text)
        elif name == TABLE:
            text = page_of_experiments(text)
        elif name.startswith(SCHEMAS):
            text = page_of_keys(text)
        elif name.endswith(".md"):
            text = adapted(text, posixpath.dirname(name), "")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri in PLACES.values():
        return markdown
    here = posixpath.dirname(page.file.src_uri)
    return adapted(markdown, posixpath.join("docs", here), here)
