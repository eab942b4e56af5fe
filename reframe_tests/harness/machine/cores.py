# SPDX-License-Identifier: BSD-3-Clause
"""The lock of this machine's cores: one study at a time, whatever its site, clone or user.

`python3 -m reframe_tests.harness alone COMMAND...` takes it and becomes the command. It needs
nothing of the stack, so that nothing compiles or launches before. Whoever has the lock has it in
an open file, which children inherit, and its name, the study, in COTEJO_STUDY: with it they share
the lock. src/tools/guard/lock.c keeps to the same rules, and says how the file is used.

COTEJO_LOCKS names another folder for the file. Tests have one of their own; who measures never
sets it.
"""

import contextlib
import fcntl
import functools
import os
import pathlib
import pwd
import re
import select
import signal
import stat
import sys
import tempfile
import time

from . import removal

PLACES = ("/run/lock", "/dev/shm", "/tmp")
LINE_MOST = 400
#: A study that ends leaves the cores within this.
WAIT_S = 5
#: The mark of a temporary folder names its maker within this.
NAMED_WITHIN_S = 60
#: Names of temporary folders, as the guard and this module make them.
TEMPORARY = re.compile(r"cotejo-[A-Za-z0-9_]{6,8}")

#: The line of the lock, which any user may have written: "STUDY PID START UID WORDS".
LINE = re.compile(r"(\S{1,80}) ([0-9]{1,9}) ([0-9]{1,19})(?: ([0-9]{1,10})(?: (.*))?)?",
                  re.DOTALL)
#: The name of a study: "PID-START-PROCESSES".
STUDY = re.compile(r"([0-9]{1,9})-([0-9]{1,19})(?:-([0-9]{1,19}))?(?![^ ])")

#: Holder of the lock that has not written its line yet.
BEGINS = "a launch that begins"

#: The open file of the lock, once this process has it.
_held = []
#: The name of the lock of a stack, in it; and the open files of those that this process has.
STACK_LOCK = ".cotejo-lock"
_held_stacks = []


class Busy(RuntimeError):
    """Another study has the cores; the text says which, in one line."""


def started_at(pid, name=None):
    """When a process (of that name) started, in ticks since boot; 0 when it is gone.

    A number may be given again; with its start it names one process. One that
    ended and was not waited for is gone: it is still listed, as a zombie.
    """
    try:
        before, _, after = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except (OSError, ValueError):
        return 0
    words = after.split()
    if not words or words[0] in "ZX" or name not in (None, before.partition("(")[2]):
        return 0
    return int(words[19])


def _network_types():
    """Folders on a network, by the longest mount that holds them."""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, point, kind, *_ = line.split()
        yield point, kind.split(".")[0] in {
            "nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "gfs2", "ceph", "afs", "9p", "ocfs2",
            "fuse", "beegfs"}


def _on_network(path):
    path = os.path.realpath(path)
    held = [(len(point), far) for point, far in _network_types()
            if path == point or path.startswith(point.rstrip("/") + "/")]
    return max(held, default=(0, False))[1]


def lock_folder():
    """The first of PLACES in which each user may write, and remove only what is its own."""
    given = os.environ.get("COTEJO_LOCKS")
    if given:
        if not os.path.isdir(given) or _on_network(given):
            raise Busy(f"COTEJO_LOCKS={given} is no folder, or on a network; "
                       "name one of this machine")
        return given
    for place in PLACES:
        with contextlib.suppress(OSError):
            found = os.stat(place)
            if (stat.S_ISDIR(found.st_mode) and found.st_uid == 0
                    and found.st_mode & 0o1777 == 0o1777 and not _on_network(place)):
                return place
    raise Busy(f"no place for the lock of the cores: none of {', '.join(PLACES)} is a local "
               "folder for all users; name one by COTEJO_LOCKS")


def _open(path, mode=0o666):
    """Opens the file, never through a link, or makes it, by default for all users to open."""
    flags = os.O_RDWR | os.O_NOFOLLOW
    try:
        try:
            file = os.open(path, flags)
        except FileNotFoundError:
            try:
                file = os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
                os.fchmod(file, mode)  # whatever the mask is
            except FileExistsError:
                file = os.open(path, flags)
    except OSError as err:
        raise Busy(f"cannot open the lock of the cores {path} ({err.strerror})") from None
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(file)
        raise Busy(f"cannot open the lock of the cores {path} (no plain file of one name)")
    return file


def _flock(file, how):
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _line(file):
    return os.pread(file, LINE_MOST, 0).decode(errors="replace").partition("\n")[0]


def _write_line(file, text):
    """Makes a text the line of a lock."""
    os.ftruncate(file, 0)
    os.pwrite(file, text.replace("\n", " ").encode()[:LINE_MOST - 1] + b"\n", 0)


def _try(file, name, words):
    """One try; '' when the lock is had, else the line of who has it."""
    if _flock(file, fcntl.LOCK_EX) and _line(file).partition(" ")[0] != name:
        end_left(_line(file))
        _write_line(file, f"{name} {os.getpid()} {started_at(os.getpid())} {os.getuid()} {words}")
    # To share it what was exclusive is given up for a moment: the line is read again.
    if not _flock(file, fcntl.LOCK_SH):
        return _line(file) or BEGINS
    line = _line(file)
    if line.partition(" ")[0] == name:
        return ""
    fcntl.flock(file, fcntl.LOCK_UN)
    return line


def _founder(line):
    """Study, process and start of a line; zeros where it is none."""
    found = LINE.fullmatch(line)
    return (found[1], int(found[2]), int(found[3])) if found else (line.partition(" ")[0], 0, 0)


def who(line):
    """The holder of the lock, in words."""
    _, pid, start = _founder(line)
    if not pid:
        return line if line == BEGINS else f"another process has this machine's cores ({line!a})"
    found = LINE.fullmatch(line)
    number, words = int(found[4] or 0), ascii(found[5] or "")[1:-1]
    try:
        user = pwd.getpwuid(number).pw_name
    except (KeyError, OverflowError):
        user = f"user {number}"
    left = "" if is_there(pid, start, among(line)) else ", and is gone, but left processes behind"
    return f"process {pid} of {user} measures on this machine's cores ({words}){left}"


def among(line):
    """The namespace of process numbers (removal.processes) of the study of a line, from the
    study's name; 0 if the name lacks it."""
    found = STUDY.match(line)
    return int(found[3] or 0) if found else 0


def is_there(pid, start, where):
    """Whether a process lives. A process of another container cannot be checked and counts as
    alive."""
    return where not in (0, removal.processes()) or started_at(pid) == start


def end_left(line):
    """Ends the processes of a study whose first process is gone.

    Ends only processes with the study's name in their environment, inherited from that process.
    """
    name, pid, start = _founder(line)
    if not pid or is_there(pid, start, among(line)) or not name.startswith(f"{pid}-{start}"):
        return
    mark = f"COTEJO_STUDY={name}".encode()
    for _ in range(50):
        left = [number for number in map(int, filter(str.isdecimal, os.listdir("/proc")))
                if mark in _environment(number) and number != os.getpid() and started_at(number)]
        if not left:
            return
        for number in left:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.02)


def _environment(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def sweep_folders():
    """Removes the temporary folders of this user's launches and studies whose maker is gone."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob("cotejo-*"):
        with contextlib.suppress(OSError, removal.NotOursError):
            found = os.lstat(folder)
            if found.st_uid != os.getuid():
                continue
            # Its maker was killed before it was named in the mark, or before there was one.
            old = time.time() - found.st_mtime > NAMED_WITHIN_S
            if not (folder / removal.MARK).exists():
                if old and TEMPORARY.fullmatch(folder.name):
                    folder.rmdir()  # only if it is empty: files in it are not cotejo's
                continue
            line = ["", *(folder / removal.MARK).read_text().splitlines()][-1]
            _, pid, start = _founder(line)
            nobodys = not pid and old
            where = int(LINE.fullmatch(line)[4] or 0) if pid else 0
            if nobodys or (pid and not is_there(pid, start, where)):
                removal.remove(folder.parent, folder)


@contextlib.contextmanager
def own_folder():
    """A temporary folder for this process and all that it starts. If the process is killed, the
    next study removes the folder."""
    before = tempfile.gettempdir()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cotejo-"))
    removal.claim(folder)
    removal.stamp(folder, f"{study()} {os.getpid()} {started_at(os.getpid())} "
                          f"{removal.processes()}")
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = os.environ["TMPDIR"] = before
        removal.remove(before, folder)


def study():
    """Name of the study that this process is of."""
    return (os.environ.get("COTEJO_STUDY")
            or f"{os.getpid()}-{started_at(os.getpid())}-{removal.processes()}")


def founder_named():
    """Process and start of the first process of this study, by the study's name."""
    found = STUDY.fullmatch(study())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def hold(words, wait_s=WAIT_S):
    """Takes the lock for this process and its children, or shares that of its study; Busy when
    another study has it. The study is named by COTEJO_STUDY from then on."""
    if _held:
        return
    name = study()
    file = _open(os.path.join(lock_folder(), "cotejo-cores"))
    end = time.monotonic() + wait_s
    told = False
    while line := _try(file, name, f"{words} in {os.getcwd()}"):
        if time.monotonic() > end:
            os.close(file)
            raise Busy(f"{who(line)}; wait for its end")
        if not told:
            print(f"cores: waiting up to {wait_s} s: {who(line)}", file=sys.stderr, flush=True)
        told = True
        end_left(line)
        time.sleep(0.05)
    os.set_inheritable(file, True)
    os.environ["COTEJO_STUDY"] = name
    _held.append(file)
    sweep_folders()


def hold_stack(folder, words, wait_s=WAIT_S):
    """Locks a stack for this process and its children, also against other machines that share its
    file system; Busy when another command changes it. The command itself refuses folders that are
    not cotejo's, or not writable."""
    try:
        if not removal.claim(folder):
            return
        file = _open(os.path.join(folder, STACK_LOCK), 0o644)
    except (OSError, Busy):
        return
    end = time.monotonic() + wait_s
    while True:
        try:
            if _flock(file, fcntl.LOCK_EX):
                break
        except OSError:  # a file system without locks
            return
        if time.monotonic() > end:
            raise Busy(f"another command changes the stack {folder} ({_line(file)!a}); wait for "
                       "its end")
        time.sleep(0.05)
    os.set_inheritable(file, True)
    _write_line(file, f"process {os.getpid()} on {os.uname().nodename}: {words}")
    _held_stacks.append(file)


@functools.cache
def refused(words):
    """Why this process cannot have the cores, or ''; checked only once."""
    try:
        hold(words)
    except Busy as err:
        return str(err)
    return ""


def founder():
    """The process that took the lock which this one shares, where that is another, else 0; and
    whether it still is."""
    _, pid, start = _founder(_line(_held[0])) if _held else ("", 0, 0)
    if not pid or pid == os.getpid():
        return 0, True
    return pid, started_at(pid) == start


def gone_before(process):
    """Waits for a child; true when the founder of the study ended before it."""
    pid, alive = founder()
    if not pid or not alive:
        return not alive
    try:
        ends = [os.pidfd_open(process.pid)]
    except OSError:  # an old kernel
        return False
    try:
        ends.append(os.pidfd_open(pid))
        poll = select.poll()
        for end in ends:
            poll.register(end, select.POLLIN)
        # Its number may have been given again since it was looked at.
        return not founder()[1] or ends[0] not in [end for end, _ in poll.poll()]
    except ProcessLookupError:  # it has just ended
        return True
    finally:
        for end in ends:
            os.close(end)
