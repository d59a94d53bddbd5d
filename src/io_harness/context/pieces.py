"""What an assembled section consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from io_harness.types import ObsKind


class PieceStatus(StrEnum):
    """How a piece of a section stands there."""

    CARRIED = "carried"
    BOUNDED = "bounded"
    REFRESHED = "refreshed"
    STUB = "stub"
    COLLAPSED = "collapsed"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a section; the texts of all, joined, are the section.

    `cut` says that something of the observation is not shown. `args` is what is sent of the
    call's arguments. The memory block, the line that counts collapsed observations and a notice
    about a file have no call of their own: `kind` is `None` there.
    """

    step: int
    call: int
    kind: ObsKind | None
    status: PieceStatus
    cut: bool
    target: str | None
    args: str
    text: str
