"""What a tool call came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from io_harness.context.ledger import checked
from io_harness.types import JSON, Act, Observation, ObsKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.policy import ApprovalRequest, Choice


@dataclass(frozen=True, slots=True)
class Approval:
    """One answer of an approver, for the trace."""

    act: Act
    subject: str
    choice: Choice
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to: the fields of its observation, and what only the trace keeps.

    `text` is whole: nothing is cut for a budget here. `changed` says that a file is known to be
    no longer what it was: a write that changes nothing is no progress. `denied` says that policy
    or approver did not allow the call. `note` says what is unusual about a file that was read.
    `arguments` are those performed: an approver may have rewritten the call's own.
    """

    kind: ObsKind
    target: str | None
    text: str
    is_error: bool = field(default=False, kw_only=True)
    denied: bool = field(default=False, kw_only=True)
    lines: tuple[int, int] | None = field(default=None, kw_only=True)
    total_lines: int | None = field(default=None, kw_only=True)
    scope: str | None = field(default=None, kw_only=True)
    key: str | None = field(default=None, kw_only=True)
    digest: str | None = field(default=None, kw_only=True)
    paths: tuple[str, ...] = field(default=(), kw_only=True)
    changed: bool = field(default=False, kw_only=True)
    note: str | None = field(default=None, kw_only=True)
    arguments: Mapping[str, JSON] | None = field(default=None, kw_only=True)
    approvals: tuple[Approval, ...] = field(default=(), kw_only=True)

    def observation(self, *, step: int, call: int, args: str) -> Observation:
        """The observation of this outcome; `args` is the arguments as JSON text.

        Raises `LedgerError` for a field that no observation can have.
        """
        return checked(
            Observation(
                step,
                self.kind,
                self.target,
                self.text,
                args=args,
                lines=self.lines,
                total_lines=self.total_lines,
                scope=self.scope,
                key=self.key,
                digest=self.digest,
                paths=self.paths,
                call=call,
            )
        )


@dataclass(frozen=True, slots=True)
class Deferred:
    """The approver put its answer off: nothing was done, and resuming asks again."""

    request: ApprovalRequest
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """An effect that is about to happen, for the trace to hold before it does.

    For a workspace write `path` and `digest` settle after an interruption whether it happened:
    where the file has that digest it did, and `outcome` is its result.
    """

    tool: str
    arguments: Mapping[str, JSON]
    path: str | None = None
    digest: str | None = None
    outcome: ToolOutcome | None = None
