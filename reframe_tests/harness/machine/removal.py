# SPDX-License-Identifier: BSD-3-Clause
"""What may be removed: only a folder that we made and marked, below the folder where it must be.

The mark is a file that is written into a folder when it is made. A folder without it, one behind
a link, one elsewhere, and one in which something is mounted is left as it is, and said. Uses the
standard library alone, since it serves before anything is installed:

python3 -m reframe_tests.harness remove [--claim] BELOW FOLDER... removes (or makes and marks).
"""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import tempfile

MARK = ".cotejo-stamp"
WORDS = "Made by cotejo, which may replace or remove this folder with all that is in it.\n"
#: Places of a process (its number and `processes()` follow), where it makes something or removes
#: it: what it leaves when it is killed goes next time.
WAITING = ".cotejo-temporary."


#: How names of files end that are being written.
UNFINISHED = ".new"


class NotOursError(ValueError):
    """A folder that is left as it is; the text says why in one line."""


def is_marked(folder):
    """Whether a folder, not a link to one, carries the mark of its own owner."""
    try:
        place, mark = os.lstat(folder), os.lstat(os.path.join(folder, MARK))
    except OSError:
        return False
    return (stat.S_ISDIR(place.st_mode) and stat.S_ISREG(mark.st_mode)
            and mark.st_uid == place.st_uid)


def claim(folder):
    """Makes a folder and marks it, an empty one too; False where something foreign is in it."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if is_marked(folder):
        return True
    if folder.is_symlink() or any(folder.iterdir()):
        return False
    with contextlib.suppress(FileExistsError):  # another process of ours was faster
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(folder / MARK, flags, 0o644), "w") as file:
            file.write(WORDS)
    return True


def sync_folder(folder):
    """Makes names in a folder last."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path, data, mode=0o644):
    """Writes text or bytes beside, syncs and renames: a file that exists is whole. The name
    beside is one that nobody can know before, and never a link."""
    handle, name = tempfile.mkstemp(UNFINISHED, f"{path.name[:100]}.", path.parent)
    temporary = pathlib.Path(name)
    try:
        with open(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as err:
        temporary.unlink(missing_ok=True)
        if isinstance(err, OSError) and not err.filename:  # of a write; a full disk
            raise OSError(err.errno, err.strerror, str(path)) from None
        raise


def stamp(folder, text):
    """Notes in a folder's mark what is whole in it."""
    write_whole(pathlib.Path(folder) / MARK, f"{WORDS}{text}\n")


#: Begins the line of a mark that tells where a folder was made.
PLACE = "place "


def stamp_placed(folder, text):
    """As `stamp`, of a folder that is of use only where it was made: what is in it names it."""
    stamp(folder, f"{text}\n{PLACE}{os.path.abspath(folder)}")


def stamped(folder, text):
    """Whether the mark of a folder has this line, and the folder was not moved since."""
    if not is_marked(folder):
        return False
    lines = (pathlib.Path(folder) / MARK).read_text().splitlines()
    places = [line for line in lines if line.startswith(PLACE)]
    return text in lines and places in ([], [f"{PLACE}{os.path.abspath(folder)}"])


def mounted_in(folder):
    """Places at and below a folder where something is mounted."""
    try:
        lines = pathlib.Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    real = os.path.realpath(folder)
    # The kernel writes a blank as \\040.
    places = [os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]),
                                 line.split()[4])) for line in lines]
    return [p for p in places if p == real or p.startswith(f"{real}/")]


def why_not(below, folder):
    """Why a folder may not be removed, in words; '' where it may."""
    below, folder = (os.path.abspath(p) for p in (below, folder))
    parts = pathlib.PurePath(os.path.relpath(folder, below)).parts
    if not parts or parts[0] == "..":
        return f"it is not below {below}"
    place = below
    for part in parts:
        place = os.path.join(place, part)
        if os.path.islink(place):
            return f"{place} is a link"
    if not is_marked(folder):
        return f"it has no {MARK}, by which cotejo knows its own"
    if found := mounted_in(folder):
        return f"something is mounted on {found[0]}"
    return ""


def processes():
    """What tells the processes that this one sees from those of another container: their numbers
    mean nothing to each other, though both may see one folder. 0 where the kernel does not say."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def sweep(place):
    """Removes what processes that were killed left of such places (`place_beside`) in a folder."""
    for left in place.glob(f"{WAITING}*"):
        owner, among = left.name.removeprefix(WAITING).split(".")[:2]
        if among != str(processes()) or os.path.exists(f"/proc/{owner}"):
            continue
        if not why_not(place, left):
            with contextlib.suppress(FileNotFoundError):  # another process sweeps it too
                empty(left)
        else:
            with contextlib.suppress(OSError):
                left.rmdir()  # of one killed before it could mark it: nothing is in it


def place_beside(folder):
    """A marked place in the folder of `folder`, on the same file system, to make something in or
    to remove it from. What earlier processes left of such places when they were killed goes."""
    place = pathlib.Path(os.path.abspath(folder)).parent
    sweep(place)
    made = pathlib.Path(tempfile.mkdtemp(prefix=f"{WAITING}{os.getpid()}.{processes()}.",
                                         dir=place))
    claim(made)
    return made


def empty(place):
    """Removes what `place_beside` made, its mark last."""
    for entry in place.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != MARK:
            entry.unlink()
    (place / MARK).unlink()
    place.rmdir()


def remove(below, folder):
    """Removes a folder of ours; False where there is none, NotOursError where it is not ours.

    A kill meanwhile leaves nothing that looks whole, and what it leaves goes next time.
    """
    folder = pathlib.Path(os.path.abspath(folder))
    if not folder.parent.is_dir():
        return False
    there = os.path.lexists(folder)
    if there and (reason := why_not(below, folder)):
        raise NotOursError(f"{folder} is left as it is: {reason}")
    if there or any(folder.parent.glob(f"{WAITING}*")):
        place = place_beside(folder)
        if there:
            folder.rename(place / folder.name)
        empty(place)
    return there


def renewed(below, folder):
    """An empty, marked folder, in place of ours that was there; NotOursError for a foreign one."""
    if os.path.isdir(folder):
        claim(folder)  # one that is empty was made and not yet marked when we were killed
    remove(below, folder)
    claim(folder)
