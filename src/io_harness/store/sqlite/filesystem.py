"""File systems on which SQLite's log cannot be shared safely."""

from __future__ import annotations

import os
from pathlib import Path

from io_harness.errors import ConfigError

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ncpfs", "fuse.sshfs"})
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


def check_local(path: Path) -> None:
    """Raise `ConfigError` where the path lies on a network file system."""
    kind = kind_of(path)
    if kind in NETWORK:
        raise ConfigError(
            f"{path} lies on a network file system ({kind}), where processes on several machines "
            "would damage a SQLite database: choose a path on a local disk"
        )
