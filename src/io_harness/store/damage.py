"""What a row holds that this library did not write: told with the place where it stands."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from io_harness import jsontext
from io_harness.errors import HarnessError, LedgerError, StoreCorrupt
from io_harness.types import JSON

T = TypeVar("T")

UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RecursionError),
    *(StopIteration, zlib.error),
)
"""What reading a damaged value may raise, whatever it was taken for."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise `StoreCorrupt`, which names `what`, for anything in it that cannot be read."""
    try:
        yield
    except (StoreCorrupt, LedgerError) as error:
        raise StoreCorrupt(f"{what}: {error}") from error
    except HarnessError:
        raise
    except UNREADABLE as error:
        raise StoreCorrupt(f"{what} cannot be read: {error or type(error).__name__}") from error


@contextmanager
def restoring(what: str) -> Iterator[None]:
    """The same for what a run's driver makes of a text that the store gave it."""
    try:
        with reading(what):
            yield
    except StoreCorrupt as error:
        raise advised(error, "the store") from error


def advised(error: StoreCorrupt, where: str) -> StoreCorrupt:
    """Return the error as a caller sees it: what is damaged, where, and what to do."""
    return StoreCorrupt(
        f"{where} is damaged or was changed by something else: {error}; it was left as it is: "
        "run doctor on it and restore a backup"
    )


def of_type(kind: type[T], value: object) -> T:
    """Return the value, which must be exactly of that type."""
    if type(value) is kind:
        return value
    raise StoreCorrupt(f"it holds {type(value).__name__} where {kind.__name__} belongs")


def json_object(text: str) -> dict[str, JSON]:
    """Return the object that a JSON text is of."""
    return of_type(dict, jsontext.loads(text))
