"""Versions of a text, each stored as what differs from the last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from io_harness.errors import StoreCorrupt
from io_harness.store import delta
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import as_int, as_maybe_int, only, squeezed, unsqueezed
from io_harness.store.damage import reading
from io_harness.store.segments import BASE, read, spelled, template
from io_harness.store.texts import get_text, put_text

MOST_DEPTH: Final = 127
"""Versions that stand on one another before one is stored that stands alone."""
_ROW_CHARS: Final = 4_096
"""New text of a version up to here stands in its row: it seldom comes again."""
_MOST_TEMPLATES: Final = 3
"""A template has a template, but not for long: pieces, their prompt, what that stands on."""
_KEPT_TIPS: Final = 128


@dataclass(frozen=True, slots=True)
class _Version:
    number: int
    depth: int
    text: str
    flat: list[delta.Segment]
    anchor: int
    """The version that stands alone below it: its new text is the template of the others'."""


@dataclass(frozen=True, slots=True)
class _Novel:
    """What was new in a version."""

    number: int
    text: str


_NO_TEMPLATE: Final = _Novel(0, "")


class Versions:
    """The newest version of each chain, so that the next one need not read the last."""

    def __init__(self) -> None:
        self._tips: OrderedDict[tuple[int, str], _Version] = OrderedDict()
        self._anchors: dict[tuple[int, str], _Novel] = {}
        self._newest: dict[tuple[int, str], _Novel] = {}

    def forget(self) -> None:
        """Forget all: another driver may have gone on with a run, or deleted it."""
        for known in (self._tips, self._anchors, self._newest):
            known.clear()

    def put(
        self,
        tx: Transaction,
        run: int,
        chain: str,
        text: str,
        *,
        base: int | None,
        near: Iterable[SQLValue] = (),
        beside: str | None = None,
    ) -> int:
        """Store `text` as the version after `base` of a run's chain and return its number.

        `near` are stored texts (ids; others are ignored) that it may repeat. `beside` is the
        chain whose newest version, made in the same transaction, has much the same new text.
        """
        below = None if base is None else self._tip(tx, run, chain, base)
        (newest,) = only(tx.execute("SELECT coalesce(max(id), 0) FROM versions"))
        number = as_int(newest) + 1
        sources = {BASE: below.text} if below else {}
        sources |= {value: get_text(tx, value) for value in near if isinstance(value, int)}
        segments, fresh = delta.encode(text, sources, novel=-number)
        flat = delta.compose(segments, BASE, below.flat) if below else segments
        depth = below.depth + 1 if below else 0
        if depth > MOST_DEPTH:
            segments, base, depth = flat, None, 0
        known = self._template(tx, (run, chain), below if depth else None, beside)
        tx.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?)",
            (
                *(number, base, depth, spelled(segments, number, template=known.number)),
                squeezed(fresh, known.text)
                if len(fresh) <= _ROW_CHARS
                else put_text(tx, run, fresh),
            ),
        )
        anchor = below.anchor if below and depth else number
        self._keep((run, chain), _Version(number, depth, text, flat, anchor), fresh)
        return number

    def _template(
        self, tx: Transaction, key: tuple[int, str], below: _Version | None, beside: str | None
    ) -> _Novel:
        """Return the new text that the next version's is likely to be like."""
        if beside is not None:
            return self._newest.get((key[0], beside), _NO_TEMPLATE)
        if below is None:
            return _NO_TEMPLATE
        known = self._anchors.get(key)
        if known is None or known.number != below.anchor:
            known = _Novel(below.anchor, VersionReader(tx).novel(below.anchor))
            self._anchors[key] = known
        return known

    def _tip(self, tx: Transaction, run: int, chain: str, number: int) -> _Version:
        tip = self._tips.get((run, chain))
        if tip and tip.number == number:
            return tip
        with reading(f"version {number}"):
            return VersionReader(tx, flat=True).version(number)

    def _keep(self, key: tuple[int, str], version: _Version, fresh: str) -> None:
        self._tips[key] = version
        self._tips.move_to_end(key)
        self._newest[key] = _Novel(version.number, fresh)
        if len(self._tips) > _KEPT_TIPS:
            gone, _ = self._tips.popitem(last=False)
            self._anchors.pop(gone, None)
            self._newest.pop(gone, None)


class VersionReader:
    """Rebuilds versions in one transaction, cheaply where they are asked for in order."""

    def __init__(self, tx: Transaction, *, flat: bool = False) -> None:
        self._tx = tx
        self._flat = flat
        self._last: dict[int, _Version] = {}
        self._sources: OrderedDict[int, str] = OrderedDict()

    def text(self, number: int) -> str:
        """Return the text of a version."""
        return self.version(number).text

    def version(self, number: int) -> _Version:
        """Return a version; where asked for, with segments that stand on no other."""
        rows: list[tuple[int, int, list[delta.Segment]]] = []
        base: int | None = number
        while base is not None and base not in self._last:
            under, depth, data = only(
                self._tx.execute("SELECT base, depth, segments FROM versions WHERE id = ?", (base,))
            )
            if len(rows) > MOST_DEPTH:
                raise StoreCorrupt(f"version {number} stands on too many others")
            rows.append((base, as_int(depth), read(data, base)))
            base = as_maybe_int(under)
        version = None if base is None else self._last[base]
        for at, depth_at, segments in reversed(rows):
            version = self._rebuilt(at, depth_at, segments, version)
        assert version is not None
        self._last = {number: version}
        return version

    def novel(self, number: int) -> str:
        """Return what was new in a version."""
        return self._novel(number, _MOST_TEMPLATES)

    def _novel(self, number: int, most: int) -> str:
        if -number in self._sources:
            return self._sources[-number]
        data, novel = only(
            self._tx.execute("SELECT segments, novel FROM versions WHERE id = ?", (number,))
        )
        if isinstance(novel, int):
            return self._kept(-number, get_text(self._tx, novel))
        like = template(data, number)
        if like and not most:
            raise StoreCorrupt(f"version {number} has too many templates")
        return self._kept(-number, unsqueezed(novel, self._novel(like, most - 1) if like else ""))

    def _rebuilt(
        self, number: int, depth: int, segments: list[delta.Segment], below: _Version | None
    ) -> _Version:
        sources = {BASE: below.text} if below else {}
        for source in {segment[0] for segment in segments} - {BASE}:
            sources[source] = self._source(source)
        flat = delta.compose(segments, BASE, below.flat) if below and self._flat else segments
        text = delta.decode(segments, sources)
        if len(text) != sum(size for _, _, size in segments):
            raise StoreCorrupt(f"version {number} copies what is not there")
        return _Version(number, depth, text, flat, below.anchor if below else number)

    def _source(self, source: int) -> str:
        if source < 0:
            return self.novel(-source)
        known = self._sources.get(source)
        return self._kept(source, get_text(self._tx, source)) if known is None else known

    def _kept(self, source: int, text: str) -> str:
        self._sources[source] = text
        if len(self._sources) > _KEPT_TIPS:
            self._sources.popitem(last=False)
        return text
