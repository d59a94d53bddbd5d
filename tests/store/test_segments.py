"""How a version is made, as the bytes of its row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_harness.errors import StoreCorrupt
from io_harness.store.codec import squeezed
from io_harness.store.delta import Segment
from io_harness.store.segments import read, spelled, template

NUMBER = 1_000
sizes = st.integers(1, 2**40)
starts = st.integers(0, 2**40)
copies = st.tuples(
    st.one_of(st.just(0), st.integers(1, 2**50), st.integers(-NUMBER + 1, -1)), starts, sizes
)


def going_on(drawn: list[Segment | int]) -> list[Segment]:
    """Segments, the whole numbers among them new text of the version's own."""
    segments: list[Segment] = []
    own = 0
    for one in drawn:
        if isinstance(one, int):
            segments.append((-NUMBER, own, one))
            own += one
        else:
            segments.append(one)
    return segments


@given(st.lists(copies | sizes, max_size=20).map(going_on), st.integers(0, NUMBER - 1))
def test_segments_read_back(segments: list[Segment], known: int) -> None:
    data = spelled(segments, NUMBER, template=known)
    assert read(data, NUMBER) == segments
    assert template(data, NUMBER) == known


def test_a_request_that_goes_on_takes_a_few_bytes() -> None:
    segments = [(0, 0, 100_000), (-NUMBER, 0, 200), (7, 0, 2_000), (-NUMBER, 200, 30)]
    assert len(spelled(segments, NUMBER, template=0)) <= 14


def test_the_form_of_schema_1_is_read() -> None:
    data = squeezed("[0,0,100,-1000,0,20,7,5,9]")
    assert read(data, NUMBER) == [(0, 0, 100), (-NUMBER, 0, 20), (7, 5, 9)]
    assert template(data, NUMBER) == 0


@pytest.mark.parametrize(
    "data",
    [b"\x07", b"\x07\x00\x80", b"\x07\x00" + b"\x80" * 11, b"\x07\x00\x05", b"", None, 5, "x"],
)
def test_bytes_that_are_no_segments_are_told(data: bytes | str | int | None) -> None:
    with pytest.raises((StoreCorrupt, ValueError)):  # the backend makes the one of the other
        read(data, NUMBER)


@given(st.binary(max_size=40))
def test_any_bytes_are_segments_or_are_told(data: bytes) -> None:
    for one in (data, b"\x07" + data):
        try:
            read(one, NUMBER)
            template(one, NUMBER)
        except (StoreCorrupt, ValueError):
            pass
