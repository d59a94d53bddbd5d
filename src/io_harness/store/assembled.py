"""What the trace keeps of an assembled section, for whoever drives a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from io_harness.store.records import Assembly, Event, PieceTrace, Refresh
from io_harness.types import JSON

if TYPE_CHECKING:
    from io_harness.context import Assembled, Ledger


def assembly_of(
    made: Assembled, *, est_request: int, detail: Mapping[str, JSON] | None = None
) -> Assembly:
    """Return the record of a request that carries a section; `est_request` is all of it, in tokens.

    `detail` is what the driver knows of it besides.
    """
    return Assembly(
        est_section=made.est_tokens,
        est_request=est_request,
        pieces=tuple(
            PieceTrace(
                piece.step,
                piece.call,
                piece.status.value,
                piece.text.strip() if piece.status == "stub" else "",
                len(piece.text) + len(piece.args),
            )
            for piece in made.pieces
        ),
        detail={
            "carried": made.carried,
            "stubbed": made.stubbed,
            "reread": made.reread,
            "recalled": made.recalled,
            "left_out": made.left_out,
            "collapsed": made.collapsed,
            "rewritten": made.rewritten,
            "stable_chars": made.stable_chars,
            "chars": len(made.text),
            **(detail or {}),
        },
    )


def refreshes_of(made: Assembled) -> tuple[Refresh, ...]:
    """Return the reads that an assembly made again, as the trace keeps them."""
    return tuple(
        Refresh(
            position=refresh.position,
            step=refresh.step,
            lines=refresh.lines,
            total_lines=refresh.total_lines,
            digest=refresh.digest,
            text=refresh.text,
            reason=refresh.because if refresh.text is None else refresh.reason,
        )
        for refresh in made.refreshes
    )


def refresh_events(made: Assembled, ledger: Ledger) -> tuple[Event, ...]:
    """Return one event for each read that an assembly of the ledger made again, or could not."""
    return tuple(
        Event(
            kind="reread_refused" if refresh.text is None else "reread",
            detail={
                "position": refresh.position,
                "target": ledger[refresh.position].target,
                "reason": refresh.reason,
                "because": refresh.because,
            },
        )
        for refresh in made.refreshes
    )
