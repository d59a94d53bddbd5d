"""What two observations must share to answer one question."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from io_harness.types import Observation, ObsKind

from ._positions_py import KEYED, PLAIN, READ, SEARCH, WRITE

_KEYED_BY_CALLER = frozenset(
    {ObsKind.TOOL, ObsKind.MCP, ObsKind.CHILD, ObsKind.MESSAGE, ObsKind.ERROR}
)
# What a question's subject begins with and a path does not; one that does so all the same is odd.
_MARK = "\0"
_ODD = f"{_MARK}path:"
_A_READ, _A_WRITE = ObsKind.READ, ObsKind.WRITE


def plain_path(path: str) -> str:
    """A path's one spelling where no workspace can tell: `./a`, `a` and `x/../a` are one."""
    if path and path[0] != "." and path[-1] != "/" and "//" not in path and "/." not in path:
        return path
    return posixpath.normpath(path) if path else path


def file_subject(path: str) -> str:
    """The subject of a file, to which its reads and writes belong: its path, and no copy of it."""
    return f"{_ODD}{path}" if path.startswith(_MARK) else path


def path_of(subject: str) -> str:
    """The path of a file by its subject."""
    return subject.removeprefix(_ODD)


def question(observation: Observation, canonical: Callable[[str], str]) -> tuple[int, str | None]:
    """The kernel's kind of an observation and the subject of its group; `None` for no group."""
    kind, target = observation.kind, observation.target
    if target is not None and (kind is _A_READ or kind is _A_WRITE):
        path = canonical(target)
        subject = file_subject(target if path == target else path)
        return READ if kind is _A_READ else WRITE, subject
    asked = question_subject(observation)
    if observation.paths and (kind is ObsKind.GREP or kind is ObsKind.FIND):
        return SEARCH, asked
    return PLAIN if asked is None else KEYED, asked


def question_subject(observation: Observation) -> str | None:
    """The subject of a search, a skill or a caller's key; `None` where nothing supersedes it."""
    kind, target, key = observation.kind, observation.target, observation.key
    if kind in _KEYED_BY_CALLER or target is None:
        return None if key is None else f"{_MARK}{kind}:key:{key}"
    if kind is ObsKind.SKILL:
        return f"{_MARK}{kind}:{target}"
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    return f"{_MARK}{kind}:{len(target)}:{target}:{observation.scope or ''}"
