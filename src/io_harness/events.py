"""What an observer is told while a run goes on: one frozen value for each thing that happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from io_harness.errors import ErrorKind
from io_harness.types import Act, ObsKind, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The run is recorded and about to take its first step, or its next one when resumed."""

    run_id: str
    goal: str
    provider: str
    model: str
    resumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAssembled:
    """A request is put together; sizes are estimated tokens, `chars` code points of the section.

    `everything_chars` is what the section would have if all observations were sent whole.
    """

    step: int
    ceiling: int
    est_section: int
    est_request: int
    chars: int
    everything_chars: int
    carried: int
    stubbed: int
    reread: int
    recalled: int
    left_out: int
    rewritten: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    """The provider did not answer; `wait` is the seconds to the next attempt, if any."""

    step: int
    attempt: int
    kind: ErrorKind
    message: str
    wait: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The model answered."""

    step: int
    text: str
    calls: tuple[str, ...]
    usage: Usage | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """A tool call came to something; `reason` is what the model is told of one that failed.

    Of a reason at most 500 characters are given.
    """

    step: int
    call: int
    name: str
    kind: ObsKind
    target: str | None
    chars: int
    is_error: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    """The policy asked; `decision` is what the approver chose."""

    step: int
    act: Act
    subject: str
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWritten:
    """A note was written, and what it pushed out."""

    step: int
    key: str
    evicted: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The check that says whether the task is done was made."""

    step: int
    passed: bool
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run ended, for now or for good."""

    run_id: str
    outcome: str
    reason: str
    steps: int


Event: TypeAlias = (
    RunStarted
    | RequestAssembled
    | AttemptFailed
    | Completed
    | ToolCalled
    | ApprovalAsked
    | MemoryWritten
    | Verified
    | RunFinished
)

Observer: TypeAlias = Callable[[Event], None]
"""Called in the run's own thread, in order; what it raises is logged and does not end the run."""
