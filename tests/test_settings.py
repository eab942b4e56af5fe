# SPDX-License-Identifier: BSD-3-Clause
"""A setting made by hand on an MPI takes effect; a setting that is not possible has a reason."""

import itertools
import json
import os

import pytest

from reframe_tests.harness.model import families
from reframe_tests.harness.model.family import Setting
from tests import quiet
from tests.launching import FAMILIES, PRESENT, launch

TRANSPORTS = ["shm", "tcp"]
#: How long `eager-limit` watches a send.
WATCHED_S = 0.003


def test_values_have_a_range_and_names():
    setting = Setting(environment={"LIMIT": "{value}"}, least=1024, most=65536)
    assert setting.value_of("least") == "1024"
    assert setting.value_of("most") == "65536"
    assert setting.variables(setting.value_of("4096")) == {"LIMIT": "4096"}
    with pytest.raises(ValueError, match="65537 is not within 1024 to 65536"):
        setting.value_of("65537")


def test_a_setting_may_name_the_last_core_of_each_rank():
    setting = Setting(environment={"A": "1", "PIN": "{last}"})
    assert setting.variables("yes", [0, 1]) == {"A": "1", "PIN": "0,1"}
    assert setting.variables("yes", [[0, 1], [2, 3]]) == {"A": "1", "PIN": "1,3"}
    assert setting.variables("yes") == {"A": "1"}


def test_what_cannot_be_set_says_why():
    family = families.load()["openmpi"]
    with pytest.raises(ValueError, match="no thread that moves messages"):
        family.setting("async_progress", "shm").value_of("yes")
    with pytest.raises(ValueError, match="declares no colour over tcp"):
        family.setting("colour", "tcp").value_of("red")


@pytest.mark.parametrize("family", families.load().values(), ids=families.load())
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_family_says_how_or_why_not(family, transport):
    for name in ("eager_limit", "async_progress", "endpoints"):
        setting = family.setting(name, transport)
        assert bool(setting.environment) != bool(setting.reason)
    limit = family.setting("eager_limit", transport)
    assert limit.reason or "{value}" in "".join(limit.environment.values())


def watch(mpi, transport, folder, receiver, sizes, **variables):
    """The findings of `eager-limit` under a transport with variables set. There are none if the
    machine leaves no core to watch from, which `eager-limit` reports."""
    done = launch(mpi, "eager-limit", "--sizes", sizes, "--receiver", receiver, "--tries", "3",
                  "--output", "samples", folder=folder, timeout=90,
                  **{**mpi.transports[transport].environment, **variables})
    if "lost its core too often" in done.stderr:
        return {}
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "samples.json").read_text())["observed"]["found"]


@pytest.mark.alone
@pytest.mark.parametrize(("transport", "value"), [("shm", 32768), ("tcp", 131072)])
def test_the_eager_limit_that_is_set_is_seen(mpi, transport, value, tmp_path):
    setting = mpi.setting("eager_limit", transport)
    if setting.reason:
        pytest.skip(setting.reason)
    wanted = {"eager_limit_bytes": value - setting.header,
              "held_from_bytes": value - setting.header + 1}
    numbers = itertools.count()
    alone = value // 2  # so many bytes have been sent without their receiver

    # A message that a busy machine delays looks held, and none that is held looks alone: an
    # attempt begins where the others ended.
    def limit():
        nonlocal alone
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        # Sizes around the limit, which is no library's default, find it in fewer steps.
        found = watch(mpi, transport, folder, setting.receiver, f"{alone},{value * 2}",
                      **setting.variables(setting.value_of(str(value))))
        alone = max(alone, int(found.get("eager_limit_bytes", 0)))
        return wanted.items() <= found.items(), found

    quiet.asked(limit, WATCHED_S, 1.5)


def test_ranks_keep_their_cores_beside_a_thread_that_makes_progress(mpi, tmp_path):
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        pytest.skip("two ranks need two cores")
    variables = mpi.setting("async_progress", "tcp").variables("yes", cores)
    done = launch(mpi, "pingpong", "--sizes", "1", "--calls", "1", "--min-repetitions", "1",
                  "--max-repetitions", "1", "--output", "samples", folder=tmp_path,
                  **{**mpi.transports["tcp"].environment, **variables})
    assert done.returncode == 0, done.stderr
    ranks = json.loads((tmp_path / "samples.json").read_text())["observed"]["ranks"]
    assert [rank["cpus"] for rank in ranks] == [str(core) for core in cores]


@pytest.mark.alone
def test_mpich_moves_messages_without_the_receiver_when_told_to(tmp_path):
    """Over tcp MPICH needs the receiver inside MPI beyond 128 B, unless a thread is there."""
    mpi = FAMILIES["mpich"]
    if mpi not in PRESENT:
        pytest.skip("MPICH is not in the stack")
    yes = mpi.setting("async_progress", "tcp").variables("yes")
    for name, variables, held in (("no", {}, True), ("yes", yes, False)):
        numbers = itertools.count()

        def moved(name=name, variables=variables, held=held, numbers=numbers):
            folder = tmp_path / f"{name}{next(numbers)}"
            folder.mkdir()
            found = watch(mpi, "tcp", folder, "idle", "64,64Ki", **variables)
            return (found.get("held_from_bytes", 0) > 0) is held and bool(found), found

        quiet.asked(moved, WATCHED_S, 1.5)
