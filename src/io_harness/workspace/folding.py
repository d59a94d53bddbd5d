"""File systems on which `README` and `readme` are one name."""

from __future__ import annotations

import os
import sys
import unicodedata
from itertools import islice

from io_harness.workspace.flags import DIRECTORY

_LOOKED_AT = 1_000  # names, to find one whose case can be turned
_PC_CASE_SENSITIVE = 11  # <sys/unistd.h> of macOS; Python has no name for it


def folds_case(directory: int) -> bool:
    """Whether names beneath a directory are found in another case too.

    So it is mostly on macOS, and on Linux where a disk of Windows is mounted, as in WSL.
    """
    if sys.platform == "darwin":
        return os.fpathconf(directory, _PC_CASE_SENSITIVE) == 0
    names = _names(directory, _LOOKED_AT)
    tellable = (name for name in names if name.swapcase() not in names)
    name = next(tellable, None)
    return name is not None and _is_one_file(directory, name, name.swapcase())


def _is_one_file(directory: int, name: str, other: str) -> bool:
    try:
        first, second = (
            os.stat(each, dir_fd=directory, follow_symlinks=False) for each in (name, other)
        )
    except OSError:
        return False
    return os.path.samestat(first, second)


def _names(directory: int, most: int | None = None) -> set[str]:
    try:
        descriptor = os.open(".", os.O_RDONLY | DIRECTORY, dir_fd=directory)
    except OSError:
        return set()
    try:
        with os.scandir(descriptor) as entries:
            return {entry.name for entry in islice(entries, most)}
    finally:
        os.close(descriptor)


def true_name(directory: int, name: str) -> str:
    """The name as the directory has it; as it was given where the directory has no such."""
    names = _names(directory)
    if name in names:
        return name
    wanted = _folded(name)
    return next((other for other in sorted(names) if _folded(other) == wanted), name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
