"""The walk over what lies beneath a directory: iterative, bounded, in one order."""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from io_harness.types import Effect
from io_harness.workspace.flags import DIRECTORY
from io_harness.workspace.ignore import IGNORE_FILE, Ignore, parsed
from io_harness.workspace.spelling import is_temporary, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from io_harness.workspace.root import Root

Gate: TypeAlias = "Callable[[str], Effect]"


def allow(_path: str) -> Effect:
    """Let everything be read: the gate of a caller without a policy."""
    return Effect.ALLOW


DIRECTORY_MAX_ENTRIES = 200_000
TREE_MAX_ENTRIES = 1_000_000
TREE_MAX_SECONDS = 60.0
PATH_MAX_BYTES = 4_000
MAX_LEVELS = 1_000
_IGNORE_MAX_BYTES = 2**20
_LISTED = os.O_RDONLY | DIRECTORY

_LEFT_OUT = {
    "asking": "may only be read with approval",
    "binary": "not text",
    "large": "over 64 MiB",
    "unreadable": "could not be read",
    "deep": "too deep to enter",
    "crowded": "in directories of more than 200,000 entries",
    "ignored": "named by .gitignore",
}


@dataclass(slots=True)
class LeftOut:
    """What a search left out, counted, and why it ended early if it did.

    What the policy denies is not counted: a refusal does not tell what is there.
    """

    counts: Counter[str] = field(default_factory=Counter)
    stops: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """One line; empty where nothing was left out."""
        told = [f"{self.counts[key]:,} {why}" for key, why in _LEFT_OUT.items() if self.counts[key]]
        return "; ".join([*([f"left out: {', '.join(told)}"] if told else []), *self.stops])


@dataclass(frozen=True, slots=True)
class Found:
    """A file the walk came to; `directory` is open while it is looked at."""

    directory: int
    name: str
    path: str
    is_link: bool


class Tree:
    """A walk that opens what the gate allows and follows no link."""

    def __init__(self, root: Root, gate: Gate, left_out: LeftOut) -> None:
        self._root, self._gate, self._left_out = root, gate, left_out
        self._entries = 0
        self._deadline = time.monotonic() + TREE_MAX_SECONDS

    def files(self, start: tuple[str, ...]) -> Iterator[Found]:
        """Every file and link beneath, each directory's own in order before its directories'."""
        pending = [(start, self._above(start))]
        while pending and not self._exhausted():
            names, rules = pending.pop()
            prefix = "" if not names else join(names) + "/"
            with self._opened(names) as directory:
                if directory is None:
                    continue
                entries = self._listed(directory)
                rules = self._rules(prefix, entries, rules)
                inside = []
                for entry in entries:
                    if self._exhausted():
                        return
                    path = prefix + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != ".git" and self._enters(path, rules):
                            inside.append(((*names, entry.name), rules))
                    elif rules is not None and rules.ignores(path):
                        self._left_out.counts["ignored"] += 1
                    elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        yield Found(directory, entry.name, path, entry.is_symlink())
                pending += reversed(inside)

    @contextmanager
    def _opened(self, names: tuple[str, ...]) -> Iterator[int | None]:
        """A directory open for listing; None, and counted, where it cannot be."""
        if len(names) > MAX_LEVELS or len(os.fsencode(join(names))) > PATH_MAX_BYTES:
            self._left_out.counts["deep"] += 1
            yield None
            return
        try:
            directory = self._root.open_names(names, _LISTED)
        except OSError:
            self._left_out.counts["unreadable"] += 1
            yield None
            return
        try:
            own = self._root.refusal("", "", os.fstat(directory)) is not None
            yield None if own else directory
        finally:
            os.close(directory)

    def _listed(self, directory: int) -> list[os.DirEntry[str]]:
        """The entries of a directory, in order, without the harness's own."""
        with os.scandir(directory) as entries:
            taken = list(islice(entries, DIRECTORY_MAX_ENTRIES))
            self._left_out.counts["crowded"] += sum(1 for _ in entries)
        self._entries += len(taken)
        device = os.fstat(directory).st_dev if self._root.hidden else 0
        kept = [
            entry
            for entry in taken
            if not is_temporary(entry.name)
            and (not self._root.hidden or (device, entry.inode()) not in self._root.hidden)
        ]
        kept.sort(key=lambda entry: entry.name)
        return kept

    def _enters(self, path: str, rules: Ignore | None) -> bool:
        if rules is not None and rules.ignores(path + "/"):
            self._left_out.counts["ignored"] += 1
            return False
        return self.allows(path)

    def allows(self, path: str) -> bool:
        """Whether a path may be read without asking; one that needs asking is counted."""
        effect = self._gate(path)
        self._left_out.counts["asking"] += effect is Effect.ASK
        return effect is Effect.ALLOW

    def _rules(
        self, prefix: str, entries: list[os.DirEntry[str]], above: Ignore | None
    ) -> Ignore | None:
        """The ignore rules that hold in a directory."""
        for entry in entries:
            if entry.name == IGNORE_FILE and entry.is_file(follow_symlinks=False):
                return self._parsed(prefix, above)
        return above

    def _parsed(self, prefix: str, above: Ignore | None) -> Ignore | None:
        path = prefix + IGNORE_FILE
        if self._gate(path) is not Effect.ALLOW:
            return above
        try:
            descriptor, _ = self._root.open_file(path, exact=True)
        except OSError:
            return above
        with os.fdopen(descriptor, "rb") as file:
            return parsed(file.read(_IGNORE_MAX_BYTES), prefix, above)

    def _above(self, start: tuple[str, ...]) -> Ignore | None:
        """The rules of the directories above; none where they ignore what was asked for."""
        rules: Ignore | None = None
        for depth in range(len(start)):
            prefix = "".join(f"{name}/" for name in start[:depth])
            rules = self._parsed(prefix, rules)
            if rules is not None and rules.ignores(f"{prefix}{start[depth]}/"):
                return None
        return rules

    def _exhausted(self) -> bool:
        """Whether the walk has seen enough, files or not; said once."""
        if self._entries > TREE_MAX_ENTRIES:
            self._left_out.stops.append(f"stopped after {self._entries:,} names; give a path")
        elif time.monotonic() > self._deadline:
            self._left_out.stops.append(f"stopped after {TREE_MAX_SECONDS:.0f} s; give a path")
        return bool(self._left_out.stops)
