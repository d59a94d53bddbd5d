"""The one way that text becomes SQL values and comes back, exact for every `str`.

Valid text without NUL is TEXT; everything else is bytes (UTF-8 with the surrogates passed
through). The storage class is the flag: SQLite's TEXT stops at NUL for most who read it and
cannot hold a surrogate.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Final

from io_harness.errors import StoreCorrupt
from io_harness.store.base import Row, SQLValue

INLINE_CHARS: Final = 96
"""Up to here a row holds the text itself; a row of its own would cost more than it saves."""
COMPRESS_BYTES: Final = 1_024
_LEVEL: Final = 3
"""Others wait while a text is compressed; more than this saves little of it."""
_WORDS: Final = (
    b'{"ceiling":24000,"carried":54,"stubbed":546,"reread":0,"recalled":0,"left_out":0,'
    b'"collapsed":true,"rewritten":true,"stable_chars":14,"price":[1.0,1.0],"chars":93000,'
    b'"everything_chars":927000,"est_tools":1000,"est_system":200,"est_goal":5}\n'
    b'"collapsed" observations of earlier steps are counted here, "refreshed" "bounded" note: '
    b"superseded by step , invalidated by the write at step [re-read at step  characters, "
    b"older than the current context window; show(step=1, call=-1)]\n"
    b'["call_","toolu_","write_file","edit_file","run_command","grep","list_dir","read_file",false]'
    b'\n{"path":"src/","pattern":"","content":""}\nassistant 0\n\ncall 19 [call_",false]\n{"path":"'
    b'\ntool 0\n\nresult 2000 ["",false]\n[step 1, read .py, lines 1-49 of 49]\n\n\nlimits 9\n'
    b"[8192,0]\n"
    b',-1,"carried","",39]\n[1,0,"stub","[step 1, read : 1,000 characters, older than the '
    b"current context window; show(step=1, call=0)]"
)
"""What requests are made of, to tell short texts by; part of the format: it never changes."""
_MOST_LIKE_BYTES: Final = 16 * 1024
_MOST_UNSQUEEZED: Final = 16 * 1024 * 1024
"""Bytes that such a text may come to: the file may be hostile."""
_PLAIN, _FIRST_FORM, _REST, _WHOLE = range(4)
"""What `texts.packed` says of a body: as it is; a zlib stream (schema 1); a deflate stream of
what comes after the head; a deflate stream of all, where the head is not exact."""
HEAD_CHARS: Final = 400
MAX_INTEGER: Final = 2**63 - 1


def encoded(text: str) -> bytes:
    """Return the bytes that stand for a text, whatever code points it has."""
    return text.encode("utf-8", "surrogatepass")


def to_sql(text: str) -> str | bytes:
    """Return what a column holds for a text."""
    if "\0" in text:
        return encoded(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return encoded(text)
    return text


def maybe_to_sql(text: str | None) -> str | bytes | None:
    """Return what a column holds for a text or for none."""
    return None if text is None else to_sql(text)


def as_text(value: SQLValue) -> str:
    """Return the text that a column holds."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise _unexpected("text", value) from error
    raise _unexpected("text", value)


def as_maybe_text(value: SQLValue) -> str | None:
    """Return the text that a column holds, or `None` for NULL."""
    return None if value is None else as_text(value)


def as_int(value: SQLValue) -> int:
    """Return the integer that a column holds."""
    if isinstance(value, int):
        return value
    raise _unexpected("an integer", value)


def as_bytes(value: SQLValue) -> bytes:
    """Return the bytes that a column holds."""
    if isinstance(value, bytes):
        return value
    raise _unexpected("bytes", value)


def as_maybe_int(value: SQLValue) -> int | None:
    """Return the integer that a column holds, or `None` for NULL."""
    return None if value is None else as_int(value)


def as_float(value: SQLValue) -> float:
    """Return the number that a column holds."""
    if isinstance(value, (int, float)):
        return float(value)
    raise _unexpected("a number", value)


def only(rows: list[Row]) -> Row:
    """Return the one row that must be there."""
    if len(rows) == 1:
        return rows[0]
    raise StoreCorrupt(f"there are {len(rows)} rows where one belongs")


def digest(data: bytes) -> bytes:
    """Return what a text is known by: what agents read may be hostile, so no fast hash."""
    return hashlib.blake2b(data, digest_size=32).digest()


def head(text: str) -> str:
    """Return the first characters of a text, for people who look with other tools."""
    return text[:HEAD_CHARS].replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def packed(text: str, data: bytes) -> tuple[int, SQLValue, SQLValue]:
    """Return form, body and head of the row of a text, `data` being its bytes."""
    plain, top = to_sql(text), head(text)
    if len(data) > COMPRESS_BYTES:
        exact = encoded(top) if text.startswith(top) else b""
        smaller = _deflated(data[len(exact) :], exact)
        if len(exact) + len(smaller) < len(data):
            return (_REST if exact else _WHOLE), smaller, top
    return _PLAIN, plain, top if isinstance(plain, bytes) else None


def unpacked(form: int, body: SQLValue, top: SQLValue, chars: int) -> str:
    """Return the text of a row, which is known to have `chars` code points."""
    if form == _PLAIN:
        text = as_text(body)
    elif form == _REST:
        above = as_text(top)
        text = above + _inflated(body, chars - len(above), encoded(above))
    elif form in (_WHOLE, _FIRST_FORM):
        text = _inflated(body, chars, None if form == _FIRST_FORM else b"")
    else:
        raise StoreCorrupt(f"a text has the unknown form {form}")
    if len(text) != chars:
        raise StoreCorrupt(f"a text of {chars:,} characters came back with {len(text):,}")
    return text


def _deflated(data: bytes, like: bytes) -> bytes:
    writer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, like)
    return writer.compress(data) + writer.flush()


def _inflated(value: SQLValue, chars: int, like: bytes | None) -> str:
    """Return text that was deflated, bounded: the file may be hostile."""
    reader = zlib.decompressobj() if like is None else zlib.decompressobj(-15, like)
    try:
        raw = reader.decompress(as_bytes(value), 4 * max(0, chars) + 1)
        return raw.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError, OverflowError) as error:
        raise StoreCorrupt(f"a text cannot be read: {error}") from error


def squeezed(text: str, like: str = "") -> bytes:
    """Return a short text of the sort that requests are made of, in few bytes.

    `like` is a text that much of it may stand in.
    """
    writer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, _words(like))
    return writer.compress(encoded(text)) + writer.flush()


def unsqueezed(value: SQLValue, like: str = "") -> str:
    """Return the text that was squeezed, with the same `like`."""
    reader = zlib.decompressobj(-15, _words(like))
    try:
        raw = reader.decompress(as_bytes(value), _MOST_UNSQUEEZED)
        return raw.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreCorrupt(f"a text cannot be read: {error}") from error


def _words(like: str) -> bytes:
    return _WORDS + encoded(like)[-_MOST_LIKE_BYTES:]


def _unexpected(wanted: str, value: SQLValue) -> StoreCorrupt:
    return StoreCorrupt(f"it holds {type(value).__name__} where {wanted} belongs")
