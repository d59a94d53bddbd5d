"""The values that go into a store and come back out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from io_harness.store.damage import reading
from io_harness.store.requests import parse_request
from io_harness.types import JSON, Completion, CompletionRequest, Observation, ToolCall, Usage


def now() -> str:
    """Return the time as records have it: in UTC, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to drive one run, held by one driver at a time; every commit of a run shows it.

    `expires` is in seconds since the epoch. Renewing gives a new value.
    """

    run_id: str
    holder: str
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as it was asked for and how it ended; times are UTC in ISO 8601.

    `contract` and `policy` are JSON text; `outcome` is `None` while the run is not finished.
    """

    run_id: str
    goal: str
    workspace: str
    contract: str
    provider: str
    model: str
    policy: str
    started: str
    parent: str | None = None
    outcome: str | None = None
    reason: str = ""
    finished: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a step, for the trace; `detail` is a JSON object.

    Kinds: reread, reread_refused, memory_write, memory_evict, memory_recall, memory_refused,
    memory_forget, approval, replan, stalled. What assembly did is an `Assembly`.
    """

    kind: str
    detail: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PieceTrace:
    """What became of one piece of a request, and why; `chars` are code points sent."""

    step: int
    call: int
    status: str
    why: str
    chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """One request as it was put together: becomes one `assembled` event.

    Estimates are in estimated tokens, `est_section` of the section and `est_request` of all
    that was sent. `detail` is a JSON object of counts (carried, stubbed, left_out, ...).
    """

    est_section: int
    est_request: int
    pieces: tuple[PieceTrace, ...] = ()
    detail: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEvent:
    """One row of a run's context events, in the order of (step, sequence).

    The estimates are `None` but for `assembled`; `reported` is the provider's usage for the
    same request and `None` where it reported none.
    """

    step: int
    sequence: int
    kind: str
    detail: dict[str, JSON]
    est_section: int | None = None
    est_request: int | None = None
    reported: Usage | None = None
    pieces: tuple[PieceTrace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """A read made again at assembly: what came, or why nothing did.

    `position` is the observation's in the ledger; `step` is the assembly's. `text` is `None`
    and `reason` set where the refresh failed. `lines` are 1-based and inclusive.
    """

    position: int
    step: int
    lines: tuple[int, int] | None = None
    total_lines: int | None = None
    digest: str | None = None
    text: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCall:
    """One attempt at an answer; `kind` is "ok" or the kind of error. Latency in seconds.

    `attempt` counts from 1 within the step, over all requests of the step.
    """

    step: int
    attempt: int
    kind: str
    latency: float
    usage: Usage | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedCall:
    """An effectful call that was about to start; `detail` is the caller's JSON object."""

    step: int
    call: int
    name: str
    arguments: str
    detail: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One step of a run.

    `decision` is what the model said, `prompt` the request as sent, as text. `usage` is `None`
    where the provider reported none. `committed` is False for a step whose calls were not all
    done when it was last written.
    """

    step: int
    decision: str
    prompt: str
    calls: tuple[ToolCall, ...]
    usage: Usage | None
    stop: str
    reasoning: JSON
    refreshes: tuple[Refresh, ...]
    observations: tuple[Observation, ...]
    committed: bool

    @property
    def result(self) -> str:
        """The full text of the step's observations, nothing elided."""
        return "".join(observation.text for observation in self.observations)

    @property
    def request(self) -> CompletionRequest | None:
        """The request as it was given to the provider; `None` for a step that made none."""
        with reading(f"the request of step {self.step}"):
            return parse_request(self.prompt) if self.prompt else None

    @property
    def completion(self) -> Completion:
        """The answer as the provider gave it."""
        return Completion(self.decision, self.calls, self.usage, self.stop, self.reasoning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Estimate against report over the requests of a run whose usage was reported, in tokens.

    `ratio` is reported over estimated; `None` where nothing was reported.
    """

    run_id: str
    model: str
    requests: int
    estimated: int
    reported: int
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecall:
    """A note that was shown to a run: `step` is the first request that carried it as written.

    `note_run_id` and `note_step` say who wrote it, `seq` which write of the workspace it was.
    """

    step: int
    workspace: str
    key: str
    seq: int
    note_run_id: str
    note_step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A step that has its completion and not yet its results, as resume finds it."""

    step: int
    completion: Completion
    started: tuple[StartedCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """All that resume needs of a run.

    `observations` and `refreshes` rebuild the ledger; `manifest` is the last assembly's and
    `state` the last text given to `stepped` or `completed` as such, each `None` where none was
    given. `usages` has one entry a completion, in order. `estimates` are the `est_request` of
    those requests (`None` where no assembly was given). `last_step` is the newest with a
    completion, 0 where there is none, `last_request` what it answers; `attempts` counts those
    at the step after it. `calls` are what all answers asked for: step, call, and the call.
    """

    run: RunRecord
    observations: tuple[Observation, ...]
    refreshes: tuple[Refresh, ...]
    manifest: str | None
    state: str | None
    usages: tuple[Usage | None, ...]
    estimates: tuple[int | None, ...]
    last_step: int
    last_completion: Completion | None
    last_request: CompletionRequest | None
    unfinished: Unfinished | None
    attempts: int
    calls: tuple[tuple[int, int, ToolCall], ...]
