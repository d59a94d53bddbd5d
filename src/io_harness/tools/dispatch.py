"""One call of a model: planned, ruled on, asked about where need be, and done."""

from __future__ import annotations

import errno
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from io_harness.errors import (
    ConfigError,
    HarnessError,
    LedgerError,
    RunLeased,
    SchemaNewer,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from io_harness.policy import ApprovalRequest, Choice, Decision
from io_harness.tools.base import Draft, Plan, ToolError, check_tool, checked_name
from io_harness.tools.foreign import in_thread
from io_harness.tools.outcome import Approval, Deferred, Started, ToolOutcome
from io_harness.types import Act, Effect, ObsKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from io_harness.tools.base import Need, Tool, ToolContext
    from io_harness.types import JSON, ToolCall, ToolSpec, Verdict

BeforeEffect: TypeAlias = "Callable[[Started], Awaitable[None]]"


class Toolbox:
    """The tools of a run, by name.

    Raises ConfigError where two have one name.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            check_tool(tool)
            name = checked_name(tool.spec.name)
            if name in self._tools:
                raise ConfigError(f"two tools are named {name!r}; rename one")
            self._tools[name] = tool

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told, in the order given."""
        return tuple(tool.spec for tool in self._tools.values())

    @property
    def acts(self) -> frozenset[Act]:
        """Every act that some call may need."""
        return frozenset().union(*(tool.acts for tool in self._tools.values()))

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    async def dispatch(
        self,
        call: ToolCall,
        context: ToolContext,
        *,
        before_effect: BeforeEffect | None = None,
    ) -> ToolOutcome | Deferred:
        """Do one call under the policy; whatever fails is an error outcome, never an exception.

        `before_effect` is awaited after every approval and before an effectful call starts;
        what it raises, and cancellation, do come through.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools)
            return _error(f"no tool is named {call.name!r}; there are {known}", call.name)
        if isinstance(call.arguments, str):
            return _error(
                "the arguments are no JSON object; send one that fits its schema", call.name
            )
        return await _Call(tool, context, before_effect).outcome(
            cast("Mapping[str, JSON]", call.arguments)
        )


class DeniedError(ToolError):
    """The policy denies what a call needs."""


class _Call:
    """One call on its way."""

    def __init__(
        self, tool: Tool, context: ToolContext, before_effect: BeforeEffect | None
    ) -> None:
        self._tool, self._context, self._before_effect = tool, context, before_effect
        self._approvals: list[Approval] = []

    async def outcome(
        self, arguments: Mapping[str, JSON], *, rewritten: bool = False
    ) -> ToolOutcome | Deferred:
        """The outcome for these arguments; who rewrote them has approved of them."""
        try:
            plan = await in_thread(self._tool.plan, arguments, self._context)
            asks = self._ruled(plan.needs)
            if rewritten:
                asks = []
            # A draft reads the file, and its failure tells what is in it.
            reads = [ask for ask in asks if ask[0].act is Act.READ]
            answer = await self._asked(reads, arguments, "")
            if answer is not None:
                return answer
            ready = plan if isinstance(plan, Plan) else await in_thread(plan.draft)
        except Exception as error:  # a tool may raise anything: the run goes on
            return self._finished(_failure(error), arguments)
        rest = [ask for ask in asks if ask not in reads]
        diff = await in_thread(ready.diff) if rest and isinstance(ready, Draft) else ""
        answer = await self._asked(rest, arguments, diff)
        return await self._perform(ready, arguments) if answer is None else answer

    async def _asked(
        self, asks: Iterable[tuple[Need, Verdict]], arguments: Mapping[str, JSON], diff: str
    ) -> ToolOutcome | Deferred | None:
        """What came of asking; None where all was approved."""
        for need, verdict in asks:
            request = ApprovalRequest(
                need.act, need.names[0], verdict, self._tool.spec.name, arguments, diff
            )
            decision = await self._decision(request)
            if decision.choice is Choice.DEFER:
                return Deferred(request, decision.reason)
            if decision.choice is Choice.REWRITE:
                return await self.outcome(decision.arguments or {}, rewritten=True)
            if decision.choice is Choice.DENY:
                return self._finished(_not_approved(request, decision), arguments)
        return None

    def _ruled(self, needs: Iterable[Need]) -> list[tuple[Need, Verdict]]:
        """The needs that must be asked about; ToolError where one is denied."""
        asks = []
        for need in needs:
            verdict = self._context.policy.check(need.act, *need.names)
            if verdict.effect is Effect.DENY:
                raise DeniedError(_denied(need, verdict))
            if verdict.effect is Effect.ASK and need.grant not in self._context.grants:
                asks.append((need, verdict))
        return asks

    async def _decision(self, request: ApprovalRequest) -> Decision:
        """The approver's answer, kept for the trace; without an approver a refusal."""
        if self._context.approver is None:
            return Decision.deny("nobody is there to approve it")
        try:
            decision = await self._context.approver.decide(request)
        except Exception as error:  # an approver that fails has approved of nothing
            return Decision.deny(f"the approver failed: {type(error).__name__}: {error}")
        self._approvals.append(
            Approval(request.act, request.subject, decision.choice, decision.reason)
        )
        if decision.choice is Choice.APPROVE_FOR_RUN:
            self._context.grants.add((request.act, request.subject))
        return decision

    async def _perform(self, ready: Plan | Draft, arguments: Mapping[str, JSON]) -> ToolOutcome:
        """Do what is allowed, after saying so where it is an effect."""
        if self._tool.effectful and self._before_effect:
            await self._before_effect(_started(self._tool, arguments, ready))
        try:
            outcome = _kept(await ready.perform())
        except Exception as error:  # as above; cancellation is none of these
            outcome = _failure(error)
        return self._finished(outcome, arguments)

    def _finished(self, outcome: ToolOutcome, arguments: Mapping[str, JSON]) -> ToolOutcome:
        """The outcome with what the trace needs to know of it."""
        target = self._tool.spec.name if outcome.is_error else outcome.target
        approvals = tuple(self._approvals)
        return replace(outcome, target=target, arguments=arguments, approvals=approvals)


def _kept(outcome: object) -> ToolOutcome:
    """What a tool gave; ToolError where no ledger could take it, and no run go on after it."""
    if not isinstance(outcome, ToolOutcome):
        raise ToolError(f"the tool failed: it gave no ToolOutcome but a {type(outcome).__name__}")
    try:
        outcome.observation(step=1, call=0, args="")
    except LedgerError as error:
        raise ToolError(f"the tool failed: its result cannot be kept: {error}") from None
    if not isinstance(outcome.note, str | None):
        raise ToolError("the tool failed: the note of its result must be text")
    return outcome


def _started(tool: Tool, arguments: Mapping[str, JSON], ready: Plan | Draft) -> Started:
    if isinstance(ready, Plan):
        return Started(tool.spec.name, arguments)
    return Started(tool.spec.name, arguments, ready.path, ready.digest, ready.outcome)


def _denied(need: Need, verdict: Verdict) -> str:
    source = f"rule {verdict.rule.pattern!r}" if verdict.rule else "default"
    return (
        f"{need.act} of {need.subject!r} is denied by the policy "
        f"({source} of {verdict.layer!r}); go on without it"
    )


def _not_approved(request: ApprovalRequest, decision: Decision) -> ToolOutcome:
    why = f": {decision.reason}" if decision.reason else "; go on without it"
    text = f"{request.act} of {request.subject!r} was not approved{why}"
    return replace(_error(text), denied=True)


_OF_THE_STORE = (
    *(StoreLocked, StoreFull, StoreFailed, StoreReadOnly),
    *(StoreCorrupt, SchemaNewer, RunLeased),
)


def _failure(error: Exception) -> ToolOutcome:
    """What a model is told of an exception: what happened, to what, and what to do."""
    if isinstance(error, DeniedError):
        return replace(_error(str(error)), denied=True)
    if isinstance(error, _OF_THE_STORE):
        # Its message is for who runs the harness: it names the store's place.
        return _error(f"the harness's store failed ({type(error).__name__}); go on without it")
    if isinstance(error, HarnessError | ValueError):
        return _error(str(error))
    if isinstance(error, OSError):
        return _error(_system_failure(error))
    return _error(f"the tool failed: {type(error).__name__}: {error}")


def _error(reason: str, target: str | None = None) -> ToolOutcome:
    return ToolOutcome(ObsKind.ERROR, target, reason, is_error=True)


_HINTS = {
    errno.ENOENT: "; list_dir and find show what exists",
    errno.EACCES: "; the operating system does not allow it",
    errno.EISDIR: "; it is a directory, see list_dir",
    errno.ENOTDIR: "; it, or a part of it, is no directory: read_file reads a file",
}


def _system_failure(error: OSError) -> str:
    subject = f"{str(error.filename)[:200]!r}: " if error.filename else ""
    return f"{subject}{error.strerror or error}{_HINTS.get(error.errno or 0, '')}"
