# SPDX-License-Identifier: BSD-3-Clause
"""Makes and publishes the record of a launch, from a test of ReFrame whose launch has ended."""

import pathlib

import reframe

from ..machine import allocation
from ..model import families, sites
from . import (
    accidents,
    counters,
    effects,
    fingerprint,
    launches,
    planning,
    ratios,
    references,
    sessions,
    twins,
)
from .launches import UnrecordedError

#: File with the names of the variables that the job script exports, in the folder of the launch.
EXPORTED = "exported.txt"


def session():
    """The name of the session, which a bare ReFrame begins with its first launch."""
    try:
        return sessions.session_name()
    except OSError as err:
        raise UnrecordedError.by(err) from None


def asked(test):
    """The member `asked` of a launch's description."""
    request = test.request
    return {
        "site": sites.site_name(), "partition": test.current_partition.name,
        "session": session(),
        "experiment": test.experiment, "test": planning.test_name(type(test), test.scale),
        "scale": test.scale, "launch": test.launch,
        "seed": test.seed, "mpi": request.family.name,
        "installation": request.family.installation.describe(families.stack_prefix()),
        "transport": request.transport.name,
        "placement": request.placement, "cpus": request.place.cpus, "hosts": request.place.hosts,
        "ranks": request.ranks,
        **({"places": request.place.each} if request.place.each else {}),
        "settings": {**request.settings, **dict(request.level.values)},
        "parameters": {name: value for name, value in planning.values_told(test).items()
                       if name not in (*test.settings, "set_by_name")},
        "time_limit_s": test.limit_s}


def exported(stage):
    """The names of the variables that the job script exports: PATH is always one of them."""
    path = stage / EXPORTED
    found = set(path.read_text(errors="replace").split()) if path.exists() else set()
    if not found:
        raise UnrecordedError(f"{path}: the job script has listed no variables; it must run under "
                              "bash, up to its end. The launch is not recorded")
    return found


def record(test):
    """Describes and publishes the launch of a test; returns its record."""
    stage = pathlib.Path(test.stagedir)
    said, errors = ((stage / str(name)).read_text(errors="replace")
                    for name in (test.stdout.evaluate(), test.stderr.evaluate()))
    output = f"{said}\n{errors}"
    known = {
        "started": sessions.utc(test.started),
        "command": " ".join([test.job.launcher.run_command(test.job), test.executable,
                             *test.executable_opts]),
        "environment": {**test.current_partition.local_env.env_vars,
                        **test.current_environ.env_vars, **test.env_vars},
        "provenance": {**launches.provenance(reframe.VERSION),
                       "program_sha256": launches.program_sha256(test.request)},
        "allocation": allocation.of_launch(test.job),
        **test.request.backend.describe(test.request)}
    lacking, before = test.collect(stage, said), sessions.last_launches(test.cell)
    found = launches.describe(stage, asked(test), test.family, output, level=test.request.level,
                              lacking=lacking, gone=test.request.backend.lost(test.request),
                              errors=errors, before=before, **known)
    if found["observed"]:
        fingerprint.observe(found, test.family, families.stack_prefix(), exported(stage))
    if found["observed"] and (reason := test.family.installation_problem(
            families.stack_prefix(), found["observed"]["mpi"])):
        found.update(status="marked", reason=reason)
    if found["status"] == "ok":
        carrier, card, seen = test.request.transport, test.request.card, found["observed"]
        found["proof"] = counters.counted(stage, carrier, seen, card)
        reason = (counters.problem(found["proof"], carrier, found["asked"], seen, card)
                  or test.doubt(seen) or fingerprint.problem(found["fingerprint"], before))
        if test.messages_counted and test.request.counts_messages():
            twins.collect(test, found)
            reason = reason or twins.problem(found, test.request.algorithms_set())
        effects.show(found["effects"], {} if reason else test.effects_of(seen))
        found.update(status="marked" if reason else "ok", reason=reason)
    if found["status"] == "ok" and test.launch == sessions.WARM_UP:
        found.update(status="warm-up", reason="the machine warms up; in no statistic")
    found = launches.as_documented(found, test.cell)
    found["references"] = beside_references(found, test.cell) if found["status"] == "ok" else None
    publish(found, stage, test.cell)
    if said := references.unusual(found["references"]):
        print(f"unusual: {test.cell}: {said}", flush=True)
    return found


def beside_references(found, cell):
    """Compares a launch with the references of its site, in the form of its description."""
    beside = references.against(found, cell)
    if references.load(None, "ratios").get(cell):
        beside = {**(beside or {"stale": "", "slower": [], "faster": []}),
                  "ratios": [*ratios.slower(found, cell).values()]}
    if not beside:
        return None
    others = sessions.other_launches(found, cell)
    return {**beside, "lasting": [line for slower in (references.slower, ratios.slower)
                                  for line in references.lasting(found, others, cell, slower)]}


def publish(found, stage, cell):
    """Puts a record into the session; UnrecordedError where the disk does not take it."""
    accidents.note(found["status"])
    try:
        launches.publish(found, stage, cell)
    except OSError as err:
        raise UnrecordedError.by(err) from None


def lose(test, kind, evidence):
    """Records a launch that something outside kept from beginning; returns the evidence."""
    publish(launches.lost(
        asked(test), kind, evidence, started=sessions.utc(), command="", environment={},
        provenance=launches.provenance(reframe.VERSION)), None, test.cell)
    return evidence


def failure(found):
    """Why a launch that was recorded fails its test, or ''."""
    return found["reason"] if found["status"] not in ("ok", "warm-up") else ""
