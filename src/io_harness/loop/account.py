"""The account of a request: what it held, what was estimated, what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from io_harness.context import Assembled, PieceStatus, estimate_tokens
from io_harness.events import RequestAssembled
from io_harness.loop.state import Run
from io_harness.providers.prompt import tools_text
from io_harness.store import Assembly, PieceTrace, Refresh, assembly_of
from io_harness.types import Completion, CompletionRequest

_SHOWN = frozenset({PieceStatus.CARRIED, PieceStatus.BOUNDED, PieceStatus.REFRESHED})


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready, with the account of it; `est_fixed` is the fixed part, in tokens."""

    request: CompletionRequest
    assembled: Assembled
    ceiling: int
    est_fixed: int

    @property
    def est_request(self) -> int:
        """The estimate of all that is sent, in tokens."""
        return self.est_fixed + self.assembled.est_tokens


def fixed_tokens(run: Run) -> int:
    """Return the estimate of what every request holds: tools, system text, goal."""
    return sum(
        estimate_tokens(text) for text in (tools_text(run.toolbox.specs), run.system, run.goal.text)
    )


def record_of(run: Run, prepared: Prepared) -> Assembly:
    """Return the trace's record of a request."""
    return assembly_of(
        prepared.assembled,
        est_request=prepared.est_request,
        detail={
            "ceiling": prepared.ceiling,
            "stable_chars": prepared.request.stable_chars,
            "price": [run.price.read, run.price.write],
            "everything_chars": run.everything_chars,
            "est_tools": estimate_tokens(tools_text(prepared.request.tools)),
            "est_system": estimate_tokens(run.system),
            "est_goal": estimate_tokens(run.goal.text),
        },
    )


def in_view(pieces: Iterable[PieceTrace]) -> frozenset[tuple[int, int]]:
    """Return the steps and calls whose results a request shows, whole or cut."""
    return frozenset((piece.step, piece.call) for piece in pieces if piece.status in _SHOWN)


def know_request(run: Run, refreshes: Iterable[Refresh]) -> None:
    """Keep what the request that was answered showed, once it is recorded."""
    run.know_refreshes(refreshes)
    run.in_view = in_view(run.unrecorded[-1].pieces)
    run.unrecorded.clear()


def request_event(run: Run, step: int, prepared: Prepared) -> RequestAssembled:
    """Return what an observer is told of a request."""
    made = prepared.assembled
    return RequestAssembled(
        step=step,
        ceiling=prepared.ceiling,
        est_section=made.est_tokens,
        est_request=prepared.est_request,
        chars=len(made.text),
        everything_chars=run.everything_chars,
        carried=made.carried,
        stubbed=made.stubbed,
        reread=made.reread,
        recalled=made.recalled,
        left_out=made.left_out,
        rewritten=made.rewritten,
    )


def account_for(run: Run, completion: Completion, est_request: int) -> None:
    """Count an answer's tokens, and learn what the estimate is worth."""
    run.spending.add(completion, est_input=est_request)
    usage = completion.usage
    run.calibration.learn(est_request, None if usage is None else usage.input)
