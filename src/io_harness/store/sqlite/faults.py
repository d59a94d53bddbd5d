"""What SQLite reports, as the errors of this library."""

from __future__ import annotations

import apsw

from io_harness.errors import (
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


def typed(error: Exception, where: str) -> HarnessError:
    """Return the library's error for what SQLite raised while working on `where`."""
    match error:
        case HarnessError():
            return error
        case apsw.BusyError() | apsw.LockedError():
            return locked(where)
        case apsw.FullError():
            return StoreFull(
                f"no room on the disk for {where}: free some and do it again ({error})"
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError() | PermissionError():
            return StoreReadOnly(
                f"{where} cannot be written: check the permissions of the file and of its "
                f"directory, and that the disk is not mounted read-only ({error})"
            )
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError():
            return StoreCorrupt(
                f"{where} is damaged or is no store; it was left as it is: "
                f"restore a backup or choose another path ({error})"
            )
        case _:
            return StoreFailed(
                f"{where}: reading or writing failed, nothing of this operation was kept: "
                f"check the disk and do it again ({error})"
            )


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
