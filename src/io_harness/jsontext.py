"""JSON as text, in one place: orjson for valid data, the standard library where orjson refuses.

orjson refuses lone surrogates, rounds integers over 64 bits when it reads, and makes null of what
is not finite; all of it occurs in what models and tools send, and none may be lost or made up.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.types import JSON

_BEYOND_64_BITS = re.compile(r"\d{19}|[eE]\+?\d{3}")


def dumps(value: object, *, sort_keys: bool = False) -> str:
    """Return compact JSON text; the same value gives the same text in every process.

    Raises `ValueError` for what JSON cannot hold (NaN, infinities, other types).
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else 0).decode()
        if "null" not in text:
            return text
    except TypeError:
        pass
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def arguments_text(arguments: Mapping[str, object] | str) -> str:
    """Return a call's arguments as JSON text; what was no object stays as the model wrote it."""
    return arguments if isinstance(arguments, str) else dumps(dict(arguments))


def loads(text: str) -> JSON:
    """Return the value of JSON text; raises `ValueError` where it is not JSON."""
    if _BEYOND_64_BITS.search(text) is None:
        try:
            return cast("JSON", orjson.loads(text))
        except ValueError:
            pass
    try:
        return cast("JSON", json.loads(text, parse_constant=_refuse, parse_float=_finite))
    except RecursionError as error:
        raise ValueError("not JSON that can be read: nested too deep") from error
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error


def _finite(literal: str) -> float:
    number = float(literal)
    return number if math.isfinite(number) else _refuse(literal)


def _refuse(literal: str) -> float:
    raise ValueError(f"{literal[:40]} is no number that can be kept")
