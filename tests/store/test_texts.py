"""Texts come back exactly, each is stored once, and long runs stay small."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import pytest
from benchmarks.store.growth import measure

from io_harness.errors import StoreCorrupt
from io_harness.store import Store
from io_harness.store.base import SQLValue, Transaction
from io_harness.store.codec import INLINE_CHARS, as_int, as_text, to_sql, unpacked
from io_harness.store.leases import origin
from io_harness.store.requests import parse_request, request_text
from io_harness.store.texts import VersionReader, Versions, get_text, put_text
from io_harness.testing.strings import NASTY
from io_harness.types import CompletionRequest, Message, ToolCall
from tests.store.disks import memory_directory
from tests.store.runs import request

FULL = os.environ.get("IO_HARNESS_FULL_STORE_TESTS") == "1"
STRINGS = 100_000 if FULL else 10_000
TURNS = 1_000 if FULL else 250


def random_text(rng: random.Random) -> str:
    """Text of any sort: surrogates, NUL, combining marks, bytes that were no UTF-8."""
    size = rng.choice((0, 1, 3, 20, INLINE_CHARS, INLINE_CHARS + 1, 300, 2_000))
    match rng.randrange(4):
        case 0:
            return "".join(chr(rng.randrange(0x110000)) for _ in range(size))
        case 1:
            return "".join(rng.choice("\0\ud800\udfff\u0301e\n\r\u2028x") for _ in range(size))
        case 2:
            return rng.randbytes(size).decode("utf-8", "surrogateescape")
        case _:
            return rng.choice("ab\0\ud83d") * size * 5


def test_random_texts_come_back_exactly() -> None:
    rng = random.Random(5)
    with Store.memory() as store:
        for _ in range(STRINGS // 1_000):
            texts = [random_text(rng) for _ in range(1_000)]
            check(store, texts)


def check(store: Store, texts: list[str]) -> None:
    def write(tx: Transaction) -> list[SQLValue]:
        run = origin(tx, "run")
        return [put_text(tx, run, text) for text in texts]

    def read(tx: Transaction) -> list[str]:
        return [get_text(tx, value) for value in values]

    values = store._backend.write(write, size=1_000).result()
    assert store._backend.read(read) == texts


@pytest.mark.parametrize("text", NASTY, ids=[ascii(text[:4]) for text in NASTY])
def test_valid_text_without_nul_is_text_and_the_rest_is_bytes(text: str) -> None:
    value = to_sql(text)
    plain = "\0" not in text and text == text.encode("utf-8", "replace").decode()
    assert isinstance(value, str) is plain
    assert as_text(value) == text


def test_a_text_is_stored_once_and_compressed_from_4_kib_with_its_head() -> None:
    short, long = "s" * 4_096, "é" * 4_096
    with Store.memory() as store:
        for _ in range(3):
            check(store, [short, long, "inline"])
        rows = store._backend.read(
            lambda tx: tx.execute("SELECT chars, packed, typeof(body), head FROM texts ORDER BY id")
        )
    assert rows == [(4_096, 0, "text", None), (4_096, 1, "blob", "é" * 400)]


def test_a_packed_text_that_unpacks_to_more_than_it_says_is_refused() -> None:
    with Store.memory() as store:
        check(store, ["x" * 1_000_000])
        (row,) = store._backend.read(lambda tx: tx.execute("SELECT body FROM texts"))
    body = row[0]
    assert isinstance(body, bytes)
    with pytest.raises(StoreCorrupt, match="came back"):
        unpacked(body, 10)
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        unpacked(b"no stream", 10)


def test_versions_come_back_in_any_order_past_those_that_stand_alone() -> None:
    rng = random.Random(3)
    lines = [f"line {number} of the first request" for number in range(100)]
    texts: list[str] = []
    for number in range(300):
        lines[rng.randrange(100)] = f"changed at {number}, and long enough to be copied"
        lines.append(f"added at {number}")
        texts.append("\n".join(lines))

    def write(tx: Transaction) -> list[int]:
        run, base = origin(tx, "run"), None
        numbers: list[int] = []
        for number, text in enumerate(texts):
            versions = fresh if number % 50 else Versions()  # as after a resume
            base = versions.put(tx, run, "prompt", text, base=base)
            numbers.append(base)
        return numbers

    def read(tx: Transaction) -> list[str]:
        reader = VersionReader(tx)
        return [reader.text(numbers[place]) for place in places]

    fresh, places = Versions(), rng.sample(range(300), 100)
    with Store.memory() as store:
        numbers = store._backend.write(write, size=1).result()
        assert store._backend.read(read) == [texts[place] for place in places]
        (stored,) = store._backend.read(
            lambda tx: tx.execute("SELECT sum(length(segments) + length(novel)) FROM versions")
        )
    assert as_int(stored[0]) < sum(map(len, texts)) / 20


@pytest.mark.parametrize("text", NASTY, ids=[ascii(text[:4]) for text in NASTY])
def test_a_request_reads_back_from_its_text(text: str) -> None:
    calls = (ToolCall(text, text, text), ToolCall(text, text, {text: [text, 1.5, 2**70, None]}))
    hostile = CompletionRequest(
        text + "\nuser 3\n", (), (Message("assistant", text, calls, reasoning={text: text}),)
    )
    for one in (hostile, request(3, text)):
        assert parse_request(request_text(one)) == one


@pytest.mark.parametrize(
    "text", ["user", "user x\n", "user 9\nabc\n", "other 1\na\n", "call 1\na\n"]
)
def test_a_text_that_is_no_request_is_told(text: str) -> None:
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        parse_request(text)


def test_a_run_of_full_windows_takes_little_more_than_its_new_text() -> None:
    with tempfile.TemporaryDirectory(dir=memory_directory()) as place:
        blank = Path(place, "blank.db")
        Store.open(blank).close()
        took = measure(TURNS, 4_000)
        grown = took["file_bytes"] - blank.stat().st_size
    assert took["prompt_chars"] > 15 * took["new_chars"]
    assert grown / took["new_chars"] <= 1.3
