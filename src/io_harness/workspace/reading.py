"""Lines of an open file, at a bounded cost whatever its size."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import time
from itertools import islice
from typing import TYPE_CHECKING

from io_harness.types import ReadResult, Signature
from io_harness.workspace.content import Encoding, as_utf_8, encoding_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_MAX_BYTES = 8 * 2**20
WHOLE_MAX_BYTES = 64 * 2**20
_CHUNK = 256 * 2**10
_SETTLED_NS = 50_000_000


def digest_of(data: bytes) -> str:
    """The name of a file's bytes: BLAKE2b-256, in hexadecimal."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def signature_of(status: os.stat_result) -> Signature:
    """A file's signature, taken now."""
    now = time.time_ns()
    # Nothing but a write sets ctime, so a future one means that the clock was set back. A future
    # mtime can be anybody's wish, and a later write shows in ctime all the same.
    settled = now - status.st_ctime_ns >= _SETTLED_NS and not (
        0 <= now - status.st_mtime_ns < _SETTLED_NS
    )
    return Signature(
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        settled,
    )


class _Source:
    """The bytes of a descriptor as they come: counted, and hashed where the file is not too big."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._hash = hashlib.blake2b(digest_size=32)
        self.hashes = size <= WHOLE_MAX_BYTES
        self.count, self.ended = 0, False
        self.start = self._next()
        self._given = False

    def _next(self) -> bytes:
        chunk = os.read(self._descriptor, _CHUNK)
        self.count += len(chunk)
        self.ended = not chunk
        if self.hashes:
            self._hash.update(chunk)
        return chunk

    def chunks(self) -> Iterator[bytes]:
        """The chunks not given yet, the first included."""
        chunk = self._next() if self._given else self.start
        self._given = True
        while chunk:
            yield chunk
            chunk = self._next()

    @property
    def digest(self) -> str | None:
        """The digest of all bytes; None where they were not all read."""
        return self._hash.hexdigest() if self.hashes and self.ended else None


class _Lines:
    """Picks lines out of UTF-8 text that comes in chunks, at most READ_MAX_BYTES of them."""

    def __init__(self, offset: int, limit: int | None) -> None:
        self._skip, self._left = offset - 1, limit
        self.taken, self.newlines = bytearray(), 0
        self.full = limit == 0
        self._last = b"\n"

    def feed(self, chunk: bytes) -> None:
        """Take what is wanted of the next chunk, and count its lines."""
        before = self.newlines
        self.newlines += chunk.count(b"\n")
        self._last = chunk[-1:] or self._last
        if self.full or not self.reached:
            return
        start = _length(chunk, self._skip - before) if before < self._skip else 0
        end = min(len(chunk), start + READ_MAX_BYTES - len(self.taken))
        if self._left is not None:
            end = min(end, start + _length(chunk[start:], self._left))
            self._left -= chunk.count(b"\n", start, end)
        self.taken += chunk[start:end]
        self.full = self._left == 0 or len(self.taken) == READ_MAX_BYTES

    @property
    def reached(self) -> bool:
        """Whether the first line wanted has begun, or the count came to it."""
        return self.newlines >= self._skip

    @property
    def total(self) -> int:
        """The number of lines seen."""
        return self.newlines + (self._last != b"\n")

    def close(self) -> int:
        """Cut what was taken to whole lines, or one line to whole characters; give the number."""
        if len(self.taken) == READ_MAX_BYTES and not self.taken.endswith(b"\n"):
            whole = self.taken.rfind(b"\n") + 1
            del self.taken[whole or _whole_characters(self.taken) :]
        return self.taken.count(b"\n") + bool(self.taken and not self.taken.endswith(b"\n"))


def _length(chunk: bytes, lines: int) -> int:
    """How many bytes the first lines of a chunk take."""
    return sum(map(len, islice(io.BytesIO(chunk), min(lines, len(chunk)))))


def _whole_characters(data: bytearray) -> int:
    """The length of UTF-8 data without a character that is cut at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needed = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if needed <= back else len(data) - back
    return len(data)


def read_lines(
    descriptor: int, status: os.stat_result, offset: int, limit: int | None
) -> ReadResult:
    """Lines from `offset` on (1-based), all or `limit` of them; past the end none.

    What is no text is told in one line that names kind and size. Raises OSError EFBIG where the
    first line wanted lies beyond the first 64 MiB.
    """
    signature = signature_of(status)
    source = _Source(descriptor, status.st_size)
    encoding = encoding_of(source.start)
    lines = _Lines(offset, limit)
    try:
        if encoding is None:
            return _placeholder(source, signature)
        _take(source, encoding, lines)
    except UnicodeError:
        return _placeholder(source, signature)
    if not lines.reached and not source.ended:
        raise OSError(errno.EFBIG, f"line {offset} lies beyond the first 64 MiB; run a command")
    count = lines.close()
    return ReadResult(
        lines.taken.decode(),
        (offset, offset + count - 1),
        lines.total if source.ended else None,
        status.st_size,
        source.digest,
        signature,
        _note(source, encoding, status),
    )


def _take(source: _Source, encoding: Encoding, lines: _Lines) -> None:
    """Feed the lines: a file of at most 64 MiB to its end, another as far as it must be."""
    for chunk in as_utf_8(source.chunks(), encoding):
        lines.feed(chunk)
        beyond = source.count > WHOLE_MAX_BYTES
        if (lines.full and (beyond or not source.hashes)) or (beyond and not lines.reached):
            return


def _placeholder(source: _Source, signature: Signature) -> ReadResult:
    """One line that stands for a file that is no text."""
    if source.hashes:
        for _ in source.chunks():
            if source.count > WHOLE_MAX_BYTES:
                break
    kind = kind_of(source.start)
    text = _standing_for(kind, signature.size)
    return ReadResult(text, (1, 1), 1, signature.size, source.digest, signature, kind)


def _standing_for(kind: str | None, size: int) -> str:
    return f"{kind}, {size:,} bytes: not shown as text"


def is_text(result: ReadResult) -> bool:
    """Whether what was read is text, and no line that stands for other bytes."""
    return result.text != _standing_for(result.note, result.size)


def _note(source: _Source, encoding: Encoding, status: os.stat_result) -> str | None:
    """What is unusual about the file, or None."""
    remarks = []
    if encoding.name:
        remarks.append(encoding.name)
    if status.st_nlink > 1:
        remarks.append(f"one of {status.st_nlink} hard links")
    if source.ended and source.count != status.st_size:
        remarks.append("changed while it was read")
    return "; ".join(remarks) or None
