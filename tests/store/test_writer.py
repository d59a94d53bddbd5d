"""The thread that commits outlives whatever its parts do, and nobody waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import apsw
import pytest

from io_harness.errors import StoreFailed
from io_harness.store.base import Transaction
from io_harness.store.sqlite.connection import IN_MEMORY, connect, prepare
from io_harness.store.sqlite.writer import Writer

WAIT = 10.0


class Lock:
    """A lock between processes that fails when told to."""

    def __init__(self) -> None:
        self.failing = ""

    def acquire(self, deadline: float) -> bool:
        self._fail("acquire")
        return deadline > 0

    def try_acquire(self) -> bool:
        self._fail("try_acquire")
        return True

    def release(self) -> None:
        self._fail("release")

    def _fail(self, act: str) -> None:
        if self.failing == act:
            self.failing = ""
            raise OSError(37, "no locks available")


def note(tx: Transaction) -> int:
    tx.execute("INSERT INTO workspaces (name, last_seq) VALUES (?, 0)", (f"w{count(tx)}",))
    return count(tx)


def count(tx: Transaction) -> int:
    ((rows,),) = tx.execute("SELECT count(*) FROM workspaces")
    assert isinstance(rows, int)
    return rows


@pytest.fixture
def lock() -> Lock:
    return Lock()


@pytest.fixture
def writer(lock: Lock) -> Iterator[Writer]:
    connection = connect(IN_MEMORY)
    prepare(connection, IN_MEMORY)
    made = Writer(lambda: connection, lock, where="the store", timeout=WAIT)
    yield made
    made.close()


def test_a_lock_that_cannot_be_taken_fails_its_callers_and_not_the_next(
    writer: Writer, lock: Lock
) -> None:
    lock.failing = "acquire"
    with pytest.raises(StoreFailed, match="no locks available"):
        writer.submit(note, size=1).result(WAIT)
    assert writer.submit(note, size=1).result(WAIT) == 1


def test_what_is_committed_is_told_though_the_lock_cannot_be_given_back(
    writer: Writer, lock: Lock
) -> None:
    lock.failing = "release"
    assert writer.submit(note, size=1).result(WAIT) == 1
    assert writer.submit(note, size=1).result(WAIT) == 2


@pytest.mark.parametrize("error", [apsw.CorruptError, apsw.IOError, apsw.BusyError])
def test_what_is_committed_is_told_though_the_log_cannot_be_moved(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    connection = writer._opened().connection
    monkeypatch.setattr(writer._log, "_next_checkpoint", 0)
    monkeypatch.setattr(writer, "_session", _Failing(connection, error))
    assert writer.submit(note, size=1).result(WAIT) == 1
    assert writer.submit(note, size=1).result(WAIT) == 2


class _Failing:
    """A session whose log cannot be moved."""

    def __init__(self, connection: apsw.Connection, error: type[Exception]) -> None:
        self._under = connection
        self._error = error
        self.connection = self

    def execute(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        return list(self._under.execute(sql, parameters))

    def wal_checkpoint(self, **_: object) -> None:
        raise self._error("no")

    def __getattr__(self, name: str) -> object:
        return getattr(self._under, name)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyError("mine"), MemoryError()])
def test_an_operation_that_raises_is_undone_alone(writer: Writer, error: Exception) -> None:
    def raising(tx: Transaction) -> int:
        note(tx)
        raise error

    works: list[Callable[[Transaction], int]] = [note, raising, note]
    futures = [writer.submit(work, size=1) for work in works]
    with pytest.raises(type(error)):
        futures[1].result(WAIT)
    assert [futures[0].result(WAIT), futures[2].result(WAIT)] == [1, 2]


def test_a_thread_that_cannot_be_started_leaves_nobody_waiting(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", cannot)
    with pytest.raises(RuntimeError, match="can't start"):
        writer.submit(note, size=1)
    monkeypatch.undo()
    assert writer.submit(note, size=1).result(WAIT) == 1
