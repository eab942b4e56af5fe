# SPDX-License-Identifier: BSD-3-Clause
"""Words of messages about a name that is not known: the names that there are, and the nearest one.

Uses the standard library alone, since it serves before anything is installed.
"""

import difflib


def nearest(name, known):
    """A question for the known name that is most like `name`; '' where none is like it."""
    fold = {word.lower(): word for word in known}
    found = difflib.get_close_matches(name.lower(), fold, 1)
    return f"; did you mean {fold[found[0]]!r}?" if found else ""


def there_are(name, known):
    """All known names, and the nearest one to `name`."""
    known = list(known)
    return f"there are {', '.join(known) or 'none'}{nearest(name, known)}"
