# SPDX-License-Identifier: BSD-3-Clause
"""Help beside a message: the section of docs/faq.md that quotes words of it, and the names that
there are where one is not known.

Uses the standard library alone, since it serves before anything is installed.
"""

import difflib
import pathlib
import re
import sys

PAGE = "docs/faq.md"


def quoted():
    """The words of messages that the page quotes, with the anchor of their section."""
    page, anchor = pathlib.Path(__file__).resolve().parents[3] / PAGE, ""
    _, _, text = page.read_text(encoding="utf-8").partition("## Problems with")
    for line in f"## Problems with{text}".replace("`", "").replace("*", "").splitlines():
        if line.startswith("#"):
            anchor = re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        yield from ((words, anchor) for words in re.findall(r'"([^"]+)"', line))


def explained(message):
    """The message with the section that has the longest quotation from it, if there is one."""
    if not isinstance(message, str) or "docs/" in message:
        return message
    plain = message.replace("`", "")
    found = max((len(words), anchor) for words, anchor in [("", ""), *quoted()] if words in plain)
    return f"{message} ({PAGE}#{found[1]})" if found[1] else message


def nearest(name, known):
    """A question for the known name that is most like `name`; '' where none is like it."""
    fold = {word.lower(): word for word in known}
    found = difflib.get_close_matches(name.lower(), fold, 1)
    return f"; did you mean {fold[found[0]]!r}?" if found else ""


def there_are(name, known):
    """All known names, and the nearest one to `name`."""
    known = list(known)
    return f"there are {', '.join(known) or 'none'}{nearest(name, known)}"


def run(main):
    """Runs the main function of a program and ends the process; explains its last message."""
    try:
        status = main()
    except SystemExit as err:
        status = err.code
    sys.exit(explained(status))
