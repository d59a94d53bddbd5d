"""When a run gets nowhere, and when it only looks so."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from pathlib import Path

from io_harness import ContextBudget, Outcome
from io_harness.contract import StallLimits
from io_harness.loop.stall import Stall, StallTracker
from io_harness.types import Observation, ObsKind, ToolCall
from tests.run.worlds import call, contract, files, ran, read

EVERYTHING = frozenset((step, 0) for step in range(99))


def seen(step: int, text: str, kind: ObsKind = ObsKind.READ) -> Observation:
    return Observation(step, kind, "a.py", text, call=0)


def take(
    tracker: StallTracker,
    made: ToolCall,
    shown: Observation,
    *,
    changed: bool = False,
    in_view: AbstractSet[tuple[int, int]] = EVERYTHING,
) -> Stall | None:
    return tracker.after([made], [shown], changed=changed, in_view=in_view)


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


def test_what_is_no_longer_in_view_is_new_again_but_not_for_ever() -> None:
    tracker = StallTracker(StallLimits(repeats=99, idle_steps=1))
    assert take(tracker, read("a.py"), seen(1, "same")) is None
    for step in (2, 3, 4):
        assert take(tracker, read("a.py"), seen(step, "same"), in_view=frozenset()) is None
        state = json.loads(json.dumps(tracker.state()))
        tracker = StallTracker(tracker.limits)
        tracker.restore(state, [seen(step, "same")])
    assert take(tracker, read("a.py"), seen(5, "same"), in_view=frozenset()) is not None
    assert take(tracker, read("b.py"), seen(6, "other"), in_view=frozenset()) is None
    assert take(tracker, read("b.py"), seen(7, "other"), in_view={(6, 0)}) is not None


def test_a_refusal_is_not_new_again() -> None:
    tracker = StallTracker(StallLimits(repeats=99, idle_steps=1))
    no = ObsKind.ERROR
    assert take(tracker, read("a.py"), seen(1, "denied", no)) is None
    assert take(tracker, read("a.py"), seen(2, "denied", no), in_view=frozenset()) is not None


NAMES = "abcdef"


def around(tmp_path: Path, *, rounds: int, ceiling: int) -> Outcome:
    """A run that reads six files in turn, again and again."""
    root = files(tmp_path / "w", **{f"{name}_py": f"# {name}\n" * 200 for name in NAMES})
    turns = [read(f"{name}.py") for _ in range(rounds) for name in NAMES]
    what = contract(root).with_context_budget(ContextBudget(max_tokens=ceiling, share=1.0))
    return ran(what, [*turns, "Done."]).outcome


def test_a_run_that_reads_again_what_was_elided_goes_on(tmp_path: Path) -> None:
    assert around(tmp_path, rounds=3, ceiling=600) is Outcome.SUCCESS


def test_a_run_that_reads_again_what_it_has_in_view_is_stalled(tmp_path: Path) -> None:
    assert around(tmp_path, rounds=3, ceiling=24_000) is Outcome.STALLED


def test_a_run_that_only_ever_reads_in_turn_is_stalled_in_the_end(tmp_path: Path) -> None:
    assert around(tmp_path, rounds=8, ceiling=600) is Outcome.STALLED
