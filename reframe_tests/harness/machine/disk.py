# SPDX-License-Identifier: BSD-3-Clause
"""Files that are either complete or missing."""

import json

from ..model import plain
from . import removal


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    removal.write_whole(path, json.dumps(value, indent=1) + "\n")


def copy_whole(source, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    removal.write_whole(path, source.read_bytes())


def read_json(path):
    """Reads one JSON; ValueError says which file is broken and what to do."""
    data = plain.read_plain(path, plain.MOST_JSON)
    try:
        return plain.parse_json(data)
    except json.JSONDecodeError as err:
        raise ValueError(f"{path}:{err.lineno}: not JSON ({err.msg}); "
                         "move the file away to measure again") from err
    except (UnicodeDecodeError, RecursionError) as err:
        raise ValueError(f"{path}: not JSON ({type(err).__name__}); "
                         "move the file away to measure again") from err
    except ValueError as err:
        raise ValueError(f"{path}: {err}; move the file away to measure again") from err
