"""Texts, each stored once, whoever has it."""

from __future__ import annotations

from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import (
    INLINE_CHARS,
    as_bytes,
    as_int,
    as_maybe_text,
    as_text,
    digest,
    encoded,
    maybe_to_sql,
    only,
    packed,
    to_sql,
    unpacked,
)


def put_text(tx: Transaction, run: int, text: str) -> SQLValue:
    """Store a text for a run and return what a column holds for it: the text, or its id."""
    if len(text) <= INLINE_CHARS:
        return to_sql(text)
    data = encoded(text)
    key = digest(data)
    rows = tx.execute(
        "SELECT id FROM texts WHERE substr(digest, 1, 8) = ? AND digest = ?", (key[:8], key)
    )
    if not rows:
        rows = tx.execute(
            "INSERT INTO texts (digest, chars, packed, body, head) VALUES (?, ?, ?, ?, ?)"
            " RETURNING id",
            (key, len(text), *packed(text, data)),
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
    chars, form, body, head = only(
        tx.execute("SELECT chars, packed, body, head FROM texts WHERE id = ?", (value,))
    )
    return unpacked(as_int(form), body, head, as_int(chars))


def get_maybe_text(tx: Transaction, value: SQLValue) -> str | None:
    """Return the text that a column holds or names, or `None` for NULL."""
    return None if value is None else get_text(tx, value)


def put_digest(tx: Transaction, text: SQLValue, known: str | None) -> SQLValue:
    """Return what a column holds for a digest: the text's id where it is that of a stored text."""
    if known is None or not isinstance(text, int):
        return maybe_to_sql(known)
    return text if _digest_of(tx, text) == known else to_sql(known)


def get_digest(tx: Transaction, value: SQLValue) -> str | None:
    """Return the digest that a column holds or names, or `None` for NULL."""
    return _digest_of(tx, value) if isinstance(value, int) else as_maybe_text(value)


def _digest_of(tx: Transaction, text: int) -> str:
    (known,) = only(tx.execute("SELECT digest FROM texts WHERE id = ?", (text,)))
    return as_bytes(known).hex()
