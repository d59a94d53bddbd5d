"""What a run shows while it works: a line for each thing that happened, or JSON lines."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass

from rich.status import Status

from io_harness.cli.output import call_in_short, err, out, plain, print_json, say, short
from io_harness.events import (
    ApprovalAsked,
    AttemptFailed,
    Completed,
    Event,
    MemoryWritten,
    RequestAssembled,
    RunFinished,
    RunStarted,
    ToolCalled,
    Verified,
)


class Progress:
    """An observer for people; on a terminal it also shows what is waited for."""

    def __init__(self) -> None:
        self.run_id = ""
        self._who = ""
        self._status: Status | None = None

    def __call__(self, event: Event) -> None:
        """Show one event."""
        self._wait(None)
        match event:
            case RunStarted():
                self.run_id, self._who = event.run_id, f"{event.provider}:{event.model}"
                say(f"run {event.run_id} {'goes on' if event.resumed else 'starts'}, {self._who}")
            case RequestAssembled():
                say(_request(event))
                self._wait(f"step {event.step}: asking {self._who}")
            case AttemptFailed():
                wait = "giving up" if event.wait is None else f"again in {event.wait:.1f} s"
                say(f"      {event.kind}: {short(event.message, 160)}; {wait}")
            case Completed():
                if event.text:
                    say(f"      says: {short(event.text, 160)}")
                if event.calls:
                    self._wait(f"step {event.step}: {', '.join(map(plain, event.calls))}")
            case ToolCalled():
                mark = "failed" if event.is_error else f"{event.chars:,} chars"
                say(f"      {call_in_short(event.name, event.target or '')}: {mark}")
            case ApprovalAsked():
                say(f"      {event.act.value} of {short(event.subject, 80)}: {event.decision}")
            case MemoryWritten():
                gone = f", {len(event.evicted)} evicted" if event.evicted else ""
                say(f"      note {short(event.key, 60)}{gone}")
            case Verified():
                say(f"      check {'passed' if event.passed else 'failed'}: "
                    f"{short(event.output, 120)}")  # fmt: skip
            case RunFinished():
                say(f"{event.outcome} after {event.steps} steps: {plain(event.reason)}")

    def pause(self) -> None:
        """Stop what moves on the terminal, for a question."""
        self._wait(None)

    def _wait(self, what: str | None) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
        if what is not None and out.is_terminal:
            self._status = err.status(what)
            self._status.start()


class JsonLines:
    """An observer for machines: one JSON object a line."""

    def __init__(self) -> None:
        self.run_id = ""

    def __call__(self, event: Event) -> None:
        """Print one event."""
        if isinstance(event, RunStarted):
            self.run_id = event.run_id
        print_json({"event": _name(event), **as_json(event)})

    def pause(self) -> None:
        """Do nothing: nothing moves."""


def as_json(value: object) -> dict[str, object]:
    """Return a dataclass as a JSON object, nested ones too."""
    assert is_dataclass(value)
    return {field.name: _value(getattr(value, field.name)) for field in fields(value)}


def _value(value: object) -> object:
    if is_dataclass(value):
        return as_json(value)
    if isinstance(value, tuple | list):
        return [_value(item) for item in value]
    return value


def _name(event: Event) -> str:
    name = type(event).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _request(event: RequestAssembled) -> str:
    parts = [f"{event.carried} shown"]
    parts += [f"{event.stubbed} as stubs"] if event.stubbed else []
    parts += [f"{event.reread} read again"] if event.reread else []
    parts += [f"{event.recalled} notes"] if event.recalled else []
    return (
        f"step {event.step}: {event.est_section:,} of {event.ceiling:,} estimated tokens, "
        + ", ".join(parts)
    )


def is_interactive() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
