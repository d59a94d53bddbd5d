"""What a run shows while it works: a line for each thing that happened, or JSON lines."""

from __future__ import annotations

import signal
import sys
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass

from rich.status import Status
from rich.text import Text

from io_harness.cli.output import (
    call_in_short,
    err,
    out,
    plain,
    print_json,
    say,
    short,
)
from io_harness.cli.streams import ReaderGoneError
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
from io_harness.workspace import counted


class Shown(ABC):
    """An observer that prints; where nobody reads any more, it interrupts the run.

    `is_started` says that the run is being driven, `is_unread` that its output has no reader.
    """

    def __init__(self, run_id: str = "") -> None:
        self.run_id = run_id
        self.is_started = self.is_unread = False

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self.run_id, self.is_started = event.run_id, True
        if self.is_unread:
            return
        try:
            self.show(event)
        except ReaderGoneError:
            self.is_unread = True
            signal.raise_signal(signal.SIGINT)

    @abstractmethod
    def show(self, event: Event) -> None:
        """Print one event."""

    def pause(self) -> None:
        """Stop what moves on the terminal, where something does."""
        return


class Progress(Shown):
    """For people; on a terminal it also shows what is waited for."""

    def __init__(self, run_id: str = "") -> None:
        super().__init__(run_id)
        self._who = ""
        self._status: Status | None = None

    def show(self, event: Event) -> None:
        """Print one event."""
        self._wait(None)
        match event:
            case RunStarted():
                self._who = plain(f"{event.provider}:{event.model}")
                say(f"run {event.run_id} {'goes on' if event.resumed else 'starts'}, {self._who}")
            case RequestAssembled():
                say(_request(event))
                self._wait(f"step {event.step}: asking {self._who}")
            case AttemptFailed():
                wait = "giving up" if event.wait is None else f"asking again in {event.wait:.1f} s"
                say(f"      {event.kind}: {short(event.message, 200)}; {wait}")
            case Completed():
                if event.text:
                    say(f"      says: {short(event.text, 160)}")
                if event.calls:
                    self._wait(f"step {event.step}: {', '.join(map(plain, event.calls))}")
            case ToolCalled():
                failed = f"failed: {short(event.reason, 160)}"
                mark = failed if event.is_error else f"{event.chars:,} chars"
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
                say(f"{event.outcome} after {counted(event.steps, 'step')}: {plain(event.reason)}")

    def pause(self) -> None:
        """Stop what moves on the terminal, for a question."""
        self._wait(None)

    def _wait(self, what: str | None) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
        if what is not None and out.is_terminal:
            turning = "dots" if err.encoding.startswith("utf") else "line"
            self._status = err.status(Text(what), spinner=turning)
            self._status.start()


class JsonLines(Shown):
    """For machines: one JSON object a line."""

    def show(self, event: Event) -> None:
        """Print one event."""
        print_json({"event": _name(event), **as_json(event)})


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
    parts = [f"{counted(event.carried, 'result')} shown"]
    parts += [f"{event.stubbed} as stubs"] if event.stubbed else []
    parts += [f"{event.reread} read again"] if event.reread else []
    parts += [counted(event.recalled, "note")] if event.recalled else []
    return (
        f"step {event.step}: {event.est_section:,} of {event.ceiling:,} estimated tokens, "
        + ", ".join(parts)
    )


def is_interactive() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
