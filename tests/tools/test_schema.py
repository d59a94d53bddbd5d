"""Schemas from signatures, and arguments held against them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Literal

import pytest

from io_harness.errors import ConfigError
from io_harness.tools import ToolContext, ToolError
from io_harness.tools.schema import Parameters, parameters_of

if TYPE_CHECKING:
    from io_harness.types import JSON


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def sample(
    here: ToolContext,
    text: Annotated[str, "what to say"],
    number: int,
    ratio: float = 1.0,
    flag: bool = False,
    choice: Literal["a", "b", 1] = "a",
    colour: Colour = Colour.RED,
    maybe: str | None = None,
    words: list[str] = [],  # noqa: B006 - only its type is looked at
    pair: tuple[int, ...] = (),
    table: dict[str, list[int]] = {},  # noqa: B006 - as above
) -> None:
    """A function of every type."""


def parameters() -> Parameters:
    return parameters_of(sample, given=ToolContext)


def test_the_schema_says_what_the_signature_says() -> None:
    schema = parameters().schema
    assert schema["type"] == "object"
    assert schema["required"] == ["text", "number"]
    assert schema["additionalProperties"] is False
    assert schema["properties"] == {
        "text": {"type": "string", "description": "what to say"},
        "number": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "choice": {"enum": ["a", "b", 1]},
        "colour": {"enum": ["red", "blue"]},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "words": {"type": "array", "items": {"type": "string"}},
        "pair": {"type": "array", "items": {"type": "integer"}},
        "table": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "integer"}},
        },
    }


def test_values_become_what_the_types_say() -> None:
    bound = parameters().bind(
        {
            "text": "t",
            "number": 3.0,
            "ratio": 2,
            "colour": "blue",
            "maybe": None,
            "pair": [1, 2],
            "table": {"k": [1]},
        },
        "given",
    )
    assert bound == {
        "here": "given",
        "text": "t",
        "number": 3,
        "ratio": 2.0,
        "colour": Colour.BLUE,
        "maybe": None,
        "pair": (1, 2),
        "table": {"k": [1]},
    }
    assert type(bound["number"]) is int
    assert type(bound["ratio"]) is float


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("number", "3", "'number' must be integer, not '3'"),
        ("number", 3.5, "'number' must be integer, not 3.5"),
        ("number", True, "'number' must be integer, not True"),
        ("flag", 1, "'flag' must be boolean, not 1"),
        ("text", None, "'text' must be string, not None"),
        ("choice", "c", "'choice' must be one of 'a', 'b', 1, not 'c'"),
        ("choice", True, "'choice' must be one of"),
        ("maybe", 3, "'maybe' must be string, not 3 or must be null, not 3"),
        ("words", "x", "'words' must be an array, not 'x'"),
        ("words", ["x", 1], "'words' must be string, not 1"),
        ("table", [], "'table' must be an object"),
        ("text", ["x" * 100], "..."),
        ("other", 1, "no argument is named 'other'; there are text, number"),
    ],
)
def test_what_does_not_fit_is_told_by_name(name: str, value: JSON, told: str) -> None:
    with pytest.raises(ToolError) as caught:
        parameters().bind({"text": "t", "number": 1, name: value}, None)
    assert told in str(caught.value)


def test_what_is_missing_is_told() -> None:
    with pytest.raises(ToolError, match="'number' is missing"):
        parameters().bind({"text": "t"}, None)


def no_type(x) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - what the test is about
    """Not typed."""


def starred(*words: str) -> None:
    """Takes any number."""


def strange(x: complex) -> None:
    """Takes what JSON cannot say."""


def lost(x: Nowhere) -> None:  # type: ignore[name-defined] # noqa: F821 - what the test is about
    """Takes what is not there."""


@pytest.mark.parametrize("function", [no_type, starred, strange, lost])
def test_a_signature_that_json_cannot_say_is_a_config_error(function: object) -> None:
    assert callable(function)
    with pytest.raises(ConfigError, match=getattr(function, "__name__", "")):
        parameters_of(function, given=ToolContext)
