"""File systems on which `README` and `readme` are one name."""

from __future__ import annotations

import os
import sys
import unicodedata

from io_harness.workspace.flags import DIRECTORY

_PC_CASE_SENSITIVE = 11  # <sys/unistd.h> of macOS; Python has no name for it


def folds_case(directory: int) -> bool:
    """Whether names beneath a directory are found in another case too, as usual on macOS."""
    return sys.platform == "darwin" and os.fpathconf(directory, _PC_CASE_SENSITIVE) == 0


def true_name(directory: int, name: str) -> str:
    """The name as the directory has it; as it was given where the directory has no such."""
    descriptor = os.open(".", os.O_RDONLY | DIRECTORY, dir_fd=directory)
    try:
        with os.scandir(descriptor) as entries:
            names = {entry.name for entry in entries}
    finally:
        os.close(descriptor)
    if name in names:
        return name
    wanted = _folded(name)
    return next((other for other in sorted(names) if _folded(other) == wanted), name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
