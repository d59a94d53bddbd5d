"""Group commit: one thread a store, which commits for everybody who waits."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import apsw

from io_harness.store.base import T, Transaction
from io_harness.store.sqlite.connection import Session, let_go
from io_harness.store.sqlite.faults import (
    BUSY,
    DAMAGED,
    closed,
    forked,
    locked,
    of_operation,
    typed,
)
from io_harness.store.sqlite.log import Log

MOST_OPERATIONS = 64
MOST_BYTES = 256 * 1024
WINDOW_SECONDS = 0.002
IDLE_SECONDS = 1.0
_FATAL = (
    *BUSY,
    *DAMAGED,
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.NoMemError,
)
_log = logging.getLogger(__name__)


class Lock(Protocol):
    """What keeps others from writing."""

    def acquire(self, deadline: float) -> bool:
        """Take it; False where the deadline (of `time.monotonic`) came first."""
        ...

    def try_acquire(self) -> bool:
        """Take it if it is free now."""
        ...

    def release(self) -> None:
        """Let the next one in."""
        ...


@dataclass(frozen=True, slots=True)
class _Operation:
    attempt: Callable[[Transaction], Callable[[], None]]
    fail: Callable[[Exception], None]
    wanted: Callable[[], bool]
    size: int
    erases: bool
    deadline: float


class Writer:
    """A queue and the thread that empties it, some operations a commit."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        lock: Lock,
        *,
        where: str,
        timeout: float,
        check: Callable[[apsw.Connection], None] = lambda _: None,
    ) -> None:
        self._connect = connect
        self._lock = lock
        self._where = where
        self._timeout = timeout
        self._check = check
        self._queue: deque[_Operation] = deque()
        self._bytes = 0
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._session: Session | None = None
        self._log = Log(where)
        self._in_company = False
        self._process = os.getpid()

    def submit(
        self, work: Callable[[Transaction], T], *, size: int, erases: bool = False
    ) -> Future[T]:
        """Queue work; its future is done after COMMIT, and what it erases is out of the log."""
        future: Future[T] = Future()

        def attempt(transaction: Transaction) -> Callable[[], None]:
            result = work(transaction)
            return lambda: future.set_result(result)

        operation = _Operation(
            attempt,
            future.set_exception,
            future.set_running_or_notify_cancel,
            size,
            erases,
            time.monotonic() + self._timeout,
        )
        self._check_process()
        with self._wake:
            if self._closing:
                raise closed(self._where)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
                thread.start()  # where it cannot, nothing is queued that nobody would serve
                self._thread = thread
            self._queue.append(operation)
            self._bytes += size
            if len(self._queue) == 1 or self._is_full():  # all that the thread waits for
                self._wake.notify()
        return future

    def close(self) -> None:
        """Commit what is queued and end the thread."""
        if self._process != os.getpid():
            return
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        if self._session is not None:
            let_go(self._session.connection, self._where)
            self._session = None

    def _check_process(self) -> None:
        """Raise in a forked process, before any lock: one held at the fork is held for ever."""
        if self._process != os.getpid():
            raise forked(self._where)

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._queue and not self._closing:
                    self._wake.wait(IDLE_SECONDS if self._log.must_go else None)
                idle, closing = not self._queue, self._closing
            if idle and closing:
                return
            try:
                self._shrink() if idle else self._serve()
            except Exception as error:  # this thread must live: others wait for it
                for operation in self._batch():
                    operation.fail(typed(error, self._where))

    def _serve(self) -> None:
        """Commit one batch and tell its callers."""
        with self._wake:
            if self._in_company and not self._closing:
                self._wake.wait_for(self._is_full, WINDOW_SECONDS)
            deadline = self._queue[0].deadline
        if not self._lock.acquire(deadline):
            self._fail_expired()
            return
        tell: list[Callable[[], None]] = []
        try:
            tell = self._commit(deadline)
            if self._session is not None:
                self._log.tend(self._session.connection)
        finally:
            try:
                self._lock.release()
            finally:
                self._in_company = len(tell) > 1
                for told in tell:
                    told()

    def _is_full(self) -> bool:
        return len(self._queue) >= MOST_OPERATIONS or self._bytes >= MOST_BYTES or self._closing

    def _batch(self) -> list[_Operation]:
        """Take operations off the queue, as many as one commit holds; at least one."""
        taken: list[_Operation] = []
        size = 0
        with self._wake:
            while self._queue and len(taken) < MOST_OPERATIONS:
                size += self._queue[0].size
                if taken and size > MOST_BYTES:
                    break
                operation = self._take()
                if operation.wanted():
                    taken.append(operation)
        return taken

    def _fail_expired(self) -> None:
        """Tell those whose time is up; the others wait on."""
        gone: list[_Operation] = []
        with self._wake:
            while self._queue and self._queue[0].deadline <= time.monotonic():
                operation = self._take()
                if operation.wanted():
                    gone.append(operation)
        for operation in gone:
            operation.fail(locked(self._where))

    def _take(self) -> _Operation:
        operation = self._queue.popleft()
        self._bytes -= operation.size
        return operation

    def _commit(self, deadline: float) -> list[Callable[[], None]]:
        """Do a batch in one transaction; return what tells its callers."""
        batch: list[_Operation] = []
        try:
            session = self._opened()
            if not _begun(session.connection, deadline):
                self._fail_expired()
                return []
            self._check(session.connection)
            batch = self._batch()
            tell = [_attempted(session, operation, self._where) for operation in batch]
            session.connection.execute("COMMIT")
            if any(operation.erases for operation in batch):
                self._log.note_deletion()
        except Exception as error:  # whatever it was, every caller must hear of it
            self._undo()
            batch = batch or self._batch()
            return [partial(operation.fail, typed(error, self._where)) for operation in batch]
        return tell

    def _opened(self) -> Session:
        if self._session is None:
            connection = self._connect()
            self._log.follow(connection)
            self._session = Session(connection)
        return self._session

    def _undo(self) -> None:
        """Leave the transaction; where even that fails, the connection."""
        if self._session is None:
            return
        connection = self._session.connection
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error as error:
            _log.warning("%s: opening it again after a failed rollback: %s", self._where, error)
            self._session = None
            let_go(connection, self._where)

    def _shrink(self) -> None:
        """Empty a log that readers kept from shrinking, once they are gone."""
        if self._log.must_go and self._lock.try_acquire():
            try:
                self._log.empty(self._opened().connection)
            finally:
                self._lock.release()


def _begun(connection: apsw.Connection, deadline: float) -> bool:
    """Start a transaction that writes, False where one who does not know the lock kept writing."""
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except BUSY:
            if time.monotonic() >= deadline:
                return False
            time.sleep(random.uniform(0.001, 0.01))  # noqa: S311 - spreads waiters
        else:
            return True


def _attempted(session: Session, operation: _Operation, where: str) -> Callable[[], None]:
    """Do one operation of a transaction; an error of its own undoes it alone."""
    connection = session.connection
    connection.execute("SAVEPOINT operation")
    try:
        told = operation.attempt(session)
    except _FATAL:
        raise
    except Exception as error:  # the caller's to see, not this thread's
        if not connection.in_transaction:
            raise
        connection.execute("ROLLBACK TO operation")
        told = partial(operation.fail, of_operation(error, where))
    connection.execute("RELEASE operation")
    return told
