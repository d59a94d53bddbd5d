"""JSON as text, in one place: orjson for valid data, the standard library where orjson refuses.

orjson refuses lone surrogates and rounds integers over 64 bits when it reads; both occur in what
models and tools send, and neither may be lost.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

import orjson

if TYPE_CHECKING:
    from io_harness.types import JSON

_LONG_INTEGER = re.compile(r"\d{19}")


def dumps(value: object, *, sort_keys: bool = False) -> str:
    """Return compact JSON text; the same value gives the same text in every process.

    Raises `ValueError` for what JSON cannot hold (NaN, infinities, other types).
    """
    try:
        option = orjson.OPT_SORT_KEYS if sort_keys else 0
        return orjson.dumps(value, option=option).decode()
    except TypeError:
        pass
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys
        )
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def loads(text: str) -> JSON:
    """Return the value of JSON text; raises `ValueError` where it is not JSON."""
    if _LONG_INTEGER.search(text) is None:
        try:
            return cast("JSON", orjson.loads(text))
        except ValueError:
            pass
    try:
        return cast("JSON", json.loads(text, parse_constant=_refuse_constant))
    except RecursionError as error:
        raise ValueError("not JSON that can be read: nested too deep") from error


def _refuse_constant(name: str) -> JSON:
    raise ValueError(f"not JSON: {name}")
