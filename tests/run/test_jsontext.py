"""JSON both ways, for what orjson takes and for what it refuses."""

from __future__ import annotations

import pytest

from io_harness import jsontext


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1e300,
        2**64,
        -(2**70),
        "é\ud83d",
        {"a": ["\udc00", 1.5]},
        "\u2028",
        {"b": 1, "a": 2},
    ],
)
def test_what_is_written_is_read_back(value: object) -> None:
    assert jsontext.loads(jsontext.dumps(value)) == value


def test_the_form_is_compact_whoever_writes_it() -> None:
    assert jsontext.dumps({"a": ["é", 1]}) == '{"a":["é",1]}'
    assert jsontext.dumps({"a": ["é", 2**70]}) == '{"a":["é",1180591620717411303424]}'
    assert jsontext.dumps({"b": 1, "a": 2}, sort_keys=True) == '{"a":2,"b":1}'


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a":Infinity}', "[1,]", "1e400", "[" * 100_000])
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        jsontext.loads(text)


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), float("inf"), {"a": [float("nan")]}, ["\ud83d", float("nan")]]
)
def test_what_json_cannot_hold_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        jsontext.dumps(value)
