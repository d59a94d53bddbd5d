"""The seam between what a store means and the engine that keeps it.

The SQL above this seam is the common part of SQLite and PostgreSQL; transactions, locks, group
commit, files and errors are the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

SQLValue: TypeAlias = None | int | float | str | bytes
Row: TypeAlias = tuple[SQLValue, ...]
T = TypeVar("T")


class Transaction(Protocol):
    """A transaction that is open: what is done in it is kept together or not at all."""

    def execute(self, sql: str, parameters: Sequence[SQLValue] = ()) -> list[Row]:
        """Run one statement with its parameters and return all its rows."""
        ...

    def changes(self) -> int:
        """Return how many rows the last statement inserted, updated or deleted."""
        ...


class Backend(Protocol):
    """An engine: safe from any thread."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file it may make; () where it makes none."""
        ...

    def write(
        self, work: Callable[[Transaction], T], *, size: int, erases: bool = False
    ) -> Future[T]:
        """Queue work of about `size` bytes; the future is done after COMMIT.

        What work that `erases` deletes must be in no file once no reader needs it. Work may run
        again, in another transaction, where the first one could not be had. An error that it
        raises undoes it alone.
        """
        ...

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run work against one consistent state, beside any writer."""
        ...

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a consistent copy to a path where nothing is."""
        ...

    def close(self) -> None:
        """Commit what is queued and let go of everything; again: nothing."""
        ...
