# SPDX-License-Identifier: BSD-3-Clause
"""From a test of ReFrame whose launch has ended to the launch's published record."""

import pathlib

import reframe

from . import launches, references, scales, sessions


def asked(test):
    """The member `asked` of a launch's description."""
    request = test.request
    return {
        "site": sessions.site_name(), "partition": test.current_partition.name,
        "session": sessions.session_name(),
        "experiment": test.experiment, "test": type(test).__name__,
        "scale": test.scale, "launch": test.launch,
        "seed": scales.seed(), "mpi": request.family.name, "transport": request.transport.name,
        "placement": request.placement, "cpus": request.place.cpus, "hosts": request.place.hosts,
        "ranks": request.ranks,
        **({"places": request.place.each} if request.place.each else {}),
        "settings": request.settings,
        "parameters": {name: getattr(test, name) for name in test.varied},
        "time_limit_s": test.limit_s}


def record(test):
    """Describes and publishes the launch of a test; returns its record."""
    stage = pathlib.Path(test.stagedir)
    output = "\n".join((stage / str(name)).read_text(errors="replace")
                       for name in (test.stdout.evaluate(), test.stderr.evaluate()))
    known = {
        "started": sessions.utc(test.started),
        "command": " ".join([test.job.launcher.run_command(test.job), test.executable,
                             *test.executable_opts]),
        "environment": {**test.current_partition.local_env.env_vars,
                        **test.current_environ.env_vars, **test.env_vars},
        "provenance": launches.provenance(reframe.VERSION),
        **test.request.backend.describe(test.request)}
    test.collect(stage)
    found = launches.describe(stage, asked(test), test.family, output, **known)
    if found["status"] == "ok":
        reason = test.doubt(found["observed"])
        found.update(status="marked" if reason else "ok", reason=reason)
    beside = references.against(found, test.cell) if found["status"] == "ok" else None
    found["references"] = beside
    launches.publish(found, stage, test.cell)
    return found


def failure(found):
    """Why a launch that was recorded fails its test, or ''."""
    if found["status"] != "ok":
        return found["reason"]
    return references.regression(found["references"])
