"""Finding files by name and lines by pattern."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.workspace.content import UTF_8, encoding_of
from io_harness.workspace.flags import DIRECTORY, PATH_ONLY
from io_harness.workspace.lines import Hit, hits_in
from io_harness.workspace.pattern import LinePattern, PathPattern
from io_harness.workspace.reading import WHOLE_MAX_BYTES
from io_harness.workspace.spelling import counted, join, shown, split
from io_harness.workspace.tree import Found, Gate, LeftOut, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from io_harness.workspace.root import Root

GREP_MAX_MATCHES = 1_000
GREP_MAX_CHARS = 400_000
GREP_MAX_CONTEXT = 20
FIND_MAX_PATHS = 5_000


@dataclass(frozen=True, slots=True)
class GrepResult:
    """Lines that match and lines near them, in order of path and line.

    `matches` counts the matching lines shown, `paths` names their files, `left_out` says in one
    line what was not searched or shown, and is empty where nothing was.
    """

    hits: tuple[Hit, ...]
    matches: int
    paths: tuple[str, ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class FindResult:
    """Paths that match, in order; `left_out` as for GrepResult."""

    paths: tuple[str, ...]
    left_out: str


def find_files(
    root: Root, pattern: str, path: str, gate: Gate, *, exact: bool = False
) -> FindResult:
    """Files and links beneath a directory whose path, relative to it, the glob means."""
    wanted, left_out = PathPattern(pattern), LeftOut()
    tree, paths, more = Tree(root, gate, left_out), list[str](), 0
    start = _directory(root, path, exact=exact)
    for found in tree.files(start):
        if not wanted.matches(_relative(found.path, start)):
            continue
        if not tree.allows(found.path) or (found.is_link and not _target(root, tree, found)):
            continue
        if len(paths) < FIND_MAX_PATHS:
            paths.append(found.path)
        else:
            more += 1
    if more:
        left_out.stops.append(f"{counted(more, 'more path')}; narrow the pattern or the path")
    return FindResult(tuple(paths), str(left_out))


def _target(root: Root, tree: Tree, found: Found) -> bool:
    """Whether a link leads to what may be read."""
    try:
        return tree.allows(join(root.resolve(found.path, tuple(found.path.split("/")))))
    except OSError:
        return False


def _relative(path: str, start: tuple[str, ...]) -> str:
    return path[len(join(start)) + 1 :] if start else path


def _directory(root: Root, path: str, *, exact: bool) -> tuple[str, ...]:
    """The names of a directory that is there."""
    descriptor, canonical = root.open(path, PATH_ONLY | DIRECTORY, exact=exact)
    os.close(descriptor)
    return split(canonical)


class Grep:
    """One search."""

    def __init__(self, root: Root, pattern: LinePattern, context: int, gate: Gate) -> None:
        if not 0 <= context <= GREP_MAX_CONTEXT:
            raise ValueError(f"context is {context}; it is from 0 to {GREP_MAX_CONTEXT} lines")
        self._root, self._pattern, self._context = root, pattern, context
        self._left_out = LeftOut()
        self._tree = Tree(root, gate, self._left_out)
        self._hits: list[Hit] = []
        self._paths: list[str] = []
        self._matches, self._room = 0, GREP_MAX_CHARS
        self._cut_in: str | None = None
        self._unsearched = 0

    def run(self, path: str, glob: str | None, *, exact: bool = False) -> GrepResult:
        """Search a file, or all that lies beneath a directory."""
        for found in self._candidates(path, PathPattern(glob) if glob else None, exact=exact):
            if self._full:
                self._unsearched += 1
            else:
                self._search(found)
        if self._full and (self._cut_in or self._unsearched):
            self._left_out.stops.append(self._stopped())
        return GrepResult(tuple(self._hits), self._matches, tuple(self._paths), str(self._left_out))

    def _candidates(self, path: str, glob: PathPattern | None, *, exact: bool) -> Iterator[Found]:
        descriptor, canonical = self._root.open(path, PATH_ONLY, exact=exact)
        names = split(canonical)
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        os.close(descriptor)
        if not is_directory:
            yield from self._one(names)
            return
        for found in self._tree.files(names):
            if found.is_link or (glob and not glob.matches(_relative(found.path, names))):
                continue
            if self._tree.allows(found.path):
                yield found

    def _one(self, names: tuple[str, ...]) -> Iterator[Found]:
        """A file that was named; what is wrong with it is an error, not something left out."""
        if self._tree.allows(join(names)):
            os.close(self._root.open_file(join(names), exact=True)[0])
            parent = self._root.open_names(names[:-1], PATH_ONLY | DIRECTORY)
            try:
                yield Found(parent, names[-1], join(names), is_link=False)
            finally:
                os.close(parent)

    @property
    def _full(self) -> bool:
        return self._matches >= GREP_MAX_MATCHES or self._room <= 0

    def _search(self, found: Found) -> None:
        data = self._content(found)
        if not data:
            return
        limit = GREP_MAX_MATCHES - self._matches
        try:
            hits, more = hits_in(
                data, self._pattern, found.path, context=self._context, limit=limit
            )
        except UnicodeDecodeError:
            self._left_out.counts["binary"] += 1
            return
        if hits:
            self._take(found.path, hits, more=more)

    def _take(self, path: str, hits: list[Hit], *, more: bool) -> None:
        """Keep the hits of a file, as many as there is room for."""
        kept = 0
        for hit in hits:
            self._room -= len(hit.text) + len(path)
            if self._room <= 0:
                break
            kept += 1
            self._matches += hit.matched
        self._hits += hits[:kept]
        self._paths.append(path)
        self._cut_in = path if more or kept < len(hits) else None

    def _content(self, found: Found) -> bytes | None:
        """The text of a file as UTF-8; None, and counted, for what cannot be searched."""
        counts = self._left_out.counts
        try:
            descriptor, status = self._root.open_child(found.directory, found.name, found.path)
        except OSError:
            counts["unreadable"] += 1
            return None
        try:
            if status.st_size > WHOLE_MAX_BYTES:
                counts["large"] += 1
                return None
            data = _whole(descriptor, status.st_size)
        except OSError:
            counts["unreadable"] += 1
            return None
        finally:
            os.close(descriptor)
        text = _text(data)
        counts["binary"] += text is None
        return text

    def _stopped(self) -> str:
        """Why the search ended before its end."""
        rest = [f"{shown(self._cut_in)} has more"] if self._cut_in else []
        if self._unsearched:
            rest.append(f"{counted(self._unsearched, 'more file')} not searched")
        lines = counted(self._matches, "matching line")
        return f"stopped at {lines}: {', '.join(rest)}; narrow the pattern, the path or the glob"


def _whole(descriptor: int, size: int) -> bytes:
    """What a file of that size holds, and no more than a byte beyond."""
    data = os.read(descriptor, size + 1)
    while len(data) < size and (chunk := os.read(descriptor, size + 1 - len(data))):
        data += chunk
    return data


def _text(data: bytes) -> bytes | None:
    """The bytes as UTF-8; None where they are no text."""
    encoding = encoding_of(data)
    if encoding is None or encoding is UTF_8:
        return data if encoding else None
    try:
        return encoding.decode(data).encode()
    except UnicodeError:
        return None
