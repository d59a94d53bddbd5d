"""What a directory holds."""

from __future__ import annotations

import heapq
import os
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from io_harness.types import Effect
from io_harness.workspace.flags import DIRECTORY
from io_harness.workspace.spelling import counted, is_temporary, join, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from io_harness.workspace.root import Root
    from io_harness.workspace.tree import Gate

LIST_MAX_ENTRIES = 2_000
LIST_MAX_NAMES = 1_000_000

Kind = Literal["file", "directory", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory; `size` in bytes for files."""

    name: str
    kind: Kind
    size: int | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The first entries of a directory by name; `left_out` says in one line what is missing."""

    path: str
    entries: tuple[Entry, ...]
    left_out: str


def list_directory(root: Root, path: str, gate: Gate, *, exact: bool = False) -> Listing:
    """The entries that are not denied, under their own name or as a link's target."""
    descriptor, canonical = root.open(path, os.O_RDONLY | DIRECTORY, exact=exact)
    prefix = split(canonical)
    try:
        refusal = root.refusal(path, canonical, os.fstat(descriptor))
        if refusal is not None:
            raise refusal
        with os.scandir(descriptor) as entries:
            visible = _Visible(root, os.fstat(descriptor).st_dev, entries)
            first = heapq.nsmallest(LIST_MAX_ENTRIES, visible, key=lambda entry: entry.name)
            crowded = next(entries, None) is not None
            shown = [
                Entry(entry.name, _kind(entry), _size(entry))
                for entry in first
                if _is_allowed(root, gate, (*prefix, entry.name), entry)
            ]
    except OSError as error:
        raise root.told(error, path) from None
    finally:
        os.close(descriptor)
    more = visible.count - len(first)
    rest = f"{'at least ' if crowded else ''}{counted(more, 'more entry', 'more entries')}"
    left_out = f"{rest}; find narrows them by a pattern" if more else ""
    return Listing(canonical, tuple(shown), left_out)


class _Visible:
    """The entries that are not the harness's own, counted as they come."""

    def __init__(self, root: Root, device: int, entries: Iterator[os.DirEntry[str]]) -> None:
        self._hidden, self._device, self._entries = root.hidden, device, entries
        self.count = 0

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        """Each entry once."""
        for entry in islice(self._entries, LIST_MAX_NAMES):
            if is_temporary(entry.name):
                continue
            if self._hidden and (self._device, entry.inode()) in self._hidden:
                continue
            self.count += 1
            yield entry


def _is_allowed(root: Root, gate: Gate, names: tuple[str, ...], entry: os.DirEntry[str]) -> bool:
    """Whether neither the entry nor what it links to is denied."""
    if gate(join(names)) is Effect.DENY:
        return False
    if not entry.is_symlink():
        return True
    try:
        return gate(join(root.resolve(entry.name, names))) is not Effect.DENY
    except OSError:
        return True  # a link that leads nowhere, or out, and so shows nothing


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _size(entry: os.DirEntry[str]) -> int | None:
    if not entry.is_file(follow_symlinks=False):
        return None
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return None
