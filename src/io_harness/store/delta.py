"""A text as copies out of other texts and what is new in it.

A request repeats most of the one before, and the rest of it is mostly tool results that are
stored already. Segments say so in a few integers each: source, start and length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

BLOCK = 24
"""Code points that two texts must share, from the start of a line, to be worth a copy."""

Segment: TypeAlias = tuple[int, int, int]
"""Source, start and length, in code points."""


def encode(target: str, sources: Mapping[int, str], *, novel: int) -> tuple[list[Segment], str]:
    """Return segments that make `target`, and the new text that those of source `novel` copy.

    `sources` are the texts to copy from, by number, the likeliest first.
    """
    segments: list[Segment] = []
    fresh: list[str] = []
    length = written = 0
    for source, start, at, size in _copies(target, sources):
        if at > written:
            segments.append((novel, length, at - written))
            fresh.append(target[written:at])
            length += at - written
        if size:
            segments.append((source, start, size))
        written = at + size
    return segments, "".join(fresh)


def decode(segments: Sequence[Segment], sources: Mapping[int, str]) -> str:
    """Return the text that the segments make."""
    return "".join(sources[source][start : start + size] for source, start, size in segments)


def compose(segments: Sequence[Segment], base: int, below: Sequence[Segment]) -> list[Segment]:
    """Return the segments, those that copy from `base` replaced by what made that text."""
    ends: list[int] = []
    for _, _, size in below:
        ends.append((ends[-1] if ends else 0) + size)
    flat: list[Segment] = []
    for source, start, size in segments:
        if source == base:
            for segment in _cut(below, ends, start, size):
                _append(flat, segment)
        else:
            _append(flat, (source, start, size))
    return flat


def _cut(below: Sequence[Segment], ends: Sequence[int], start: int, size: int) -> Iterator[Segment]:
    index = bisect_right(ends, start)
    while size > 0:
        source, begin, length = below[index]
        skip = start - (ends[index] - length)
        taken = min(size, length - skip)
        yield source, begin + skip, taken
        start, size, index = start + taken, size - taken, index + 1


def _append(flat: list[Segment], segment: Segment) -> None:
    """Add a segment, as a longer last one where it goes on where that ends."""
    if flat:
        source, start, size = flat[-1]
        if (source, start + size) == segment[:2]:
            flat[-1] = (source, start, size + segment[2])
            return
    flat.append(segment)


def _copies(target: str, sources: Mapping[int, str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield source, start there, start in the target and size; the last is empty, at the end.

    A copy is looked for where a line starts: to look everywhere would take a second for a
    request of some megabytes, in which all who share the store would wait.
    """
    at = _shared(target, 0, next(iter(sources.values()), ""), 0)
    if at >= BLOCK:
        yield next(iter(sources)), 0, 0, at
    else:
        at = 0
    starts = _line_starts(sources, skip=at) if at < len(target) else {}
    pending = at
    while 0 <= at <= len(target) - BLOCK:
        source, start = starts.get(target[at : at + BLOCK], (None, 0))
        if source is not None:
            text = sources[source]
            while at > pending and start > 0 and target[at - 1] == text[start - 1]:
                at, start = at - 1, start - 1
            size = _shared(target, at, text, start)
            yield source, start, at, size
            at = pending = at + size
        if source is None or at == 0 or target[at - 1] != "\n":
            at = target.find("\n", at) + 1 or -1
    yield 0, 0, len(target), 0


def _line_starts(sources: Mapping[int, str], *, skip: int) -> dict[str, tuple[int, int]]:
    """Return where each line of the sources starts; `skip` is done of the first source."""
    starts: dict[str, tuple[int, int]] = {}
    for source, text in sources.items():
        at = skip
        while 0 <= at <= len(text) - BLOCK:
            starts.setdefault(text[at : at + BLOCK], (source, at))
            at = text.find("\n", at) + 1 or -1
        skip = 0
    return starts


def _shared(left: str, at: int, right: str, start: int) -> int:
    """Return how many code points the two have in common from there on."""
    shared, limit = 0, min(len(left) - at, len(right) - start)
    step = 256
    while shared < limit and step:
        step = min(step, limit - shared)
        here, there = at + shared, start + shared
        if left[here : here + step] == right[there : there + step]:
            shared, step = shared + step, step * 2
        else:
            step //= 2
    return shared
