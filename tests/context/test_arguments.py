"""What of a call's arguments is sent: whole, with long strings elided, or as `{}`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_harness import Assembler, Ledger, Observation, ObsKind, Piece


def sent(args: str, *, stub: bool = False, ceiling: int = 24_000, text: str = "x") -> Piece:
    """The piece of an observation with these arguments, carried or as a stub."""
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.SKILL, "s", text, args=args))
    if stub:
        ledger.push(Observation(2, ObsKind.SKILL, "s", "x"))
    return Assembler(ledger).assemble(step=3, budget_tokens=ceiling).pieces[0]


def test_arguments_within_the_cap_are_sent_as_they_came() -> None:
    for args in ("", "{}", '{ "a" : 1 }', '{"a": "' + "y" * 11_000 + '"}', "not json", "[1, 2"):
        assert sent(args).args == args


@pytest.mark.parametrize(("length", "kept"), [(199, True), (200, True), (201, False)])
def test_a_stub_elides_strings_of_more_than_200_characters(length: int, kept: bool) -> None:
    literal = "y" * length
    args = f'{{"path" : "a.py",\t"text": "{literal}", "n": [1.0, null, true]}}'
    elided = args if kept else args.replace(literal, "[201 chars elided]")
    assert sent(args, stub=True).args == elided


def test_the_length_is_that_of_the_literal() -> None:
    literal = '\\n\\u00e9\\"' * 40
    assert sent(f'{{"t":"{literal}"}}', stub=True).args == (
        f'{{"t":"[{len(literal)} chars elided]"}}'
    )


def test_every_string_value_is_elided_and_no_key_is() -> None:
    long, key = "y" * 201, "k" * 201
    args = f'{{"{key}": ["{long}", {{"b" : "{long}"}}], "c" : "{long}"}}'
    cut = "[201 chars elided]"
    assert sent(args, stub=True).args == f'{{"{key}": ["{cut}", {{"b" : "{cut}"}}], "c" : "{cut}"}}'


@pytest.mark.parametrize(("keys", "kept"), [(49, True), (50, False)])
def test_a_stub_with_more_than_400_characters_left_sends_none(keys: int, kept: bool) -> None:
    args = "{" + ",".join(f'"{n:03}":1' for n in range(keys)) + "}"
    assert (len(args) <= 400) == kept
    assert sent(args, stub=True).args == (args if kept else "{}")


@pytest.mark.parametrize("args", ["not json", "[1]", '"text"', "1", '{"a": 1', "[" * 9_000, "null"])
def test_a_stub_sends_nothing_that_is_no_object(args: str) -> None:
    assert sent(args, stub=True).args == "{}"


def test_no_arguments_stay_none() -> None:
    assert sent("", stub=True).args == ""


def test_an_entry_elides_what_is_longer_than_its_cap() -> None:
    args = json.dumps({"path": "a.py", "text": "y" * 12_000})
    assert sent(args).args == '{"path": "a.py", "text": "[12000 chars elided]"}'
    rest = json.dumps({"all": list(range(5_000))})
    assert sent(rest).args == "{}"
    assert sent("y" * 12_001).args == "{}"


def test_an_entry_keeps_all_where_the_cap_is_wide() -> None:
    args = json.dumps({"path": "a.py", "text": "y" * 12_000})
    assert sent(args, ceiling=30_000).args == args


def test_the_newest_cut_to_fit_sends_at_most_half_the_room() -> None:
    args = json.dumps({"path": "a.py", "text": "y" * 1_000})
    piece = sent(args, ceiling=300, text="x" * 1_900)
    assert piece.args == '{"path": "a.py", "text": "[1000 chars elided]"}'
    assert piece.cut
    many = json.dumps({f"k{n}": "y" * 90 for n in range(9)})
    assert sent(many, ceiling=300, text="x" * 1_900).args == "{}"
    few = json.dumps({"text": "y" * 190})
    assert sent(few, ceiling=300, text="x" * 1_900).args == few


def test_lone_surrogates_are_spelled_out() -> None:
    piece = sent('{"a": "\ud83d", "b": "\ud83d\ude00"}')
    assert piece.args == '{"a": "\\u{d83d}", "b": "😀"}'
    piece.args.encode()


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=9), VALUE, max_size=4), st.booleans())
def test_elided_arguments_are_the_same_object_with_shorter_strings(
    value: dict[str, object], plain: bool
) -> None:
    args = json.dumps(value, ensure_ascii=not plain)
    got = sent(args, stub=True).args
    assert len(got) <= 400
    if got != "{}":
        assert _elided(value) == _elided(json.loads(got))


def _elided(value: object) -> object:
    """Strings that were long, or stand for one, are all alike."""
    match value:
        case str():
            literals = {json.dumps(value), json.dumps(value, ensure_ascii=False)}
            long = any(len(literal) - 2 > 200 for literal in literals)
            return None if long or value.endswith(" chars elided]") else value
        case list():
            return [_elided(item) for item in value]
        case dict():
            return {key: _elided(item) for key, item in value.items()}
        case _:
            return value


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_only_python_takes_for_json_is_no_object(number: str) -> None:
    assert sent(f'{{"limit": {number}}}', stub=True).args == "{}"
