# SPDX-License-Identifier: BSD-3-Clause
"""Sessions as a dataset has them: their files without what belongs to the machine's keeper, few
samples of each group, one archive each.

Whatever is read, a folder of results or an archive, is read as if a stranger had written it.
"""

import collections
import io
import json
import lzma
import re
import tarfile

from ..model import declarations
from ..model.families import REPO
from ..model.plain import (
    MOST_FILES,
    MOST_GROUPS,
    MOST_JSON,
    MOST_SAMPLES,
    MOST_UNPACKED,
    FileError,
    parse_json,
    read_plain,
    shown,
)

PRESET = 9
#: Between these, texts have words, such as paths.
PATH_WORD = re.compile(r"[^\s=:\"',]+")
# Parts of a word. The time to find one is proportional to the length of the word. First, SMPI's
# copy of the program: each rank has one, with the number of a process.
COPY = re.compile(r".*/(\w+?)_\d+_\d+\.so(?![\w.])")
OUR_STACK = re.compile(r"/(?:\.stack|\.spack-env)(?=/)")
OF_SPACK = re.compile(r"([^/]*)/.*/opt/spack/(?=linux-)")
# The path of the checkout ends here: launches run files of these folders.
OF_CHECKOUT = re.compile(r"/(?=(?:site_configs|src/languages)/)")
# Libraries in a site's own folders, such as Spack's externals, and where their paths begin.
LIBRARY = re.compile(r".*(/lib[^/]*\.so[.\d]*)(?![\w.])")
OWN_FOLDER = re.compile(r"(?<![\w./-])/(?!usr/|lib)")
ADDRESS = re.compile(r"(?<!\s)\s*(?:https?|ftp|file)://[^\s\"',]*")
# Text that must not remain: any other address, and personal or temporary folders.
KEPT_OUT = re.compile(r"://|/tmp/|/home/|/root/")
#: Names of sites and sessions, and of the files of a session.
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
IN_SESSION = re.compile(r"[A-Za-z0-9][\w.+,=@-]*\.(?:json|csv|csv\.gz)", re.ASCII)
LAUNCH = re.compile(r".+\.[0-9]{3,}\.json")
#: Names of columns of samples: one pattern, and names that cotejo's own tables have. R's reader
#: has the same (analysis/R/read-files.R).
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
OURS = re.compile(r"(?:setting|parameter|option|found|measure|observed|reported|cotejo)_")
RESERVED = frozenset((REPO / "analysis/inst/reserved.txt").read_text().split())
#: Bytes of a field of samples with the comma behind it. R's reader has the same.
MOST_FIELD = 401
#: Files of a session beside its launches, and what each holds.
PLANS = {"session.json": dict, "audit.json": list}


def without_folders(found):
    """A word of a text without folders of the machine; STACK and SPACK replace two of them."""
    word = found[0]
    if copy := COPY.match(word):
        word = copy[1] + word[copy.end():]
    *before, word = OUR_STACK.split(word)
    word = "STACK" * len(before) + word
    if spack := OF_SPACK.match(word):
        word = f"{spack[1]}SPACK/{word[spack.end():]}"
    word = OF_CHECKOUT.split(word)[-1]
    library = LIBRARY.match(word)
    folder = OWN_FOLDER.search(word)
    if library and folder and folder.start() < library.start(1):
        word = word[:folder.start()] + library[1][1:] + word[library.end():]
    return word


def stripped(value):
    """A description without addresses and checkout, and with STACK for the stack's folder."""
    if isinstance(value, dict):
        return {name: stripped(member) for name, member in value.items()}
    if isinstance(value, list):
        return [stripped(member) for member in value]
    if isinstance(value, str):
        return ADDRESS.sub("", PATH_WORD.sub(without_folders, value))
    return value


def leftovers(value):
    """Texts in a description that still name what must not be named."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in leftovers(member)]
    if isinstance(value, list):
        return [text for member in value for text in leftovers(member)]
    return [value] if isinstance(value, str) and KEPT_OUT.search(value) else []


def is_factor(column):
    """Whether samples that differ in a column belong to different groups (`samples.columns`)."""
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
        if len(groups) > MOST_GROUPS:
            raise ValueError(f"more than {MOST_GROUPS} operations, sizes and values of factors")
    kept = set()
    for rows in groups.values():
        count = min(most, len(rows))
        kept.update(rows[i * len(rows) // count] for i in range(count))
    return [line for number, line in enumerate(lines) if number in kept]


def digits_of(column):
    """Significant digits that a dataset keeps of a column, or None for each as it is. A clock does
    not resolve a millionth of a sample, and no statistic asks more of what explains a sample."""
    if column["name"] == "time_s":
        return 6
    return 4 if column["unit"] == "s" and not is_factor(column) else None


def rounded(lines, columns):
    """Rows of a sample file with the digits that a dataset keeps."""
    digits = {i: d for i, c in enumerate(columns) if (d := digits_of(c))}
    found = []
    for line in lines:
        fields = line.split(",")
        for i, kept in digits.items():
            fields[i] = f"{float(fields[i]):.{kept}g}"
        found.append(",".join(fields))
    return found


def parsed(path, data, kind=dict):
    """The content of a JSON file: an object, or a list."""
    try:
        found = parse_json(data)
    except (ValueError, RecursionError) as err:
        raise FileError(f"{path}: not JSON ({str(err)[:80]})") from err
    if not isinstance(found, kind):
        raise FileError(f"{path}: no JSON {'object' if kind is dict else 'list'}")
    return found


def packed_launch(path, most):
    """Files of one launch: name -> bytes. FileError where they are not what they should be."""
    record = parsed(path, read_plain(path, MOST_JSON))
    found, samples = {}, record.get("samples")
    if wrong := declarations.wrong_in_results(record):
        raise FileError(f"{path}: {wrong}")
    if record["id"] != path.name.removesuffix(".json"):
        raise FileError(f"{path}: its id is {record['id'][:80]!r}")
    *_, site, session, _ = path.resolve().parts
    for name, folder in (("site", site), ("session", session)):
        if record["asked"][name] != folder:
            raise FileError(f"{path}: asked.{name} is {record['asked'][name]!r}, but its folder "
                            f"is {shown(folder)}")
    if samples:
        found[f"{record['id']}.csv"] = packed_samples(path, record, most)
    record.pop("stderr", None)  # it is for who measured, and names folders of the machine
    record = stripped(record)
    left = leftovers(record)
    if left:
        raise ValueError(f"{path}: {left[0][:120]!r} names a place that a dataset must not name; "
                         "extend the rules in packed_sessions.py")
    found[path.name] = (json.dumps(record, indent=1) + "\n").encode()
    return found


def wrong_name(names):
    """The first error in the names of columns of samples, or ''."""
    seen = set()
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            return f"{str(name)[:60]!r} is no name of a column"
        if name in RESERVED or OURS.match(name):
            return f"{name!r} is a name of cotejo's own; give the column another one"
        if name in seen:
            return f"two columns are called {name!r}"
        seen.add(name)
    return ""


def wrong_row(lines, columns):
    """The number of the first line of samples that is not as its columns are, and why, or ''."""
    patterns = [one["pattern"] for one in declarations.sample_patterns(columns)]
    row = re.compile(",".join(pattern.removesuffix("(?!\\n)").strip("^$")
                              for pattern in patterns))
    for number, line in enumerate(lines, 3):
        if not row.fullmatch(line):
            at = next((c["name"] for c, p, field in zip(columns, patterns, line.split(","),
                                                        strict=True) if not re.search(p, field)))
            return f"{number}: a bad value of {at} in {line[:60]!a}"
    return ""


def sample_lines(path, rows, columns, description):
    """The lines of a sample file. FileError where it has not as many rows as it should, or one
    that is too long: as texts they would take many times the memory of the file."""
    data = read_plain(path)
    if (found := max(0, data.count(b"\n") - 2)) != rows:
        raise FileError(f"{path}: {found} rows, {description} says {str(rows)[:40]!a}")
    longest = max(map(len, io.BytesIO(data)))
    if longest > MOST_FIELD * columns or len(data) < 12 * rows or not data.endswith(b"\n"):
        raise FileError(f"{path}: a line is cut off, or longer or shorter than a row can be")
    return data.decode().replace("\r\n", "\n").removesuffix("\n").split("\n")


def packed_samples(path, record, most):
    """The thinned samples of a launch; notes in its record how many are left."""
    samples = record["samples"]
    try:
        name, rows, columns = samples["file"], samples["rows"], samples["columns"]
        names = [column["name"] for column in columns]
        if wrong := wrong_name(names):
            raise FileError(f"{path}: {wrong}")
        if name != f"{record['id']}.csv":
            raise FileError(f"{path}: samples.file is {str(name)[:80]!r}, not {record['id']}.csv")
        head, header, *lines = sample_lines(path.with_name(name), rows, len(names), path.name)
        if header.split(",") != names or any(line.count(",") != len(names) - 1 for line in lines):
            raise FileError(f"{path.with_name(name)}: its columns are not those of {path.name}")
        if wrong := wrong_row(lines, columns):
            raise FileError(f"{path.with_name(name)}:{wrong}")
        kept = rounded(thinned(lines, columns, most), columns)
    except FileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise FileError(f"{path}: its samples are not as docs/data.md says "
                        f"({type(err).__name__}: {str(err)[:80]})") from err
    if len(kept) < len(lines):
        samples.setdefault("thinned_from", len(lines))
        samples["rows"] = len(kept)
    return ("\n".join([head, header, *kept]) + "\n").encode()


def read_session(folder, most):
    """Files of a session, its plan and audit among them: name -> bytes; and what was left out."""
    files, wrong = {}, []
    for path in sorted(folder.iterdir()):
        try:
            if LAUNCH.fullmatch(path.name) and not IN_SESSION.fullmatch(path.name):
                raise FileError(f"{shown(path)}: no name of a launch")
            if LAUNCH.fullmatch(path.name):
                files.update(packed_launch(path, most))
            elif path.name in PLANS:
                record = parsed(path, read_plain(path, MOST_JSON), PLANS[path.name])
                if problem := declarations.wrong_in_results(record, path.stem):
                    raise FileError(f"{path}: {problem}")
                record = stripped(record)
                files[path.name] = (json.dumps(record, indent=1) + "\n").encode()
        except FileError as err:
            wrong.append(str(err))
    return files, wrong


def archive(files):
    """The bytes of a tar.xz of name -> bytes, without dates and owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        # Descriptions stand together and samples too: they compress far better so.
        for name in sorted(files, key=lambda n: (n.rpartition(".")[2], n)):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    return lzma.compress(raw.getvalue(), preset=PRESET)


class Bounded(io.RawIOBase):
    """The unpacked data of a stream, up to the size that a session may have: FileError beyond that
    size, also where a header announces more."""

    def __init__(self, path, stream):
        super().__init__()
        self.path, self.stream, self.room = path, stream, MOST_UNPACKED

    def read(self, size=-1):
        data = self.stream.read(min(size, self.room + 1) if size >= 0 else self.room + 1)
        self.room -= len(data)
        if self.room < 0:
            raise FileError(f"{shown(self.path)}: unpacks to more than {MOST_UNPACKED} B")
        return data


def read_archive(path):
    """The files of a session's archive: name -> bytes. FileError for anything but plain files of
    a session, each once, and for more bytes than a session may have."""
    found, packed = {}, io.BytesIO(read_plain(path))
    try:
        with (lzma.open(packed) as stream,
              tarfile.open(fileobj=Bounded(path, stream), mode="r|") as tar):
            for entry in tar:
                if not entry.isreg() or not IN_SESSION.fullmatch(entry.name):
                    raise FileError(f"{path}: {entry.name[:80]!r} is no plain file of a session")
                most = MOST_JSON if entry.name.endswith(".json") else MOST_SAMPLES
                if entry.name in found or entry.size > most or len(found) == MOST_FILES:
                    raise FileError(f"{path}: {entry.name[:80]!r} is there twice, or too large, "
                                    "or one too many")
                found[entry.name] = tar.extractfile(entry).read()
    except FileError:
        raise
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError, ValueError,
            RecursionError) as err:
        raise FileError(f"{path}: no tar.xz ({str(err)[:80]})") from err
    return found
