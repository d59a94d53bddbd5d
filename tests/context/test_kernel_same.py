"""The compiled kernel equals its twin: on every sequence of calls, exceptions included."""

from __future__ import annotations

import inspect
from array import array
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

import io_harness
from io_harness.context import _kernel_py
from io_harness.context._kernel_py import Kernel
from io_harness.context.render import READ

from .flavours import COMPILED, NO_COMPILED, TWIN, Flavour, switched_on, texts_of

Call: TypeAlias = tuple[str, tuple[object, ...]]

COUNTS = (
    "live",
    "live_chars",
    "work",
    "used",
    "carried",
    "stub_used",
    "stub_count",
    "hidden",
    "missing",
)
FUNCTIONS = (
    "count_lines",
    "cut_head",
    "cut_lines",
    "cut_tail",
    "extent",
    "filled",
    "grouped",
    "has_any",
    "is_bare",
    "plain_read",
)
TURN = "a whole turn"
CUTS = ("cut", "ké")
BELOW = ("", ": step ", " call ", "]\n")

needs_both = pytest.mark.skipif(COMPILED is None, reason=NO_COMPILED)

WILD = st.sampled_from([-(2**64), -(2**31), -2, -1, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, 2**100])
NO_NUMBER = st.sampled_from([None, 1.0, "1", b"1", True])
PLACE = st.integers(0, 30) | WILD | NO_NUMBER
GROUP = st.integers(-1, 6) | WILD | NO_NUMBER
LINE = st.integers(0, 40).map(lambda line: line << 32) | st.integers(0, 2**40) | WILD | NO_NUMBER
SIZE = st.integers(0, 60) | WILD | NO_NUMBER
ROOM = st.integers(0, 400) | WILD | NO_NUMBER


class Marked(str):
    """A value that is a text and of another type."""

    __slots__ = ()


TEXT = st.text(max_size=3) | st.sampled_from(["\ud83d", None, 3, Marked("a\nb]")])
KEY = st.sampled_from([0, 1, 8, 16, 2**64 - 1]) | WILD | NO_NUMBER
SUBJECT = st.sampled_from(["a", "b", "c", "\ude00", "", "d"]) | TEXT
KIND = st.integers(0, 4) | WILD | NO_NUMBER
MARK = st.integers(-1, 4) | WILD
FLAG = st.booleans()


def call(name: str, *arguments: st.SearchStrategy[object]) -> st.SearchStrategy[Call]:
    """A call of a method with drawn arguments."""
    return st.tuples(st.just(name), st.tuples(*arguments))


GROUP_CALLS = ("subject", "last", "file_version", "write_version", "touch", "checked")
ENTER = st.tuples(
    st.just("add"),
    st.tuples(
        st.integers(0, 4),
        st.integers(-1, 4),
        st.integers(0, 12).map(lambda line: line << 32),
        st.integers(0, 12).map(lambda line: line << 32),
        st.integers(0, 60),
        st.none() | st.sampled_from(["top]\nrest", "head]\nmore", "first]\nand the rest"]),
        st.integers(0, 3),
    ),
)
READ_TEXT = st.sampled_from(["a\n", "b\nc\n", "no end", "", "[step 1", "é"]) | TEXT
READ_LINES = st.none() | st.tuples(st.integers(1, 9), st.integers(0, 12)) | st.tuples(PLACE, PLACE)
TARGET = st.sampled_from(["a.py", "b c", ""]) | TEXT
TOTAL = st.none() | st.integers(0, 9) | WILD
READS = st.tuples(
    st.just("add_read"),
    st.tuples(
        *(st.just(READ), st.just(("[step ",)), PLACE, TARGET, READ_TEXT, READ_LINES, TOTAL),
        *(SUBJECT, FLAG, FLAG),
    ),
)
CALLS = st.one_of(
    ENTER,
    ENTER,
    call(TURN, st.integers(-5, 300), st.integers(-5, 60), st.integers(0, 9), FLAG, FLAG),
    call("group", st.sampled_from([0, 1, 8, 16]), st.sampled_from("abcd")),
    call("group", KEY, SUBJECT),
    call("find", KEY, SUBJECT),
    call("add", KIND, GROUP, LINE, LINE, SIZE, TEXT, MARK),
    call("show", PLACE, TEXT, SIZE, MARK),
    call("group_of", SUBJECT),
    READS,
    READS,
    call("set_stub", PLACE, TEXT, SIZE),
    call("set_below", PLACE, SIZE, st.just(BELOW), SIZE, SIZE),
    call("covering", GROUP, LINE, LINE),
    *(call(name, GROUP) for name in GROUP_CALLS),
    *(
        call(name, PLACE)
        for name in (
            *("fail", "state", "top", "mark", "size", "before", "gid", "kind"),
            *("freshen", "is_fresh", "unseen_write", "replaced_by"),
        )
    ),
    *(call(name) for name in ("newest", "walk", "stubs", "__len__")),
    call("start", ROOM, SIZE, FLAG),
    call("start_stubs", ROOM, SIZE),
    call("emit", TEXT, st.sampled_from([("", " more"), ("é", ""), ("",), None]), TEXT, SIZE),
)


def turn(kernel: Kernel, room: int, stub_room: int, number: int, stat: bool, cut: bool) -> object:
    """The calls of one assembly; each look at a file ends in its own way."""
    seen: list[object] = []
    position = kernel.start(room, number, stat)
    while position >= 0:
        seen.append(position)
        if position % 5 == 4:
            kernel.fail(position)
        else:
            if kernel.gid(position) >= 0:
                kernel.checked(kernel.gid(position))
            if position % 2:
                kernel.show(position, f"new {position}", kernel.size(position) + 1, position % 4)
            kernel.freshen(position)
        position = kernel.walk()
    position = kernel.start_stubs(stub_room, 20 if cut and not kernel.carried else -1)
    while position >= 0:
        seen.append(position)
        if not kernel.set_below(
            position, position % 3, BELOW, kernel.replaced_by(position), number
        ):
            text = f"stub {position} {kernel.state(position)}"
            kernel.set_stub(position, text, 3 + position % 4)
        position = kernel.stubs()
    for position in kernel.missing:
        seen.append(position)
        kernel.show(position, f"text {position}", kernel.size(position), kernel.mark(position))
    text, order, texts, counts = kernel.emit(
        "block", ("", " more"), CUTS[number % 2] if cut else None, number
    )
    return seen, text, list(order), texts_of(text, texts), counts


def outcome(kernel: Kernel, asked: Call) -> object:
    """What a call gave or raised, in a form that two kernels can be compared by."""
    name, arguments = asked
    try:
        value = (
            turn(kernel, *arguments)  # type: ignore[arg-type]  # drawn to fit
            if name == TURN
            else getattr(kernel, name)(*arguments)
        )
    except Exception as error:
        value = (type(error), str(error))
    if isinstance(value, tuple) and isinstance(value[1], array):
        text, order, texts, account = value
        value = (text, order.typecode, list(order), texts_of(text, texts), account)
    counts = [getattr(kernel, count) for count in COUNTS]
    return type(value), value, counts


@needs_both
@given(st.lists(ENTER, max_size=20), st.lists(CALLS, max_size=60))
def test_every_sequence_of_calls_gives_the_same(entered: list[Call], calls: list[Call]) -> None:
    assert COMPILED is not None
    twin, compiled = TWIN.kernel(), COMPILED.kernel()
    for number in range(5):
        assert twin.group(number * 8, f"file {number}") == compiled.group(
            number * 8, f"file {number}"
        )
    for asked in [*entered, *calls]:
        assert outcome(compiled, asked) == outcome(twin, asked), asked


PIECES = st.lists(st.sampled_from(["\ud83d", "\ude00", "a", "\n", "é", "😀", "\r"]), max_size=30)


def outcome_of(flavour: Flavour, which: str, *arguments: object) -> object:
    """What a function of a flavour gives or raises."""
    try:
        return getattr(flavour.module, which)(*arguments)
    except Exception as error:
        return type(error), str(error)


@needs_both
@given(PIECES.map("".join) | TEXT, st.integers(-3, 33) | WILD | NO_NUMBER)
def test_every_cut_is_the_same(text: str, size: int) -> None:
    assert COMPILED is not None
    for which in ("cut_head", "cut_tail", "cut_lines"):
        assert outcome_of(COMPILED, which, text, size) == outcome_of(TWIN, which, text, size)


@needs_both
@given(PIECES.map("".join) | TEXT, st.integers(0, 300))
def test_every_count_and_search_is_the_same(text: str, times: int) -> None:
    assert COMPILED is not None
    many = text * times if isinstance(text, str) else text
    for signs in [("a\n", "aé"), ("😀", "😀\r"), ("\ud83d\ude00",), ()]:
        found = outcome_of(TWIN, "has_any", many, signs)
        assert outcome_of(COMPILED, "has_any", many, signs) == found
    assert outcome_of(COMPILED, "is_bare", text) == outcome_of(TWIN, "is_bare", text)
    assert outcome_of(COMPILED, "count_lines", many) == outcome_of(TWIN, "count_lines", many)


@needs_both
@given(
    PIECES.map("".join) | TEXT,
    st.none() | st.tuples(st.integers(0, 9), st.integers(0, 12)) | st.tuples(PLACE, PLACE),
    st.none() | st.integers(0, 9) | WILD,
    st.none() | st.integers(0, 33) | WILD,
)
def test_every_extent_is_the_same(
    text: str, lines: tuple[int, int] | None, total: int | None, head: int | None
) -> None:
    assert COMPILED is not None
    seen = [outcome_of(flavour, "extent", text, lines, total, head) for flavour in (COMPILED, TWIN)]
    if not isinstance(seen[0], tuple):
        fields = ("first", "last", "inside", "reached", "lo", "hi")
        seen = [[getattr(shown, field) for field in fields] for shown in seen]
    assert seen[0] == seen[1]


@needs_both
@given(st.integers() | st.integers(0, 2_000_000) | WILD | NO_NUMBER)
def test_every_grouped_number_is_the_same(number: int) -> None:
    assert COMPILED is not None
    found = outcome_of(TWIN, "grouped", number)
    assert outcome_of(COMPILED, "grouped", number) == found
    assert not isinstance(number, int) or found == f"{number:,}"


WORDS = st.text(st.characters(max_codepoint=200), max_size=3)
NO_WORDS = st.lists(WORDS | NO_NUMBER, max_size=3).map(tuple) | st.lists(WORDS) | st.none()


@needs_both
@given(
    st.lists(WORDS, min_size=1, max_size=12).map(tuple) | NO_WORDS,
    st.lists(st.text(max_size=3) | st.integers(0, 10**19) | WILD | NO_NUMBER, max_size=12),
    st.booleans(),
)
def test_every_filled_line_is_the_same(
    words: tuple[str, ...], values: list[object], as_many: bool
) -> None:
    assert COMPILED is not None
    if as_many and isinstance(words, tuple):
        words, values = words[: len(values) + 1], values[: len(words) - 1]
    found = outcome_of(TWIN, "filled", words, *values)
    assert outcome_of(COMPILED, "filled", words, *values) == found


@needs_both
@given(st.text(st.characters(max_codepoint=200), max_size=3))
def test_every_bare_text_is_the_same(text: str) -> None:
    assert COMPILED is not None
    assert outcome_of(COMPILED, "is_bare", text) == outcome_of(TWIN, "is_bare", text)


SIGNS = ("[step ", "[elided: ")
CONTENT = st.lists(
    st.sampled_from(["a\n", "bc", "\n", "[step 1]\n", "[else]\n", "é\n", "x" * 40 + "\n", "\ud83d"])
).map("".join)


@needs_both
@given(
    st.just(READ) | st.just(READ[1:]) | NO_WORDS,
    st.integers(0, 2**70) | NO_NUMBER,
    st.sampled_from(["a.py", "a b", "", "é"]) | st.none(),
    CONTENT | st.none(),
    st.none() | st.tuples(st.integers(0, 9), st.integers(0, 12)),
    st.none() | st.integers(0, 20) | WILD,
)
def test_every_plain_read_is_the_same(
    words: tuple[str, ...],
    step: int,
    target: str,
    text: str,
    lines: tuple[int, int] | None,
    total: int | None,
) -> None:
    assert COMPILED is not None
    arguments = words, SIGNS, step, target, text, lines, total
    seen = [outcome_of(flavour, "plain_read", *arguments) for flavour in (COMPILED, TWIN)]
    assert told(seen[0]) == told(seen[1])


def told(found: object) -> object:
    """What `plain_read` gave, with an extent's ends in its place."""
    if isinstance(found, tuple) and isinstance(found[0], str):
        text, shown = found
        return text, shown.lo, shown.hi
    return found


def signatures(flavour: Flavour) -> dict[str, str]:
    """The signature of every function and public method."""
    members = {name: getattr(flavour.module, name) for name in FUNCTIONS}
    members |= {
        name: member
        for name, member in inspect.getmembers(flavour.module.Kernel, callable)
        if not name.startswith("_")
    }
    return {name: str(inspect.signature(member)) for name, member in members.items()}


def contracts(flavour: Flavour) -> dict[str, str | None]:
    """The first line of every public method's docstring, an embedded signature left off."""
    return {
        name: next(
            line
            for line in (inspect.getdoc(member) or "").splitlines()
            if line and not line.startswith(f"{name}(") and not line.startswith("Kernel.")
        )
        for name, member in inspect.getmembers(flavour.module.Kernel, callable)
        if not name.startswith("_")
    }


@needs_both
def test_signatures_and_contracts_are_the_same() -> None:
    assert COMPILED is not None
    assert signatures(COMPILED) == signatures(TWIN)
    assert contracts(COMPILED) == contracts(TWIN)


def test_the_kernel_in_use_is_the_one_asked_for() -> None:
    """Fails where a job that must run compiled fell back."""
    if switched_on("IO_HARNESS_NO_EXTENSIONS"):
        assert not io_harness.COMPILED
    elif switched_on("IO_HARNESS_REQUIRE_EXTENSIONS"):
        assert io_harness.COMPILED
    assert (io_harness.context.kernel.Kernel is not _kernel_py.Kernel) == io_harness.COMPILED
