"""A copy of a database, whole or not there."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import apsw

from io_harness.errors import ConfigError
from io_harness.store.sqlite.faults import translated
from io_harness.store.sqlite.filesystem import check_place

_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What a file system without hard links says, as those of memory sticks are."""


def copy(connection: apsw.Connection, path: Path) -> None:
    """Copy a database in one go; nothing stands at `path` until all of it is on the disk."""
    with translated(str(path)):
        if check_place(path, str(path)):
            raise ConfigError(f"a backup never replaces a file: move {path} away first")
        part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            connection.pragma("query_only", False)
            connection.execute("VACUUM INTO ?", (str(part),))
            os.fsync(descriptor)
            _place(part, path)
        finally:
            os.close(descriptor)
            part.unlink(missing_ok=True)


def _place(made: Path, path: Path) -> None:
    """Give a file the name `path`, which nothing has, and sync that; `FileExistsError`."""
    try:
        os.link(made, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        made.rename(path)
    if os.name != "nt":
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
