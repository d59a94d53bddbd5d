"""Texts come back exactly, each is stored once, and long runs stay small."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.store.growth import measure, turns

from io_harness.errors import StoreCorrupt
from io_harness.store import Store, reading
from io_harness.store.base import Row, SQLValue, Transaction
from io_harness.store.codec import (
    INLINE_CHARS,
    as_int,
    as_text,
    encoded,
    packed,
    to_sql,
    unpacked,
)
from io_harness.store.leases import origin
from io_harness.store.requests import parse_request, request_text
from io_harness.store.texts import get_text, put_text
from io_harness.store.versions import VersionReader, Versions
from io_harness.testing.strings import NASTY
from io_harness.types import CompletionRequest, Message, ToolCall
from tests.store.disks import memory_directory
from tests.store.runs import begin, request

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


def test_a_text_is_stored_once_and_compressed_from_1_kib_after_its_head() -> None:
    short, long, odd = "s" * 1_024, "é" * 1_024, "\0" + "e" * 1_024
    with Store.memory() as store:
        for _ in range(3):
            check(store, [short, long, odd, "inline"])
        rows = store._backend.read(
            lambda tx: tx.execute("SELECT chars, packed, typeof(body), head FROM texts ORDER BY id")
        )
    assert rows == [
        (1_024, 0, "text", None),
        (1_024, 2, "blob", "é" * 400),
        (1_025, 3, "blob", "\ufffd" + "e" * 399),
    ]


def test_a_packed_text_that_unpacks_to_more_than_it_says_is_refused() -> None:
    with Store.memory() as store:
        check(store, ["x" * 1_000_000, "\0" * 1_000_000])
        rows = store._backend.read(lambda tx: tx.execute("SELECT packed, body, head FROM texts"))
    for form, body, head in (*rows, (1, zlib.compress(b"x" * 1_000), None)):
        with pytest.raises(StoreCorrupt, match="came back"):
            unpacked(as_int(form), body, head, 410)
        with pytest.raises(StoreCorrupt, match="cannot be read"):
            unpacked(as_int(form), b"no stream", head, 410)
    with pytest.raises(StoreCorrupt, match="unknown form"):
        unpacked(4, "x", None, 1)


def test_a_text_that_schema_1_packed_is_read() -> None:
    assert unpacked(1, zlib.compress("é".encode() * 5_000), "é" * 400, 5_000) == "é" * 5_000


@pytest.mark.parametrize("text", ["\ud83d" * 2_000, "a\0" * 2_000, "\U0001f600" * 401, "e" * 1_100])
def test_a_text_that_is_packed_comes_back_whatever_its_head(text: str) -> None:
    form, body, head = packed(text, encoded(text))
    assert form in (2, 3)
    assert unpacked(form, body, head, len(text)) == text


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
    "text",
    ["user", "user x\n", "user 9\nabc\n", "other 1\na\n", "call 1\na\n", "user 0\n\nuser -9\n"],
)
def test_a_text_that_is_no_request_is_told(text: str) -> None:
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        parse_request(text)


@pytest.mark.parametrize("result_chars", [2_000, 4_000])
def test_a_run_of_full_windows_takes_little_more_than_its_new_text(result_chars: int) -> None:
    with tempfile.TemporaryDirectory(dir=memory_directory()) as place:
        blank = Path(place, "blank.db")
        Store.open(blank).close()
        took = measure(TURNS, result_chars)
        grown = took["file_bytes"] - blank.stat().st_size
    assert took["prompt_chars"] > 15 * took["new_chars"]
    assert grown / took["new_chars"] <= 1.3


def test_a_long_run_is_rebuilt_exactly_though_its_driver_changed() -> None:
    """Past several requests that stand alone; one by one and in another order, too."""
    made = list(turns(300, 3_000))

    async def drive_on(store: Store) -> None:
        lease = await begin(store.journal, "run")
        for turn in made:
            if turn.step % 70 == 0:
                await store.journal.release(lease)
                lease = await store.journal.acquire("run")
            await store.journal.completed(
                lease,
                turn.step,
                turn.completion,
                request=turn.request,
                assemblies=[turn.assembly],
            )
            await store.journal.stepped(lease, turn.step, turn.observations)

    with Store.memory() as store:
        asyncio.run(drive_on(store))
        events, steps = store.context_events("run"), store.steps("run")
        assert [event.pieces for event in events] == [turn.assembly.pieces for turn in made]
        assert [event.detail for event in events] == [turn.assembly.detail for turn in made]
        assert [step.request for step in steps] == [turn.request for turn in made]
        early, late = (statements(store, step) for step in (100, 290))
        assert late < 1.5 * early
        for turn in random.Random(2).sample(made, 20):
            (step,) = store.steps("run", step=turn.step)
            assert step.request == turn.request
            assert step.observations == turn.observations


def statements(store: Store, step: int) -> int:
    """How many statements it takes to read one step."""

    class Counted:
        def __init__(self, tx: Transaction) -> None:
            self.tx = tx
            self.count = 0

        def execute(self, sql: str, parameters: Sequence[SQLValue] = ()) -> list[Row]:
            self.count += 1
            return self.tx.execute(sql, parameters)

        def changes(self) -> int:
            return self.tx.changes()

    def work(tx: Transaction) -> int:
        counted = Counted(tx)
        (read,) = reading.steps(counted, "run", step)
        assert read.step == step
        return counted.count

    return store._backend.read(work)
