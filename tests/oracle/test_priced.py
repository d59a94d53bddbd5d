"""The guarantees where a repeated prefix is cheap: sections only grow between rewrites.

Who reads a section from top to bottom holds the file's current text for every line shown.
"""

from __future__ import annotations

from collections import deque

from hypothesis import given, settings

from .events import Event
from .play import EXAMPLES, priced_frames
from .strategies import stories
from .test_guarantees import thorough


@settings(thorough, max_examples=max(1, EXAMPLES // 2))
@given(stories)
def test_four_guarantees_between_rewrites(events: tuple[Event, ...]) -> None:
    """Bounded, true, complete, repeatable, and last section's text before what is new."""
    deque(priced_frames(events), maxlen=0)
