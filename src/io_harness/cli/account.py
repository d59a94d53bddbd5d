"""Why a request was as it was, and what else happened in a step: the trace, for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from io_harness import jsontext
from io_harness.cli.output import short
from io_harness.store import ContextEvent, ProviderCall
from io_harness.types import JSON
from io_harness.workspace import counted

_OF_REQUESTS = ("assembled", "reread", "reread_refused", "memory_recall")
_SAID = {
    "reread": "read again: {target} ({reason})",
    "reread_refused": "not read again: {target} ({reason}): {because}",
    "memory_recall": "notes not shown before: {keys}",
    "memory_write": "note written: {key}",
    "memory_evict": "note evicted: {key}, for {for}",
    "memory_refused": "note refused: {key}: {reason}",
    "memory_forget": "note forgotten: {key}",
    "approval": "asked about call {call}, {act} of {subject}: {choice}",
    "file_note": "call {call}: {note}",
    "replan": "the model was told that it gets nowhere: {what}",
    "stalled": "it got nowhere: {what}",
}


def account_of(events: Iterable[ContextEvent]) -> Iterator[str]:
    """Yield what there is to say of the requests of one step, and of what they show."""
    for event in events:
        if event.kind == "assembled":
            yield from _request(event)
        elif event.kind in _OF_REQUESTS:
            yield _happened(event)


def happened(events: Iterable[ContextEvent], calls: Iterable[ProviderCall]) -> Iterator[str]:
    """Yield what else happened in one step: failed attempts, approvals, notes."""
    for call in calls:
        if call.kind != "ok":
            yield f"attempt {call.attempt}: {call.kind}: {short(call.detail, 200)}"
    for event in events:
        if event.kind not in _OF_REQUESTS:
            yield _happened(event)


def _request(event: ContextEvent) -> Iterator[str]:
    detail = event.detail
    parts = [f"{name} {_number(detail, f'est_{name}')}" for name in ("tools", "system", "goal")]
    fixed = (event.est_request or 0) - (event.est_section or 0)
    of_what = f" ({', '.join(parts)})" if "est_tools" in detail else ""
    most = f" of at most {_number(detail, 'ceiling')}" if "ceiling" in detail else ""
    yield (
        f"an estimated {event.est_request or 0:,} tokens: {fixed:,} fixed{of_what} and "
        f"{event.est_section or 0:,}{most} in the section{_reported(event)}"
    )
    if "carried" not in detail:
        return
    shown = [
        counted(_count(detail, "carried"), "result") + " shown",
        _some(detail, "stubbed", "as stubs or counted"),
        _some(detail, "reread", "read again"),
        counted(_count(detail, "recalled"), "note") if _count(detail, "recalled") else "",
        _some(detail, "left_out", "notes without room"),
        _growth(detail),
    ]
    yield ", ".join(part for part in shown if part)


def _reported(event: ContextEvent) -> str:
    usage = event.reported
    if usage is None or usage.input is None:
        return ""
    cached = "" if usage.cache_read is None else f", {usage.cache_read:,} of them cached"
    return f"; {usage.input:,} reported{cached}"


def _growth(detail: Mapping[str, JSON]) -> str:
    """Whether a section that is meant to grow did: said where a stable prefix is cheaper."""
    match detail.get("price"):
        case [int() | float() as read, int() | float() as write] if read < write:
            return "written anew" if detail.get("rewritten") else "added to the one before"
        case _:
            return ""


def _happened(event: ContextEvent) -> str:
    words = {name: _text(value) for name, value in event.detail.items()}
    try:
        return _SAID[event.kind].format_map(words)
    except KeyError:  # another driver's event, or an earlier version's
        return f"{event.kind}: {_text(event.detail)}"


def _text(value: JSON) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return short(value if isinstance(value, str) else jsontext.dumps(value), 100)


def _some(detail: Mapping[str, JSON], name: str, what: str) -> str:
    return f"{_number(detail, name)} {what}" if _count(detail, name) else ""


def _number(detail: Mapping[str, JSON], name: str) -> str:
    return f"{_count(detail, name):,}"


def _count(detail: Mapping[str, JSON], name: str) -> int:
    value = detail.get(name)
    return value if isinstance(value, int) else 0
