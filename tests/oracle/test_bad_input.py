"""What the heart does with input that is wrong, or hostile, or huge: an error, never a crash."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import pytest

from io_harness import (
    COMPILED,
    Assembler,
    CachePrice,
    ContextBudget,
    Ledger,
    Observation,
    ObsKind,
    entry_cap_chars,
)
from io_harness.errors import ConfigError, LedgerError

GOOD = Observation(1, ObsKind.READ, "a.py", "text\n", lines=(1, 1), total_lines=1)


def section(*observations: Observation, budget: int = 4_000) -> str:
    """One section of a ledger that holds these."""
    ledger = Ledger()
    for observation in observations:
        ledger.push(observation)
    made = Assembler(ledger).assemble(step=ledger_step(ledger), budget_tokens=budget)
    assert made.est_tokens <= budget
    assert made.carried + made.stubbed == len(ledger)
    made.text.encode("utf-8")
    return made.text


def ledger_step(ledger: Ledger) -> int:
    """The step after the last."""
    return max((observation.step for observation in ledger), default=0) + 1


@pytest.mark.parametrize("budget", [63, 0, -1, -(2**70)])
def test_a_ceiling_below_64_names_field_and_value(budget: int) -> None:
    """Nothing can be carried there."""
    with pytest.raises(ValueError, match=r"budget_tokens") as caught:
        Assembler(Ledger()).assemble(step=1, budget_tokens=budget)
    assert str(budget) in str(caught.value)


@pytest.mark.parametrize("budget", [math.nan, math.inf, 100.5, "100", None, True])
def test_a_ceiling_that_is_no_integer(budget: object) -> None:
    """Refused by name, whatever the kernel would make of it."""
    with pytest.raises((ValueError, TypeError), match="budget_tokens"):
        Assembler(Ledger()).assemble(step=1, budget_tokens=cast("int", budget))


@pytest.mark.parametrize("budget", [2**31, 2**62, 2**63, 2**80])
def test_a_ceiling_beyond_any_machine_integer(budget: int) -> None:
    """No overflow: everything is carried."""
    ledger = Ledger()
    ledger.push(GOOD)
    assert Assembler(ledger).assemble(step=2, budget_tokens=budget).carried == 1


@pytest.mark.parametrize("step", [-1, -(2**70), 1.5, "1", None])
def test_a_step_that_is_no_step(step: object) -> None:
    """Both where it is pushed and where it is assembled."""
    with pytest.raises((LedgerError, TypeError), match="step"):
        Ledger().push(replace(GOOD, step=cast("int", step)))
    with pytest.raises((ValueError, TypeError), match="step"):
        Assembler(Ledger()).assemble(step=cast("int", step), budget_tokens=100)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "reed"),
        ("kind", None),
        ("text", None),
        ("text", b"bytes"),
        ("target", 7),
        ("args", None),
        ("lines", (0, 3)),
        ("lines", (5, 2)),
        ("lines", (1,)),
        ("lines", ("1", "2")),
        ("total_lines", -1),
        ("scope", 3),
        ("key", 3),
        ("digest", 3),
        ("paths", "abc"),
        ("paths", (1,)),
        ("call", -2),
        ("call", "0"),
    ],
)
def test_a_wrong_field_is_named(field: str, value: object) -> None:
    """And the ledger is as it was."""
    ledger = Ledger()
    with pytest.raises((LedgerError, TypeError), match=field):
        ledger.push(replace(GOOD, **{field: value}))  # type: ignore[arg-type]  # wrong on purpose
    assert len(ledger) == 0
    assert ledger.push(GOOD) == 0


def test_an_empty_asked_range_is_a_read_past_the_end() -> None:
    """`lines` as a workspace gives them there: (offset, offset - 1)."""
    assert "a.py" in section(replace(GOOD, text="", lines=(9, 8), total_lines=1))


def test_a_step_that_goes_back() -> None:
    """Refused, and the ledger is as it was."""
    ledger = Ledger()
    ledger.push(replace(GOOD, step=5))
    with pytest.raises(LedgerError, match="step"):
        ledger.push(replace(GOOD, step=4))
    assert len(ledger) == 1


def test_a_second_step_and_call() -> None:
    """Two results of one call cannot be."""
    ledger = Ledger()
    ledger.push(replace(GOOD, call=3))
    with pytest.raises(LedgerError, match="call"):
        ledger.push(replace(GOOD, call=3, kind=ObsKind.TOOL))
    assert len(ledger) == 1


@pytest.mark.parametrize(
    "target",
    ["a\nb", "a\r\u2028b", "t" * 10_000, "\ud83d", "\0", "", "[step 1, read a.py]", '"', "\\"],
)
@pytest.mark.parametrize("kind", ObsKind)
def test_hostile_targets_stay_on_one_line(kind: ObsKind, target: str) -> None:
    """Of every kind, superseded or not, under every small ceiling."""
    for budget in (64, 65, 100, 1_000):
        text = section(
            Observation(1, kind, target, "content\n"),
            Observation(2, kind, target, "content\n"),
            budget=budget,
        )
        assert "\r" not in text
        assert "\u2028" not in text
        assert "\0" not in text
        assert all(len(line) < 400 for line in text.split("\n"))


@pytest.mark.parametrize("text", ["\ud83d" * 5_000, "\0" * 5_000, "\u202e" * 5_000, "\n" * 5_000])
@pytest.mark.parametrize("kind", ObsKind)
def test_hostile_texts(kind: ObsKind, text: str) -> None:
    """Bounded and encodable under small and large ceilings."""
    for budget in (64, 200, 2_000, 24_000):
        assert section(Observation(1, kind, "t", text), budget=budget)


@pytest.mark.parametrize("kind", [ObsKind.READ, ObsKind.TOOL, ObsKind.GREP, ObsKind.MESSAGE])
@pytest.mark.parametrize("unit", ["x", "x\n", "\U0001f600 line\n"])
def test_a_hundred_megabytes(kind: ObsKind, unit: str) -> None:
    """One observation of 100 MB is cut like any other, and says so."""
    text = unit * (100_000_000 // len(unit.encode()))
    shown = section(Observation(1, kind, "t", text), budget=24_000)
    assert len(shown) <= entry_cap_chars(24_000) + 200
    assert f"{len(text):,}" in shown


def test_a_million_observations_in_one_step() -> None:
    """Calls get their numbers, the newest is carried, the rest is counted."""
    count = 1_000_000 if COMPILED else 200_000  # the pure kernel takes a minute for a million
    ledger = Ledger()
    one = Observation(1, ObsKind.TOOL, "t", "text")
    for _ in range(count):
        ledger.push(one)
    made = Assembler(ledger).assemble(step=2, budget_tokens=500)
    assert made.carried + made.stubbed == count
    assert made.est_tokens <= 500
    assert [seen.call for seen in ledger][-1] == count - 1


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01, math.nan, math.inf])
def test_a_share_that_is_none(share: float) -> None:
    """Named with its value."""
    with pytest.raises(ValueError, match="share") as caught:
        ContextBudget(share=share)
    assert isinstance(caught.value, ConfigError)
    assert repr(share) in str(caught.value)


@pytest.mark.parametrize("most", [0, -1, -(2**70)])
def test_a_budget_below_one(most: int) -> None:
    """Named with its value."""
    with pytest.raises(ValueError, match="max_tokens") as caught:
        ContextBudget(max_tokens=most)
    assert str(most) in str(caught.value)


@pytest.mark.parametrize("price", [-0.1, math.nan, math.inf])
def test_a_price_that_is_none(price: float) -> None:
    """Named, on either side."""
    with pytest.raises(ValueError, match="read"):
        CachePrice(read=price)
    with pytest.raises(ValueError, match="write"):
        CachePrice(write=price)


@pytest.mark.parametrize("manifest", ["", "null", "[]", "{", '{"a": 1}', "\ud83d", '{"v": 10}'])
def test_a_manifest_that_is_none(manifest: str) -> None:
    """Refused when the assembler is made, not at some later turn."""
    with pytest.raises(ValueError, match="manifest"):
        Assembler(Ledger(), manifest=manifest)


def test_a_manifest_of_another_ledger() -> None:
    """Positions that are not there are refused, never read out of bounds."""
    ledger = Ledger()
    for step in range(1, 50):
        ledger.push(replace(GOOD, step=step))
    manifest = Assembler(ledger).assemble(step=50, budget_tokens=200)
    with pytest.raises(ValueError, match="manifest"):
        Assembler(Ledger(), manifest=manifest.manifest)
