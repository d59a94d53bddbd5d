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
    return _mount_of(path, mounts)[1]


def _mount_of(path: Path, mounts: Path) -> tuple[str, str]:
    """Return where the file system that holds a path is mounted, and its kind."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return "", ""
    best, kind = "", ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ").rstrip("/")
        inside = path == Path(point) or str(path).startswith(point + os.sep)
        if inside and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return best, kind


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


def check_local(path: Path, where: str) -> None:
    """Raise `ConfigError` where the path lies on a network file system."""
    kind = kind_of(path)
    if kind in NETWORK:
        raise ConfigError(
            f"{where} lies on a network file system ({kind}), where processes on several machines "
            "would damage a SQLite database: choose a path on a local disk"
        )


def check_beside(path: Path) -> None:
    """Raise `ConfigError` where SQLite would open a pipe for a file, and wait without end."""
    for suffix in ("-journal", "-wal", "-shm"):
        status = status_of(Path(f"{path}{suffix}"))
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise ConfigError(
                f"{path}{suffix} is no regular file, where a store has one: move it away"
            )


def check_names(path: Path, where: str) -> None:
    """Raise `ConfigError` where others may know a file, but not its log, by another path."""
    status = status_of(path)
    if status is None:
        return
    names = status.st_nlink
    if names > 1:
        raise ConfigError(
            f"{where} has {names} names (hard links), and each would have a log of its own, which "
            "damages it: remove the others, or copy the file"
        )
    if _mount_of(path, _MOUNTS)[0] == str(path):
        raise ConfigError(
            f"{where} is mounted here without its directory, and so without its log, which holds "
            "what was committed last: mount the directory"
        )


def is_writable(path: Path) -> bool:
    """Whether this process may write the file and its directory, as a store's writers must."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=effective) for each in (path, path.parent))


def identities(paths: Iterable[Path]) -> Identities:
    """Return which file is at each path, `None` where none is."""
    return tuple(map(_identity, paths))


def _identity(path: Path) -> tuple[int, int] | None:
    status = status_of(path)
    return None if status is None else (status.st_dev, status.st_ino)


def size_of(path: Path) -> int:
    """Return the bytes of a file, 0 where there is none."""
    status = status_of(path)
    return 0 if status is None else status.st_size


def status_of(path: Path) -> os.stat_result | None:
    """Return what the system knows of a file, `None` where there is none (any more)."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def make_directory(path: Path) -> None:
    """Make a directory that only its owner may look into, where there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
