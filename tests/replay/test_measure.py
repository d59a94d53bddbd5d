"""The measures, each on a run small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from io_harness.replay import Everything, Part, Record, Shown, Terms, Transcript
from io_harness.replay.figures import Figures
from io_harness.replay.measure import Request, limit, measure
from io_harness.replay.records import MappingReport, Swap, Whole
from io_harness.types import ObsKind

TERMS = Terms(ceiling=24_000, read=0.1, write=1.25, fixed=100)


def record(step: int, call: int, kind: ObsKind, text: str = "", **more: object) -> Record:
    made = Record(step, call, kind, None, None, None, "", text, False, None)
    for name, value in more.items():
        object.__setattr__(made, name, value)
    return made


def transcript(*records: Record) -> Transcript:
    steps = max(r.step for r in records)
    return Transcript("run", "test", records, steps, MappingReport())


@dataclass(frozen=True)
class Given:
    """A policy that sends what it was given."""

    made: Sequence[Sequence[Part]]

    def requests(self, run: Transcript, terms: Terms) -> Iterator[Sequence[Part]]:
        return iter(self.made)


def figures(run: Transcript, *requests: Sequence[Part]) -> Figures:
    return measure(run, Given(requests), TERMS)


READ = record(1, 0, ObsKind.READ, "alpha\nbeta\n", target="f", targets=("f",), lines=(1, 2))
EDIT = record(
    2,
    0,
    ObsKind.WRITE,
    args='{"old":"beta","new":"gamma"}',
    target="f",
    targets=("f",),
    changes=(Swap("f", (("beta\n", "gamma\n"),)),),
)
EDIT_AGAIN = record(
    3,
    0,
    ObsKind.WRITE,
    args='{"old":"gamma","new":"delta"}',
    target="f",
    targets=("f",),
    changes=(Swap("f", (("gamma\n", "delta\n"),)),),
)
RUN = transcript(record(0, 0, ObsKind.MESSAGE, "task"), READ, EDIT, EDIT_AGAIN)
TASK, SHOWN, EDITED = (
    Part("task", record=0),
    Part(READ.text, record=1),
    Part("", EDIT.args, record=2),
)


def test_everything_bills_what_is_new_in_full_and_the_rest_as_cached() -> None:
    run = transcript(
        record(0, 0, ObsKind.MESSAGE, "a" * 400), record(1, 0, ObsKind.TOOL, "b" * 800), READ
    )
    run = transcript(run.records[0], run.records[1], record(2, 0, ObsKind.TOOL, "c" * 40))
    found = measure(run, Everything(), TERMS)

    assert found.sent == 2 * 100 + 100 + 300
    assert found.billed == pytest.approx(2 * 0.1 * 100 + 1.25 * 100 + (0.1 * 100 + 1.25 * 200))
    assert found.stable == 2 * 100 + 100
    assert (found.breaks, found.largest_request) == (0, 300)
    assert limit(run, TERMS) == pytest.approx(2 * 0.1 * 100 + 1.25 * 300)


def test_a_changed_prefix_is_a_break_and_billed_from_the_first_differing_character() -> None:
    kept, other = Part("same" * 100), Part("abcdX" * 4)
    strip: list[Request] = []
    found = measure(
        transcript(record(1, 0, ObsKind.TOOL), record(2, 0, ObsKind.TOOL)),
        Given([[kept, Part("abcdY" * 4)], [kept, other]]),
        TERMS,
        strip,
    )

    assert found.breaks == 1
    assert found.stable == 2 * 100 + (400 + 4) / 4
    assert [request.rewritten for request in strip] == [False, True]


def test_strict_needs_the_newest_text_and_every_later_write() -> None:
    assert figures(RUN, [TASK], [TASK, SHOWN], [TASK, SHOWN, EDITED]).strict.seen == 2
    assert figures(RUN, [TASK], [TASK], [TASK, SHOWN, EDITED]).strict.seen == 1
    assert figures(RUN, [TASK], [TASK, SHOWN], [TASK, SHOWN]).strict.seen == 1


def test_strict_takes_a_refresh_or_appended_lines_for_the_write() -> None:
    fresh = Part("alpha\ngamma\n", shown=Shown.REFRESHED, record=1, path="f", as_of=2)
    stale = Part("alpha\nbeta\n", shown=Shown.REFRESHED, record=1, path="f", as_of=1)
    hunk = Part("gamma\n", shown=Shown.APPENDED, path="f", as_of=2)
    stub = Part("", shown=Shown.STUB, record=1)

    assert figures(RUN, [TASK], [SHOWN], [fresh]).strict.seen == 2
    assert figures(RUN, [TASK], [SHOWN], [stale]).strict.seen == 1
    assert figures(RUN, [TASK], [SHOWN], [SHOWN, hunk]).strict.seen == 2
    assert figures(RUN, [TASK], [SHOWN], [stub, hunk]).strict.seen == 1


def test_a_file_never_shown_is_no_edit_to_judge_unless_it_was_written_whole() -> None:
    whole = record(1, 0, ObsKind.WRITE, target="f", targets=("f",), changes=(Whole("f", "beta\n"),))

    assert measure(transcript(EDIT), Everything(), TERMS).strict.of == 0
    assert measure(transcript(whole, EDIT), Everything(), TERMS).strict.of == 1


def test_a_whole_write_too_long_to_be_sent_shows_nothing() -> None:
    long = "x" * 13_000
    whole = record(
        1, 0, ObsKind.WRITE, args=long, target="f", targets=("f",), changes=(Whole("f", long),)
    )

    assert measure(transcript(whole, EDIT), Everything(), TERMS).strict.of == 0


def test_quoted_needs_every_old_line_literally() -> None:
    assert figures(RUN, [TASK], [SHOWN], [EDITED]).quoted.seen == 2
    assert figures(RUN, [TASK], [Part("alpha bet\n")], [EDITED]).quoted.seen == 1
    assert figures(RUN, [TASK], [Part("  beta  ")], [EDITED]).quoted.seen == 2  # an end of a line


def test_echo_counts_names_seen_before_once_a_step() -> None:
    run = transcript(
        record(0, 0, ObsKind.MESSAGE, "call resolve_path and short"),
        record(1, -1, ObsKind.MESSAGE, "resolve_path resolve_path unseen_name short"),
        record(2, -1, ObsKind.MESSAGE, "resolve_path unseen_name"),
    )

    assert measure(run, Everything(), TERMS).echo.of == 1 + 2
    assert figures(run, [Part("resolve_path")], [Part("unseen_name")]).echo.seen == 1 + 1


def test_results_that_no_request_carried_are_counted() -> None:
    stub = Part("", shown=Shown.STUB, record=1)

    assert figures(RUN, [TASK], [TASK, stub], [TASK, EDITED]).never_carried == 1
