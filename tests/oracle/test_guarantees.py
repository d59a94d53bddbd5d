"""Bounded, true, complete, repeatable: for random runs, files, ceilings and notes.

`IO_HARNESS_ORACLE_EXAMPLES=100000 pytest tests/oracle/test_guarantees.py` looks longer.
"""

from __future__ import annotations

from collections import deque

from hypothesis import HealthCheck, Phase, example, given, settings

from io_harness.types import Effect, ObsKind

from .events import Ask, Change, Event, Read, Say, Shut
from .play import EXAMPLES, frames, frames_without_files
from .strategies import stories

thorough = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
brief = settings(thorough, max_examples=max(1, EXAMPLES // 5))


# Lines of a file that was empty, re-read under a header that has no room for their numbers.
EMPTY_THEN_LONGER: tuple[Event, ...] = (
    Change("a.py", "rewrite", 1, (), wrote=False),
    *[Read("a.py", told=False)] * 3,
    Read("a.py", (1, 6), '{"path": "a.py"}', told=False),
    Change("a.py", "rewrite", 1, ("plain line 0",) * 7, wrote=False),
    Ask(64),
)
# All would fit, but for a read that may not be looked at: it failed, and is only counted.
FAILED_AND_COUNTED: tuple[Event, ...] = (
    Change("dir/b.txt", "rewrite", 1, (), wrote=False),
    Read("dir/b.txt", told=False),
    Say(ObsKind.MESSAGE, None, ""),
    Read("a.py", told=False),
    Shut("dir/b.txt", Effect.DENY),
    Read("a.py", args=f'{{"path": "a.py", "content": "{"c" * 250}"}}', told=False),
    Ask(131),
)


@example(FAILED_AND_COUNTED)
@example(EMPTY_THEN_LONGER)
@thorough
@given(stories)
def test_four_guarantees(events: tuple[Event, ...]) -> None:
    """With a workspace whose files change by writes and behind the agent's back."""
    deque(frames(events), maxlen=0)


@brief
@given(stories)
def test_four_guarantees_without_a_workspace(events: tuple[Event, ...]) -> None:
    """With nobody to ask for a file: what a write made wrong is never carried."""
    deque(frames_without_files(events), maxlen=0)
