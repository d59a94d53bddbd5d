"""The measures of one run under one policy, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Seen:
    """A count of what was visible, of how many."""

    seen: int = 0
    of: int = 0

    def add(self, *, seen: bool) -> None:
        """One more, visible or not."""
        self.seen += seen
        self.of += 1


@dataclass(slots=True)
class Figures:
    """The measures of one run under one policy; tokens are estimates (code points / 4)."""

    sent: float = 0.0
    billed: float = 0.0
    stable: float = 0.0
    breaks: int = 0
    largest_request: float = 0.0
    strict: Seen = field(default_factory=Seen)
    quoted: Seen = field(default_factory=Seen)
    echo: Seen = field(default_factory=Seen)
    sight: Seen = field(default_factory=Seen)
    never_carried: int = 0
