"""How a path may be spelled, and the one error for a path that leaves the workspace."""

from __future__ import annotations

import json
import os
import re

from io_harness.errors import ConfigError, PathOutside

ERROR_MAX_CHARS = 200  # of a path, in an error
# Windows reads these as a drive, a stream, a share, a device, a short name or another name.
_FOREIGN = re.compile(
    r"""[\\:\0] | ^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$ | ^[^.]{1,8}~[0-9](?:\.[^.]{1,3})?$
    | [^.][. ]$ | ^\.{3,}$ | ^\ +$""",
    re.VERBOSE | re.IGNORECASE,
)
# What nearly every path looks like: names that are plain on every system, each once.
_DEVICE = r"(?!(?i:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:/|\Z))"
_NAME = rf"{_DEVICE}[A-Za-z0-9_.-]*[A-Za-z0-9_-]"
_PLAIN = re.compile(rf"{_NAME}(?:/{_NAME})*")
_TEMPORARY = re.compile(r"(?:^|/)\.io-harness-[0-9a-f]{16}\.tmp\Z")


def is_plain(path: str) -> bool:
    """Whether a path is its own canonical spelling on every system, links aside.

    Raises ConfigError for what is no text.
    """
    try:
        return _PLAIN.fullmatch(path) is not None
    except TypeError:
        raise ConfigError(f"a path in the workspace is text, not {path!r:.100}") from None


def split(path: str) -> tuple[str, ...]:
    """The names of a workspace-relative path, `..` among them; the root has none.

    Purely a matter of spelling: nothing is looked up. Raises PathOutside for absolute paths,
    `~`, URL schemes, Windows spellings and NUL, ConfigError for what is no text.
    """
    if is_plain(path):
        return tuple(path.split("/"))
    if path.startswith(("/", "~")) or not has_bytes(path):
        raise outside(path)
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    for name in names:
        if name != ".." and _FOREIGN.search(name):
            raise outside(path)
    return names


def has_bytes(word: str) -> bool:
    """Whether a name or an argument has bytes: a lone surrogate that stands for none has not."""
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return False
    return True


def join(names: tuple[str, ...]) -> str:
    """The one spelling of a path; `.` for the root."""
    return "/".join(names) or "."


def outside(path: str) -> PathOutside:
    """The error for every path that is refused, whether or not anything exists there."""
    return PathOutside(
        f"{shown(path[:ERROR_MAX_CHARS])} is no path inside the workspace; give one relative to "
        "its root, with / between names, that no .. and no link leads out of"
    )


def is_temporary(path: str) -> bool:
    """Whether a path ends in one of the library's own half-written files."""
    return ".io-harness-" in path and _TEMPORARY.search(path) is not None


def shown(path: str) -> str:
    """A path on one line: as it is where all of it prints, else as a JSON string."""
    return path if path.isprintable() and not path.startswith('"') else json.dumps(path)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things in words: `1 file`, `2,000 files`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
