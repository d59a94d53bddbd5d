"""What a ledger takes, where it puts it, and what it says of what it does not take."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from io_harness import Assembler, HarnessError, Ledger, Observation, ObsKind
from io_harness.errors import LedgerError

PLAIN = Observation(1, ObsKind.TOOL, "t", "x")


def pushed(*observations: Observation) -> Ledger:
    ledger = Ledger()
    for position, observation in enumerate(observations):
        assert ledger.push(observation) == position
    return ledger


def test_observations_stand_in_the_order_they_came() -> None:
    seen = [replace(PLAIN, step=step) for step in (0, 1, 1, 2, 7)]
    ledger = pushed(*seen)
    assert len(ledger) == 5
    assert [observation.step for observation in ledger] == [0, 1, 1, 2, 7]


def test_a_call_left_out_is_the_next_free_one_from_0() -> None:
    calls = [None, -1, None, 3, None, None, 7]
    ledger = pushed(*(replace(PLAIN, call=call) for call in calls))
    assert [observation.call for observation in ledger] == [0, -1, 1, 3, 2, 4, 7]


def test_a_new_step_counts_anew() -> None:
    ledger = pushed(PLAIN, PLAIN, replace(PLAIN, step=2), replace(PLAIN, step=2, call=-1))
    assert [(o.step, o.call) for o in ledger] == [(1, 0), (1, 1), (2, 0), (2, -1)]


@pytest.mark.parametrize("call", [-1, 0, 5])
def test_a_second_observation_of_a_call_is_refused(call: int) -> None:
    ledger = pushed(replace(PLAIN, call=call))
    with pytest.raises(LedgerError, match=rf"step 1 call {call} is already"):
        ledger.push(replace(PLAIN, call=call))
    assert len(ledger) == 1


def test_a_call_that_was_given_out_is_taken() -> None:
    ledger = pushed(PLAIN)
    with pytest.raises(LedgerError, match="step 1 call 0 is already"):
        ledger.push(replace(PLAIN, call=0))


def test_a_step_that_goes_back_is_refused() -> None:
    ledger = pushed(replace(PLAIN, step=3))
    with pytest.raises(LedgerError, match=r"step goes back from 3 to 2"):
        ledger.push(replace(PLAIN, step=2))


WRONG: list[tuple[str, object]] = [
    ("step", -1),
    ("step", 2**63),
    ("step", 1.5),
    ("step", True),
    ("step", "1"),
    ("step", None),
    ("kind", "reads"),
    ("kind", ""),
    ("kind", None),
    ("target", 5),
    ("target", b"a"),
    ("text", None),
    ("text", b"x"),
    ("args", None),
    ("args", {}),
    ("scope", 1),
    ("key", 1),
    ("digest", b"x"),
    ("call", -2),
    ("call", "0"),
    ("call", 0.5),
    ("call", 2**63),
    ("lines", (0, 4)),
    ("lines", (5, 3)),
    ("lines", (1,)),
    ("lines", [1, 2]),
    ("lines", (1, 2.5)),
    ("lines", (1, float("nan"))),
    ("lines", "12"),
    ("total_lines", -1),
    ("total_lines", 1.5),
    ("paths", ["a"]),
    ("paths", ("a", None)),
    ("paths", "a"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_field_that_cannot_be_is_named_and_nothing_is_kept(name: str, value: object) -> None:
    ledger = pushed(PLAIN)
    wrong = replace(PLAIN, **{name: value})  # type: ignore[arg-type]  # what is refused
    with pytest.raises(LedgerError, match=name):
        ledger.push(wrong)
    assert len(ledger) == 1
    assert ledger.push(PLAIN) == 1
    assert [observation.call for observation in ledger] == [0, 1]


def test_the_error_is_one_of_ours_and_a_value_error() -> None:
    assert issubclass(LedgerError, HarnessError)
    assert issubclass(LedgerError, ValueError)


def test_an_empty_range_starts_after_it_ends() -> None:
    (only,) = pushed(replace(PLAIN, kind=ObsKind.READ, lines=(9, 8), text=""))
    assert only.lines == (9, 8)


def test_a_kind_by_its_stored_spelling_is_that_kind() -> None:
    spelled = replace(PLAIN, kind="grep")  # type: ignore[arg-type]  # as a store has it
    (only,) = pushed(spelled)
    assert only.kind is ObsKind.GREP


def test_the_stored_spellings_are_fixed() -> None:
    assert [str(kind) for kind in ObsKind] == [
        "read",
        "grep",
        "find",
        "write",
        "skill",
        "tool",
        "mcp",
        "child",
        "message",
        "error",
    ]


def test_an_observation_is_never_changed() -> None:
    ledger = pushed(PLAIN)
    with pytest.raises(FrozenInstanceError):
        PLAIN.text = "other"  # type: ignore[misc]  # what is refused
    assert PLAIN.call is None
    assert next(iter(ledger)) == replace(PLAIN, call=0)


def test_any_text_is_taken() -> None:
    for text in ("", "\0", "\ud83d", "\u202e", "x" * 10_000_000):
        (only,) = pushed(replace(PLAIN, text=text, target=text[:50], args=text[:50]))
        assert only.text == text


@pytest.mark.parametrize(
    ("lines", "text", "said"),
    [
        ((3, 9), "c\nd\n", "lines 3-4 of 4"),
        ((3, 4), "c\nd", "lines 3-4 of 4"),
        ((9, 12), "", "no lines from 9 on of 4"),
        ((9, 8), "", "no lines from 9 on of 4"),
    ],
)
def test_the_full_text_heads_a_read_with_the_lines_that_are_there(
    lines: tuple[int, int], text: str, said: str
) -> None:
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.READ, "a.py", text, lines=lines, total_lines=4))
    assert ledger.full_text() == f"[step 1, read a.py, {said}]\n{text}\n"


class Marked(str):
    """A text that would show itself otherwise where it is formatted."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return f"<{str.__format__(self, spec)}>"


@pytest.mark.parametrize("kind", list(ObsKind))
def test_a_value_of_a_subclass_of_str_counts_as_the_text_it_holds(kind: ObsKind) -> None:
    made = []
    for text in (str, Marked):
        ledger = Ledger()
        for step in range(3):
            ledger.push(
                Observation(
                    step,
                    kind,
                    text("a.py"),
                    text("[step 1, read a.py]\n" * 200),
                    args=text('{"path": "a.py"}'),
                    scope=text("src"),
                    paths=(text("a.py"),),
                )
            )
        made.append(Assembler(ledger).assemble(step=3, budget_tokens=400).text)
    assert made[0] == made[1]
    assert type(made[1]) is str
