# SPDX-License-Identifier: BSD-3-Clause
"""Sessions as a dataset has them: their files without what belongs to the machine's keeper, few
samples of each group, one archive each.

Whatever is read, a folder of results or an archive, is read as if a stranger had written it.
"""

import collections
import io
import json
import lzma
import os
import re
import stat
import tarfile

#: Of one file within a session, unpacked.
MOST_IN_FILE = 1 << 30
PRESET = 9
#: What is put in the place of what, in this order.
RULES = [(re.compile(pattern), instead) for pattern, instead in (
    # SMPI's copies of the program, one a rank, by the number of a process.
    (r"[^\s=:\"',]*/(\w+?)_\d+_\d+\.so(?![\w.])", r"\1"),
    (r"[^\s=:\"',]*?/(?:\.stack|\.spack-env)(?=/)", "STACK"),
    # Where the checkout was, before what is run of it.
    (r"[^\s=:\"',]*?/(?=(?:site_configs|src/languages)/)", ""),
    # Libraries in a site's own folders, such as Spack's externals, by their names.
    (r"(?<![\w./-])/(?!usr/|lib)[^\s=:\"',]*/(lib[^/\s=:\"',]*\.so[.\d]*)(?![\w.])", r"\1"),
    # Addresses.
    (r"\s*(?:https?|ftp|file)://[^\s\"',]*", ""),
)]
# What may not be left: any other address, and folders of a person or of a moment.
KEPT_OUT = re.compile(r"://|/tmp/|/home/|/root/")
#: Names of sites and sessions, and of the files of a session.
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
IN_SESSION = re.compile(r"[A-Za-z0-9][\w.+,=@-]*\.(?:json|csv|csv\.gz)", re.ASCII)
LAUNCH = re.compile(r".+\.[0-9]{3,}\.json")
#: Files of a session beside its launches, and what each holds.
PLANS = {"session.json": dict, "audit.json": list}


class FileError(ValueError):
    """A file of results or of a dataset that is left out; the text names it and says why."""


def stripped(value):
    """A description without addresses and checkout, and with STACK for the stack's folder."""
    if isinstance(value, dict):
        return {name: stripped(member) for name, member in value.items()}
    if isinstance(value, list):
        return [stripped(member) for member in value]
    if isinstance(value, str):
        for pattern, instead in RULES:
            value = pattern.sub(instead, value)
    return value


def leftovers(value):
    """Texts in a description that still name what must not be named."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in leftovers(member)]
    if isinstance(value, list):
        return [text for member in value for text in leftovers(member)]
    return [value] if isinstance(value, str) and KEPT_OUT.search(value) else []


def is_factor(column):
    """Whether samples that differ in a column are not of one group. docs/data.md: Version 2."""
    own = ("repetition", "calls", "time_s", "valid")
    if column["name"] in own:
        return False
    return column["name"] == "bytes" or column.get(
        "role", "measure" if column["unit"] else "factor") == "factor"


def thinned(lines, columns, most):
    """Rows of a sample file with at most `most` of each group, evenly over its order."""
    keys = [i for i, c in enumerate(columns) if is_factor(c)]
    groups = collections.defaultdict(list)
    for number, line in enumerate(lines):
        fields = line.split(",")
        groups[tuple(fields[i] for i in keys)].append(number)
    kept = set()
    for rows in groups.values():
        count = min(most, len(rows))
        kept.update(rows[i * len(rows) // count] for i in range(count))
    return [line for number, line in enumerate(lines) if number in kept]


def read_plain(path):
    """The bytes of a file that is one: no link, no device, not too large."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            seen = os.fstat(file.fileno())
            if not stat.S_ISREG(seen.st_mode):
                raise FileError(f"{path}: no plain file")
            if seen.st_size > MOST_IN_FILE:
                raise FileError(f"{path}: {seen.st_size} B is more than {MOST_IN_FILE}")
            return file.read(seen.st_size)
    except OSError as err:
        reason = "is a link" if path.is_symlink() else err.strerror
        raise FileError(f"{path}: {reason}") from err


def parsed(path, data, kind=dict):
    """What a file of JSON holds: an object, or a list."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as err:
        raise FileError(f"{path}: not JSON ({str(err)[:80]})") from err
    if not isinstance(found, kind):
        raise FileError(f"{path}: no JSON {'object' if kind is dict else 'list'}")
    return found


def packed_launch(path, most):
    """Files of one launch: name -> bytes. FileError where they are not what they should be."""
    record = parsed(path, read_plain(path))
    found, samples = {}, record.get("samples")
    if record.get("id") != path.name.removesuffix(".json"):
        raise FileError(f"{path}: its id is {str(record.get('id'))[:80]!r}")
    if samples:
        found[f"{record['id']}.csv"] = packed_samples(path, record, most)
    record = stripped(record)
    left = leftovers(record)
    if left:
        raise ValueError(f"{path}: {left[0][:120]!r} names a place that a dataset must not name; "
                         "extend the rules in packed_sessions.py")
    found[path.name] = (json.dumps(record, indent=1) + "\n").encode()
    return found


def packed_samples(path, record, most):
    """The thinned samples of a launch; its record then tells how many are left."""
    samples = record["samples"]
    try:
        name, rows, columns = samples["file"], samples["rows"], samples["columns"]
        names = [column["name"] for column in columns]
        if name != f"{record['id']}.csv":
            raise FileError(f"{path}: samples.file is {str(name)[:80]!r}, not {record['id']}.csv")
        head, header, *lines = read_plain(path.with_name(name)).decode().splitlines()
        if header.split(",") != names or any(line.count(",") != len(names) - 1 for line in lines):
            raise FileError(f"{path.with_name(name)}: its columns are not those of {path.name}")
        if len(lines) != rows:
            raise FileError(f"{path.with_name(name)}: {len(lines)} rows, {path.name} says {rows}")
        kept = thinned(lines, columns, most)
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        if isinstance(err, FileError):
            raise
        raise FileError(f"{path}: its samples are not as docs/data.md says "
                        f"({type(err).__name__}: {str(err)[:80]})") from err
    if len(kept) < len(lines):
        samples.update(rows=len(kept), thinned_from=len(lines))
    return ("\n".join([head, header, *kept]) + "\n").encode()


def read_session(folder, most):
    """Files of a session, its plan and audit among them: name -> bytes; and what was left out."""
    files, wrong = {}, []
    for path in sorted(folder.iterdir()):
        try:
            if not path.name.startswith(".") and LAUNCH.fullmatch(path.name):
                files.update(packed_launch(path, most))
            elif path.name in PLANS:
                record = stripped(parsed(path, read_plain(path), PLANS[path.name]))
                files[path.name] = (json.dumps(record, indent=1) + "\n").encode()
        except FileError as err:
            wrong.append(str(err))
    return files, wrong


def archive(files):
    """The bytes of a tar.xz of name -> bytes, without dates and owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        # Descriptions stand together and samples too: they compress far better so.
        for name in sorted(files, key=lambda n: (n.rpartition(".")[2], n)):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    return lzma.compress(raw.getvalue(), preset=PRESET)


def read_archive(path):
    """The files of a session's archive: name -> bytes. FileError for anything but plain files of
    a session, each once, and for more bytes than a session may have."""
    found, room = {}, MOST_IN_FILE
    try:
        with tarfile.open(fileobj=io.BytesIO(read_plain(path)), mode="r|xz") as tar:
            for entry in tar:
                if not entry.isreg() or not IN_SESSION.fullmatch(entry.name):
                    raise FileError(f"{path}: {entry.name[:80]!r} is no plain file of a session")
                room -= entry.size
                if entry.name in found or room < 0:
                    raise FileError(f"{path}: {entry.name[:80]!r} is there twice or too large")
                found[entry.name] = tar.extractfile(entry).read()
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as err:
        raise FileError(f"{path}: no tar.xz ({str(err)[:80]})") from err
    return found
