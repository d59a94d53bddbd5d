"""The fallback for opening beneath a directory: one name at a time, following nothing."""

from __future__ import annotations

import errno
import os
import stat

from io_harness.workspace.flags import DIRECTORY, NO_FOLLOW, PATH_ONLY

ENTERED = PATH_ONLY | DIRECTORY | NO_FOLLOW


def walk(directory: int, names: tuple[str, ...], flags: int, *, one_device: bool) -> int:
    """A descriptor for the names beneath a directory; OSError ELOOP where one is a link."""
    if not names:
        return os.open(".", flags, dir_fd=directory)
    parent = os.dup(directory)
    try:
        for name in names[:-1]:
            child = _open(parent, name, ENTERED)
            os.close(parent)
            parent = child
        found = _open(parent, names[-1], flags | NO_FOLLOW)
    finally:
        os.close(parent)
    if one_device and os.fstat(found).st_dev != os.fstat(directory).st_dev:
        os.close(found)
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    return found


def _open(parent: int, name: str, flags: int) -> int:
    """One name opened; a link is ELOOP, whatever the system makes of it."""
    try:
        found = os.open(name, flags, dir_fd=parent)
    except OSError as error:
        # Asked for a directory, Linux says ENOTDIR of a link; other systems have other words.
        if error.errno == errno.ENOENT or not _is_link(parent, name):
            raise
    else:
        if not flags & PATH_ONLY or not stat.S_ISLNK(os.fstat(found).st_mode):
            return found
        os.close(found)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _is_link(parent: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False
