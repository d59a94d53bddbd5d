"""What SQLite reports, as the errors of this library."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from io_harness.errors import (
    ConfigError,
    HarnessError,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from io_harness.store.damage import advised

BUSY = (apsw.BusyError, apsw.LockedError)
DAMAGED = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_PLACE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EEXIST}
)


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise the library's errors in the place of SQLite's and the system's."""
    try:
        yield
    except (apsw.Error, OSError, UnicodeDecodeError) as error:
        raise typed(error, where) from error


def typed(error: Exception, where: str) -> HarnessError:
    """Return the library's error for what SQLite raised while working on `where`."""
    match error:
        case HarnessError():
            return error
        case apsw.BusyError() | apsw.LockedError():
            return locked(where)
        case apsw.FullError():
            return _full(error, where)
        case apsw.IOError() if extended(error) == apsw.SQLITE_IOERR_SHMSIZE:  # the log's index
            return _full(error, where)
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return _read_only(error, where)
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError():
            return StoreCorrupt(
                f"{where} is damaged or is no store; it was left as it is: "
                f"restore a backup or choose another path ({error})"
            )
        case apsw.CantOpenError():
            return StoreFailed(
                f"{where} cannot be opened: check the permissions of the file and its directory, "
                f"and how many files this process has open ({error})"
            )
        case OSError():
            return _refused(error, where)
        case _:
            return StoreFailed(
                f"{where}: reading or writing failed, nothing of this operation was kept: "
                f"check the disk and do it again ({error})"
            )


def _refused(error: OSError, where: str) -> HarnessError:
    """Return the error for what the system refused, to a file of the store's or to a copy."""
    if error.errno in _FULL:
        return _full(error, where)
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return _read_only(error, where)
    if error.errno in _NO_PLACE:
        return ConfigError(f"no store can be at {where}: choose another path ({error})")
    return StoreFailed(
        f"{where}: the system refused, and nothing of this operation was kept: "
        f"do it again once that is mended ({error})"
    )


def extended(error: Exception) -> object:
    """Return SQLite's extended result code of an error, `None` where it has none."""
    return getattr(error, "extendedresult", None)  # which apsw's stubs leave out


def _full(error: Exception, where: str) -> StoreFull:
    return StoreFull(f"no room on the disk for {where}: free some and do it again ({error})")


def _read_only(error: Exception, where: str) -> StoreReadOnly:
    return StoreReadOnly(
        f"{where} cannot be written: check the permissions of the file and of its directory, "
        "and that the disk is not mounted read-only; Store.open(path, read_only=True), `runs`, "
        f"`show` and `memory list` only look ({error})"
    )


def replaced(where: str) -> StoreFailed:
    """Return the error of a writer whose files are no longer those at the store's path."""
    return StoreFailed(
        f"{where}, its log or its index was moved, deleted or replaced while it was open, and "
        "nothing was written: put them back, or open the store again"
    )


def closed(where: str) -> ConfigError:
    """Return the error of a caller who closed the store before."""
    return ConfigError(f"{where} is closed: open it again")


def forked(where: str) -> ConfigError:
    """Return the error of a caller in a process that was forked from the one that opened it."""
    return ConfigError(f"{where} was opened before this process was forked: open it here")


def changing(where: str) -> StoreLocked:
    """Return the error of a look at a file that others keep changing."""
    return StoreLocked(f"{where} was changed each time that it was looked at: do it again")


def of_operation(error: Exception, where: str) -> Exception:
    """Return what the caller of one operation is told of its error; its own stay as they are."""
    if isinstance(error, StoreCorrupt):
        return advised(error, where)
    return typed(error, where) if isinstance(error, apsw.Error) else error


def locked(where: str) -> StoreLocked:
    """Return the error of a caller whose time is up."""
    return StoreLocked(
        f"{where} was held by other writers until the deadline and nothing was written: "
        "do it again, or open the store with a longer timeout"
    )
