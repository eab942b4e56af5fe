# SPDX-License-Identifier: BSD-3-Clause
"""Removes only folders that cotejo made and marked, below the folder where they must be.

The mark is a file that is written into a folder when it is made. A folder is left as it is, with a
message, if it has no mark, is behind a link or elsewhere, or has something mounted in it. Uses the
standard library alone, since it is used before anything is installed:

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
    with contextlib.suppress(FileExistsError):  # another process of cotejo was faster
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
    """Writes text or bytes to a temporary file, syncs and renames it: a file that exists is
    complete. The temporary name cannot be predicted, and is never a link."""
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


def write_starter(path, command):
    """Writes a program that becomes a command of the shell. A link does not serve launchers and
    compilers, which look for their folders beside their own file."""
    write_whole(path, f'#!/bin/sh\nexec {command} "$@"\n', mode=0o755)


def stamp(folder, text):
    """Notes in a folder's mark which content is complete."""
    write_whole(pathlib.Path(folder) / MARK, f"{WORDS}{text}\n")


#: Beginning of the line of a mark that records where a folder was made.
PLACE = "place "


def stamp_placed(folder, text):
    """Like `stamp`, for a folder whose files contain its path, so that it must not be moved."""
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
    """Identifies the namespace of process numbers. A number means nothing in another container,
    though both containers may see the same folder. 0 if the kernel does not report it."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def sweep(place):
    """Removes the places (`place_beside`) that killed processes left in a folder."""
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
    """A marked place in the parent folder of `folder`, on the same file system, to make or to
    remove something in it. Removes such places of earlier processes that were killed."""
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
    """Removes a folder of cotejo; False if there is none, NotOursError if it is not cotejo's.

    A kill meanwhile leaves no folder that looks complete; the next call removes the remainder.
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
    """Makes an empty, marked folder in place of one of cotejo; NotOursError for a foreign one."""
    if os.path.isdir(folder):
        claim(folder)  # one that is empty was made and not yet marked when we were killed
    remove(below, folder)
    claim(folder)
