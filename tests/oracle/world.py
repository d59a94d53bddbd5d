"""A workspace of versioned files in memory, and a policy for it.

Slow and obvious on purpose: what the assembler is told of a file is read off the text itself.
Every look is logged in order, so that a test can say what was opened, and with whose leave.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from io_harness.errors import NotRegularFile, PathOutside
from io_harness.types import Act, Effect, ReadResult, Rule, Signature, Verdict

Look: TypeAlias = tuple[Literal["stat", "open", "allow", "ask", "deny"], str]
LINK_LIMIT = 40


def split_lines(text: str) -> list[str]:
    """The lines of a text with their terminators: LF ends a line and nothing else does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def digest_of(text: str) -> str:
    """A name for the bytes of a file, lone surrogates included."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def slice_lines(text: str, offset: int, limit: int | None) -> tuple[str, tuple[int, int], int]:
    """The text from line `offset` on, the lines it holds, and how many the file has."""
    lines = split_lines(text)
    stop = None if limit is None else offset - 1 + limit
    taken = lines[offset - 1 : stop]
    return "".join(taken), (offset, offset + len(taken) - 1), len(lines)


def resolve(path: str, links: Mapping[str, str]) -> str:
    """The one spelling of a path below the root, links followed from left to right."""
    if path.startswith(("/", "~")) or "\0" in path or "://" in path:
        raise PathOutside(f"{path!r} is not a path inside the workspace")
    done: list[str] = []
    todo = path.split("/")[::-1]
    followed = 0
    while todo:
        part = todo.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not done:
                raise PathOutside(f"{path!r} leaves the workspace")
            done.pop()
            continue
        here = "/".join([*done, part])
        if here in links and followed < LINK_LIMIT:
            followed += 1
            todo.extend(links[here].split("/")[::-1])
        else:
            done.append(part)
    return "/".join(done)


@dataclass(slots=True)
class Gate:
    """A policy that allows everything but what a test has shut."""

    looks: list[Look] = field(default_factory=list)
    effects: dict[str, Effect] = field(default_factory=dict)

    def check(self, act: Act, subject: str) -> Verdict:
        """The verdict on one path."""
        effect = self.effects.get(subject, Effect.ALLOW)
        self.looks.append((effect.value, subject))
        rule = None if effect is Effect.ALLOW else Rule(act, effect, subject)
        return Verdict(effect, rule, "test")


@dataclass(slots=True)
class MemoryWorkspace:
    """Files as text in a dict; `None` stands for one that exists and cannot be read."""

    looks: list[Look] = field(default_factory=list)
    files: dict[str, str | None] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unsettled: set[str] = field(default_factory=set)
    stamps: dict[str, int] = field(default_factory=dict)
    clock: int = 0

    def put(self, path: str, text: str | None) -> None:
        """A new version; the stamp stays where the last one is too fresh to tell them apart."""
        self.files[path] = text
        self.folders.discard(path)
        self.touch(path)

    def touch(self, path: str) -> None:
        """A new stamp and the same bytes."""
        self.clock += 1
        if path not in self.unsettled or path not in self.stamps:
            self.stamps[path] = self.clock

    def remove(self, path: str, *, folder: bool = False) -> None:
        """The file goes; a directory may take its name."""
        self.files.pop(path, None)
        if folder:
            self.folders.add(path)
        self.clock += 1
        self.stamps[path] = self.clock

    def canonical(self, path: str) -> str:
        """The one spelling of a path."""
        return resolve(path, self.links)

    def signature(self, path: str) -> Signature:
        """What a stat says, no content opened."""
        here = self._regular(path)
        self.looks.append(("stat", here))
        return self._signature(here)

    def read(self, path: str, *, offset: int = 1, limit: int | None = None) -> ReadResult:
        """Lines of a file as they are now."""
        here = self._regular(path)
        self.looks.append(("open", here))
        text = self.files[here]
        if text is None:
            raise OSError(5, "Input/output error", here)
        shown, lines, total = slice_lines(text, offset, limit)
        size = len(text.encode("utf-8", "surrogatepass"))
        return ReadResult(shown, lines, total, size, digest_of(text), self._signature(here))

    def _regular(self, path: str) -> str:
        here = self.canonical(path)
        if here in self.folders:
            raise NotRegularFile(f"{here} is a directory")
        if here not in self.files:
            raise FileNotFoundError(2, "No such file", here)
        return here

    def _signature(self, here: str) -> Signature:
        stamp = self.stamps[here]
        text = self.files[here]
        size = 0 if text is None else len(text)
        return Signature(1, 1, size, stamp, stamp, settled=here not in self.unsettled)


def plain_name(path: str) -> str:
    """A path without a workspace to ask: spelled once, links unknown."""
    return posixpath.normpath(path)
