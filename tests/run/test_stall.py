"""When a run gets nowhere, and when it only looks so."""

from __future__ import annotations

from io_harness.contract import StallLimits
from io_harness.loop.stall import Stall, StallTracker
from io_harness.types import Observation, ObsKind, ToolCall
from tests.run.worlds import call, read


def seen(step: int, text: str, kind: ObsKind = ObsKind.READ) -> Observation:
    return Observation(step, kind, "a.py", text, call=0)


def take(
    tracker: StallTracker, made: ToolCall, shown: Observation, *, changed: bool = False
) -> Stall | None:
    return tracker.after([made], [shown], changed=changed)


def test_the_same_call_three_times_in_a_row() -> None:
    tracker = StallTracker(StallLimits())
    assert take(tracker, read("a.py"), seen(1, "1")) is None
    assert take(tracker, read("a.py"), seen(2, "2")) is None
    stall = take(tracker, read("a.py"), seen(3, "3"))
    assert stall == Stall('the call read_file {"path":"a.py"} was made 3 times in a row', False)


def test_another_call_between_breaks_the_row() -> None:
    tracker = StallTracker(StallLimits())
    for step in range(1, 9):
        made = read("a.py") if step % 2 else call("list_dir")
        assert take(tracker, made, seen(step, str(step))) is None


def test_three_steps_that_show_nothing_new_and_change_nothing() -> None:
    tracker = StallTracker(StallLimits(repeats=99))
    assert take(tracker, read("a.py"), seen(1, "same")) is None
    results = [take(tracker, read("a.py", offset=n), seen(n, "same")) for n in (2, 3, 4)]
    assert results[:2] == [None, None]
    assert results[2] is not None


def test_a_change_is_progress_and_words_are_not() -> None:
    tracker = StallTracker(StallLimits(repeats=99))
    for step in range(1, 9):
        assert take(tracker, read("a.py"), seen(step, "same"), changed=step > 1) is None
    tracker = StallTracker(StallLimits(repeats=99, idle_steps=1))
    assert take(tracker, read("a.py"), seen(1, "said 1", ObsKind.MESSAGE)) is not None


def test_the_second_time_is_final_and_the_tracker_survives_a_resume() -> None:
    tracker = StallTracker(StallLimits())
    observations = [seen(step, "same") for step in (1, 2)]
    for shown in observations:
        take(tracker, read("a.py"), shown)
    again = StallTracker(StallLimits())
    again.restore(tracker.state(), observations)
    first = take(again, read("a.py"), seen(3, "same"))
    assert first is not None
    assert not first.final
    last = [take(again, read("a.py"), seen(step, "same")) for step in (4, 5, 6)][-1]
    assert last is not None
    assert last.final
