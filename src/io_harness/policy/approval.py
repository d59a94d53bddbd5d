"""Whom to ask where the policy leaves an act open, and what they can answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.types import JSON, Act, Verdict


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """An act the policy would ask about: what it is, which rule asks, and what it would change."""

    act: Act
    subject: str
    verdict: Verdict
    tool: str
    arguments: Mapping[str, JSON]
    diff: str = ""


class Choice(StrEnum):
    """What an approver can say; the values are a wire format."""

    APPROVE = "approve"
    APPROVE_FOR_RUN = "approve_for_run"
    REWRITE = "rewrite"
    DENY = "deny"
    DEFER = "defer"


@dataclass(frozen=True, slots=True)
class Decision:
    """An approver's answer. `reason` is told to the model; `arguments` replace the call's own."""

    choice: Choice
    reason: str = ""
    arguments: Mapping[str, JSON] | None = None

    @classmethod
    def approve(cls) -> Decision:
        """Just this once."""
        return cls(Choice.APPROVE)

    @classmethod
    def approve_for_run(cls) -> Decision:
        """The act on exactly this subject, until the run ends."""
        return cls(Choice.APPROVE_FOR_RUN)

    @classmethod
    def rewrite(cls, arguments: Mapping[str, JSON], reason: str = "") -> Decision:
        """Do this instead: checked again from the start, so it cannot lift a deny."""
        return cls(Choice.REWRITE, reason, arguments)

    @classmethod
    def deny(cls, reason: str = "") -> Decision:
        """Not this; the model is told the reason and the run goes on."""
        return cls(Choice.DENY, reason)

    @classmethod
    def defer(cls, reason: str = "") -> Decision:
        """Not now: the run pauses, and asks again when it is resumed."""
        return cls(Choice.DEFER, reason)


class Approver(Protocol):
    """Whoever decides what the policy leaves open: a person, or a program."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """The answer for one act; called once for each act that needs asking."""
        ...
