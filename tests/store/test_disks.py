"""Nothing acknowledged is lost, whatever the disk does, and nothing is half done."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import apsw
import pytest

from io_harness.errors import StoreFailed, StoreFull
from io_harness.store import Lease, Store
from io_harness.store.sqlite import log
from tests.store.disks import Contents, FailingDisk, ForgettingDisk, memory_directory
from tests.store.golden.make import PLACE
from tests.store.runs import answer, begin, observations

FULL = os.environ.get("IO_HARNESS_FULL_STORE_TESTS") == "1"
STEPS = 33 if FULL else 6
"""Steps of the script; three operations each."""
EVERY = 1 if FULL else 3
"""Which of the disk's acts fail, one at a time: every so-manieth."""
CUTS = 500

State = tuple[list[str], list[str | bool], list[str]]


@pytest.fixture(autouse=True)
def _frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of some operations meets checkpoints too."""
    monkeypatch.setattr(log, "CHECKPOINT_PAGES", 12)


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=memory_directory()) as made:
        yield Path(made)


class Script:
    """Operations of all sorts, any of which can be done again, and what they leave."""

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.lease = Lease("", "", 0.0)

    def operations(self) -> list[Callable[[Store], None]]:
        made: list[Callable[[Store], None]] = [self._begin]
        for step in range(1, self.steps + 1):
            made += [partial(act, step=step) for act in (self._answer, self._step, self._note)]
        return made

    def expected(self, done: int) -> State:
        """What a store holds once so many operations are done."""
        answers, steps, notes = ((done + extra) // 3 for extra in (1, 0, -1))
        return (
            ["run"] if done else [],
            [step <= steps for step in range(1, answers + 1)],
            [f"k{number}" for number in range(1, notes + 1)][-64:],
        )

    def _begin(self, store: Store) -> None:
        self.lease = asyncio.run(begin(store.journal, "run"))

    def _answer(self, store: Store, step: int) -> None:
        asyncio.run(answer(store.journal, self.lease, step, f"{step} " * 900))

    def _step(self, store: Store, step: int) -> None:
        seen = observations(step, f"{step} " * 900)
        asyncio.run(store.journal.stepped(self.lease, step, seen))

    def _note(self, store: Store, step: int) -> None:
        store.memory_put("w", f"k{step}", "v", run_id="r", step=step)


def state(store: Store) -> State:
    runs = [run.run_id for run in store.runs()]
    steps = store.steps("run") if runs else ()
    for step in steps:
        assert step.request is not None
    return (
        runs,
        [step.committed for step in steps],
        [note.key for note in store.memory_list("w")],
    )


def check_whole(path: Path) -> None:
    connection = apsw.Connection(str(path))
    assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    connection.close()


def play(disk: FailingDisk, path: Path) -> None:
    """Play the script; an operation that failed left nothing, and works when done again."""
    script = Script()
    with disk.open(path) as store:
        for done, operation in enumerate(script.operations()):
            try:
                operation(store)
            except (StoreFailed, StoreFull):
                assert state(store) == script.expected(done), disk.failed
                operation(store)
        assert state(store) == script.expected(len(script.operations())), disk.failed
    with Store.open(path) as store:
        assert state(store) == script.expected(len(script.operations())), disk.failed
    check_whole(path)


@pytest.mark.parametrize("code", [apsw.SQLITE_IOERR, apsw.SQLITE_FULL])
def test_any_one_act_of_the_disk_may_fail(place: Path, code: int) -> None:
    blank = place / "blank.db"
    Store.open(blank).close()
    counting = FailingDisk()
    shutil.copy(blank, place / "0.db")
    play(counting, place / "0.db")
    failures = 0
    for fail_at in range(1 + code % EVERY, counting.acts + 1, EVERY):
        path = place / f"{fail_at}.db"
        shutil.copy(blank, path)
        disk = FailingDisk(code)
        disk.fail_at = fail_at
        play(disk, path)
        failures += bool(disk.failed)
        for left in place.glob(f"{fail_at}.db*"):
            left.unlink()
    assert failures >= counting.acts // EVERY - 2


def test_making_a_store_may_fail_at_any_act(place: Path) -> None:
    counting = FailingDisk()
    counting.open(place / "0.db").close()
    for fail_at in range(1, counting.acts + 1, EVERY):
        path = place / f"{fail_at}.db"
        disk = FailingDisk()
        disk.fail_at = fail_at
        with suppress(StoreFailed):
            disk.open(path).close()
        with Store.open(path) as store:
            assert store.runs() == ()
            assert store.memory_put("w", "k", "v", run_id="r", step=1).evicted == ()
        check_whole(path)


@pytest.mark.parametrize("code", [apsw.SQLITE_IOERR, apsw.SQLITE_FULL])
def test_bringing_an_older_store_up_to_date_may_fail_at_any_act(place: Path, code: int) -> None:
    older = gzip.decompress((PLACE / "schema-1.db.gz").read_bytes())
    counting = FailingDisk()
    (place / "0.db").write_bytes(older)
    with counting.open(place / "0.db") as store:
        whole = store.steps("golden")
    for fail_at in range(1, counting.acts + 1, EVERY):
        path = place / f"{fail_at}.db"
        path.write_bytes(older)
        disk = FailingDisk(code)
        disk.fail_at = fail_at
        with suppress(StoreFailed, StoreFull):
            disk.open(path).close()
        with Store.open(path) as store:
            assert store.steps("golden") == whole, disk.failed
        check_whole(path)


def test_a_full_disk_takes_nothing_more_and_goes_on_once_there_is_room(place: Path) -> None:
    disk = FailingDisk(apsw.SQLITE_FULL)
    with disk.open(place / "runs.db") as store:
        store.memory_put("w", "before", "v", run_id="r", step=1)
        disk.fail_at, disk.for_good = disk.acts + 1, True
        for _ in range(3):
            with pytest.raises(StoreFull, match="no room on the disk"):
                store.memory_put("w", "k", "v", run_id="r", step=1)
        assert [note.key for note in store.memory_list("w")] == ["before"]
        disk.fail_at = 0
        store.memory_put("w", "after", "v", run_id="r", step=1)
        assert [note.key for note in store.memory_list("w")] == ["before", "after"]


def test_what_was_acknowledged_survives_a_power_loss_at_any_point(place: Path) -> None:
    disk, script = ForgettingDisk(), Script(steps=12)
    path = place / "runs.db"
    with disk.open(path) as store:
        disk.acknowledged("open")
        for operation in script.operations():
            operation(store)
            disk.acknowledged("operation")
    points = sum(entry[0] != "acknowledged" for entry in disk.log)
    rng = random.Random(7)
    chosen = set(rng.sample(range(points), min(CUTS, points)))
    for point, (told, files) in enumerate(disk.losses()):
        if point in chosen and told:
            for lucky in (None, rng):
                _check_after_loss(place / "after", script, len(told) - 1, files, lucky)


def _check_after_loss(
    place: Path, script: Script, told: int, files: dict[str, Contents], lucky: random.Random | None
) -> None:
    """Open what is left; the operations told of are there, and of the next one all or nothing."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, contents in files.items():
        (place / Path(name).name).write_bytes(contents.after_power_loss(lucky))
    with Store.open(place / "runs.db") as store:
        assert state(store) in (script.expected(told), script.expected(told + 1))
    check_whole(place / "runs.db")
