# SPDX-License-Identifier: BSD-3-Clause
"""Folders of results and sessions, and the launches in a session. docs/data.md: Sessions."""

import json
import os
import pathlib
import re
import time

from ..machine import disk
from ..model import sites
from ..model.families import REPO


def anchor_results():
    """Makes a relative `COTEJO_RESULTS` absolute, before ReFrame changes the folder."""
    if given := os.environ.get("COTEJO_RESULTS"):
        os.environ["COTEJO_RESULTS"] = os.path.abspath(given)


def results_folder():
    return pathlib.Path(os.environ.get("COTEJO_RESULTS", REPO / "results"))


def utc(seconds=None):
    """An instant as `docs/data.md` writes it; now by default."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _now():
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def session_name():
    """`COTEJO_SESSION`; where it names none, that of a session which is begun now."""
    return os.environ.get("COTEJO_SESSION") or begin()


def begin():
    """Makes the folder of a session with an unused name, and sets COTEJO_SESSION to this name;
    ValueError if the requested name is in use."""
    given = os.environ.get("COTEJO_SESSION")
    folder = results_folder() / sites.site_name()
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(60):
        name = given or _now()
        try:
            (folder / name).mkdir()
        except FileExistsError:
            if given:
                raise ValueError(f"{folder / name} is there already; leave out COTEJO_SESSION, "
                                 "or choose another name") from None
            time.sleep(0.2)
            continue
        os.environ["COTEJO_SESSION"] = name
        return name
    raise ValueError(f"{folder}: names of sessions are taken as fast as they are made")


def session_folder():
    return results_folder() / sites.site_name() / session_name()


#: The block of launches before the first one: it is recorded, and in no statistic.
WARM_UP = 0


def launch_name(cell, number):
    return f"{cell}.{number:03d}"


def cell_of(record):
    """The cell of a launch, by its description."""
    return record["id"].rpartition(".")[0]


def launch_files(folder, cell=None):
    """The descriptions in a session's folder (of a cell), in the order of cells and launches."""
    found = [(match[1], int(match[2]), path) for path in pathlib.Path(folder).glob("*.json")
             if (match := re.fullmatch(r"(.+)\.([0-9]{3,})\.json", path.name, re.ASCII))
             and cell in (None, match[1])]
    return [path for _, _, path in sorted(found)]


def read_one(path):
    """The description in a file, or None; and why it is left out, in a line."""
    try:
        record = disk.read_json(path)
        if not isinstance(record, dict) or not {"id", "status"} <= record.keys():
            raise ValueError(f"{path}: no description of a launch")
    except (ValueError, OSError) as err:
        return None, str(err)
    return record, ""


def read_launches(folder):
    """The descriptions in a session's folder; and why others were left out, in a line each."""
    read = [read_one(path) for path in launch_files(folder)]
    return [record for record, _ in read if record], [reason for _, reason in read if reason]


def other_launches(record, cell):
    """The descriptions of a cell's other launches in this session that are `ok`."""
    own = launch_name(cell, record["asked"]["launch"])
    read = [read_one(path)[0] for path in launch_files(session_folder(), cell)]
    return [one for one in read if one and one["status"] == "ok" and one["id"] != own]


def last_launches(cell):
    """The descriptions of a cell's last launches in this session, from the last `ok` one on."""
    found = []
    for path in reversed(launch_files(session_folder(), cell)):
        record, _ = read_one(path)
        if record:
            found.insert(0, record)
            if record["status"] == "ok":
                break
    return found


def measured(cell, number):
    """True when this launch is in the session, however it ended; to ask begins none."""
    return bool(os.environ.get("COTEJO_SESSION")) and (
        session_folder() / f"{launch_name(cell, number)}.json").exists()


#: Status of a ReFrame whose command line selects no test.
NONE_SELECTED = 5


def listing():
    """Whether this run only lists cells."""
    return bool(os.environ.get("COTEJO_CELLS"))


def note(cell, **what):
    """Adds a cell to the list that a dry run leaves: the `file` of its test and its `partition`,
    or the reason why it was `skipped`, which another run may want as well (COTEJO_LEFT_OUT)."""
    for variable in ("COTEJO_CELLS", *(["COTEJO_LEFT_OUT"] if "skipped" in what else [])):
        if path := os.environ.get(variable):
            with open(path, "a") as out:
                out.write(json.dumps({"cell": cell, **what}) + "\n")
