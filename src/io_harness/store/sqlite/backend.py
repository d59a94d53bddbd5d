"""SQLite as a backend: a database file, or one that is gone with the process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import apsw

from io_harness.errors import ConfigError, HarnessError, StoreCorrupt
from io_harness.store.base import T, Transaction
from io_harness.store.damage import UNREADABLE, advised
from io_harness.store.sqlite.connection import (
    IN_MEMORY,
    Session,
    check_version,
    connect,
    let_go,
    mode_of,
    prepare,
    uri,
)
from io_harness.store.sqlite.copying import copy
from io_harness.store.sqlite.faults import BUSY, closed, forked, locked, replaced, translated
from io_harness.store.sqlite.filesystem import (
    Identities,
    check_beside,
    check_local,
    check_names,
    check_place,
    identities,
    make_directory,
    size_of,
)
from io_harness.store.sqlite.gate import Gate
from io_harness.store.sqlite.writer import Writer

KEPT_READERS = 4


class FileBackend:
    """A database file that any number of processes write to."""

    def __init__(self, path: Path, *, timeout: float, vfs: str | None = None) -> None:
        self._path = Path(os.path.realpath(path))
        self._where = str(path)
        self._files = files_of(self._path)
        self._timeout = timeout
        self._vfs = vfs
        self._process = os.getpid()
        self._idle: list[apsw.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        self._database: Identities | None = None
        self._written: Identities | None = None
        with translated(self._where):
            check_place(self._path, self._where)
            check_local(self._path, self._where)
            check_names(self._path, self._where)
            check_beside(self._path)
            make_directory(self._path.parent)
            self._gate = Gate(self._gate_path)
            self._gate.belong_to_owner_of(self._path)
            try:
                self._idle.append(self._prepared())
            except BaseException:
                self._gate.close()
                raise
        self._database = identities(self._files[:1])
        self._writer = Writer(
            self._connect_writer,
            self._gate,
            where=self._where,
            timeout=timeout,
            check=self._check,
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The database, its log, its index of the log, and the lock between processes."""
        return self._files

    def write(
        self, work: Callable[[Transaction], T], *, size: int, erases: bool = False
    ) -> Future[T]:
        """Queue work; its future is done after COMMIT."""
        return self._writer.submit(work, size=size, erases=erases)

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run work against one consistent state, beside any writer."""
        with translated(self._where), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                return read_with(work, Session(connection), self._where)
            finally:
                connection.execute("ROLLBACK")

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a consistent copy, synced, to a path where nothing is."""
        with self._reader() as connection:
            copy(connection, Path(path))
            _only_reads(connection)

    def close(self) -> None:
        """Commit what is queued and close every connection."""
        if self._process != os.getpid():
            return
        with self._guard:
            if self._closed:
                return
            self._closed = True
        self._writer.close()
        with self._guard:
            for connection in self._idle:
                let_go(connection, self._where)
            self._idle.clear()
        self._gate.close()

    @property
    def _gate_path(self) -> Path:
        return self._files[-1]

    def _connect(self) -> apsw.Connection:
        if self._database is not None and identities(self._files[:1]) != self._database:
            raise replaced(self._where)
        return connect(uri(self._path, mode_of(self._gate_path)), vfs=self._vfs)

    def _connect_writer(self) -> apsw.Connection:
        self._written = None
        return self._connect()

    def _check(self, connection: apsw.Connection) -> None:
        """Raise unless others see what is written now, and it is what they expect."""
        now = identities(self._files[:3])
        self._written = self._written or now
        if now[:1] != self._database or now != self._written:
            raise replaced(self._where)
        check_version(connection, self._where)

    def _check_log(self) -> None:
        """Raise where there is a log without its database: SQLite would delete it."""
        database, log, *_ = map(size_of, self._files)
        if log and not database:
            raise StoreCorrupt(
                f"{self._where} is missing or empty, and the log of its last commits is there "
                f"({self._files[1]}): put the file back, or move the log away to begin anew"
            )

    def _prepared(self) -> apsw.Connection:
        """Open the first connection, one process at a time: it may make the tables."""
        deadline = time.monotonic() + self._timeout
        if not self._gate.acquire(deadline):
            raise locked(self._where)
        connection = None
        try:
            self._check_log()
            connection = self._connect()
            while True:
                try:
                    prepare(connection, self._where)
                except BUSY:
                    if time.monotonic() >= deadline:
                        raise
                    time.sleep(0.01)
                else:
                    break
            _only_reads(connection)
        except BaseException:
            if connection is not None:
                let_go(connection, self._where)
            raise
        finally:
            self._gate.release()
        return connection

    @contextmanager
    def _reader(self) -> Iterator[apsw.Connection]:
        """Lend a connection that cannot write."""
        if self._process != os.getpid():
            raise forked(self._where)  # before the lock: one held at the fork is held for ever
        with self._guard:
            if self._closed:
                raise closed(self._where)
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connect()
            _only_reads(connection)
        try:
            yield connection
        except BaseException:
            let_go(connection, self._where)
            raise
        with self._guard:
            if not self._closed and len(self._idle) < KEPT_READERS:
                self._idle.append(connection)
                return
        let_go(connection, self._where)


def files_of(path: Path) -> tuple[Path, Path, Path, Path]:
    """Return the database, its log, its index of the log, and the lock between processes."""
    return path, Path(f"{path}-wal"), Path(f"{path}-shm"), Path(f"{path}.gate")


class MemoryBackend:
    """A database that only this process sees."""

    def __init__(self) -> None:
        connection = connect(IN_MEMORY)
        prepare(connection, IN_MEMORY)
        self._connection = connection
        self._process = os.getpid()
        self._turn = _Turn()
        self._closed = False
        self._writer = Writer(lambda: connection, self._turn, where=IN_MEMORY, timeout=3_600.0)

    @property
    def files(self) -> tuple[Path, ...]:
        """None."""
        return ()

    def write(
        self, work: Callable[[Transaction], T], *, size: int, erases: bool = False
    ) -> Future[T]:
        """Queue work; its future is done after COMMIT."""
        return self._writer.submit(work, size=size, erases=erases)

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run work while nobody writes."""
        with self._alone() as connection:
            return read_with(work, Session(connection), IN_MEMORY)

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a copy, synced, to a path where nothing is."""
        with self._alone() as connection:
            copy(connection, Path(path))

    def close(self) -> None:
        """Forget everything."""
        if not self._closed and self._process == os.getpid():
            self._closed = True
            self._writer.close()
            self._connection.close()

    @contextmanager
    def _alone(self) -> Iterator[apsw.Connection]:
        """Lend the connection while nobody else has it."""
        if self._process != os.getpid():
            raise forked("the store in memory")
        with self._turn:
            if self._closed:
                raise ConfigError("the store is closed, and what it held is gone")
            yield self._connection


class _Turn:
    """The lock of a database that has one connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def acquire(self, deadline: float) -> bool:
        return self._lock.acquire(timeout=max(0.0, deadline - time.monotonic()))

    def try_acquire(self) -> bool:
        return self._lock.acquire(blocking=False)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def read_with(work: Callable[[Transaction], T], session: Session, where: str) -> T:
    """Do the work; what it finds damaged is told with the file's name."""
    try:
        return work(session)
    except StoreCorrupt as error:
        raise advised(error, where) from error
    except HarnessError:
        raise
    except UNREADABLE as error:
        raise advised(StoreCorrupt(f"a row cannot be read ({error})"), where) from error


def _only_reads(connection: apsw.Connection) -> None:
    connection.pragma("query_only", True)
