"""Where a store may be, and what may be done there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from io_harness.errors import ConfigError

NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ncpfs", "fuse.sshfs"),
        *("ceph", "fuse.ceph-fuse", "fuse.glusterfs", "lustre", "beegfs", "gpfs", "ocfs2", "gfs2"),
        *("fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "davfs", "fuse.davfs2"),
    }
)
"""File systems on which SQLite's log cannot be shared safely."""
Identities: TypeAlias = tuple[tuple[int, int] | None, ...]
_MOUNTS = Path("/proc/self/mountinfo")


def kind_of(path: Path, mounts: Path = _MOUNTS) -> str:
    """Return the kind of file system that holds a path, "" where the system does not say."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ").rstrip("/")
        inside = path == Path(point) or str(path).startswith(point + os.sep)
        if inside and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind


def check_place(path: Path, where: str) -> bool:
    """Return whether a file is at `path`, which the caller calls `where`.

    Raises `ConfigError` where no file can be, `OSError` where the system does not say.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if where.startswith("~") and not path.parent.exists():
            raise ConfigError(
                f"{where} starts with ~, which only a shell expands: Path.expanduser()"
            ) from None
        return False
    if stat.S_ISDIR(mode):
        raise ConfigError(f"{where} is a directory: name a file, as {Path(where) / 'runs.db'}")
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{where} is a device, a pipe or a socket: choose another path")
    return True


def check_shared(path: Path, where: str) -> None:
    """Raise `ConfigError` where all who write to `path` would not share one log."""
    kind = kind_of(path)
    if kind in NETWORK:
        raise ConfigError(
            f"{where} lies on a network file system ({kind}), where processes on several machines "
            "would damage a SQLite database: choose a path on a local disk"
        )
    names = path.stat().st_nlink if path.exists() else 1
    if names > 1:
        raise ConfigError(
            f"{where} has {names} names (hard links), and writers by each would keep a log of "
            "their own and damage it: remove the others, or copy it with backup"
        )


def is_writable(path: Path) -> bool:
    """Whether this process may write the file and its directory, as a store's writers must."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=effective) for each in (path, path.parent))


def identities(paths: Iterable[Path]) -> Identities:
    """Return which file is at each path, `None` where none is."""
    return tuple(map(_identity, paths))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
