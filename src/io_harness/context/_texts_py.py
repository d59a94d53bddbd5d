"""Texts: where they may be cut, what stands in them, and lines filled with values."""

from __future__ import annotations

import re
from itertools import chain, zip_longest

from ._index_py import text_of, whole

_BARE = re.compile(r"[A-Za-z0-9_./@+~^*=%-]+").fullmatch


def cut_head(text: str, size: int) -> int:
    """The end of the longest head of at most `size` code points that splits no surrogate pair."""
    text_of("text", text)
    whole("size", size)
    if size >= len(text):
        return len(text)
    if size <= 0:
        return 0
    if "\ud800" <= text[size - 1] <= "\udbff" and "\udc00" <= text[size] <= "\udfff":
        return size - 1
    return size


def cut_tail(text: str, size: int) -> int:
    """The start of the longest tail of at most `size` code points that splits no pair."""
    text_of("text", text)
    whole("size", size)
    if size >= len(text):
        return 0
    if size <= 0:
        return len(text)
    start = len(text) - size
    if "\ud800" <= text[start - 1] <= "\udbff" and "\udc00" <= text[start] <= "\udfff":
        return start + 1
    return start


def cut_lines(text: str, size: int) -> int:
    """The end of the whole lines that fit in `size`, their last line end left off; -1 for none."""
    text_of("text", text)
    whole("size", size)
    if size >= len(text):
        return len(text)
    if size < 0:
        return -1
    return text.rfind("\n", 0, size + 1)


def filled(words: tuple[str, ...], *values: int | str) -> str:
    """The words with a value after each but the last: a line in one piece, without its parts."""
    if not isinstance(words, tuple):
        raise TypeError(f"words must be a tuple, got {type(words).__name__}")
    if len(words) != len(values) + 1:
        raise ValueError(f"{len(words)} words need one value less, got {len(values)}")
    texts = [v if isinstance(v, str) else f"{v:d}" if isinstance(v, int) else None for v in values]
    try:
        return "".join(chain.from_iterable(zip_longest(words, texts, fillvalue="")))
    except TypeError:  # of whichever comes first
        text_of("word", words[0])
        for value, word in zip(values, words[1:], strict=True):
            if not isinstance(value, str):
                whole("value", value)
            text_of("word", word)
        raise


def grouped(number: int) -> str:
    """A count with a comma between thousands; Python's own format takes four times as long."""
    whole("number", number)
    return f"{number:,}"


def has_any(text: str, signs: tuple[str, ...]) -> bool:
    """Whether a text has one of several signs, which all start with the same character."""
    text_of("text", text)
    return bool(signs) and signs[0][0] in text and any(sign in text for sign in signs)


def is_bare(text: str) -> bool:
    """Whether a text is letters, digits and `_./@+~^*=%-` of ASCII only, and any at all."""
    text_of("text", text)
    return _BARE(text) is not None
