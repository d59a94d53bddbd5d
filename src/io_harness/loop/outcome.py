"""How a run can end, and what its caller gets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from io_harness.types import Usage


class Outcome(StrEnum):
    """How a run ended; the values stand in stored runs."""

    SUCCESS = "success"
    VERIFICATION_FAILED = "verification_failed"
    STEP_CAP = "step_cap"
    TIME_BUDGET = "time_budget"
    TOKEN_BUDGET = "token_budget"  # noqa: S105  (no password)
    DENIED = "denied"
    AWAITING_APPROVAL = "awaiting_approval"
    STALLED = "stalled"
    CONTEXT_OVERFLOW = "context_overflow"
    PROVIDER_FAILED = "provider_failed"
    CANCELLED = "cancelled"


FINAL = frozenset({Outcome.SUCCESS, Outcome.VERIFICATION_FAILED, Outcome.DENIED, Outcome.STALLED})
"""Ends after which `resume` reports the run and does not drive it."""


@dataclass(frozen=True, slots=True)
class End:
    """How a run ends, and why: one sentence that also says what would let it go on."""

    outcome: Outcome
    reason: str
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What became of a run.

    `reason` says in one sentence why it ended and what would let it go on. `text` is the last
    thing the model said. `spent` counts all requests, estimates where nothing was reported.
    `retryable` says of a provider that failed whether the same could succeed later.
    """

    run_id: str
    outcome: Outcome
    reason: str
    steps: int
    text: str
    spent: Usage
    retryable: bool = False

    @property
    def ok(self) -> bool:
        """Whether the task is done."""
        return self.outcome is Outcome.SUCCESS
