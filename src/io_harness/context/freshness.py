"""Whether a read still shows what its file has, through the same reader and policy as any read."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Protocol, TypeGuard

from io_harness.errors import NotRegularFile, PathOutside
from io_harness.types import Act, Effect, Observation, ReadResult, Signature, Verdict

from .entry import Refresh, source
from .kernel import count_lines, extent
from .keys import plain_path

NO_WORKSPACE = "there is no workspace"


class Reader(Protocol):
    """What the context layer needs of a workspace."""

    def canonical(self, path: str) -> str:
        """The one spelling of a path; raises `PathOutside`."""
        ...

    def read(self, path: str, *, offset: int = 1, limit: int | None = None) -> ReadResult:
        """Lines of a file, from line `offset` on."""
        ...

    def signature(self, path: str) -> Signature:
        """One stat of a file."""
        ...


class ExactReader(Protocol):
    """A reader that can refuse to follow links."""

    def read(
        self, path: str, *, offset: int = 1, limit: int | None = None, exact: bool = False
    ) -> ReadResult:
        """Lines of a file; with `exact`, of the file that a canonical path names without links."""
        ...


class Judge(Protocol):
    """What the context layer needs of a policy."""

    def check(self, act: Act, subject: str) -> Verdict:
        """The verdict on an act."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """What looking at a read's file gave: the lines as they are now, or why there are none."""

    result: ReadResult | None
    because: str = ""


class Files:
    """The files of a run as an assembler sees them; without a reader none is `visible`.

    `canonical(path)` is the one spelling of a path that keys use: the plain one where it cannot
    be resolved.
    """

    def __init__(self, reader: Reader | None, judge: Judge | None) -> None:
        self.visible = reader is not None
        self.canonical: Callable[[str], str] = (
            plain_path if reader is None else partial(_resolved, reader)
        )
        self._reader = reader
        self._exact = reader if reader is not None and _reads_exactly(reader) else None
        self._judge = judge
        self._signatures: dict[int, Signature | None] = {}

    def changed(self, gid: int, path: str) -> bool:
        """Whether a file's signature gives reason to look at its content again."""
        assert self._reader is not None
        try:
            now: Signature | None = self._reader.signature(path)
        except (OSError, ValueError):
            now = None
        before = self._signatures.get(gid)
        self._signatures[gid] = now
        return before is None or not before.settled or now != before

    def look(self, path: str, first: int, limit: int | None) -> Look:
        """Read lines of a file again, where the policy allows it without asking."""
        if self._reader is None:
            return Look(None, NO_WORKSPACE)
        try:
            real = self._reader.canonical(path)
            for spelling in dict.fromkeys((path, real)):
                refused = self._refused(spelling)
                if refused:
                    return Look(None, refused)
            if self._exact is not None:
                # A link put there since the policy was asked is not followed.
                return Look(self._exact.read(real, offset=first, limit=limit, exact=True))
            return Look(self._reader.read(real, offset=first, limit=limit))
        except (OSError, ValueError) as error:
            return Look(None, _because(error))

    def _refused(self, path: str) -> str:
        """Why a path may not be read, in words; "" where it may."""
        if self._judge is None:
            return ""
        effect = self._judge.check(Act.READ, path).effect
        if effect is Effect.DENY:
            return "the policy denies reading it"
        return "" if effect is Effect.ALLOW else "the policy would ask and there is nobody to ask"


def _resolved(reader: Reader, path: str) -> str:
    try:
        return reader.canonical(path)
    except (OSError, ValueError):
        return plain_path(path)


def _reads_exactly(reader: Reader) -> TypeGuard[ExactReader]:
    return "exact" in signature(reader.read).parameters


def _because(error: Exception) -> str:
    """Why a read failed, in words that show no path and are the same on every machine."""
    match error:
        case FileNotFoundError():
            return "the file is gone"
        case PathOutside():
            return "it is outside the workspace now"
        case NotRegularFile() | IsADirectoryError():
            return "it is no regular file now"
        case PermissionError():
            return "it may not be opened"
        case OSError(errno=errno.EBADF):
            return "the workspace is closed"
        case _:
            return "it could not be read"


def asked(
    observation: Observation, refresh: Refresh | None, head: int | None
) -> tuple[int, int | None]:
    """The first line and the number of lines that looking again at a read has to ask for."""
    text, lines, total = source(observation, refresh)
    shown = extent(text, lines, total, head)
    if not shown.reached:
        return shown.first, max(1, shown.last + (shown.inside > 0) - shown.first + 1)
    if lines is None:
        return 1, None
    return shown.first, max(1, max(lines[1], shown.last) - lines[0] + 1)


def same(
    observation: Observation, refresh: Refresh | None, head: int | None, now: ReadResult
) -> bool:
    """Whether the lines that a read shows are what the file has there now."""
    text, lines, total = source(observation, refresh)
    if head == 0:
        return True
    digest = observation.digest if refresh is None else refresh.digest
    if digest is not None and digest == now.digest:
        return True
    shown = extent(text, lines, total, head)
    if head is not None:
        end = text.find("\n", head)
        text = text[: len(text) if end < 0 else end] if shown.inside else text[:head]
    if shown.reached and now.total_lines is not None and now.lines[1] < now.total_lines:
        return False
    if count_lines(text) != count_lines(now.text):
        return False
    return text.removesuffix("\n") == now.text.removesuffix("\n")
