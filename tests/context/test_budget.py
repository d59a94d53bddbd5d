"""The arithmetic of budgets, at the values where it turns."""

from __future__ import annotations

import math

import pytest

from io_harness import CachePrice, ContextBudget, entry_cap_chars, estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("éééé", 1)])
def test_an_estimate_is_a_quarter_of_the_code_points_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("budget", "remaining", "tokens"),
    [
        (ContextBudget(), None, 24_000),
        (ContextBudget(), 100_000, 24_000),
        (ContextBudget(), 20_000, 10_000),
        (ContextBudget(), 1_000, 2_000),
        (ContextBudget(), -5, 2_000),
        (ContextBudget(max_tokens=500), 0, 500),
        (ContextBudget(max_tokens=50_000, share=0.29), 100_000, 29_000),
        (ContextBudget(max_tokens=50_000, share=0.1), 30_000, 3_000),
    ],
)
def test_a_ceiling_is_the_least_of_its_limits(
    budget: ContextBudget, remaining: int | None, tokens: int
) -> None:
    assert budget.effective_tokens(remaining) == tokens


@pytest.mark.parametrize("share", [0, -0.1, 1.01, math.nan, math.inf])
def test_a_share_outside_its_range_is_named(share: float) -> None:
    with pytest.raises(ValueError, match=r"share .*" + str(share)):
        ContextBudget(share=share)


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_ceiling_below_one_is_named(tokens: int) -> None:
    with pytest.raises(ValueError, match=rf"max_tokens .*{tokens}"):
        ContextBudget(max_tokens=tokens)


@pytest.mark.parametrize("price", [-0.1, math.nan, math.inf])
def test_a_price_that_is_none_is_named(price: float) -> None:
    with pytest.raises(ValueError, match="write"):
        CachePrice(write=price)


@pytest.mark.parametrize(("tokens", "chars"), [(24_000, 12_000), (0, 2_000), (4_000, 2_000)])
def test_an_entry_has_an_eighth_of_the_ceiling(tokens: int, chars: int) -> None:
    assert entry_cap_chars(tokens) == chars
