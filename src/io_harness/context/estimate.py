"""The token estimate, and how far it was from what a provider reported."""

from __future__ import annotations

from collections import deque
from statistics import median

from . import checks
from .budget import CHARS_PER_TOKEN

_WINDOW = 8
# With fewer reports an outlier would be half of what is known.
_FEWEST = 3
_LOWEST, _HIGHEST = 0.5, 3.0


def tokens_of(chars: int) -> int:
    """The estimate for a number of code points."""
    return -(-chars // CHARS_PER_TOKEN)


def estimate_tokens(text: str) -> int:
    """An estimate of a text's tokens: a quarter of its code points, rounded up. Not a tokenizer."""
    return tokens_of(len(checks.text("text", text)))


class Calibration:
    """Learns how many reported tokens stand for one estimated token in this run.

    The ratio is the median of the last eight requests, clamped to 0.5 to 3, so that a single
    outlier or a false report never moves it far.
    """

    __slots__ = ("_ratios",)

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=_WINDOW)

    def learn(self, estimated: int, reported: int | None) -> None:
        """Take in one request; nothing reported or nothing estimated teaches nothing."""
        if reported is not None and reported > 0 and estimated > 0:
            self._ratios.append(min(_HIGHEST, max(_LOWEST, reported / estimated)))

    @property
    def ratio(self) -> float:
        """Reported tokens for one estimated; 1.0 before three requests were reported."""
        return median(self._ratios) if len(self._ratios) >= _FEWEST else 1.0

    def ceiling(self, tokens: int) -> int:
        """The ceiling in estimated tokens that keeps the reported ones within `tokens`."""
        return max(1, int(tokens / self.ratio))
