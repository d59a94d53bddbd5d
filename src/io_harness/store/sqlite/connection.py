"""Connections to one database: how they are opened, and what they are allowed."""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import apsw

from io_harness.errors import ConfigError, SchemaNewer, StoreCorrupt
from io_harness.store.base import Row, SQLValue
from io_harness.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

IN_MEMORY = ":memory:"
SAFE_SQLITE = (3, 51, 3)
"""Below it a checkpoint can corrupt a WAL database (fixed in 3.51.3)."""
WAL_LIMIT_BYTES = 32 * 1024 * 1024
PAGE_BYTES = 1_024
"""Long texts fill such pages to the end: at 16 KiB a fifth of the file is left empty."""
BUSY_MILLISECONDS = 250
_NAMED = 5
_log = logging.getLogger(__name__)
WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
LOOK = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class Session:
    """One connection as the statements above the engine see it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Sequence[SQLValue] = ()) -> list[Row]:
        """Run one statement and return all its rows."""
        return list(self.connection.execute(sql, tuple(parameters)))

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self.connection.changes()


def uri(path: Path, query: str) -> str:
    """Return the name SQLite opens."""
    return f"file:{quote(bytes(path))}?{query}"


def mode_of(path: Path) -> str:
    """Return the query of a name: a file that SQLite makes gets the permissions of `path`."""
    return f"modeof={quote(bytes(path))}"


def connect(
    name: str,
    *,
    vfs: str | None = None,
    flags: int = WRITE | apsw.SQLITE_OPEN_CREATE,
    alone: bool = False,
) -> apsw.Connection:
    """Open a connection that trusts nothing in the file and syncs every commit.

    One that is `alone` shares no index of the log with others.
    """
    connection = apsw.Connection(name, flags=flags, vfs=vfs)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    for pragma, value in (
        ("locking_mode", "EXCLUSIVE" if alone else "NORMAL"),  # before anything is read
        ("page_size", PAGE_BYTES),
        ("synchronous", "FULL"),
        ("fullfsync", "ON"),  # macOS: past the drive's own cache
        ("secure_delete", "ON"),
        ("temp_store", "MEMORY"),
        ("cell_size_check", "ON"),
        ("journal_size_limit", WAL_LIMIT_BYTES),
    ):
        connection.pragma(pragma, value)
    return connection


def let_go(connection: apsw.Connection, where: str) -> None:
    """Close a connection; what it could not tidy up stands in the log, and nothing is lost."""
    try:
        connection.close(True)
    except apsw.Error as error:
        _log.warning("%s: closed with its log left behind: %s", where, error)


def prepare(connection: apsw.Connection, where: str) -> None:
    """Make the tables or bring them up to date, and check that they are what they must be.

    To be called by one process at a time. Raises `StoreCorrupt` and `SchemaNewer`.
    """
    _identify(connection, where)
    connection.pragma("journal_mode", "WAL")
    version = _number(connection, "user_version")
    if version < VERSION:
        migrate(connection, version)
    _check_objects(connection, where)


def check(connection: apsw.Connection, where: str) -> int:
    """Return the version of tables that can be read; raises as `prepare` does."""
    _identify(connection, where)
    version = _number(connection, "user_version")
    if version < 1:
        raise ConfigError(f"{where} is empty and no store yet: the first run makes it one")
    _check_objects(connection, where)
    return version


def _check_objects(connection: apsw.Connection, where: str) -> None:
    differing = foreign_objects(connection)
    if differing:
        named = ", ".join(f"{name!r:.80}" for name in differing[:_NAMED])
        raise StoreCorrupt(
            f"{where} has a schema that this library did not make: {len(differing)} tables, views, "
            f"indexes or triggers differ ({named}); it was left as it is: restore a backup or "
            "choose another path"
        )


def migrate(connection: apsw.Connection, version: int) -> None:
    """Take the tables from `version` to the newest, all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for script in MIGRATIONS[version:]:
            connection.execute(script)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def foreign_objects(connection: apsw.Connection) -> tuple[str, ...]:
    """Return the names of tables, indexes, views and triggers that are not as expected."""
    found, expected = _objects(connection), _expected(_number(connection, "user_version"))
    return tuple(sorted(name for name, _ in found ^ expected))


def _identify(connection: apsw.Connection, where: str) -> None:
    """Refuse a file that is another program's, or from a later version."""
    made_by = _number(connection, "application_id")
    empty = not list(connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1"))
    if made_by != APPLICATION_ID and not (empty and made_by == 0):
        raise StoreCorrupt(
            f"{where} is a SQLite database but no store; it was left as it is: choose another path"
        )
    check_version(connection, where)


def check_version(connection: apsw.Connection, where: str) -> None:
    """Raise `SchemaNewer` where a later version made the tables, or has brought them on since."""
    version = _number(connection, "user_version")
    if version > VERSION:
        raise SchemaNewer(
            f"{where} has schema {version} and this library knows up to {VERSION}; "
            "it was left as it is: upgrade io-harness to open it"
        )


def _number(connection: apsw.Connection, pragma: str) -> int:
    return int(str(connection.pragma(pragma)))


def _objects(connection: apsw.Connection) -> frozenset[tuple[str, str]]:
    rows = connection.execute(
        "SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE substr(name, 1, 7) != 'sqlite_'"
    )
    return frozenset((str(name), str(sql)) for name, sql in rows)


@functools.cache
def _expected(version: int) -> frozenset[tuple[str, str]]:
    connection = apsw.Connection(IN_MEMORY)
    for script in MIGRATIONS[:version]:
        connection.execute(script)
    return _objects(connection)
