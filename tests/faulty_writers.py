# SPDX-License-Identifier: BSD-3-Clause
"""Writers of the project on a full disk, without permission, and killed before the name is given.

A writer passes if each file with a final name is unchanged or complete. It must also report in
words that it failed, without a traceback.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from reframe_tests.harness.machine import r
from reframe_tests.harness.model import families
from stack.build import environment
from tests.launching import preload_of

FAULTS = ("full disk", "no permission", "killed before the name")
REPO = families.REPO
FIXTURES = REPO / "analysis/tests/testthat/fixtures/v2"
OLD = {"json": '{"old": 1}\n', "csv": "# cotejo-samples/1\na,b\n1,2\n", "svg": "<svg></svg>\n",
       "html": "<html></html>\n"}

#: Python: the code to run, with `folder`, `stage` and the harness' modules there.
SCRIPT = """
import json, os, pathlib, sys
from reframe_tests.harness.commands import new_site
from reframe_tests.harness.launch import launches, recording, sessions
from reframe_tests.harness.machine import disk, removal
folder, stage = map(pathlib.Path, sys.argv[1:3])
record = {"status": "ok", "reason": "", "asked": {"launch": 1}, "accident": None,
          "samples": {"file": "samples.csv", "rows": 1000}}
os.environ["COTEJO_RESULTS"] = str(folder)
sessions.session_folder = lambda: folder
try:
    exec(sys.argv[3])
except (recording.UnrecordedError, OSError) as err:
    sys.exit(f"writer: {err}")
"""
PYTHON = {
    "plan of a session": "disk.write_json(folder / 'session.json', {'cells': ['x'] * 9999})",
    "audit of a session": "disk.write_json(folder / 'audit.json', {'mpi': ['x'] * 9999})",
    "samples and description": "recording.publish(record, stage, 'cell')",
    "description of an accident": "recording.publish({**record, 'status': 'accident', "
                                  "'samples': None}, None, 'cell')",
    "samples that were cut": "recording.publish({**record, 'samples': None}, stage, 'cell')",
    "references of a site": "disk.write_json(folder / 'references.json', {'x': ['y'] * 9999})",
    "stack's description": "removal.write_whole(folder / 'stack.json', json.dumps(['x'] * 9999))",
    "new site": "new_site.write('new', new_site.inspect(), folder / 'new')",
}

#: R: the call, where `data` is a folder of results, `out` the folder to write to, and `stage` a
#: temporary folder.
IN_R = {
    "figures": "draw_all(data, out)",
    "figures that are kept": "options(cotejo.keeping = 1L); "
                             "for (to in c(tempfile(), out)) draw_all(data, to)",
    "report": "write_report(data, file.path(out, 'report.html'))",
    "paper": "write_paper('analysis/paper.Rmd', data, file.path(out, 'report.html'), "
             "published = 'data/published')",
    "comparison": "past <- Sys.glob('data/reference/questions/history/local/*.tar.xz'); "
                  "for (i in seq_along(past)) utils::untar(past[i], exdir = file.path("
                  "stage, c('before', 'after')[1 + (i > 4)], 'local', "
                  "sub('.tar.xz', '', basename(past[i])))); "
                  "write_comparison(file.path(stage, 'before'), file.path(stage, 'after'), "
                  "file.path(out, 'report.html'), 'mpi')",
    "history": "write_history(data, out)",
    "dataset": "pack_dataset(data, file.path(out, 'reference'))",
    "coverage": "run_command(write_coverage_of(data, file.path(out, 'README.md'), "
                "file.path(out, 'coverage.csv'), file.path(out, 'time.csv')))",
}
#: The lines of README.md that `make coverage` writes between.
COVERAGE = "<!-- coverage: made by `make coverage DATA=reference` -->\nold\n<!-- end -->\n"


def commands(stack, folder, stage):
    """Writers: name -> command that writes below `folder`, and its environment."""
    python = [sys.executable, "-c", SCRIPT, str(folder), str(stage)]
    found = {name: ([*python, text], {}) for name, text in PYTHON.items()}
    mpi = next(f for f in families.load().values() if (f.prefix(stack) / "bin/cotejo").exists())
    bin_ = mpi.prefix(stack) / "bin"
    found["samples of the benchmark"] = (
        [str(bin_ / "mpirun"), "-np", "2", str(bin_ / "cotejo"), "pingpong", "--sizes", "1",
         "--budget", "0.05", "--output", str(folder / "samples")], environment(mpi, stack))
    found["report of the guard"] = (
        [str(bin_ / "cotejo-guard"), "20", "-r", str(folder / "guard.json"), "true"], {})
    rscript = shutil.which("Rscript", path=f"{stack}/tools/bin:{os.environ['PATH']}")
    for name, call in IN_R.items() if rscript else ():
        places = f'data <- "{FIXTURES}"; out <- "{folder}"; stage <- "{stage}"'
        words = f"{places}; cotejo::run_command({call})"
        found[name] = ([rscript, "--vanilla", "-e", words],
                       {**r.variables(stack), "R_USER_CACHE_DIR": f"{stage}/cache"})
    return found


def before(folder):
    """The files of a folder before a writer starts."""
    folder.mkdir(parents=True)
    for name, text in {"session.json": OLD["json"], "audit.json": OLD["json"],
                       "references.json": OLD["json"], "stack.json": OLD["json"],
                       "guard.json": OLD["json"], "report.html": OLD["html"],
                       "README.md": COVERAGE,
                       "cell.002.json": OLD["json"], "cell.002.csv": OLD["csv"]}.items():
        (folder / name).write_text(text)


def broken(path):
    """Why a file is not complete, or ''."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".xz":
            with tarfile.open(path) as archive:
                archive.getmembers()
        elif path.stat().st_size == 0:
            return "empty"
    except (ValueError, OSError, EOFError, tarfile.TarError) as err:
        return str(err)
    ends = {".csv": b"\n", ".cut": b"\n", ".svg": b"</svg>", ".html": b"</html>",
            ".pdf": b"%%EOF", ".md": b"\n"}
    end = ends.get(path.suffix)
    return "" if end is None or end in path.read_bytes()[-200:] else "its end is missing"


def names_of(folder):
    """Files that have a final name. No reader uses files with a temporary name."""
    return [p for p in sorted(folder.rglob("*")) if p.is_file()
            and not any(part.startswith(".") for part in p.relative_to(folder).parts)
            and p.suffix not in (".tmp", ".new")]


def half(old, folder):
    """The files that are neither unchanged nor complete, or ''."""
    were = {p.name: p.read_bytes() for p in names_of(old)}
    there = {p.name: p for p in names_of(folder)}
    found = [f"lost {name}" for name in sorted(were.keys() - there.keys())]
    for name, path in there.items():
        if path.read_bytes() == were.get(name):
            continue
        if reason := broken(path):
            found.append(f"half {name} ({reason[:40]})")
        elif path.suffix == ".json" and name.startswith(("cell.", "samples.")) and json.loads(
                path.read_text()).get("samples") and not path.with_suffix(".csv").exists():
            found.append(f"{name} without its samples")
    return "; ".join(found)


#: Ends of a writer which show that the writer, or a process of its own, was killed.
KILLED = re.compile(r"^-9 |^137 |SIGKILL|signal 9|[Kk]illed|process of the analysis was ended")


def unclear(done, fault):
    """The fault in the report of a writer that failed, or ''."""
    said = done.stdout + done.stderr
    if fault == FAULTS[2]:
        return "" if KILLED.search(f"{done.returncode} {said}") else "was not struck"
    if done.returncode == 0:
        return "status 0"
    if "Traceback" in said:
        return "a traceback"
    return "" if re.search(r"space|[Pp]ermission|cannot", said) else "says not why"


def strike(command, variables, fault, place):
    """Runs a writer with a fault in `place`. The writer writes to the folder `out` in it."""
    env = {**os.environ, **variables, "COTEJO_LOCKS": str(place.parent)}
    words = command
    if fault == FAULTS[0]:
        # A separate disk that only the writer sees, full except for the files that were there.
        script = ('mount -t tmpfs -o size=1m none "$0" && mkdir "$0/out" && '
                  'cp -a "$0.old/." "$0/out" && '
                  '{ dd if=/dev/zero of="$0/fill" bs=4k 2>/dev/null; "$@"; status=$?; '
                  'cp -a "$0/out" "$0.after"; exit $status; }')
        words = ["unshare", "--mount", "sh", "-c", script, str(place), *command]
    elif fault == FAULTS[1]:
        (place / "out").chmod(0o555)
        place.chmod(0o555)
        if os.geteuid() == 0:  # root without the right to pass over permissions
            words = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
    else:
        env.update(LD_PRELOAD=str(place.parent / "rename_kills.so"),
                   FAULT_FOLDER=str(place.resolve()))
    try:
        return subprocess.run(words, cwd=REPO, env=env, text=True, capture_output=True,
                              timeout=300, stdin=subprocess.DEVNULL)
    finally:
        place.chmod(0o755)
        for path in place.glob("out"):
            path.chmod(0o755)


def faults():
    """The faults that are possible here. To fill a disk of its own needs root, who may mount."""
    script = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    mounts = os.geteuid() == 0 and subprocess.run(script, capture_output=True).returncode == 0
    return FAULTS if mounts else FAULTS[1:]


def every(folder, stack, only=None):
    """Tries every writer with every fault: yields (writer, fault, why it did not pass or '')."""
    folder = folder / "writers"
    folder.mkdir()
    preload_of("rename_kills", folder)
    stage = folder / "stage"
    stage.mkdir()
    rows = "pingpong,1,0,128,2.5e-07,1\n" * 1000
    (stage / "samples.csv").write_text(
        "# cotejo-samples/1\noperation,bytes,repetition,calls,time_s,valid\n" + rows)
    names, possible = commands(stack, folder, stage), faults()
    for number, name in enumerate(only or names):
        for turn, fault in enumerate(possible):
            place = folder / f"{number}-{turn}"
            before(place / "out")
            before(pathlib.Path(f"{place}.old"))
            command, variables = commands(stack, place / "out", stage)[name]
            done = strike(command, variables, fault, place)
            after = pathlib.Path(f"{place}.after") if fault == FAULTS[0] else place / "out"
            yield name, fault, half(pathlib.Path(f"{place}.old"), after) or unclear(done, fault)
