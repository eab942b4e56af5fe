# SPDX-License-Identifier: BSD-3-Clause
"""Describes a launch from the files in its folder. docs/data.md: Launch description.

A launch is `ok` only if the observations agree with the request. Every difference
that can be found is checked here, in one place, for every experiment.
"""

import collections
import contextlib
import functools
import hashlib
import json
import os
import re
import subprocess

from ..machine import disk, environment
from ..machine.inventory import cpu_list
from ..model import binding, declarations, factors, families
from ..model import transport as transports
from . import accidents, effects, fingerprint, measuring, sessions

SCHEMA = "cotejo-launch/2"

#: The most bytes on the ranks' own TCP connections that are not payload. Over other transports,
#: the MPIs had none in 2900 launches, and cotejo's layers at most 31 kB.
CONTROL_BYTES = 1 << 16


@functools.cache
def provenance(reframe_version):
    """Commit, stack and ReFrame of this process, and the hash of the files that measure.

    If git reports nothing (no repository, a folder of another owner), the checkout counts as
    changed.
    """
    def git(*words):
        done = subprocess.run(["git", "-C", str(families.REPO), *words],
                              text=True, capture_output=True,
                              env=environment.isolated(os.environ))
        return done.stdout.strip() if done.returncode == 0 else None

    changed = git("status", "--porcelain", "--untracked-files=no")
    return {"commit": git("rev-parse", "HEAD") or "unknown",
            "dirty": changed is None or bool(changed),
            "measuring_sha256": measuring.measuring_sha256(),
            "stack": measuring.stack(), "reframe": reframe_version}


@functools.cache
def _sha256(path, changed):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def program_sha256(request):
    """The hash of the benchmark that a launch starts, or `null`: one hash is one binary."""
    path = request.prefix / "bin" / request.family.program
    return _sha256(path, path.stat().st_mtime_ns) if path.is_file() else None


class UnrecordedError(RuntimeError):
    """A launch that left no description: nothing was launched, for another study has the cores, or
    its record cannot be written."""

    @classmethod
    def by(cls, err):
        """For an OSError, which names its file."""
        return cls(f"{err.filename or sessions.results_folder()}: {err.strerror}; the launch is "
                   "not recorded, and nothing of it is left")


def evidence(output, pattern):
    """The match of a pattern in the library's own output, or ''; an empty pattern has none."""
    found = re.search(pattern or "(?!)", output)
    return found[0].strip() if found else ""


def wire_problem(transport, observed):
    """Why the bytes on the ranks' TCP connections contradict the transport, or ''.

    The library's words say what it chose; the kernel's counters say what happened.
    """
    payload, wire = observed.get("payload_bytes") or 0, observed["tcp_bytes"]
    tcp = transports.load()[transport].proof.get("tcp")
    if (tcp == "carries" and wire < 0.9 * payload) or (
            tcp == "nothing" and wire > max(CONTROL_BYTES, 0.1 * payload)):
        return (f"transport {transport}: the ranks received {wire} B over TCP connections "
                f"for {payload} B of payload")
    return ""


def crossing_problem(cluster, observed):
    """Why the bytes that crossed a virtual cluster's wires contradict the payload, or ''.

    Messages of launchers cross them, too, and can hide a payload that is too small.
    """
    payload = observed.get("payload_bytes") or 0
    if cluster and cluster["wire_bytes"] < 0.9 * payload:
        return (f"{cluster['wire_bytes']} B crossed the wire for {payload} B of payload: "
                "the library found another way between the hosts")
    return ""


def cores_seen(rank, threads):
    """Cores of a rank: the cores of its threads, if they were observed. OpenMP binds the first
    thread to a part of them, and the cores of this thread are reported for the process."""
    seen = {cpu for t in threads or [] if t["rank"] == rank["rank"] for cpu in cpu_list(t["cpus"])}
    return sorted(seen or cpu_list(rank["cpus"]))


def affinity_problem(cpus, ranks, threads=None):
    """Why the observed affinity differs from the requested affinity, or ''.

    `cpus` are the cores of one host, equal on all hosts, or the cores of every rank.
    """
    sets = binding.as_sets(cpus)
    for entry in ranks if sets else ():
        cores, seen = sets[entry["rank"] % len(sets)], cores_seen(entry, threads)
        if seen != sorted(cores):
            return (f"rank {entry['rank']} was requested on core {', '.join(map(str, cores))} "
                    f"and observed on cores {', '.join(map(str, seen))}")
    return ""


def places_problem(places, ranks):
    """Why ranks are not on the requested simulated hosts, or ''."""
    for entry in ranks:
        place = places[entry["rank"]]
        if entry["host"] != place:
            return f"rank {entry['rank']} was requested on {place} and observed on {entry['host']}"
    return ""


def hosts_problem(asked, ranks):
    """Why ranks are not on the requested hosts, or ''.

    Simulated ranks have a place each. If the launcher chooses the hosts, all hosts have the same
    number of ranks.
    """
    if "places" in asked:
        return places_problem(asked["places"], ranks)
    on = collections.Counter(entry["host"] for entry in ranks)
    if len(on) != asked["hosts"]:
        return f"{asked['hosts']} hosts were requested, ranks were on {len(on)}"
    each = asked["ranks"] // asked["hosts"]
    for host, count in on.items():
        if count != each:
            return f"{each} ranks on each host were requested, {host} had {count}"
    return ""


def problem(asked, observed, reported, family):
    """The first thing observed that is not what was requested, in words, or ''."""
    if observed["size"] != asked["ranks"]:
        return (f"{asked['ranks']} ranks were requested, MPI_COMM_WORLD had {observed['size']}: "
                "a launcher of another MPI?")
    if not re.search(family.library, observed["mpi"]["library"]):
        return f"{family.title} was requested, the library is {observed['mpi']['library'][:60]!r}"
    ranks = fingerprint.ranks_of(observed)
    if reason := hosts_problem(asked, ranks):
        return reason
    if asked["ranks"] > 1 and not reported["evidence"]:  # one rank has no transport
        return f"the library did not report transport {asked['transport']}"
    return (affinity_problem(asked["cpus"], ranks, observed.get("threads"))
            or wire_problem(asked["transport"], observed))


def threads_problem(cpus, threads):
    """Why threads are not each on a core of their own within those of their rank, or ''.

    `cpus` as in `affinity_problem`; `threads` is `observed.threads`.
    """
    if not threads:
        return "the threads' cores were not observed"
    sets = binding.as_sets(cpus)
    for entry in threads:
        cores = sets[entry["rank"] % len(sets)]
        if cpu_list(entry["cpus"]) != [cores[entry["thread"] % len(cores)]]:
            return (f"thread {entry['thread']} of rank {entry['rank']} should be on one core of "
                    f"{cores} and was observed on cores {entry['cpus']}")
    return ""


def samples_problem(summary):
    """Why no sample is usable, or ''. Some experiments have groups that are never valid."""
    if summary and not any(row["n"] for row in summary):
        return "not one sample is valid: the machine was too busy for the schedule of starts"
    return ""


def read_guard(path):
    """The file that `cotejo-guard` wrote at the launch's end: src/tools/guard/README.md."""
    try:
        return disk.read_json(path)
    except (OSError, ValueError):
        return {"exit": None, "wall_s": None,
                "reason": "no guard.json: the guard of the launch was killed, or never ran"}


#: Messages that name no cause: a launcher prints them at every end.
BOILERPLATE = re.compile(
    r"application called MPI_Abort|BAD TERMINATION|^[=-]+$|^=  |YOUR APPLICATION|"
    r"prterun (?:has exited|noticed|detected)|thus causing the job to be|Process name: |"
    r"^Exit code: |This does not mean|mpirun has exited|Please see the FAQ|"
    r"typically refers to a problem|this program used MPI, and its calls were not seen", re.I)


def last_words(text, most=12):
    """The last lines of a text that say something, each of at most 300 characters, without what a
    terminal obeys."""
    lines = [re.sub(r"[^\x20-\x7e\xa1-\U0010ffff]", "?", line.strip())[:300]
             for line in text[-20000:].splitlines()]
    return [line for line in lines if line][-most:]


def failure(guard, output, lacking=""):
    """One line on why a launch failed: the guard's reason and the message that names the cause;
    `lacking`: why a launch that ended well has no samples."""
    if guard["exit"] == 0 and lacking:
        return lacking[:300]
    reason = guard["reason"] or f"exit status {guard['exit']}"
    lines = last_words(output, 200)
    said = [line for line in lines if not BOILERPLATE.search(line)]
    own = [line for line in said if re.match(r"cotejo\b", line, re.I)]
    causes = [line for line in said if accidents.GIVES_UP.search(line)]
    # A stack of errors ends with the cause.
    stack = any(line.endswith("error stack:") for line in causes)
    words = own[-1:] or (causes[-1:] if stack else causes[:1])
    if not words and not guard["reason"].startswith("still running"):
        words = [line for line in lines if accidents.SIGNALLED.search(line)][:1] or (
            said[-1:] or lines[-1:])
    return accidents.with_cure(f"{reason}: {words[0]}"[:300] if words else reason, causes)


def _blank(asked, known):
    """A description of a launch that left nothing."""
    return {"schema": SCHEMA, "status": "failed", "reason": "", "accident": None, "simulated": "",
            "cluster": None, "allocation": None, "wall_s": None,
            "machine": {"id": measuring.machine_id(), "hosts": []},
            "asked": {**asked, "block": asked["launch"]}, **known,
            "reported": None, "effects": {}, "observed": None, "samples": None, "summary": None}


def lost(asked, kind, evidence, **known):
    """The description of a launch that something outside kept from beginning."""
    return {**_blank(asked, known), "status": "accident", "reason": evidence,
            "accident": {"kind": kind, "evidence": evidence}}


def accident_of(guard, output, gone, errors):
    """The outside cause of which a launch died, as in `accidents.of`; `gone`: hosts that ended."""
    if gone and guard.get("end") != "alone":
        return {"kind": "node", "evidence": gone}
    return accidents.of(guard, output, errors)


def describe(stage, asked, family, output, *, level=factors.NONE, lacking="", gone="", errors="",
             before=(), **known):
    """The complete description of a launch that ended in the folder `stage`.

    `level`: variables that were set by name; `lacking`: why a program that ended well has no
    samples; `gone`: hosts that ended (Backend.lost); `output`: all text that the launch printed;
    `errors`: its text on standard error; `before`: the earlier launches of its cell in this
    session; `known`: members that the caller has (started, command, environment, provenance, and
    for machines that are not real also simulated and cluster). UnrecordedError: another study had
    the cores, and nothing was launched.
    """
    guard = read_guard(stage / "guard.json")
    if guard.get("end") == "locked":
        raise UnrecordedError(guard["reason"])
    record = {**_blank(asked, known), "wall_s": guard["wall_s"]}
    found = stage / "samples.json"
    if guard["exit"] != 0 or not found.exists():
        accident = accident_of(guard, output, gone, errors)
        record["stderr"] = last_words(errors)
        if accident and accidents.is_own(accident, before):
            return {**record, "reason": f"{failure(guard, output)} ({accidents.SAME_END} times in "
                                        "a row)"[:300]}
        refused = family.refusal(output)
        return {**record, "status": "accident" if accident else "failed", "accident": accident,
                "effects": effects.of(level, family, refused, {}) if refused else {},
                "reason": (accidents.with_cure(accident["evidence"]) if accident
                           else effects.words(refused) or failure(guard, output, lacking))}
    record.update(disk.read_json(found))
    record["machine"]["hosts"] = sorted({rank["host"] for rank in fingerprint.ranks_of(
        record["observed"])})
    record["reported"] = {
        "transport": asked["transport"],
        "evidence": evidence(output, family.transports[asked["transport"]].evidence),
        "decisions": evidence(output, family.decisions)}
    record["reported"]["refused"] = family.refusal(output)
    record["effects"] = effects.of(level, family, record["reported"]["refused"],
                                   record["observed"])
    reason = (problem(asked, record["observed"], record["reported"], family)
              or factors.missing_effect(level, record["observed"].get("environment", {}))
              or effects.problem(record)
              or crossing_problem(record["cluster"], record["observed"])
              or samples_problem(record["summary"]))
    return {**record, "status": "marked" if reason else "ok", "reason": reason}


def as_documented(record, cell):
    """The record, or one of a failure where readers would refuse it."""
    wrong = declarations.wrong_in_launch(
        {"id": sessions.launch_name(cell, record["asked"]["launch"]), **record})
    if not wrong:
        return record
    return {**record, "status": "failed", "observed": None, "samples": None, "summary": None,
            "reason": f"the description is not as docs/data.md says: {wrong}"}


def keep_cut_samples(stage, path):
    """Keeps the samples of a lost launch for diagnosis; no description names them."""
    for name in ("samples.csv", "samples.csv.tmp"):
        cut = stage / name
        if cut.exists() and cut.stat().st_size:
            disk.copy_whole(cut, path)
            return


def publish(record, stage, cell):
    """Puts a launch into its session: the samples first, then the description, each on the disk
    before the next. OSError: the description is not there, the launch did not happen."""
    name = sessions.launch_name(cell, record["asked"]["launch"])
    folder = sessions.session_folder()
    if record["samples"]:
        disk.copy_whole(stage / "samples.csv", folder / f"{name}.csv")
        record["samples"]["file"] = f"{name}.csv"
    elif stage:
        keep_cut_samples(stage, folder / f"{name}.cut")
    try:
        disk.write_json(folder / f"{name}.json", {"id": name, **record})
    except OSError:
        with contextlib.suppress(OSError):
            (folder / f"{name}.csv").unlink()
        raise
    return folder / f"{name}.json"


def summary_value(record, operation, size, key):
    """One value of a description's summary; ValueError when there is none."""
    for row in record["summary"] or []:
        if row["operation"] == operation and row["bytes"] == size and key in row:
            return row[key]
    raise ValueError(f"{record.get('id', 'launch')}: no {key} of {operation} at {size} B: "
                     f"{json.dumps(record['summary'])[:200]}")


def fastest(record, factor):
    """Smallest median of a description's summary, among the rows with the largest `factor`."""
    rows = [row for row in record["summary"] or [] if row["median_s"] is not None]
    if not rows:
        raise ValueError(f"{record.get('id', 'launch')}: no times in the summary")
    largest = max(row[factor] for row in rows)
    return min(row["median_s"] for row in rows if row[factor] == largest)
