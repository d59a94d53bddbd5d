"""A driver that was killed is not waited for, and never is one taken for dead that may live."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from io_harness.errors import HarnessError, RunLeased
from io_harness.store import Lease, Store, holders, leases
from io_harness.store.holders import is_dead, new_holder
from tests.store.other import ends_well, holding, python
from tests.store.runs import begin

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/ns/pid").exists(), reason="only Linux tells boots and namespaces apart"
)

DRIVER = """
import asyncio, sys
from io_harness.store import Store
from tests.store.runs import begin, take_step
async def drive():
    with Store.open(sys.argv[1]) as store:
        lease = await begin(store.journal, "run")
        await take_step(store.journal, lease, 1)
        print("held", flush=True)
        sys.stdin.readline()
asyncio.run(drive())
"""
TAKE = """
import asyncio, sys
from io_harness.errors import HarnessError, RunLeased
from io_harness.store import Store
with Store.open(sys.argv[1]) as store:
    try:
        asyncio.run(store.journal.acquire("run"))
        print("taken")
    except RunLeased as error:
        print(error)
"""


def taken(path: Path) -> bool:
    """Whether the run can be driven; who cannot is told for how long."""
    printed = python(TAKE, path).strip()
    assert printed == "taken" or re.search(r"whose lease ends in \d+ s", printed)
    return printed == "taken"


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store whose run's driver was killed, its lease not given back."""
    path = tmp_path / "runs.db"
    with holding(DRIVER, path) as driver:
        assert not taken(path)
        assert f"is driven by process {driver.pid} of this machine, whose" in python(TAKE, path)
        driver.kill()
        driver.wait()
    return path


def test_a_driver_that_was_killed_here_is_not_waited_for(killed: Path) -> None:
    began = time.monotonic()
    assert taken(killed)
    assert taken(killed)  # the process that took it is gone too
    with Store.open(killed) as store:
        store.delete_run("run")
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("part", ["_BOOT", "_NAMESPACE"])
def test_one_of_another_kernel_or_namespace_is_waited_for(
    killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    other = tmp_path / "other"
    other.write_text("0c2d0a51-9d2c-4b8e-8a0e-2f6b1c0d7e11\n")
    for place in (other, tmp_path / "nothing"):
        monkeypatch.setattr(holders, part, place)
        with Store.open(killed) as store, pytest.raises(RunLeased, match="driven by another"):
            asyncio.run(store.journal.acquire("run"))
    monkeypatch.undo()
    assert taken(killed)


def can_part() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and ends_well([unshare, "--pid", "--fork", "true"])


@pytest.mark.skipif(not can_part(), reason="no process namespace can be made here")
@pytest.mark.parametrize("own_proc", [(), ("--mount-proc",)])
def test_a_live_driver_outside_a_container_is_never_taken_for_dead(
    tmp_path: Path, own_proc: tuple[str, ...]
) -> None:
    path = tmp_path / "runs.db"
    with holding(DRIVER, path) as driver:
        script = f"import os\nassert os.getpid() < 9 < {driver.pid}\n{TAKE}"
        inside = ["unshare", "--pid", "--fork", *own_proc, sys.executable, "-c", script, str(path)]
        done = subprocess.run(inside, check=True, capture_output=True, text=True, timeout=120)
        assert "whose lease ends in" in done.stdout


def test_who_lives_is_not_dead() -> None:
    assert not is_dead(new_holder())
    with holding("print('held', flush=True); input()") as process:
        token, place, _ = new_holder().split(" ")
        assert not is_dead(f"{token} {place} {process.pid}")
        assert not is_dead(f"{token} {place} 1")
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_dead(f"{token} {place} {process.pid}")  # not collected yet
        process.wait()
        assert is_dead(f"{token} {place} {process.pid}")
        assert not is_dead(f"{token} other/place {process.pid}")


@pytest.mark.parametrize("number", ["", "-1", "0", "x", "9" * 30, "9" * 5_000, "1 2"])
def test_a_holder_that_something_else_wrote_is_waited_for(number: str) -> None:
    token, place, _ = new_holder().split(" ")
    assert not is_dead(f"{token} {place} {number}")
    assert not is_dead(token)
    assert not is_dead(None)


def test_a_run_that_this_process_drives_is_said_so(tmp_path: Path) -> None:
    async def twice(store: Store) -> None:
        await begin(store.journal, "run")
        with pytest.raises(RunLeased, match="is driven by this process, whose lease ends in 30 s"):
            await store.journal.acquire("run")

    with Store.open(tmp_path / "runs.db") as store:
        asyncio.run(twice(store))


def test_two_leases_of_one_process_have_two_names() -> None:
    assert len({new_holder() for _ in range(100)}) == 100


@pytest.mark.parametrize("how", ["begin", "acquire"])
def test_who_is_cancelled_while_a_lease_is_being_taken_holds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    taking, going_on = threading.Event(), threading.Event()
    take = getattr(leases, how)

    def slow(*args: object) -> Lease:
        taking.set()
        going_on.wait(20)
        lease: Lease = take(*args)
        return lease

    async def give_up(store: Store) -> None:
        if how == "acquire":
            await store.journal.release(await begin(store.journal, "run"))
        monkeypatch.setattr(leases, how, slow)
        start = store.journal.acquire("run") if how == "acquire" else begin(store.journal, "run")
        starting = asyncio.create_task(start)
        await asyncio.to_thread(taking.wait, 20)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        going_on.set()
        monkeypatch.undo()
        deadline = time.monotonic() + 10  # far less than a lease lasts
        while True:
            try:
                await store.journal.acquire("run")
                return
            except HarnessError:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)

    with Store.open(tmp_path / "runs.db") as store:
        asyncio.run(give_up(store))
