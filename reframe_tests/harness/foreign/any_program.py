# SPDX-License-Identifier: BSD-3-Clause
"""Any program as what is compared: where its declaration is, what builds it, what starts it."""

import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from ..machine import removal
from ..model import declarations, families, program, quantity, sites
from . import adapter

FOLDER = families.REPO / "programs"
COLUMNS = adapter.columns(
    ("figure_unit", "", "unit of the figure of merit; 1: no unit is known"),
    ("figure_better", "", "less or more: which way the figure is better"),
    ("figure", "figure_unit", "the figure of merit as the program printed it"),
    operation="the program, and the figure of merit where it has several",
    bytes="message size, if the program reports one; else 0",
    repetition="number of the value within the launch", calls="always 1",
    time_s="the figure as a time: itself where it is one, 1 / value where more is better, "
           "1e-9 times the value else; its ratios are what is compared",
    valid="always 1: a launch with another output has failed")
#: Seconds that a build may take.
BUILD_S = 1800
#: Seconds, at most, in which METRIC and CHECK have read what a launch printed.
READING_S = 10


def absolute(text, folder):
    """A command line whose words that name a file in `folder` are paths; places stay."""
    words = []
    for number, word in enumerate(shlex.split(text)):
        named = "{" not in word and (number > 0 or "/" in word) and (folder / word).is_file()
        # A link stays: by it Python knows its virtual environment.
        words.append(os.path.abspath(folder / word) if named else word)
    return " ".join(word if re.fullmatch(r"[\w{}@%+=:,./-]+", word) else shlex.quote(word)
                    for word in words)


def load(path):
    """The program of a file; DeclarationError names what is wrong in it."""
    path = pathlib.Path(path)
    try:
        data = declarations.parse(path)
    except OSError as err:
        raise ValueError(f"{path}: {err.strerror}; programs/ has "
                         f"{', '.join(sorted(p.stem for p in FOLDER.glob('*.yaml')))}") from None
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", path.stem):
        raise ValueError(f"{path}: a program's name has letters, digits, dashes, underscores")
    made = program.made(path.stem, data, path)
    program.filled(made.command + " " + made.build, dict.fromkeys(PLACES, ""))
    return made


#: Names of the values that may be filled into command lines (docs/programs.md).
PLACES = ("mpi", "family", "stack", "out", "ranks", "threads", "repo")


def given(name, metric="", **more):
    """The file that declares a program of the command line: that of `programs/`, or one that is
    written into the stack, whose name is also accepted. `more`: unit, better, check, build, ranks,
    threads, where given."""
    written = families.stack_prefix() / "programs"
    known = next((path for path in (FOLDER / f"{name}.yaml", written / f"{name}.yaml")
                  if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) and path.exists()), None)
    if known:
        extra = [key for key, value in {"metric": metric, **more}.items() if value]
        if extra:
            raise ValueError(f"{known.name} says all of {name}; leave out "
                             f"{', '.join(key.upper() for key in extra)}")
        load(known)
        return known
    here = pathlib.Path.cwd()
    figure = {"metric": metric, "unit": more.pop("unit", ""), "better": more.pop("better", "")}
    data = {"command": absolute(name, here), **{k: v for k, v in more.items() if v}}
    if "build" in data:
        data["build"] = absolute(data["build"], here)
    if metric:
        data["figures"] = [{key: value for key, value in figure.items() if value}]
    elif figure["unit"] or figure["better"]:
        raise ValueError("UNIT and BETTER are of a METRIC: give a regular expression with one "
                         "group")
    word = re.sub(r"[^A-Za-z0-9_-]", "_", pathlib.Path(shlex.split(name)[0]).stem) or "program"
    mark = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:8]
    path = written / f"{word.strip('_-') or 'program'}-{mark}.yaml"
    program.made(path.stem, data, "PROGRAM")
    path.parent.mkdir(parents=True, exist_ok=True)
    # JSON is YAML whose texts stay texts, whatever they look like.
    removal.write_whole(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    load(path)
    return path


@functools.cache
def chosen():
    """The program that this study is of (`COTEJO_PROGRAM`), or None."""
    path = os.environ.get("COTEJO_PROGRAM")
    return load(path) if path else None


def places(one, family):
    """The values that are filled in for an MPI: name -> text."""
    stack = families.stack_prefix()
    return {"mpi": family.home_in(stack), "family": family.name, "stack": stack,
            "out": stack / "programs" / one.name / family.name, "ranks": one.ranks,
            "threads": one.threads, "repo": families.REPO}


def found(words, family):
    """The executable of a command under an MPI; None where there is none."""
    stack = families.stack_prefix()
    path = family.process_environment(stack, dict(os.environ))["PATH"]
    which = shutil.which(words[0], path=path)
    return pathlib.Path(which) if which else None


def linked_statically(path):
    """Whether an ELF program names no dynamic loader, so that nothing can be preloaded into it."""
    head = path.read_bytes()[:4096]
    if head[:4] != b"\x7fELF" or head[4] != 2:
        return False  # a script, or not of 64 bits: its interpreter decides
    order = "little" if head[5] == 1 else "big"

    def whole(at, size):
        return int.from_bytes(head[at:at + size], order)

    start, size, count = whole(32, 8), whole(54, 2), whole(56, 2)
    kinds = {whole(start + i * size, 4) for i in range(count)}
    return start + count * size <= len(head) and 3 not in kinds  # PT_INTERP


def cannot_run(one, family):
    """Why a program cannot be measured under an MPI, or ''."""
    if one.mpis and family.name not in one.mpis:
        return f"{one.name} is not for {family.title}"
    words = one.words(**places(one, family))
    path = found(words, family)
    if not path:
        return (f"there is no program {words[0]!r} on the PATH of {family.title}; give its path, "
                "or install it")
    if linked_statically(path):
        return (f"{path} is linked statically: nothing of its launch could be observed; link it "
                "dynamically")
    return ""


def build():
    """Builds the chosen program in each MPI; RuntimeError has the build's last words, or says why
    no MPI can run it."""
    one = chosen()
    if not one:
        return
    present = [f for f in families.of_site(sites.site_folder()).values()
               if f.installed(families.stack_prefix())]
    for family in present if one.build else []:
        where = places(one, family)
        where["out"].mkdir(parents=True, exist_ok=True)
        words = program.filled(one.build, where)
        environment = family.process_environment(families.stack_prefix(), dict(os.environ))
        try:
            done = subprocess.run(
                words, env=environment, cwd=where["out"], text=True, capture_output=True,
                timeout=BUILD_S, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as err:
            raise RuntimeError(f"BUILD for {family.title}: {err}") from None
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()[-3:]
            raise RuntimeError(f"BUILD for {family.title} ended with status {done.returncode}: "
                               f"{' '.join(said)[:400]}")
    reasons = [cannot_run(one, family) for family in present]
    if present and all(reasons):
        raise RuntimeError(f"PROGRAM: {reasons[0]}")


def digest():
    """The identity of a study's program in bytes: its declaration, and the files that its commands
    name; b'' without a program. Launches of two programs are thus never taken for replicates."""
    one = chosen()
    if not one:
        return b""
    parts = [pathlib.Path(os.environ["COTEJO_PROGRAM"]).read_bytes()]
    for family in families.of_site(sites.site_folder()).values():
        words = one.words(**places(one, family))
        files = [found(words, family), *(pathlib.Path(word) for word in words[1:])]
        parts += [hashlib.sha256(path.read_bytes()).hexdigest().encode() for path in files
                  if path and path.is_file() and path.stat().st_size < 1 << 28]
    return b"\n".join(parts)


def collect(one, stage, output, wall_s):
    """Completes a launch from what its program printed; why there is none, or ''."""
    try:
        with quantity.within(min(one.limit_s, READING_S), "METRIC or CHECK"):
            rows, reason = one.rows(output, wall_s), ""
    except ValueError as err:
        rows, reason = [], str(err)
    lacking = adapter.complete(stage, rows, COLUMNS, one.name, payload_bytes=0)
    return reason or (lacking and "nothing of the launch was observed: the program calls no "
                                  "MPI_Init, or has its MPI linked statically")
