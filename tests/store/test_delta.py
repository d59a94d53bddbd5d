"""A text as copies of others and what is new in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from io_harness.store import delta

lines = st.lists(
    st.sampled_from(["alpha\n", "a line that is long enough to be copied\n", "\n", "\ud83dx\0"])
    | st.text(max_size=30),
    max_size=12,
).map("".join)


@given(lines, lines, lines)
def test_what_is_encoded_is_decoded_exactly(target: str, base: str, other: str) -> None:
    sources = {0: base, 7: other}
    segments, novel = delta.encode(target, sources, novel=-3)
    assert delta.decode(segments, sources | {-3: novel}) == target
    assert all(size > 0 for _, _, size in segments)


@given(lines, lines, lines)
def test_two_steps_compose_to_one(first: str, second: str, third: str) -> None:
    below, novel = delta.encode(second, {5: first}, novel=-1)
    above, newer = delta.encode(third, {0: second}, novel=-2)
    flat = delta.compose(above, 0, below)
    assert delta.decode(flat, {5: first, -1: novel, -2: newer}) == third


def test_a_text_that_only_grows_is_one_copy_and_what_was_added() -> None:
    base = "".join(f"line {number} of a request\n" for number in range(500))
    segments, novel = delta.encode(base + "more\n", {0: base}, novel=-1)
    assert segments == [(0, 0, len(base)), (-1, 0, 5)]
    assert novel == "more\n"


def test_what_a_tool_returned_is_found_inside_its_frame_though_its_end_was_cut() -> None:
    result = "".join(f"line {number} of what was read from a file\n" for number in range(500))
    target = f"result 9 []\n[read a.py]\n{result[:8_000]}\n[elided]\n{result[-3_000:]}\n"
    segments, novel = delta.encode(target, {4: result}, novel=-1)
    assert sum(size for source, _, size in segments if source == 4) > 10_900
    assert len(novel) < 100
