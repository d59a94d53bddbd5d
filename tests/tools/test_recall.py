"""`show`, `remember`, `forget`, on stand-ins for the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from io_harness.errors import HarnessError, StoreCorrupt, StoreFailed, StoreFull, StoreLocked
from io_harness.tools import forget, remember, show
from io_harness.types import MemoryWrite, Observation, ObsKind
from tests.tools.conftest import Bench


class Trace:
    async def observation(self, step: int, call: int) -> Observation | None:
        if (step, call) != (7, 1):
            return None
        return Observation(7, ObsKind.READ, "a.py", "0123456789", call=1)

    def is_changed(self, observation: Observation) -> bool:
        return False


class Notes:
    def __init__(self) -> None:
        self.kept = {"old": "x"}

    async def remember(self, key: str, value: str) -> MemoryWrite:
        if key == "full":
            raise HarnessError("this run has written its 8 notes; forget one first")
        if not key:
            raise ValueError("a key has 1 to 128 characters")
        self.kept[key] = value
        return MemoryWrite(("a", "b") if key == "big" else (), truncated=key == "big")

    async def forget(self, key: str) -> bool:
        return self.kept.pop(key, None) is not None


@pytest.fixture
def bench(call: Bench) -> Bench:
    return Bench(replace(call.context, trace=Trace(), memory=Notes()))


def test_show_gives_the_exact_text(bench: Bench) -> None:
    got = bench("show", step=7, call=1)
    assert (got.kind, got.text) == (ObsKind.TOOL, "0123456789")
    assert got.target == "show a.py as it was at step 7"
    assert got.key is None, "it supersedes nothing"
    assert bench("show", step=7, call=1, start=3, limit=4).text == "3456"
    assert bench("show", step=7, call=1, start=9, limit=40).text == "9"
    assert "past the end: the text has 10" in bench.fails("show", step=7, call=1, start=10)
    assert "no result of call 0 in step 3" in bench.fails("show", step=3)
    assert "0 or more" in bench.fails("show", step=7, call=1, start=-1)


def test_remember_says_what_it_did(bench: Bench) -> None:
    assert bench("remember", key="k", value="v").text == "remembered 'k'"
    assert bench("remember", key="big", value="v").text == (
        "remembered 'big'; the value was too long and was cut; the oldest notes made room: 'a', 'b'"
    )
    assert "forget one first" in bench.fails("remember", key="full", value="v")
    assert "1 to 128" in bench.fails("remember", key="", value="v")


def test_forget(bench: Bench) -> None:
    assert bench("forget", key="old").text == "forgot 'old'"
    assert "there is no note 'old'" in bench("forget", key="old").text


def test_notes_come_from_inside_and_are_no_path_acts(bench: Bench) -> None:
    assert (remember.trusted, forget.trusted, show.trusted) == (True, True, False)
    assert (remember.effectful, forget.effectful, show.effectful) == (True, True, False)
    assert not remember.acts | forget.acts | show.acts


def test_without_a_store_they_say_so(call: Bench) -> None:
    assert "no trace" in call.fails("show", step=1)
    assert "no memory" in call.fails("remember", key="k", value="v")
    assert "no memory" in call.fails("forget", key="k")


@pytest.mark.parametrize("kind", [StoreLocked, StoreFull, StoreFailed, StoreCorrupt])
def test_no_failure_of_the_store_shows_where_it_lies(call: Bench, kind: type[HarnessError]) -> None:
    class Failing(Notes):
        async def remember(self, key: str, value: str) -> MemoryWrite:
            raise kind("/home/user/.local/state/io-harness/runs.db failed")

    bench = Bench(replace(call.context, memory=Failing()))
    told = bench.fails("remember", key="k", value="v")
    assert kind.__name__ in told
    assert "/home" not in told
