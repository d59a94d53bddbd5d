"""Text that cannot imitate the harness: quoting in one line, and escaping in content."""

from __future__ import annotations

import re

from .kernel import is_bare

TARGET_CHARS = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))")
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "<": "\\u{3c}", ">": "\\u{3e}"}
_LONG = {"n": "\n", "t": "\t"}


def clean(text: str) -> str:
    r"""Text that encodes to UTF-8: a lone surrogate is shown as \u{d83d}, a pair is joined."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = _PAIR.sub(_join, text)
        return _SURROGATE.sub(_code, joined)
    return text


def _join(match: re.Match[str]) -> str:
    high, low = tuple(match.group())
    return chr(0x10000 + (ord(high) - 0xD800) * 0x400 + ord(low) - 0xDC00)


def _code(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):x}}}"


def _shown(char: str) -> str:
    short = _SHORT.get(char)
    if short is not None:
        return short
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"


def quote(text: str, limit: int | None = None) -> str:
    """A text as one token of one line: bare where that is plain, else in double quotes.

    Control and format characters, surrogates and angle brackets are escaped. Over `limit` code
    points it is shortened, between escapes, and ends with an ellipsis.
    """
    if is_bare(text) and (limit is None or len(text) <= limit):
        return text
    return quoted(text, limit)


def quoted(text: str, limit: int | None = None) -> str:
    """`text` in double quotes, escaped; at most `limit` code points between them."""
    if limit is None:
        return '"' + "".join(map(_shown, text)) + '"'
    kept: list[str] = []
    room = limit
    for char in text[: limit + 1]:
        shown = _shown(char)
        kept.append(shown)
        room -= len(shown)
        if room < 0:
            while kept and room < 1:
                room += len(kept.pop())
            return '"' + "".join(kept) + '…"'
    return '"' + "".join(kept) + '"'


def unquote(token: str) -> str:
    """The text that `quote` was given, where it was not shortened."""
    if not token.startswith('"'):
        return token
    return _ESCAPE.sub(_unescape, token[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code, short = match.groups()
    if code is not None:
        return chr(int(code, 16))
    return _LONG.get(short, short)
