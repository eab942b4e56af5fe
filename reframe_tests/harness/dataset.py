# SPDX-License-Identifier: BSD-3-Clause
"""Packs results into a dataset small enough for the repository: `make reference`.

One archive a session, `SITE/SESSION.tar.xz`, with the launches as docs/data.md has them. What
belongs to the machine's keeper and not to the measurement is taken out: paths of the stack and of
libraries outside of the system's folders, and the addresses that some libraries carry in their
version text. Packing the same results twice gives the same bytes.
"""

import argparse
import collections
import hashlib
import io
import json
import lzma
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile

from . import sessions

MOST_BYTES = 30_000_000
#: What makes use of a dataset, by its folder.
COMMANDS = {"reference": "make figures report paper DATA=reference",
            "proof": "make proof-page DATA=reference"}
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


def thinned(lines, columns, most):
    """Rows of a sample file with at most `most` of each group, evenly over its order.

    A group is an operation, a size and the values of the columns that have no unit.
    """
    own = ("repetition", "calls", "time_s", "valid")
    keys = [i for i, c in enumerate(columns) if not c["unit"] and c["name"] not in own
            or c["name"] == "bytes"]
    groups = collections.defaultdict(list)
    for number, line in enumerate(lines):
        fields = line.split(",")
        groups[tuple(fields[i] for i in keys)].append(number)
    kept = set()
    for rows in groups.values():
        count = min(most, len(rows))
        kept.update(rows[i * len(rows) // count] for i in range(count))
    return [line for number, line in enumerate(lines) if number in kept]


def packed_launch(path, most):
    """Files of one launch: name -> bytes."""
    record = stripped(sessions.read_json(path))
    found = {}
    if record["samples"]:
        source = path.parent / record["samples"]["file"]
        head, names, *lines = source.read_text().splitlines()
        kept = thinned(lines, record["samples"]["columns"], most)
        if len(kept) < len(lines):
            record["samples"].update(rows=len(kept), thinned_from=len(lines))
        found[source.name] = ("\n".join([head, names, *kept]) + "\n").encode()
    left = leftovers(record)
    if left:
        raise ValueError(f"{path}: {left[0][:120]!r} names a place that a dataset must not name; "
                         "extend the rules in dataset.py")
    found[path.name] = (json.dumps(record, indent=1) + "\n").encode()
    return found


def archive(files):
    """The bytes of a tar.xz of name -> bytes, without dates and owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        # Descriptions stand together and samples too: they compress far better so.
        for name in sorted(files, key=lambda n: (n.rpartition(".")[2], n)):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    return lzma.compress(raw.getvalue(), preset=9)


def pack_session(folder, most):
    """Files of a session, its plan and audit among them."""
    files = {}
    for path in sorted(folder.glob("*.[0-9][0-9][0-9].json")):
        files.update(packed_launch(path, most))
    for name in ("session.json", "audit.json"):
        if (folder / name).exists():
            record = stripped(sessions.read_json(folder / name))
            files[name] = (json.dumps(record, indent=1) + "\n").encode()
    return files


def facts(folder):
    """What the README says of a session: a row of its table."""
    records = [sessions.read_json(p) for p in sorted(folder.glob("*.[0-9][0-9][0-9].json"))]
    used = [r for r in records if r["status"] == "ok"]

    def values(get):
        return ", ".join(sorted({str(get(r)) for r in used if get(r)})) or "none"

    commits = {r["provenance"]["commit"][:12] for r in used}
    return [folder.parent.name, folder.name, len(records), len(used),
            values(lambda r: r["asked"]["test"]), values(lambda r: r["asked"]["mpi"]),
            values(lambda r: r["simulated"]), values(lambda r: r["observed"]["node"]["cpu_model"]),
            ", ".join(sorted(commits))]


def readme(rows, most, command):
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
        f"(launch, operation, size and factors) at most {most} samples, evenly over their order",
        "(`samples.thinned_from` in a description is how many there were; its `summary` is that",
        "of all of them). Nothing else is changed.", ""])


def pack(results, out, most):
    """Writes the dataset of all sessions below `results` to the folder `out`."""
    folders = sorted({p.parent for p in results.glob("*/*/*.[0-9][0-9][0-9].json")})
    if not folders:
        sys.exit(f"dataset: no launch below {results}; `make study` measures some")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".dataset-") as name:
        new, total, sums = pathlib.Path(name) / out.name, 0, []
        for folder in folders:
            path = new / folder.parent.name / f"{folder.name}.tar.xz"
            path.parent.mkdir(parents=True, exist_ok=True)
            data = archive(pack_session(folder, most))
            path.write_bytes(data)
            total += len(data)
            sums.append(f"{hashlib.sha256(data).hexdigest()}  {path.relative_to(new)}\n")
            print(f"dataset: {path.relative_to(new)}: {len(data) / 1e6:.2f} MB", flush=True)
        if total > MOST_BYTES:
            sys.exit(f"dataset: {total / 1e6:.1f} MB is more than {MOST_BYTES / 1e6:.0f} MB; keep "
                     f"fewer samples than {most} (SAMPLES) or fewer sessions")
        (new / "README.md").write_text(readme([facts(f) for f in folders], most,
                                                  COMMANDS.get(out.name, COMMANDS["reference"])))
        (new / "SHA256SUMS").write_text("".join(sums))
        shutil.rmtree(out, ignore_errors=True)
        new.rename(out)
    print(f"dataset: {out}: {len(folders)} sessions, {total / 1e6:.2f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=20, help="of each group, at most")
    args = parser.parse_args()
    if args.samples < 1:
        parser.error("--samples must be a number from 1 on")
    try:
        pack(args.results.resolve(), args.out.resolve(), args.samples)
    except ValueError as err:
        sys.exit(f"dataset: {err}")


if __name__ == "__main__":
    main()
