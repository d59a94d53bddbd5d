"""All that one driven run holds in memory, and the part of it that resume needs as text."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from io_harness import jsontext
from io_harness.context import Assembler, CachePrice, Ledger, render
from io_harness.context.estimate import Calibration
from io_harness.contract import TaskContract
from io_harness.events import AttemptFailed, Event, Observer, RunFinished, RunStarted
from io_harness.loop.outcome import End, Outcome
from io_harness.loop.prompt import goal_message, system_text
from io_harness.loop.spending import Spending
from io_harness.loop.stall import StallTracker
from io_harness.providers.base import Provider
from io_harness.store import Assembly, Journal, Lease, Refresh
from io_harness.store import Event as TraceEvent
from io_harness.tools import Toolbox, ToolContext
from io_harness.types import JSON, Act, Completion, Message, Observation, ObsKind, ToolCall

_log = logging.getLogger("io_harness.run")
_LEVELS: dict[type[Event], int] = {
    RunStarted: logging.INFO,
    RunFinished: logging.INFO,
    AttemptFailed: logging.WARNING,
}


def whole_chars(observation: Observation) -> int:
    """Return the code points an observation has where nothing is ever left out."""
    return len(render.full(observation)) + len(observation.args)


class Change(NamedTuple):
    """The newest known change of a file: in which step and call, and to which digest."""

    at: tuple[int, int]
    digest: str | None


@dataclass(slots=True, kw_only=True)
class Run:
    """One run while it is driven. `step` is the newest that has a completion.

    `is_open` says that the results of that step are not all in. `section` are the messages of
    the last request, but for the goal, and `in_view` the steps and calls whose results it shows.
    `is_refused` says that the next request was refused as too long before the run was interrupted.
    """

    contract: TaskContract
    provider: Provider
    journal: Journal
    lease: Lease
    workspace_key: str
    toolbox: Toolbox
    tools: ToolContext
    ledger: Ledger
    assembler: Assembler
    stall: StallTracker
    observer: Observer | None = None
    step: int = 0
    is_open: bool = False
    completion: Completion | None = None
    section: tuple[Message, ...] = ()
    in_view: frozenset[tuple[int, int]] = frozenset()
    changes: dict[str, Change] = field(default_factory=dict)
    calls: dict[tuple[int, int], ToolCall] = field(default_factory=dict)
    spending: Spending = field(default_factory=Spending)
    calibration: Calibration = field(default_factory=Calibration)
    end: End | None = None
    failed_checks: int = 0
    ceiling_cap: int | None = None
    is_refused: bool = False
    earlier_seconds: float = 0.0
    attempts: int = 0
    everything_chars: int = 0
    unrecorded: list[Assembly] = field(default_factory=list)
    trace_events: list[TraceEvent] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    @property
    def system(self) -> str:
        """The system text, for the tools that there are."""
        return system_text(remembers=self.toolbox.get("remember") is not None)

    @property
    def goal(self) -> Message:
        """The message that opens every request."""
        return goal_message(self.contract)

    @property
    def price(self) -> CachePrice:
        """What cached tokens cost in this run."""
        return self.contract.cache_price or self.provider.cache_price

    @property
    def run_id(self) -> str:
        """The run's id in the store."""
        return self.lease.run_id

    def seconds(self) -> float:
        """Seconds that the run was driven, over all resumes."""
        return self.earlier_seconds + time.monotonic() - self._since

    def seconds_left(self) -> float | None:
        """Seconds of the time budget that are left; `None` without one."""
        budget = self.contract.time_budget
        return None if budget is None else budget - self.seconds()

    def tokens_left(self) -> int | None:
        """Tokens of the budget that are left; `None` without one."""
        budget = self.contract.token_budget
        return None if budget is None else budget - self.spending.total

    def push(self, observation: Observation) -> None:
        """Take an observation into the ledger."""
        self.ledger.push(observation)
        self.account_for(observation)

    def account_for(self, observation: Observation) -> None:
        """Count an observation of the ledger, and know the file that it changed."""
        self.everything_chars += whole_chars(observation)
        if observation.kind is ObsKind.WRITE:
            self.know_change(
                observation.target, (observation.step, observation.call or 0), observation.digest
            )

    def know_change(self, path: str | None, at: tuple[int, int], digest: str | None) -> None:
        """Keep that a file changed, where nothing newer is known of it."""
        known = self.changes.get(path or "")
        if known is None or known.at < at:
            self.changes[path or ""] = Change(at, digest)

    def know_refreshes(self, refreshes: Iterable[Refresh]) -> None:
        """Keep what an assembly noticed, which comes before the calls of its step."""
        for refresh in refreshes:
            path = self.ledger[refresh.position].target
            self.know_change(path, (refresh.step, -1), refresh.digest)

    def know_calls(self, step: int, completion: Completion) -> None:
        """Name the calls of an answer as they are sent back.

        Ids are the harness's own: unique, the same in every run, and such as each vendor takes.
        """
        for number, call in enumerate(completion.calls):
            sent = ToolCall(f"call_{step}_{number}", call.name, call.arguments)
            self.calls[step, number] = sent

    def tell(self, event: Event) -> None:
        """Tell the log and the observer; what that raises is its own affair."""
        _log.log(_LEVELS.get(type(event), logging.DEBUG), "run %s: %s", self.run_id, event)
        if self.observer is None:
            return
        try:
            self.observer(event)
        except Exception:
            _log.exception("the observer failed on %s", type(event).__name__)

    def state_text(self) -> str:
        """Return what `restore` needs, as JSON text."""
        return jsontext.dumps(
            {
                "stall": self.stall.state(),
                "failed_checks": self.failed_checks,
                "ceiling_cap": self.ceiling_cap,
                "end": None if self.end is None else [self.end.outcome.value, self.end.reason],
                "seconds": round(self.seconds(), 3),
                "grants": sorted([act.value, subject] for act, subject in self.tools.grants),
            }
        )

    def restore(self, text: str | None) -> None:
        """Go on from a stored state."""
        state = cast("Mapping[str, JSON]", jsontext.loads(text) if text else {})
        self.failed_checks = cast("int", state.get("failed_checks", 0))
        self.ceiling_cap = cast("int | None", state.get("ceiling_cap"))
        self.earlier_seconds = cast("float", state.get("seconds", 0.0))
        end = cast("list[str] | None", state.get("end"))
        self.end = None if end is None else End(Outcome(end[0]), end[1])
        for act, subject in cast("list[tuple[str, str]]", state.get("grants", [])):
            self.tools.grants.add((Act(act), subject))
        self.stall.restore(cast("dict[str, JSON]", state.get("stall", {})), self.ledger)
