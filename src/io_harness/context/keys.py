"""What two observations must share to answer one question."""

from __future__ import annotations

import posixpath

from xxhash import xxh3_64_intdigest

from io_harness.types import Observation, ObsKind

_KEYED_BY_CALLER = frozenset(
    {ObsKind.TOOL, ObsKind.MCP, ObsKind.CHILD, ObsKind.MESSAGE, ObsKind.ERROR}
)


def plain_path(path: str) -> str:
    """A path's one spelling where no workspace can tell: `./a`, `a` and `x/../a` are one."""
    if path and path[0] != "." and path[-1] != "/" and "//" not in path and "/." not in path:
        return path
    return posixpath.normpath(path) if path else path


def file_subject(path: str) -> str:
    """The subject of a file: its reads and writes belong to it."""
    return f"file:{path}"


def question_subject(observation: Observation) -> str | None:
    """The subject of a search, a skill or a caller's key; `None` where nothing supersedes it."""
    kind, target, key = observation.kind, observation.target, observation.key
    if kind in _KEYED_BY_CALLER or target is None:
        return None if key is None else f"{kind}:key:{key}"
    if kind is ObsKind.SKILL:
        return f"{kind}:{target}"
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    return f"{kind}:{len(target)}:{target}:{observation.scope or ''}"


def hash64(subject: str) -> int:
    """A 64-bit hash that is the same in every process."""
    return xxh3_64_intdigest(subject.encode("utf-8", "surrogatepass"))
