# SPDX-License-Identifier: BSD-3-Clause
"""Hook of MkDocs: adds the documents of the top folder to the site, with links adapted to them."""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

TOP = pathlib.Path(__file__).parents[1]
#: The places of the documents of the top folder on the site.
PLACES = {"README.md": "start.md", "CONTRIBUTING.md": "contributing.md",
          "CHANGELOG.md": "changelog.md", "CODE_OF_CONDUCT.md": "code_of_conduct.md",
          "SECURITY.md": "security-policy.md", "LICENSE": "LICENSE",
          "CITATION.cff": "CITATION.cff"}
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


def on_files(files, config):
    for name, place in PLACES.items():
        text = (TOP / name).read_text()
        if name.endswith(".md"):
            text = adapted(text, "", "")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri in PLACES.values():
        return markdown
    here = posixpath.dirname(page.file.src_uri)
    return adapted(markdown, posixpath.join("docs", here), here)
