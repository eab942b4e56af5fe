# SPDX-License-Identifier: BSD-3-Clause
"""Adds results to a dataset small enough for the repository: `make reference`.

Each session is one archive, `SITE/SESSION.tar.xz`, with the launches as docs/data.md describes
them. Data that belong to the owner of the machine and not to the measurement are removed: paths of
the stack and of libraries outside of the system's folders, and addresses in the version text of
some libraries. Packing the same results twice gives the same bytes.

Results and archives are read as untrusted input (packed_sessions.py).
"""

import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import sys

from ..machine import removal
from ..model.plain import FileError, read_plain, shown
from . import shared
from .packed_sessions import (
    LAUNCH,
    WORD,
    archive,
    parsed,
    read_archive,
    read_session,
)

MOST_BYTES = 40_000_000
LISTED = re.compile(r"([0-9a-f]{64})  (.+)")
#: Commands that use a dataset, by the name of its folder or of the folder above it.
COMMANDS = {"reference": "make figures report paper DATA=reference",
            "proof": "make proof-page DATA=reference",
            "questions": "make questions DATA=reference"}


def facts(site, session, files):
    """The row of a session in the table of the README."""
    records = [parsed(name, data) for name, data in files.items() if LAUNCH.fullmatch(name)]
    used = [r for r in records if r.get("status") == "ok"]

    def text(record, *path):
        for member in path:
            record = record.get(member) if isinstance(record, dict) else None
        return " ".join(str(record or "").split()).replace("|", "/")

    def values(*path):
        return ", ".join(sorted({text(r, *path) for r in used} - {""}))

    def models(record):
        nodes = (record.get("observed") or {}).get("nodes")
        return [text(record, "observed", "node", "cpu_model"),
                *(text(node, "cpu_model") for node in nodes or [])]

    return [site, session, len(records), len(used), values("asked", "test") or "none",
            values("asked", "mpi") or "none", values("simulated") or "none",
            ", ".join(sorted({m for r in used for m in models(r)} - {""})) or "none",
            ", ".join(sorted({text(r, "provenance", "commit")[:12] for r in used}))]


def readme(rows, command):
    head = ["site", "session (UTC)", "launches", "usable", "tests", "MPIs", "simulated",
            "CPU of rank 0", "commit"]
    table = [head, ["---"] * len(head), *rows]
    return "\n".join([
        "# Reference dataset", "",
        "Launches measured by this project, so that all that is drawn of them can be made from",
        "a fresh clone, with no MPI on the machine:", "",
        "```", command, "```", "",
        *["| " + " | ".join(map(str, row)) + " |" for row in table], "",
        "`SITE/SESSION.tar.xz` holds the files of one session as `docs/data.md` describes them;",
        "`SHA256SUMS` has the checksum of each (`sha256sum -c SHA256SUMS`). Written by",
        "`make reference`, which takes out of the descriptions the folder of the stack (`STACK`)",
        "and the addresses that libraries carry in their version text, and keeps of each group",
        "(launch, operation, size and factors) at most `SAMPLES` samples, 20 where no other",
        "number was given for a session, evenly over their order (`samples.thinned_from` in a",
        "description is how many there were; its `summary` is that of all of them). Times have 6",
        "significant digits, times that explain a sample have 4. Nothing else is changed.", ""])


def listed(out):
    """The archives that SHA256SUMS of the folder `out` lists: name -> SHA-256; {} where the folder
    is empty or not there. FileError: it is no dataset."""
    if not os.path.lexists(out) or (out.is_dir() and not any(out.iterdir())):
        return {}
    if not out.is_dir() or out.is_symlink() or not (out / "SHA256SUMS").is_file():
        raise FileError(f"{out}: no dataset, for it has no SHA256SUMS; nothing was written: name "
                        "a new folder or a dataset (REFERENCE)")
    found = {}
    for line in read_plain(out / "SHA256SUMS").decode(errors="replace").splitlines():
        words = LISTED.fullmatch(line)
        parts = words[2].removesuffix(".tar.xz").split("/") if words else []
        if (len(parts) != 2 or not words[2].endswith(".tar.xz")
                or not all(WORD.fullmatch(part) for part in parts)):
            raise FileError(f"{out}/SHA256SUMS: {line[:80]!r} is no checksum of a "
                            "SITE/SESSION.tar.xz; restore the dataset")
        found[words[2]] = words[1]
    for name, checksum in found.items():
        if hashlib.sha256(read_plain(out / name)).hexdigest() != checksum:
            raise FileError(f"{out / name}: its checksum differs; restore the dataset")
    return found


def sessions_of(results):
    """Folders of the sessions below a results folder, and what was left out."""
    found, wrong = [], []

    def inside(folder):
        try:
            return sorted(folder.iterdir()) if folder.is_dir() else []
        except OSError as err:
            wrong.append(f"{shown(folder)}: {err.strerror}")
            return []

    for folder in (path for site in inside(results) for path in inside(site)):
        names = [folder.parent.name, folder.name]
        if folder.is_symlink() or folder.parent.is_symlink():
            wrong.append(f"{shown(folder)}: is a link")
        elif any(LAUNCH.fullmatch(p.name) for p in inside(folder)):
            if all(WORD.fullmatch(name) for name in names):
                found.append(folder)
            else:
                wrong.append(f"{shown(folder)}: no name of a site and a session")
    return found, wrong


def before(out):
    """The path of the old dataset while the new dataset replaces it, if that takes two steps."""
    return out.with_name(f".{out.name}.before-exchange")


def exchange(new, out):
    """Puts a folder in the place of another in one step; the other one is then at `new`."""
    swap, here = 2, -100  # RENAME_EXCHANGE, AT_FDCWD
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2") or libc.renameat2(
            here, os.fsencode(new), here, os.fsencode(out), swap) != 0:
        # A file system that cannot. Killed here, the next start puts the old one back.
        out.rename(before(out))
        new.rename(out)
        before(out).rename(new)


def copied(out, new):
    """Copies what is in a dataset, by links to the same file where that is possible."""
    def link(source, target):
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            shutil.copy2(source, target, follow_symlinks=False)

    if out.exists():
        shutil.copytree(out, new, symlinks=True, copy_function=link)
    else:
        new.mkdir()


def put(path, data):
    """Writes a file of the new dataset; one that was linked stays what it is in the old."""
    path.parent.mkdir(exist_ok=True)
    removal.write_whole(path, data)


def pack(results, out, most, drop=()):
    """Adds all sessions below `results` to the dataset `out`, in place of those of their names;
    takes out those that `drop` names (SITE/SESSION). Nothing else of it is changed."""
    if results == out or results in out.parents or out in results.parents:
        raise FileError(f"{out}: one of results and dataset is in the other; name another folder")
    if not out.exists() and listed(before(out)):
        before(out).rename(out)
    known = listed(out)
    folders, wrong = sessions_of(results)
    if unknown := [name for name in drop if f"{name}.tar.xz" not in known]:
        raise FileError(f"{out}: has no session {unknown[0]}")
    if not folders and not drop:
        raise FileError(wrong[0] if wrong else
                        f"no launch below {results}; `make study` measures some")
    out.parent.mkdir(parents=True, exist_ok=True)
    place = removal.place_beside(out)
    try:
        if listed(before(out)):  # the new one is there already
            before(out).rename(place / "before")
        new = place / out.name
        copied(out, new)
        rows, bad = renew(new, known, folders, most, drop)
        wrong += bad
        of = [name for name in (out.name, out.parent.name, "reference") if name in COMMANDS]
        text = readme([rows[name] for name in sorted(rows)], COMMANDS[of[0]])
        put(new / "README.md", text.encode())
        put(new / "SHA256SUMS", "".join(f"{known[n]}  {n}\n" for n in sorted(known)).encode())
        if out.exists():
            exchange(new, out)
        else:
            new.rename(out)
        removal.sync_folder(out.parent)
    finally:
        removal.empty(place)
    total = sum((out / name).stat().st_size for name in known)
    print(f"dataset: {out}: {len(folders)} sessions of {results}, {len(known)} in all, "
          f"{total / 1e6:.2f} MB")
    return wrong


def renew(new, known, folders, most, drop):
    """Brings a copy of a dataset up to date, and `known`, its checksums; returns the facts of all
    sessions by name, and what was left out."""
    rows, wrong = {}, []
    for name in drop:
        del known[f"{name}.tar.xz"]
        (new / f"{name}.tar.xz").unlink()
    for folder in folders:
        name = f"{folder.parent.name}/{folder.name}.tar.xz"
        files, bad = read_session(folder, most)
        wrong += bad
        if any(LAUNCH.fullmatch(file) for file in files):
            data = archive(files)
            put(new / name, data)
            known[name] = hashlib.sha256(data).hexdigest()
            rows[name] = facts(folder.parent.name, folder.name, files)
            print(f"dataset: {name}: {len(data) / 1e6:.2f} MB", flush=True)
    total = sum((new / name).stat().st_size for name in known)
    if total > MOST_BYTES:
        raise FileError(f"{total / 1e6:.1f} MB is more than {MOST_BYTES / 1e6:.0f} MB; keep fewer "
                        f"samples than {most} (SAMPLES), or fewer sessions (DROP)")
    for name in known.keys() - rows.keys():
        rows[name] = facts(*name.removesuffix(".tar.xz").split("/"), read_archive(new / name))
    return rows, wrong


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path, help="folder of results to add")
    parser.add_argument("out", type=pathlib.Path, help="folder of the dataset")
    parser.add_argument("--samples", type=shared.count, default=20,
                        help="samples that are kept of each group, at most (default: 20)")
    parser.add_argument("--drop", action="append", default=[], metavar="SITE/SESSION",
                        help="remove this session from the dataset")
    args = parser.parse_args()
    try:
        wrong = pack(args.results.resolve(), args.out.resolve(), args.samples, args.drop)
    except ValueError as err:
        return f"dataset: {err}"
    except OSError as err:
        return f"dataset: {err.filename}: {err.strerror}; what was there before is still there"
    for line in wrong:
        print(f"dataset: left out: {line}", file=sys.stderr)
    if wrong:
        print(f"dataset: {len(wrong)} files were left out", file=sys.stderr)
    return 0
