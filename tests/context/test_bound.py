"""Cutting: every cap is kept, the marker is at the edge, and what fits is untouched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_harness import bound
from io_harness.context.bound import KEEPS, Keep

KEEP = st.sampled_from(KEEPS)
TEXT = st.text(st.characters() | st.sampled_from("\n\ud83d\ude00"), max_size=300)


@given(TEXT, st.integers(0, 250), KEEP, st.text(max_size=20))
def test_a_bound_text_keeps_its_cap_and_encodes(text: str, cap: int, keep: Keep, hint: str) -> None:
    out = bound(text, cap, keep=keep, hint=hint)
    assert len(out) <= cap
    out.encode()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), KEEP)
def test_what_fits_is_unchanged(text: str, keep: Keep) -> None:
    assert bound(text, len(text), keep=keep) == text


@pytest.mark.parametrize("keep", KEEPS)
def test_every_cap_of_every_length(keep: Keep) -> None:
    for length in range(0, 200, 7):
        text = ("line\n" * length)[:length]
        for cap in range(200):
            out = bound(text, cap, keep=keep)
            assert len(out) <= cap
            if length > cap >= 60:
                edge = out.split("\n")[0 if keep in ("tail", "ends") else -1]
                assert "elided" in edge
                assert "truncated" in edge


def test_the_marker_counts_what_is_gone() -> None:
    out = bound("x" * 53_220, 12_000, hint="ask again")
    kept = out.count("x")
    assert out.endswith(f"[elided: {53_220 - kept:,} of 53,220 characters truncated; ask again]")
    assert len(out) == 12_000


def test_a_command_keeps_its_end() -> None:
    out = bound("start\n" + "noise\n" * 5_000 + "error: it broke", 500, keep="ends")
    assert "start" in out
    assert out.endswith("error: it broke")


def test_a_surrogate_pair_is_joined_and_a_lone_one_is_shown() -> None:
    assert bound("\ud83d\ude00", 10) == "😀"
    assert bound("a\ud83e", 10) == "a\\u{d83e}"


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"cap .*-1"):
        bound("x", -1)
