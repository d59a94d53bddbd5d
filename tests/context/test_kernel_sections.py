"""Whole sections are the same to the byte with either kernel."""

from __future__ import annotations

from dataclasses import dataclass
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_harness import Assembled, Assembler, Ledger, MemoryEntry, Observation, ObsKind
from io_harness.context import view
from tests.context.files import MemoryFiles

from .flavours import COMPILED, NO_COMPILED, TWIN, Flavour

PATHS = ("a.py", "./a.py", "b.py", "c.py")
LINES = ("x = 1\n", "[step 3, read a.py]\n", "é\n", "\ud83d\n", "y" * 200 + "\n", "\n")


@dataclass(frozen=True, slots=True)
class Turn:
    """What happens before a section: observations, changes of files; then its ceiling."""

    observations: tuple[Observation, ...]
    changed: str | None
    ceiling: int
    notes: int


OBSERVATIONS = st.builds(
    Observation,
    st.just(0),
    st.sampled_from([*ObsKind, *[ObsKind.READ] * 8, *[ObsKind.WRITE] * 3]),
    st.sampled_from([*PATHS, None]),
    st.builds(lambda line, times: line * times, st.sampled_from(LINES), st.integers(0, 60)),
    args=st.sampled_from(["", '{"path": "a.py"}', '{"c": "' + "z" * 300 + '"}']),
    lines=st.none()
    | st.tuples(st.integers(1, 30), st.integers(0, 30)).map(
        lambda pair: (pair[0], pair[0] + pair[1] - 1)
    ),
    total_lines=st.none() | st.integers(0, 60),
    key=st.none() | st.sampled_from("kl"),
    paths=st.sampled_from([(), ("a.py",), ("b.py", "c.py")]),
)
TURNS = st.lists(
    st.builds(
        Turn,
        st.lists(OBSERVATIONS, max_size=5).map(tuple),
        st.none() | st.sampled_from(PATHS),
        st.sampled_from([64, 65, 120, 300, 1_000, 4_000]),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=12,
)


def told(made: Assembled) -> tuple[object, ...]:
    """Everything that a section says of itself."""
    return (
        made.text,
        list(made.pieces),
        (made.carried, made.stubbed, made.reread, made.recalled, made.left_out, made.collapsed),
        (made.est_tokens, made.stable_chars, made.rewritten, made.work),
        made.manifest,
    )


def sections(flavour: Flavour, turns: list[Turn], *, files: bool) -> list[tuple[object, ...]]:
    """The sections of a run on one kernel."""
    workspace = MemoryFiles()
    for path in PATHS:
        workspace.put(path.removeprefix("./"), "x = 1\n" * 20)
    ledger = Ledger()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(view, "Kernel", flavour.module.Kernel)
        assembler = Assembler(ledger, workspace=workspace if files else None)
    made = []
    for step, turn in enumerate(turns, start=1):
        for seen in turn.observations:
            ledger.push(
                Observation(
                    step,
                    seen.kind,
                    seen.target,
                    seen.text,
                    args=seen.args,
                    lines=seen.lines,
                    total_lines=seen.total_lines,
                    key=seen.key,
                    paths=seen.paths,
                )
            )
        if turn.changed is not None:
            workspace.put(turn.changed.removeprefix("./"), f"changed at {step}\n" * step)
        notes = [MemoryEntry(f"note {n}", "v" * 90, "r", n, seq=n) for n in range(turn.notes)]
        made.append(told(assembler.assemble(step=step, budget_tokens=turn.ceiling, notes=notes)))
    return made


@settings(max_examples=100)
@given(TURNS, st.booleans())
def test_usual_reads_and_stubs_are_what_they_are_in_several_pieces(
    turns: list[Turn], files: bool
) -> None:
    in_one = sections(TWIN, turns, files=files)
    with (
        patch.object(TWIN.module.Kernel, "set_below", return_value=False),
        patch.object(TWIN.module.Kernel, "add_read", return_value=None),
    ):
        assert sections(TWIN, turns, files=files) == in_one


@pytest.mark.skipif(COMPILED is None, reason=NO_COMPILED)
@settings(max_examples=150)
@given(TURNS, st.booleans())
def test_sections_are_the_same_with_either_kernel(turns: list[Turn], files: bool) -> None:
    assert COMPILED is not None
    assert sections(COMPILED, turns, files=files) == sections(TWIN, turns, files=files)
