"""OpenHands events: actions cause observations; answers with one response id are one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.values import as_dict, as_list, as_text, usage_of
from io_harness.replay.vocabulary import call_meaning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source
    from io_harness.types import JSON, Usage

FORMAT = "openhands"
_CALLS = frozenset(
    {"run", "run_ipython", "read", "edit", "write", "think", "finish", "browse", "delegate"}
    | {"browse_interactive", "call_tool_mcp", "task_tracking", "reject"}
)
_SKIPPED = frozenset({"recall", "change_agent_state", "null", "agent_state_changed", "system"})


def claims(source: Source) -> bool:
    """Events: objects with an action or an observation, and a source or a cause."""
    return any(_is_event(event) for event in list(_events(source))[:50])


def _is_event(event: Mapping[str, JSON]) -> bool:
    named = isinstance(event.get("action"), str) or isinstance(event.get("observation"), str)
    return named and ("source" in event or "cause" in event or "extras" in event)


def _events(source: Source) -> Iterator[Mapping[str, JSON]]:
    """Events of a `history`, of a bare list, or one a line; pairs of the old form in order."""
    for value in source.values:
        top = as_dict(value)
        inner = top.get("history") or top.get("events")
        items = as_list(inner) or (value if isinstance(value, list) else [value])
        for item in items:
            for event in item if isinstance(item, list) else [item]:
                if event is not None:  # an action whose observation never came
                    yield as_dict(event)


def build(source: Source) -> Transcript:
    """The events as records."""
    builder = Builder()
    response: str | None = None
    cwd = here = _cwd(source)
    for event in _events(source):
        action, observation = as_text(event.get("action")), as_text(event.get("observation"))
        if action in _CALLS:
            response = _call(builder, event, response, cwd, here)
        elif action == "message":
            response = _message(builder, event, response)
        elif action == "condensation":
            builder.report.notes["condensation"] += 1
            builder.told(as_text(as_dict(event.get("args")).get("summary")))
        elif action in _SKIPPED or observation in _SKIPPED:
            builder.report.notes[f"{action or observation} event"] += 1
        elif observation:
            _observation(builder, event)
            here = _directory(event) or here
        else:
            builder.unknown(f"event of action {action or 'none'}")
    return builder.transcript(source.path, FORMAT)


def _cwd(source: Source) -> str:
    return next(filter(None, map(_directory, _events(source))), "")


def _directory(event: Mapping[str, JSON]) -> str:
    """Where the shell is after a command: it stays there for the next one."""
    metadata = as_dict(as_dict(event.get("extras")).get("metadata"))
    return as_text(metadata.get("working_dir"))


def _response(event: Mapping[str, JSON]) -> Mapping[str, JSON]:
    return as_dict(as_dict(event.get("tool_call_metadata")).get("model_response"))


def _open_step(builder: Builder, event: Mapping[str, JSON], before: str | None) -> str:
    response = as_text(_response(event).get("id"))
    if not response or response != before:
        builder.answer(_usage(event))
    return response


def _call(
    builder: Builder, event: Mapping[str, JSON], before: str | None, cwd: str, here: str
) -> str:
    response = _open_step(builder, event, before)
    args = dict(as_dict(event.get("args")))
    builder.said(as_text(args.pop("thought", "")))
    name = as_text(event.get("action"))
    asked = _asked(event) or {k: v for k, v in args.items() if k not in _NOT_ASKED}
    call_id = builder.call(_id(event.get("id")), name, asked, call_meaning(name, args, cwd, here))
    if name in {"finish", "think"}:
        builder.report.notes[f"{name} action"] += 1
    if name == "finish":
        builder.result(call_id, "")
    return response


def _id(value: JSON) -> str:
    return "" if value is None else str(value)


_NOT_ASKED = frozenset(
    {"blocking", "is_static", "hidden", "confirmation_state", "security_risk", "impl_source"}
)


def _asked(event: Mapping[str, JSON]) -> JSON:
    """The arguments as the model wrote them, where the answer is kept with the event."""
    call_id = as_dict(event.get("tool_call_metadata")).get("tool_call_id")
    for choice in map(as_dict, as_list(_response(event).get("choices"))):
        calls = as_list(as_dict(choice.get("message")).get("tool_calls"))
        for call in map(as_dict, calls):
            if call.get("id") == call_id:
                return as_dict(call.get("function")).get("arguments")
    return None


def _message(builder: Builder, event: Mapping[str, JSON], before: str | None) -> str | None:
    text = builder.text(as_dict(event.get("args")).get("content") or event.get("content"))
    if event.get("source") != "agent":
        builder.told(text)
        return before
    response = _open_step(builder, event, before)
    builder.said(text)
    return response


def _observation(builder: Builder, event: Mapping[str, JSON]) -> None:
    text = builder.text(event.get("content"))
    code = as_dict(as_dict(event.get("extras")).get("metadata")).get("exit_code")
    kind = as_text(event.get("observation"))
    failed = kind == "error" or (kind in {"edit", "read", "write"} and text.startswith("ERROR:"))
    call_id = _id(event.get("cause"))
    if not builder.knows(call_id):
        # Without ids an observation stands behind its action.
        waiting = builder.waiting() or ""
        call_id = waiting if waiting.startswith("#") else call_id
    if kind == "error" and not call_id:
        builder.told(text)
        builder.report.notes["error without an action"] += 1
        return
    exit_code = code if isinstance(code, int) else 0
    builder.result(call_id, text, is_error=failed, exit_code=exit_code)


def _usage(event: Mapping[str, JSON]) -> Usage | None:
    usage = as_dict(_response(event).get("usage"))
    details = as_dict(usage.get("prompt_tokens_details"))
    return usage_of(
        {**usage, "cached": details.get("cached_tokens")},
        prompt=("prompt_tokens",),
        read="cached",
        write="cache_creation_input_tokens",
        output="completion_tokens",
    )
