"""Public reports of stores that failed their users, where no other test has them."""

from __future__ import annotations

import ast
import asyncio
import logging
import threading
from pathlib import Path

import pytest

import io_harness
from io_harness.errors import RunLeased
from io_harness.store import Event, Store
from tests.store.other import python
from tests.store.runs import begin, observations, take_step

PACKAGE = Path(io_harness.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_nothing_that_was_stored_is_run_when_it_is_read() -> None:
    forbidden = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    imported = {
        name.split(".")[0]
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert len(imported) > 20
    assert imported.isdisjoint(forbidden)


def test_no_other_user_can_talk_to_a_store_for_nothing_listens() -> None:
    """Processes meet at a lock on a file of mode 0600: no socket, no port, no pipe."""
    words = {"socket", "socketserver", "multiprocessing", "mkfifo"}
    used = {
        word
        for path in SOURCES
        if path.is_relative_to(PACKAGE / "store")
        for word in words & set(path.read_text(encoding="utf-8").replace(".", " ").split())
    }
    assert used == set()


def test_a_thousand_events_of_one_moment_keep_their_order() -> None:
    async def drive(store: Store) -> None:
        lease = await begin(store.journal, "run")
        happened = [Event(kind="replan", detail={"number": number}) for number in range(1_000)]
        await store.journal.stepped(lease, 1, observations(1), events=happened)

    with Store.memory() as store:
        asyncio.run(drive(store))
        events = store.context_events("run")
    assert [event.detail["number"] for event in events] == list(range(1_000))


def test_runs_stand_in_the_order_they_began_though_the_clock_was_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Store.memory() as store:
        asyncio.run(begin(store.journal, "z first"))
        monkeypatch.setattr("io_harness.store.journal.now", lambda: "1999-01-01T00:00:00+00:00")
        asyncio.run(begin(store.journal, "a second"))
        assert [run.run_id for run in store.runs()] == ["z first", "a second"]


def test_a_lease_taken_before_the_clock_was_set_back_does_not_last_a_year(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Store.memory() as store:
        lost = asyncio.run(begin(store.journal, "run"))
        monkeypatch.setattr("time.time", lambda: lost.expires - 365 * 86_400)
        asyncio.run(store.journal.acquire("run"))
        with pytest.raises(RunLeased):
            asyncio.run(take_step(store.journal, lost, 1))


def test_losing_a_race_is_not_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), Store.memory() as store:
        asyncio.run(begin(store.journal, "run"))
        with pytest.raises(RunLeased):
            asyncio.run(store.journal.acquire("run"))
    assert [record for record in caplog.records if record.name.startswith("io_harness")] == []


NOTER = """
import sys
from io_harness.store import Store
with Store.open(sys.argv[1]) as store:
    for number in range(20):
        store.memory_put("w", f"{sys.argv[2]}-{number}", "v", run_id="r", step=1)
"""


def test_the_notes_of_another_process_do_not_vanish(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    writers = [
        threading.Thread(target=python, args=(NOTER, path, name), daemon=True) for name in "ab"
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with Store.open(path) as store:
        keys = [note.key for note in store.memory_list("w")]
    assert len(keys) == 40
    assert [key for key in keys if key.startswith("a")] == [f"a-{number}" for number in range(20)]
