"""How a version is made, as the bytes of its row.

A mark that no deflate stream starts with; how far back the version is whose new text is the
template of this one's (0: none); then the segments. Numbers are of seven bits a byte, the low
ones first. A segment is its length with the kind of its source in the two lowest bits, then the
source where the kind does not say it, then its start as the distance from where the last copy
of that kind ended; new text of the version's own is always gone on with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, cast

from io_harness import jsontext
from io_harness.errors import StoreCorrupt
from io_harness.store.base import SQLValue
from io_harness.store.codec import unsqueezed
from io_harness.store.delta import Segment

BASE: Final = 0
"""The source that is the version below; ids of texts are above it, of versions below."""
_MARK: Final = 0x07
_OWN, _BELOW, _TEXT, _OTHER = range(4)
_MOST_BITS: Final = 63


def spelled(segments: Iterable[Segment], number: int, *, template: int) -> bytes:
    """Return the bytes for the segments of version `number`; `template` is a version or 0."""
    written = bytearray([_MARK])
    _write(written, number - template if template else 0)
    below = text = 0
    for source, start, size in segments:
        kind = _kind(source, number)
        _write(written, size << 2 | kind)
        if kind == _BELOW:
            _write(written, _zigzag(start - below))
            below = start + size
        elif kind == _TEXT:
            _write(written, _zigzag(source - text))
            _write(written, start)
            text = source
        elif kind == _OTHER:
            _write(written, number + source)
            _write(written, start)
    return bytes(written)


def read(value: SQLValue, number: int) -> list[Segment]:
    """Return the segments that the row of version `number` holds."""
    if not _is_marked(value):
        return _read_first_form(value)
    numbers = _numbers(value)
    try:
        next(numbers)
        return _read(numbers, number)
    except StopIteration:
        raise StoreCorrupt(f"version {number} ends inside a segment") from None


def _read(numbers: Iterator[int], number: int) -> list[Segment]:
    segments: list[Segment] = []
    own = below = text = 0
    for head in numbers:
        size, kind = head >> 2, head & 3
        if kind == _OWN:
            segments.append((-number, own, size))
            own += size
        elif kind == _BELOW:
            start = below + _unzigzag(next(numbers))
            segments.append((BASE, start, size))
            below = start + size
        elif kind == _TEXT:
            text += _unzigzag(next(numbers))
            segments.append((text, next(numbers), size))
        else:
            segments.append((next(numbers) - number, next(numbers), size))
    return segments


def template(value: SQLValue, number: int) -> int:
    """Return the version whose new text is the template of that of `number`; 0 for none."""
    back = next(_numbers(value), number) if _is_marked(value) else 0
    if back >= number:
        raise StoreCorrupt(f"version {number} has a template that is none")
    return number - back if back else 0


def _is_marked(value: SQLValue) -> bool:
    return isinstance(value, bytes) and value[:1] == bytes([_MARK])


def _read_first_form(value: SQLValue) -> list[Segment]:
    """Return segments as schema 1 spelled them: JSON, three integers each."""
    numbers = cast("list[int]", jsontext.loads(unsqueezed(value)))
    if not (isinstance(numbers, list) and all(type(number) is int for number in numbers)):
        raise StoreCorrupt("a version is made of what is no number")
    three = iter(numbers)
    return list(zip(three, three, three, strict=True))


def _kind(source: int, number: int) -> int:
    if source == BASE:
        return _BELOW
    if source > 0:
        return _TEXT
    return _OWN if source == -number else _OTHER


def _write(written: bytearray, number: int) -> None:
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)


def _numbers(value: SQLValue) -> Iterator[int]:
    assert isinstance(value, bytes)
    number = bits = 0
    for byte in value[1:]:
        number |= (byte & 0x7F) << bits
        bits += 7
        if byte < 0x80:
            yield number
            number = bits = 0
        elif bits > _MOST_BITS:
            raise StoreCorrupt("a version holds a number past 2**63")
    if bits:
        raise StoreCorrupt("a version ends inside a number")


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else -number << 1 | 1


def _unzigzag(number: int) -> int:
    return -(number >> 1) if number & 1 else number >> 1
