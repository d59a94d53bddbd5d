"""The rules of notes at their boundaries."""

from __future__ import annotations

import pytest

from io_harness.errors import ConfigError, MemoryRefused
from io_harness.memory import (
    MEMORY_MAX_CHARS,
    MEMORY_MAX_ENTRIES,
    MEMORY_MAX_ENTRY_CHARS,
    TRUNCATED,
    Held,
    MemoryLimits,
    check_key,
    cut_value,
    evictions,
)

LIMITS = MemoryLimits()


def held(count: int, chars: int, *, pinned: int = 0) -> list[Held]:
    """Notes k0, k1, ..., the oldest first, the first of them pinned."""
    return [Held(f"k{n}", chars, n + 1, n < pinned) for n in range(count)]


def test_the_caps_are_the_documented_ones() -> None:
    assert (MEMORY_MAX_ENTRIES, MEMORY_MAX_CHARS, MEMORY_MAX_ENTRY_CHARS) == (64, 16_000, 2_000)
    assert (LIMITS.max_entries, LIMITS.max_chars, LIMITS.max_entry_chars) == (64, 16_000, 2_000)
    assert LIMITS.writes_per_run == 8


@pytest.mark.parametrize(
    ("length", "kept", "cut"), [(0, 0, False), (1_999, 1_999, False), (2_000, 2_000, False)]
)
def test_a_value_within_its_cap_is_kept_as_it_is(length: int, kept: int, cut: bool) -> None:
    value, truncated = cut_value("é" * length, LIMITS)
    assert (len(value), truncated) == (kept, cut)
    assert value == "é" * length


@pytest.mark.parametrize("length", [2_001, 2_500, 1_000_000])
def test_a_longer_value_is_cut_to_exactly_its_cap_with_the_marker(length: int) -> None:
    value, truncated = cut_value("\U0001f600" * length, LIMITS)
    assert truncated
    assert len(value) == 2_000
    assert value == "\U0001f600" * (2_000 - len(TRUNCATED)) + "…[truncated]"


def test_a_cut_does_not_part_two_surrogates() -> None:
    limits = MemoryLimits(max_entry_chars=len(TRUNCATED) + 2)
    value, _ = cut_value("a\ud83d\ude00" + "b" * 50, limits)
    assert value == "a" + TRUNCATED


@pytest.mark.parametrize("cap", range(1, len(TRUNCATED) + 2))
def test_a_cap_too_small_for_the_marker_still_holds(cap: int) -> None:
    value, truncated = cut_value("x" * 100, MemoryLimits(max_entry_chars=cap))
    assert truncated
    assert len(value) == cap


def test_the_sum_caps_one_value_too() -> None:
    value, _ = cut_value("x" * 100, MemoryLimits(max_chars=50, max_entry_chars=90))
    assert len(value) == 50


@pytest.mark.parametrize("key", ["a", " ", "k" * 128, "e\u0301", "\ud800", "'); DROP TABLE", "%_"])
def test_a_key_may_be_any_visible_text(key: str) -> None:
    check_key(key)


@pytest.mark.parametrize(
    "key",
    ["", "k" * 129, "k" * 1_000_000, "a\nb", "\0", "a\u200bb", "\u202e", "\U000e0041", "\x1b"],
)
def test_a_key_that_could_deceive_is_refused_with_the_reason(key: str) -> None:
    with pytest.raises(ValueError, match=r"choose a (short name|name of visible)"):
        check_key(key)


def test_the_64th_note_fits_and_the_65th_evicts_the_first() -> None:
    assert evictions(held(63, 10), "new", 10, LIMITS) == ()
    assert evictions(held(64, 10), "new", 10, LIMITS) == ("k0",)
    assert evictions(held(65, 10), "new", 10, LIMITS) == ("k0", "k1")


def test_writing_a_key_again_evicts_nothing_for_the_count() -> None:
    assert evictions(held(64, 10), "k0", 10, LIMITS) == ()


@pytest.mark.parametrize(
    ("chars", "gone"), [(999, ()), (1_000, ()), (1_001, ("k0",)), (2_000, ("k0",))]
)
def test_the_sum_evicts_the_fewest_oldest(chars: int, gone: tuple[str, ...]) -> None:
    assert evictions(held(15, 1_000), "new", chars, LIMITS) == gone


def test_many_small_notes_go_for_a_large_one() -> None:
    notes = [Held(f"k{n}", 250, n + 1, pinned=False) for n in range(64)]
    assert evictions(notes, "new", 2_000, LIMITS) == tuple(f"k{n}" for n in range(8))
    assert evictions(notes, "k0", 2_000, LIMITS) == tuple(f"k{n}" for n in range(1, 8))


def test_age_is_the_order_of_writes_and_not_of_keys() -> None:
    notes = [Held("a", 10, 9, pinned=False), Held("z", 10, 3, pinned=False)]
    assert evictions(notes, "new", 1, MemoryLimits(max_entries=2)) == ("z",)


def test_pinned_notes_stay_and_the_next_oldest_goes() -> None:
    assert evictions(held(64, 10, pinned=2), "new", 10, LIMITS) == ("k2",)


@pytest.mark.parametrize("notes", [held(64, 1, pinned=64), held(8, 2_000, pinned=8)])
def test_where_only_pinned_notes_could_go_the_write_is_refused(notes: list[Held]) -> None:
    with pytest.raises(MemoryRefused, match="pinned"):
        evictions(notes, "new", 1, LIMITS)


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "8"])
def test_a_limit_that_is_no_whole_number_from_1_is_refused(value: int) -> None:
    with pytest.raises(ConfigError, match="max_entries"):
        MemoryLimits(max_entries=value)
