"""SQLite as a backend that only looks: nothing is made, brought up to date or repaired."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import apsw

from io_harness.errors import ConfigError, StoreLocked, StoreReadOnly
from io_harness.store.base import T, Transaction
from io_harness.store.sqlite.backend import files_of, read_with
from io_harness.store.sqlite.connection import LOOK, WRITE, Session, check, connect, uri
from io_harness.store.sqlite.copying import copy
from io_harness.store.sqlite.faults import changing, closed, extended, translated
from io_harness.store.sqlite.filesystem import (
    NETWORK,
    check_beside,
    check_names,
    check_place,
    is_writable,
    kind_of,
    status_of,
)

_WITHOUT_LOCKS = "win32-none" if sys.platform == "win32" else "unix-none"
_UNUSABLE = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.FullError, apsw.IOError)
_INDEX_BYTES = 32_768
"""An index is never smaller, but where the disk was full when it was made."""
_PAUSE_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class _Way:
    """How to open a file; `shared` where SQLite's locks keep what is read as it is."""

    flags: int = LOOK
    query: str = ""
    vfs: str | None = None
    shared: bool = True


_AS_WRITERS_DO = _Way(WRITE)
_BESIDE_WRITERS = _Way()
_FILE_ALONE = _Way(query="immutable=1", shared=False)
_FILE_AND_LOG = _Way(vfs=_WITHOUT_LOCKS, shared=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The size of each of a store's files, and what else tells of a change; `None` without it."""

    database: tuple[int, int, int] | None
    log: int | None
    index: int | None
    journal: int | None

    def ways(self, *, writable: bool, far: bool) -> Iterator[_Way]:
        """Yield the ways to open such files, the best first; on a `far` disk no log is shared.

        SQLite needs the index beside a log, and makes it where it may. It never makes it for
        who may not write the database, whose writers could not write an index of somebody
        else's. Without an index nobody has the log open; without a log the file is all there is. A
        journal, which another program may leave, only a writer can roll back.
        """
        if writable and not far:
            yield _AS_WRITERS_DO
        indexed = self.index is not None and self.index >= _INDEX_BYTES
        if self.journal:
            return
        if self.log is not None and indexed and not far:
            yield _BESIDE_WRITERS
        if not self.log:
            yield _FILE_ALONE
        elif not indexed:
            yield _FILE_AND_LOG


class LookingBackend:
    """A database file that is read where it cannot be written, too, beside any writer.

    Each read has a connection of its own, for writers may come and go between two.
    """

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = Path(os.path.realpath(path))
        self._where = str(path)
        self._timeout = timeout
        self._closed = False
        with translated(self._where):
            if not check_place(self._path, self._where):
                raise ConfigError(f"there is no store at {self._where}, and looking makes none")
            check_names(self._path, self._where)
            check_beside(self._path)
        self._far = kind_of(self._path) in NETWORK
        self.version = self._look(lambda connection: check(connection, self._where))

    @property
    def files(self) -> tuple[Path, ...]:
        """Those of the store, though this makes none."""
        return files_of(self._path)

    def write(
        self, work: Callable[[Transaction], T], *, size: int, erases: bool = False
    ) -> Future[T]:
        """Raise `StoreReadOnly`."""
        raise StoreReadOnly(
            f"{self._where} was opened read-only and nothing was written: open it to write"
        )

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run work against one consistent state; it runs again where the files changed."""
        return self._look(lambda connection: read_with(work, Session(connection), self._where))

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a consistent copy, synced, to a path where nothing is."""

        def copied(connection: apsw.Connection) -> None:
            connection.execute("ROLLBACK")
            copy(connection, Path(path))

        self._look(copied)

    def close(self) -> None:
        """Look no more."""
        self._closed = True

    def _look(self, work: Callable[[apsw.Connection], T]) -> T:
        if self._closed:
            raise closed(self._where)
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                with translated(self._where):
                    return _looked(self._path, work, far=self._far)
            except (_ChangedError, StoreLocked):
                if time.monotonic() >= deadline:
                    raise changing(self._where) from None
                time.sleep(_PAUSE_SECONDS)


class _ChangedError(Exception):
    """What was looked at is no longer what it was, or a writer is at its index just now."""


def _looked(path: Path, work: Callable[[apsw.Connection], T], *, far: bool) -> T:
    """Do work in a transaction of the first connection that can be had."""
    seen = _seen(path)
    refused: Exception = ConfigError(
        f"what was committed last to {path} stands in files beside it that cannot be used here "
        "(on a network file system, or after a write that was interrupted): copy it with them to "
        "a local disk that can be written"
    )
    for way in seen.ways(writable=is_writable(path), far=far):
        try:
            connection = _opened(path, way, keeps_log=bool(seen.log))
        except _UNUSABLE as error:
            passes = extended(error) == apsw.SQLITE_READONLY_RECOVERY or _seen(path) != seen
            refused = _ChangedError() if passes else error
            continue
        with closing(connection), _unchanged(path, None if way.shared else seen):
            return work(connection)
    raise refused


def _opened(path: Path, way: _Way, *, keeps_log: bool) -> apsw.Connection:
    connection = connect(uri(path, way.query), flags=way.flags, vfs=way.vfs, alone=not way.shared)
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(keeps_log))
        connection.pragma("query_only", True)
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _unchanged(path: Path, seen: _Seen | None) -> Iterator[None]:
    """Raise `_ChangedError` where files that were read without locks are not as they were seen."""
    try:
        yield
    finally:
        if seen is not None and _seen(path) != seen:
            raise _ChangedError


def _seen(path: Path) -> _Seen:
    files = files_of(path)
    database, log, index = (status_of(file) for file in files[:3])
    journal = status_of(Path(f"{path}-journal"))
    return _Seen(
        None if database is None else (database.st_ino, database.st_size, database.st_mtime_ns),
        None if log is None else log.st_size,
        None if index is None else index.st_size,
        None if journal is None else journal.st_size,
    )
