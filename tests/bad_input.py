# SPDX-License-Identifier: BSD-3-Clause
"""The readers of this project, a sound input of each, and ways to spoil it.

A reader must refuse bad input with one line that names the input; otherwise `Fault` is raised.
"""

import functools
import json
import os
import pathlib
import random
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import declarations, families, sites
from stack import variables

REPO = families.REPO
PROGRAM = families.load(layers=True)["sockets"].prefix(families.stack_prefix()) / (
    "bin/cotejo-transport")
#: Typical mistakes in files, made by people and machines.
PIECES = [b"\x00", b"\xff\xfe", b"'", b'"', b"{", b"}", b"[" * 3000, b"\n", b",", b":", b"- ",
          b"1e999", b"-1", b"nan", b"null", b"$(touch ran-code)", b"..", b"/", b"\t", b"\r\n",
          b"&a *a", b"!!python/object/apply:os.system ['touch ran-code']", b"9" * 400,
          "é€".encode(), b"%", b"\\", b"true", b"(", b"?", b"*"]
#: Pieces that are repeated, and how often. A parser that calls itself for each level overflows its
#: stack with them. A pattern that starts again at each character takes minutes.
REPEATED = [b"[", b"{a: ", b"- ", b"? ", b": ", b"? a\n: - ", b"a:\r  ", b"-\t", b"!a ", b"((",
            b"-", b" ", b"/", b"(/", b"1", b"_1", b"a", b"a.", b"\\n", b",", b"<", b"&a [", b"'",
            b"\n"]
TIMES = [60, 3000, 200_000]


#: A reader hangs if it takes more processor time over an input, or waits so long for something.
#: Other work on the machine makes no reader hang.
WITHIN_S, WAITS_S = 10, 240


class Fault(AssertionError):
    """A reader that did not report the problem in one line."""


@dataclass(frozen=True)
class Reader:
    """`read` takes the input as bytes and a folder of its own. ValueError is how it refuses."""

    sound: bytes
    read: Callable
    #: Inputs that must be refused, each with a part of the expected message.
    bad: tuple


def in_file(name, reader):
    """Writes the input to a file and reads that."""
    def read(data, folder):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return reader(path)
    return read


def read_plan(path):
    plan = disk.read_json(path)
    if not isinstance(plan, dict):
        raise ValueError(f"{path}: no JSON object")
    return plan


def read_options(data, folder):
    """Options of the benchmark, one per line. It ends with status 2 and one line for any options,
    since it has no other rank."""
    # Linux passes no longer arguments.
    words = [word for word in data.replace(b"\0", b"")[:100_000].split(b"\n") if word]
    done = subprocess.run([str(PROGRAM), *words], cwd=folder, capture_output=True,
                          timeout=WAITS_S, stdin=subprocess.DEVNULL)
    said = done.stderr.decode(errors="replace")
    if words and done.returncode:
        if done.returncode != 2:
            raise Fault(f"status {done.returncode} of {words}: {said}")
        raise ValueError(said.removesuffix("\n"))


def read_make(data, folder):
    values = dict(line.partition("=")[::2]
                  for line in data.decode(errors="surrogateescape").split("\0"))
    if found := variables.problem(values):
        raise ValueError(found)


@functools.cache
def r_process():
    """R with the readers of cotejo's package; it ends with this process."""
    return subprocess.Popen(
        ["Rscript", "--vanilla", str(REPO / "tests/read_input.R")], text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=r.variables(families.stack_prefix()))


def processor_s(pid):
    """The processor time (s) of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def answers(process):
    """Whether a process answers before it hangs."""
    used, end = processor_s(process.pid), time.monotonic() + WAITS_S
    while not select.select([process.stdout], [], [], 0.5)[0]:
        if processor_s(process.pid) - used > WITHIN_S or time.monotonic() > end:
            return False
    return True


def in_r(reader, path):
    """A refusal by R's reader becomes a ValueError, as for the other readers."""
    answer = r_process()
    answer.stdin.write(f"{reader} {path}\n")
    if not answers(answer) or not (line := answer.stdout.readline()):
        answer.kill()
        r_process.cache_clear()
        raise Fault(f"R came to nothing over {path.read_bytes()[:300]!r}")
    if (said := json.loads(line)).startswith("a warning of R: "):
        raise Fault(f"{said} over {path.read_bytes()[:300]!r}")
    if said:
        raise ValueError(said)


def launch_of(part, reader):
    """A reader of launches, given a description or the samples beside a sound one of the other."""
    def read(data, folder):
        folder = folder / KEPT.parent.name / KEPT.name
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, sound in ((".json", DESCRIPTION), (".csv", SAMPLES)):
            (folder / f"{LAUNCH}{suffix}").write_bytes(data if suffix == part else sound)
        return reader(folder / f"{LAUNCH}.json")
    return read


def in_microseconds(description):
    """A description whose samples have the unit us, while their column is called time_s."""
    said = json.loads(description)
    next(one for one in said["samples"]["columns"] if one["name"] == "time_s")["unit"] = "us"
    return json.dumps(said).encode()


#: More lists than a description has, and a member that appears twice, after many others.
LISTS = b'{"junk":[' + b"[]," * (1 << 19) + b"1]}"
TWICE = ("{" + "".join(f'"m{number}":1,' for number in range(200_000)) + '"z":1,"z":1}').encode()


#: A member whose name is longer than a variable's. R took 1 KiB per byte to sort such names.
NAMED = b'"environment": {"' + b"N" * 800_000 + b'": "",'


def read_in_r(path):
    in_r("launch", path)


def study_of(path):
    """A complete session in R, whose samples have the columns that its description names."""
    try:
        names = [column["name"] for column in json.loads(path.read_bytes())["samples"]["columns"]]
        head, _, *rows = SAMPLES.decode().splitlines()
        more = ["1"] * (len(names) - rows[0].count(",") - 1)
        lines = [head, ",".join(names), *(",".join([row, *more]) for row in rows)]
        path.with_suffix(".csv").write_text("\n".join(lines) + "\n")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    in_r("study", path)


LAUNCH = "pingpong_quick.mpich.shm.near.001"
KEPT = next((REPO / "analysis/tests/testthat/fixtures/v2/local").iterdir())
DESCRIPTION = (KEPT / f"{LAUNCH}.json").read_bytes()
SAMPLES = (KEPT / f"{LAUNCH}.csv").read_bytes()
PLAN = (KEPT / "session.json").read_bytes()
EXHIBIT = b"""\
exhibit("ours-fig-1", "Exchange by primitive",
  data = launches_of("exchange_full", operation = "exchange-*", sizes = "1..1Mi"),
  draw = by_size(series = operation, panel = c(mpi, transport), unit = "us"))
"""
FAMILY = (families.FOLDERS[0] / "mpich.yaml").read_bytes()
PLACEMENTS = (REPO / "site_configs/local/placements.yaml").read_bytes()
SITE = (REPO / "site_configs/example-slurm/reframe.py").read_bytes()
#: More settings than any launch has.
SETTINGS = b'"settings": {' + b",".join(b'"a%d": "1"' % i for i in range(2000))
ARCHIVE = next((REPO / "analysis/inst/extdata/study").glob("*/*.tar.xz")).read_bytes()

READERS = {
    "C options": Reader(b"pingpong\n--sizes\n1,1Ki\n--budget\n1\n--transport\ntcp", read_options, (
        (b"pingpong\n--sizes\nx", "--sizes 'x'"), (b"pingpong\n--nope", "unknown option --nope"),
        (b"nothing", "unknown experiment 'nothing'"), (b"pingpong\n--budget\n-1", "--budget"),
        (b"pingpong\n--sizes\n99999999999999999999", "--sizes"), (b"pingpong\n--sizes", "--sizes"),
        (b"pingpong\n--budget\n1e999", "--budget"))),
    "family": Reader(FAMILY, in_file("mpich.yaml", lambda p: declarations.read(p, "family")), (
        (b"{", "not YAML"), (b"title: 7\n", "7 is not"), (b"", "mpich.yaml"),
        (FAMILY + b"\nmisspelt: 1\n", "unknown key 'misspelt'"), (b"\xff", "mpich.yaml"))),
    "site": Reader(SITE, in_file("example-slurm/reframe.py",
                                 lambda p: sites.system(p.parent)), (
        (b"site_configuration = {", "SyntaxError"), (b"", "reframe.py"),
        (b"site_configuration = 7", "7 is not"), (b"raise SystemExit(3)", "reframe.py: 3"),
        (b"import nowhere", "nowhere"))),
    "placements": Reader(PLACEMENTS, in_file("local/placements.yaml",
                                             lambda p: sites.read(p.parent, p.name)), (
        (b"- near", "placements.yaml"), (b"near: {hosts: x}", "near"), (b"near: [", "not YAML"),
        (b"near: &a [*a]", "placements.yaml"))),
    "session": Reader(b'{"tag": "quick", "cells": []}', in_file("session.json", read_plan), (
        (b"{", "session.json:1: not JSON"), (b"[]", "no JSON object"), (b"\xff", "not JSON"),
        (b"[" * 100000, "not JSON"), (b"", "not JSON"))),
    "description": Reader(DESCRIPTION, in_file("x.001.json", disk.read_json), (
        (b"{", "001.json:1: not JSON"), (b"", "001.json"),
        (LISTS, "lists and objects"), (TWICE, "twice the member 'z'"),
        (re.sub(rb'"wall_s": [0-9.]+', b'"wall_s": ' + b"9" * 400, DESCRIPTION),
         "a number of 400 digits"),
        (DESCRIPTION.replace(b'"environment": {', NAMED, 1), "a name of 800000 characters"),
        (b'["' + b"x" * 2_000_000 + b'"]', "a text of more than"))),
    "description in R": Reader(DESCRIPTION, launch_of(".json", read_in_r), (
        (DESCRIPTION[:-20], "001.json"), (in_microseconds(DESCRIPTION), "unit"),
        (b"{", "001.json:1: not JSON"), (b"[]", "001.json"), (b"", "001.json"),
        (re.sub(rb'"wall_s": [0-9.]+', b'"wall_s": ' + b"9" * 400, DESCRIPTION), "wall_s"),
        (DESCRIPTION.replace(f'"{LAUNCH}.csv"'.encode(), b'"/etc/passwd"'), "passwd"),
        (b'["' + b"x" * 2_000_000 + b'"]', "not one JSON object"),
        (LISTS, "lists and objects"), (TWICE, 'twice the member "z"'),
        (DESCRIPTION.replace(b'"status": "ok"', b'"status": "good"'), "status"),
        (DESCRIPTION.replace(b'"cotejo-launch/2"', b'"cotejo-launch/9"'), "cotejo-launch/9"),
        (DESCRIPTION.replace(f'"{LAUNCH}.csv"'.encode(), b'"' + b"x" * 5000 + b'"'), "xxx"),
        (DESCRIPTION.replace(b'"asked"', b'"aksed"'), "asked"),
        (DESCRIPTION.replace(b'"environment": {', NAMED, 1), "too long a name: environment.NNN"),
        (DESCRIPTION.replace(b'"settings": {', SETTINGS), "2000 entries"),
        (b"\n" * 4_000_000 + b"x", "001.json:4000001: not JSON"))),
    "study in R": Reader(DESCRIPTION, launch_of(".json", study_of), (
        (DESCRIPTION.replace(b'"name": "valid"', b'"name": "a<b"'), "columns"),
        (DESCRIPTION.replace(b'"status": "ok"', b'"status": "good"'), "status"))),
    "session in R": Reader(PLAN, in_file("session.json", lambda p: in_r("session", p)), (
        (b"{", "session.json:1: not JSON"), (b"[]", "seed is missing"),
        (b"[1]", "not one JSON object"),
        (PLAN.replace(b'"tag"', b'"gat"'), "is missing"))),
    "samples in R": Reader(SAMPLES, launch_of(".csv", read_in_r), (
        (SAMPLES[:-20], "001.csv"), (b"", "001.csv"), (b"[" * 3000 + SAMPLES, " ..."),
        (SAMPLES + SAMPLES.splitlines(True)[-1], "rows"),
        (SAMPLES.replace(b"pingpong,", b"", 1), "fields"),
        (SAMPLES.replace(b"pingpong,1,", b"pingpong,x,", 1), "001.csv:"),
        (SAMPLES + b"\n" * 3_000_000, "1 fields"),
        (SAMPLES.replace(b"pingpong,", b"," * 3_000_000, 1), "more than a row may have"))),
    "register": Reader(EXHIBIT, in_file("exhibits.R", lambda p: in_r("register", p)), (
        (EXHIBIT.replace(b"operation,", b"operaton,"), "ours-fig-1: no column operaton"),
        (EXHIBIT.replace(b'"us"', b'"hours"'), "ours-fig-1: no unit hours"),
        (EXHIBIT.replace(b"1..1Mi", b"1-1Mi"), "neither FROM..TO"),
        (EXHIBIT.replace(b"ours-fig-1", b"ours"), "STUDY-EXHIBIT"),
        (EXHIBIT.replace(b"panel =", b"pannel ="), "unused argument"),
        (EXHIBIT.replace(b"data =", b"," * 3000), "unused argument"))),
    "archive in R": Reader(ARCHIVE, in_file("x.tar.xz", lambda p: in_r("archive", p)), (
        (b"", "x.tar.xz"), (ARCHIVE[:40], "it ends early"), (b"PK\x03\x04", "no archive"))),
    "make": Reader(b"TAG=quick\0LAUNCHES=3\0STACK=/a/b\0CELLS=a|b", read_make, (
        (b"LAUNCHES=0", "LAUNCHES: '0'"), (b"STACK=/a b", "STACK: '/a b'"),
        (b"CELLS=(", "CELLS: '('"), (b"NAME=;id", "NAME: ';id'"), (b"DATA=x", "DATA: 'x'"))),
}


#: Values and names from an attacker, to run code, to reach other files, to take memory or time, or
#: to stop a report.
HOSTILE = ("", "`bytes`+{system('touch ran-code');0}", "a<b", "key", "mpi", "bytes", "`",
           "../../x", "/etc/passwd", "x" * 5000, "\x1b[2J", "\u202e", "\ud800",
           "<script>alert(1)</script>", "a\nb", "a,b", "%s%n", "$(touch ran-code)", "NA", "é", 0,
           -1, 1e308, 2**63, 2**70, 0.5,
           True, None, [], {}, [[]] * 1000, {"a": {"b": {"c": []}}}, [None], ["x", 1], {"": ""})


def rewritten(value, rng):
    """A value of JSON with one member, name or element in it that an attacker chose."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        how = rng.random()
        if how < 0.1:
            return {new if key == name else key: one for key, one in value.items()
                    for new in [str(rng.choice(HOSTILE))]}
        if how < 0.2:
            return {key: one for key, one in value.items() if key != name}
        return {**value, name: rewritten(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return [*value, value[at]]
        return [*value[:at], rewritten(value[at], rng), *value[at + 1:]]
    return rng.choice(HOSTILE)


def spoiled(data, rng):
    """The input with a few mistakes in it; JSON also as an attacker would change its members."""
    if data[:1] in b"{[" and rng.random() < 0.6:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        if value:
            for _ in range(rng.randint(1, 3)):
                value = rewritten(value, rng)
            return json.dumps(value).encode()
    for _ in range(rng.randint(1, 4)):
        at, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        how = rng.randrange(6)
        if how == 0:
            data = data[:at] + rng.choice(PIECES) + data[at:]
        elif how == 1:
            data = data[:at] + data[min(end, at + 40):]
        elif how == 2:
            data = data[:at]
        elif how == 3:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
        elif how == 4:
            data = data[:at] + rng.choice(REPEATED) * rng.choice(TIMES) + data[at:]
        else:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
    return data


def ran(folder):
    """Files that inputs make where they are run as code."""
    return [path for place in (folder, REPO, pathlib.Path.cwd())
            for path in place.glob("ran-code")] + [*folder.rglob("*/ran-code")]


def most_memory():
    """The most memory (B) that this process or R has taken since the last call."""
    most = 0
    for process in (os.getpid(), r_process().pid):
        folder = pathlib.Path(f"/proc/{process}")
        said = re.search(r"^VmHWM:\s+(\d+)", (folder / "status").read_text(), re.M)
        most = max(most, 1024 * int(said[1]))
        # Linux then starts to record the maximum again.
        (folder / "clear_refs").write_text("5")
    return most


#: Signal, timer, and seconds of each limit; R's processor time is looked at by itself.
TIMERS = ((signal.SIGPROF, signal.ITIMER_PROF, WITHIN_S),
          (signal.SIGALRM, signal.ITIMER_REAL, WAITS_S + WITHIN_S))


def late(number, _):
    raise Fault(f"no end within {WITHIN_S} s of processor time" if number == signal.SIGPROF
                else f"no end within {WAITS_S} s")


def said_of(reader, data, folder):
    """The line with which a reader refuses an input, or ''. Fault for anything else."""
    for number, timer, seconds in TIMERS:
        signal.signal(number, late)
        signal.setitimer(timer, seconds)
    try:
        reader.read(data, folder)
    except ValueError as err:
        said = str(err)
        if not said or "\n" in said or len(said) > 2000:
            raise Fault(f"not one line: {said!r} of {data[:300]!r}") from err
        return said
    except (Exception, SystemExit) as err:
        raise Fault(f"{type(err).__name__}: {err} of {data[:300]!r}") from err
    finally:
        for _, timer, _ in TIMERS:
            signal.setitimer(timer, 0)
    return ""


def fuzz(reader, folder, number, seed):
    """Spoils the sound input so many times; returns how many of them were refused."""
    rng = random.Random(seed)
    return sum(bool(said_of(reader, spoiled(reader.sound, rng), pathlib.Path(folder)))
               for _ in range(number))


def fits(said, part):
    return re.search(re.escape(part), said) is not None
