"""What the bytes of a file are: text in an encoding that is named, or something else."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SNIFF_BYTES = 8_192
_MAGIC = (
    (b"\x7fELF", "ELF binary"),
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"SQLite format 3\0", "SQLite database"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How text is stored: the codec without its mark, the mark, and what to call it.

    `name` is None for plain UTF-8, which needs no mention.
    """

    codec: str
    mark: bytes
    name: str | None

    def decode(self, data: bytes) -> str:
        """The text of a whole file. Raises UnicodeDecodeError."""
        return data[len(self.mark) :].decode(self.codec)

    def encode(self, text: str) -> bytes:
        """The bytes of a whole file. Raises UnicodeEncodeError for a lone surrogate."""
        return self.mark + text.encode(self.codec)


UTF_8 = Encoding("utf-8", b"", None)
_MARKED = (
    Encoding("utf-8", codecs.BOM_UTF8, "UTF-8 with a byte order mark"),
    Encoding("utf-16-le", codecs.BOM_UTF16_LE, "UTF-16 LE with a byte order mark"),
    Encoding("utf-16-be", codecs.BOM_UTF16_BE, "UTF-16 BE with a byte order mark"),
)


def encoding_of(start: bytes) -> Encoding | None:
    """The encoding that a file's first bytes speak of; None where they are no text."""
    if not start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        for encoding in _MARKED:
            if start.startswith(encoding.mark):
                return encoding
    return None if b"\0" in start[:SNIFF_BYTES] else UTF_8


def kind_of(start: bytes) -> str:
    """What to call a file that is no text."""
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    return "binary file" if b"\0" in start else "file that is not UTF-8 text"


def as_utf_8(chunks: Iterator[bytes], encoding: Encoding) -> Iterator[bytes]:
    """The text as UTF-8 without its mark. Raises UnicodeError at bytes that are no text."""
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    skip = len(encoding.mark)
    for chunk in chunks:
        text = decoder.decode(chunk[skip:])
        skip = 0
        yield chunk if encoding is UTF_8 else text.encode()
    decoder.decode(b"", True)
