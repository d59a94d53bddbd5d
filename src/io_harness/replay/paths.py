"""One spelling for one file, in recordings that mix absolute, relative and Windows paths."""

from __future__ import annotations

import posixpath
import re

_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


def canonical(path: str, cwd: str = "") -> str:
    """The path in posix form, relative to `cwd` where it lies inside, else absolute.

    Text only: a recording has no file system to ask for links.
    """
    return _relative(_absolute(path, cwd), _posix(cwd))


def resolve(path: str, directory: str) -> str:
    """The path seen from a directory: what `cd directory` makes of it."""
    return _absolute(path, directory)


def _posix(path: str) -> str:
    """Backslashes turned only where the path shows that it is a Windows one."""
    windows = _DRIVE.match(path) or path.startswith("\\\\")
    return path.replace("\\", "/") if windows else path


def _absolute(path: str, cwd: str) -> str:
    path, cwd = _posix(path), _posix(cwd)
    if path.startswith(("/", "~")) or _DRIVE.match(path) or not cwd:
        return posixpath.normpath(path) if path else path
    if _DRIVE.match(cwd):
        path = path.replace("\\", "/")
    return posixpath.normpath(posixpath.join(cwd, path))


def _relative(path: str, cwd: str) -> str:
    root = posixpath.normpath(cwd) if cwd else ""
    if not root or root == "/":
        return path
    if path == root:
        return "."
    return path[len(root) + 1 :] if path.startswith(root + "/") else path
