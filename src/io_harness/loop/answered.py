"""What a provider gave, looked at before anything relies on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from io_harness import jsontext
from io_harness.errors import ConfigError
from io_harness.providers.wire import parsed_arguments
from io_harness.store.checks import check_usage
from io_harness.types import Completion, ToolCall, Usage, exact


def checked(completion: object, who: str) -> Completion:
    """Return a provider's answer such as it can be kept.

    Raises `ConfigError`, naming provider and field, where its author gave something else.
    """
    what = f"what complete of {who} returns"
    if not isinstance(completion, Completion):
        raise _wrong(what, completion, "a Completion")
    for name in ("text", "stop"):
        _text(f"{what}: {name}", getattr(completion, name))
    if not isinstance(completion.calls, tuple | list):
        raise _wrong(f"{what}: calls", completion.calls, "a tuple of ToolCalls")
    calls = tuple(_call(f"{what}: calls[{n}]", call) for n, call in enumerate(completion.calls))
    if not _is_json(completion.reasoning):
        raise _wrong(f"{what}: reasoning", completion.reasoning, "JSON")
    _usage(f"{what}: usage", completion.usage)
    return replace(completion, text=exact(completion.text), calls=calls)


def _call(what: str, call: object) -> ToolCall:
    if not isinstance(call, ToolCall):
        raise _wrong(what, call, "a ToolCall")
    _text(f"{what}.id", call.id)
    _text(f"{what}.name", call.name)
    if isinstance(call.arguments, str):
        return call
    if isinstance(call.arguments, Mapping):
        arguments = dict(call.arguments)
        if _is_json(arguments):
            return replace(call, arguments=arguments)
        # What a model sent can hold numbers that are none, and `json.loads` takes them.
        with suppress(TypeError, ValueError):
            return replace(call, arguments=parsed_arguments(json.dumps(arguments)))
    raise _wrong(f"{what}.arguments", call.arguments, "a JSON object, or the text that is none")


def _usage(what: str, usage: object) -> None:
    if usage is None:
        return
    if not isinstance(usage, Usage):
        raise _wrong(what, usage, "a Usage or None")
    try:
        check_usage(usage)
    except ConfigError as error:
        raise ConfigError(f"{what}: {error}") from None


def _text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(what, value, "a text")


def _is_json(value: object) -> bool:
    """Whether a value is the same once it was written and read."""
    try:
        return jsontext.loads(jsontext.dumps(value)) == value
    except ValueError:
        return False


def _wrong(what: str, value: object, wanted: str) -> ConfigError:
    return ConfigError(f"{what} must be {wanted}, got {value!r:.200}")
