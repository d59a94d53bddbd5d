"""Texts, each stored once, and versions of a text, each stored as what differs from the last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from io_harness import jsontext
from io_harness.errors import StoreCorrupt
from io_harness.store import delta
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import (
    COMPRESS_BYTES,
    INLINE_CHARS,
    as_int,
    as_maybe_int,
    as_text,
    digest,
    encoded,
    head,
    only,
    packed,
    squeezed,
    to_sql,
    unpacked,
    unsqueezed,
)

MOST_DEPTH: Final = 127
"""Versions that stand on one another before one is stored that stands alone."""
_BASE: Final = 0
_KEPT_TIPS: Final = 128


def put_text(tx: Transaction, run: int, text: str) -> SQLValue:
    """Store a text for a run and return what a column holds for it: the text, or its id."""
    if len(text) <= INLINE_CHARS:
        return to_sql(text)
    data = encoded(text)
    key = digest(data)
    rows = tx.execute("SELECT id FROM texts WHERE digest = ?", (key,))
    if not rows:
        smaller, plain = packed(data), to_sql(text)
        tops = head(text) if smaller or isinstance(plain, bytes) else None
        rows = tx.execute(
            "INSERT INTO texts (digest, chars, packed, body, head) VALUES (?, ?, ?, ?, ?)"
            " RETURNING id",
            (key, len(text), smaller is not None, smaller or plain, tops),
        )
    text_id = as_int(rows[0][0])
    tx.execute("INSERT INTO text_uses VALUES (?, ?) ON CONFLICT DO NOTHING", (text_id, run))
    return text_id


def put_maybe_text(tx: Transaction, run: int, text: str | None) -> SQLValue:
    """Store a text that may be none."""
    return None if text is None else put_text(tx, run, text)


def get_text(tx: Transaction, value: SQLValue) -> str:
    """Return the text that a column holds or names."""
    if not isinstance(value, int):
        return as_text(value)
    chars, is_packed, body = only(
        tx.execute("SELECT chars, packed, body FROM texts WHERE id = ?", (value,))
    )
    if is_packed and isinstance(body, bytes):
        return unpacked(body, as_int(chars))
    return as_text(body)


def get_maybe_text(tx: Transaction, value: SQLValue) -> str | None:
    """Return the text that a column holds or names, or `None` for NULL."""
    return None if value is None else get_text(tx, value)


@dataclass(frozen=True, slots=True)
class _Version:
    number: int
    depth: int
    text: str
    flat: list[delta.Segment]


class Versions:
    """The newest version of each chain, so that the next one need not read the last."""

    def __init__(self) -> None:
        self._tips: OrderedDict[tuple[int, str], _Version] = OrderedDict()

    def forget(self) -> None:
        """Forget all: another driver may have gone on with a run, or deleted it."""
        self._tips.clear()

    def put(
        self,
        tx: Transaction,
        run: int,
        chain: str,
        text: str,
        *,
        base: int | None,
        near: Iterable[SQLValue] = (),
    ) -> int:
        """Store `text` as the version after `base` of a run's chain and return its number.

        `near` are stored texts (ids; others are ignored) that it may repeat.
        """
        below = None if base is None else self._tip(tx, run, chain, base)
        (newest,) = only(tx.execute("SELECT coalesce(max(id), 0) FROM versions"))
        number = as_int(newest) + 1
        sources = {_BASE: below.text} if below else {}
        sources |= {value: get_text(tx, value) for value in near if isinstance(value, int)}
        segments, fresh = delta.encode(text, sources, novel=-number)
        flat = delta.compose(segments, _BASE, below.flat) if below else segments
        depth = below.depth + 1 if below else 0
        if depth > MOST_DEPTH:
            segments, base, depth = flat, None, 0
        tx.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?)",
            (number, base, depth, _spelled(segments), _put_novel(tx, run, fresh)),
        )
        self._keep(run, chain, _Version(number, depth, text, flat))
        return number

    def _tip(self, tx: Transaction, run: int, chain: str, number: int) -> _Version:
        tip = self._tips.get((run, chain))
        return tip if tip and tip.number == number else VersionReader(tx, flat=True).version(number)

    def _keep(self, run: int, chain: str, version: _Version) -> None:
        self._tips[run, chain] = version
        self._tips.move_to_end((run, chain))
        if len(self._tips) > _KEPT_TIPS:
            self._tips.popitem(last=False)


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
            under, depth, spelled = only(
                self._tx.execute("SELECT base, depth, segments FROM versions WHERE id = ?", (base,))
            )
            if len(rows) > MOST_DEPTH:
                raise StoreCorrupt(f"version {number} stands on too many others: run doctor")
            rows.append((base, as_int(depth), _segments(spelled)))
            base = as_maybe_int(under)
        version = None if base is None else self._last[base]
        for at, depth_at, segments in reversed(rows):
            version = self._rebuilt(at, depth_at, segments, version)
        assert version is not None
        self._last = {number: version}
        return version

    def _rebuilt(
        self, number: int, depth: int, segments: list[delta.Segment], below: _Version | None
    ) -> _Version:
        sources = {_BASE: below.text} if below else {}
        for source in {segment[0] for segment in segments} - {_BASE}:
            sources[source] = self._source(source)
        flat = delta.compose(segments, _BASE, below.flat) if below and self._flat else segments
        return _Version(number, depth, delta.decode(segments, sources), flat)

    def _source(self, source: int) -> str:
        if source in self._sources:
            return self._sources[source]
        if source > 0:
            text = get_text(self._tx, source)
        else:
            (novel,) = only(self._tx.execute("SELECT novel FROM versions WHERE id = ?", (-source,)))
            text = _get_novel(self._tx, novel)
        self._sources[source] = text
        if len(self._sources) > _KEPT_TIPS:
            self._sources.popitem(last=False)
        return text


def _put_novel(tx: Transaction, run: int, text: str) -> SQLValue:
    """Store what is new in a version: in its row where it is short, for it seldom comes again."""
    return squeezed(text) if len(text) <= COMPRESS_BYTES else put_text(tx, run, text)


def _get_novel(tx: Transaction, value: SQLValue) -> str:
    return get_text(tx, value) if isinstance(value, int) else unsqueezed(value)


def _spelled(segments: Sequence[delta.Segment]) -> bytes:
    return squeezed(jsontext.dumps([number for segment in segments for number in segment]))


def _segments(spelled: SQLValue) -> list[delta.Segment]:
    numbers = iter(cast("list[int]", jsontext.loads(unsqueezed(spelled))))
    return list(zip(numbers, numbers, numbers, strict=True))
