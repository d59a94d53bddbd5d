"""The log of a writer's connection: when it moves into the database, and when it must be gone."""

from __future__ import annotations

import logging

import apsw

from io_harness.store.sqlite.connection import BUSY_MILLISECONDS

CHECKPOINT_PAGES = 8_000
_log = logging.getLogger(__name__)


class Log:
    """What a writer knows of its log; used by who holds the lock between processes."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._pages = 0
        self._next_checkpoint = CHECKPOINT_PAGES
        self._holds_deleted = self._just_deleted = False

    @property
    def must_go(self) -> bool:
        """Whether it is to be emptied as soon as no reader holds it."""
        return self._holds_deleted or self._pages >= CHECKPOINT_PAGES

    def follow(self, connection: apsw.Connection) -> None:
        """Be told by a connection how long the log is after each commit."""
        connection.set_wal_hook(self._note)

    def _note(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        if pages < self._pages:  # the log was started again
            self._next_checkpoint = CHECKPOINT_PAGES
        self._pages = pages
        return apsw.SQLITE_OK

    def note_deletion(self) -> None:
        """Be told that what is being committed deletes what must not stand in the log."""
        self._holds_deleted = self._just_deleted = True

    def tend(self, connection: apsw.Connection) -> None:
        """Do after a commit what is due; nothing that is committed depends on it."""
        if self._just_deleted:
            self._just_deleted = False
            self.empty(connection)
        elif self._pages >= self._next_checkpoint:
            self._move(connection)

    def _move(self, connection: apsw.Connection) -> None:
        """Move it into the database as far as readers allow; it keeps what is left."""
        self._next_checkpoint = self._pages + CHECKPOINT_PAGES
        try:
            in_log, moved = connection.wal_checkpoint()
            if moved == in_log:  # the next writer, whichever it is, starts the log again
                self._next_checkpoint = CHECKPOINT_PAGES
        except apsw.Error as error:
            _log.warning("%s: nothing lost, but the log cannot shrink: %s", self._where, error)

    def empty(self, connection: apsw.Connection) -> None:
        """Move all of it and cut the file, unless a reader holds it."""
        try:
            connection.set_busy_timeout(0)
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._pages = 0
            self._holds_deleted = False
        except apsw.Error as error:
            _log.debug("%s: the log cannot shrink yet: %s", self._where, error)
        finally:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
