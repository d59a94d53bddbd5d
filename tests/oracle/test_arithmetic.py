"""The arithmetic of budgets and of `bound`, against definitions that are too simple to be wrong."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_harness.context import ContextBudget, bound, entry_cap_chars, estimate_tokens

from .model import entry_cap
from .strategies import HOSTILE

KEEP: tuple[Literal["head", "tail", "ends", "lines"], ...] = ("head", "tail", "ends", "lines")
SHARES = [Decimal(number) / 100 for number in range(1, 101)]
EMOJI = "\U0001f600"


@given(st.text(st.characters(exclude_categories=())))
def test_estimate_is_a_quarter_rounded_up(text: str) -> None:
    """Code points, not bytes and not UTF-16 units."""
    assert estimate_tokens(text) == math.ceil(len(text) / 4)


def test_entry_cap_is_an_eighth_with_a_floor() -> None:
    """Every ceiling up to 30,000 tokens."""
    assert [entry_cap_chars(tokens) for tokens in range(30_001)] == [
        entry_cap(tokens) for tokens in range(30_001)
    ]


@pytest.mark.parametrize("share", SHARES)
def test_effective_tokens_are_exact_decimals(share: Decimal) -> None:
    """The share is the decimal the caller wrote, not the binary fraction near it."""
    budget = ContextBudget(max_tokens=50_000, share=float(share))
    for remaining in (0, 1, 3_999, 4_000, 10_007, 100_000, 10**9 + 1, -5):
        wanted = min(50_000, max(2_000, math.floor(max(0, remaining) * share)))
        assert budget.effective_tokens(remaining) == wanted
    assert budget.effective_tokens(None) == 50_000


@pytest.mark.parametrize("keep", KEEP)
def test_bound_stays_inside_every_cap(keep: Literal["head", "tail", "ends", "lines"]) -> None:
    """Every cap around lengths on both sides of it, for text of every width."""
    for unit in ("a", EMOJI, "a\n", "\ud83d", "\r\n"):
        for length in (*range(0, 120, 9), 60, 61, 62):
            text = (unit * length)[:length]
            for cap in range(130):
                short = bound(text, cap, keep=keep)
                assert len(short) <= cap, (unit, length, cap)
                short.encode("utf-8")
                if len(text) <= cap and "\ud83d" not in text:
                    assert short == text, (unit, length, cap)


@pytest.mark.parametrize("keep", KEEP)
@given(st.lists(st.sampled_from(HOSTILE), max_size=5).map("\n".join), st.integers(0, 2_500))
def test_bound_says_what_is_gone_where_it_can(
    keep: Literal["head", "tail", "ends", "lines"], text: str, cap: int
) -> None:
    """Inside the cap, encodable, the same twice; a cut is announced on the first or last line."""
    short = bound(text, cap, keep=keep, hint="show(step=1, call=0, start=0)")
    assert len(short) <= cap
    short.encode("utf-8")
    assert short == bound(text, cap, keep=keep, hint="show(step=1, call=0, start=0)")
    if len(text) > cap >= 200:
        edges = short.split("\n")[0] + short.split("\n")[-1]
        assert "elided" in edges
        assert "truncated" in edges
        assert f"{len(text):,}" in edges


def test_bound_cuts_before_it_escapes() -> None:
    """As much raw text is kept as fits once escaped, and no escape is cut in two."""
    for cap in range(100, 400):
        short = bound("\ud83d" * 500, cap, keep="head")
        rest = short.replace(r"\u{d83d}", "")
        assert r"\u" not in rest
        assert "d83d" not in rest
