"""JSON values as the importers take them: of the type expected, or empty."""

from __future__ import annotations

import json
from collections.abc import Mapping

import orjson

from io_harness.types import JSON, Usage


def arguments_text(args: JSON) -> str:
    """A call's arguments as the JSON text that is sent."""
    if isinstance(args, str):
        return args
    if args is None:
        return ""
    try:
        return orjson.dumps(args).decode("utf-8", "replace")
    except (TypeError, ValueError):
        return _deep_text(args)


def _deep_text(args: JSON) -> str:
    """Of arguments with numbers or nesting beyond what orjson writes."""
    try:
        return json.dumps(args)
    except (ValueError, RecursionError):
        return "(nested too deep)"


def usage_of(
    value: JSON, *, prompt: tuple[str, ...], read: str, write: str, output: str
) -> Usage | None:
    """Token counts from an object; the prompt is the sum of the fields named, `None` without."""
    if not isinstance(value, dict):
        return None
    parts = [n for n in (_count(value.get(name)) for name in prompt) if n is not None]
    if not parts:
        return None
    return Usage(
        sum(parts), _count(value.get(output)), _count(value.get(read)), _count(value.get(write))
    )


def _count(value: JSON) -> int | None:
    ok = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) if ok and isinstance(value, int) else None


def as_dict(value: JSON) -> Mapping[str, JSON]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: JSON) -> str:
    """The text, or the empty one."""
    return value if isinstance(value, str) else ""


def parsed(text: JSON) -> Mapping[str, JSON]:
    """The object a JSON text holds; `{}` where it is none."""
    if isinstance(text, dict):
        return text
    try:
        return as_dict(orjson.loads(as_text(text)))
    except orjson.JSONDecodeError:
        return {}
