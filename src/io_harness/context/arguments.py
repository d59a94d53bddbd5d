"""A call's arguments as they are sent: bounded and elided with the result they belong to."""

from __future__ import annotations

import re
from functools import lru_cache

from io_harness import jsontext

from .escape import clean

LITERAL_CHARS = 200
STUB_CHARS = 400
EMPTY = "{}"
# A section's worth: what is shown is asked for again every turn.
_REMEMBERED = 1_024
# A JSON string, and the colon that makes it a key.
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)


def _elide(match: re.Match[str]) -> str:
    literal, colon = match.groups()
    if colon or len(literal) <= LITERAL_CHARS:
        return match.group()
    return f'"[{len(literal)} chars elided]"'


def _is_object(args: str) -> bool:
    try:
        return isinstance(jsontext.loads(args), dict)
    except ValueError:
        return False


def elided(args: str, limit: int) -> str:
    """Arguments with long string values elided, or `{}` where that is over `limit` code points.

    All else stays byte for byte. What is no JSON object becomes `{}`; no arguments stay none.
    """
    if not args:
        return args
    if not _is_object(args):
        return EMPTY
    shorter = clean(_STRING.sub(_elide, args) if len(args) > LITERAL_CHARS else args)
    return shorter if len(shorter) <= limit else EMPTY


@lru_cache(maxsize=_REMEMBERED)
def for_stub(args: str) -> str:
    """Arguments beside a stub."""
    return elided(args, STUB_CHARS)


@lru_cache(maxsize=_REMEMBERED)
def for_entry(args: str, cap: int) -> str:
    """Arguments as they enter: whole where they fit the entry cap."""
    sent = clean(args)
    return sent if len(sent) <= cap else elided(args, cap)
