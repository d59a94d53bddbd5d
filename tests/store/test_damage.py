"""Rows that something else damaged: a `StoreCorrupt` that says where, from every call."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

import pytest

from io_harness import (
    Policy,
    ScriptedProvider,
    TaskContract,
    ToolCall,
    resume,
    run_sync,
)
from io_harness.cli.main import main
from io_harness.errors import ConfigError, HarnessError, StoreCorrupt
from io_harness.store import ProviderCall, Refresh, Store
from io_harness.store.doctor import examine
from tests.store.disks import memory_directory
from tests.store.runs import begin, completion, observations, request, take_step

FULL = os.environ.get("IO_HARNESS_FULL_STORE_TESTS") == "1"
TEXT = "line of a file\n" * 300
CELLS: tuple[None | int | float | str | bytes, ...] = (
    *(None, 0, 1, -1, 7, 2**62, 0.5, float("inf")),
    *("", "x", "[]", "{}", "5", '"x"', "[1]", '{"a":[1]}', "[[[[", "assembled", "memory_write"),
    *(b"", b"\xff\xfe", b"\x07", b"\x07\x00\x05", b"\x07\x00\x0c\x01\x02", b"x\x9c", b"{}"),
)
"""What a damaged cell may hold: of every type, of every shape of JSON, and no stream."""


async def fill(store: Store) -> None:
    """A run with a row in every table."""
    lease = await begin(store.journal, "run")
    for step in (1, 2):
        await take_step(store.journal, lease, step, TEXT)
    failed = ProviderCall(step=3, attempt=1, kind="server", latency=0.5, detail="x")
    await store.journal.attempted(lease, failed)
    wrote = await store.journal.remember(lease, 2, 0, workspace="id:w", key="k", value="v")
    assert not wrote.truncated
    notes = store.memory_list("id:w")
    again = Refresh(position=1, step=3, lines=(1, 2), total_lines=9, digest="d", text=TEXT)
    await store.journal.completed(
        lease,
        3,
        completion(),
        request=request(3, TEXT),
        refreshes=[again],
        recalled=notes,
        recalled_from="id:w",
    )
    await store.journal.call_started(lease, 3, 0, detail={"path": "a"})
    await store.journal.release(lease)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "runs.db"
    with Store.open(path) as store:
        asyncio.run(fill(store))
    return path.read_bytes()


def calls(store: Store, copy: Path) -> Iterator[Callable[[], object]]:
    """Every public call, those that change nothing first."""
    journal = store.journal
    yield store.runs
    yield lambda: store.run("run")
    yield lambda: [(step.request, step.result, step.completion) for step in store.steps("run")]
    yield lambda: store.steps("run", step=3)
    yield lambda: store.context_events("run")
    yield lambda: store.provider_calls("run")
    yield lambda: store.drift("run")
    yield lambda: store.memory_list("id:w")
    yield lambda: store.memory_get("id:w", "k")
    yield lambda: store.memory_recalls("run")
    yield lambda: asyncio.run(journal.load("run"))
    yield lambda: asyncio.run(journal.observation("run", 1, 0))
    yield lambda: asyncio.run(drive(store))
    yield lambda: store.memory_put("id:w", "k2", "v", run_id="run", step=1)
    yield lambda: store.memory_pin("id:w", "k")
    yield lambda: store.memory_delete("id:w", "k")
    yield lambda: store.memory_clear("id:w")
    yield lambda: store.backup(copy)
    yield lambda: store.delete_run("run")


async def drive(store: Store) -> None:
    """Go on with the run, a damaged one with what is left of its calls."""
    journal = store.journal
    lease = await journal.acquire("run")
    for note in (
        lambda: journal.remember(lease, 2, 0, workspace="id:w", key="k", value="v"),
        lambda: journal.forget(lease, 4, 1, workspace="id:w", key="none"),
    ):
        with suppress(StoreCorrupt):
            await note()
    await journal.stepped(lease, 3, observations(3))
    await take_step(journal, lease, 4, TEXT)
    await journal.finished(lease, outcome="success")


def tables(path: Path) -> list[tuple[str, str]]:
    """Every column of every table."""
    with closing(sqlite3.connect(path)) as db:
        names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return [
            (name, str(column[1]))
            for (name,) in names
            for column in db.execute(f"PRAGMA table_info({name})").fetchall()
        ]


def damage(path: Path, table: str, column: str, value: object, rng: random.Random) -> bool:
    """Change one cell, as far as the column's type lets; False where it does not."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (count,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
        assert count, f"no row in {table}"
        keys = [str(c[1]) for c in db.execute(f"PRAGMA table_info({table})") if c[5]]
        names = ", ".join(keys)
        key = db.execute(
            f"SELECT {names} FROM {table} LIMIT 1 OFFSET ?", (rng.randrange(count),)
        ).fetchone()
        where = " AND ".join(f"{name} IS ?" for name in keys)
        try:
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value, *key))
        except sqlite3.IntegrityError:
            return False
    return True


def surviving(path: Path) -> list[StoreCorrupt]:
    """Call everything; return what was found corrupt. Anything but a `HarnessError` comes out."""
    found: list[StoreCorrupt] = []
    copy = path.with_name(f"{path.name}.copy")
    well = all(finding.well for finding in examine(path))
    try:
        with Store.open(path) as store:
            for call in calls(store, copy):
                try:
                    call()
                except StoreCorrupt as error:
                    found.append(error)
                except HarnessError:  # what is left makes no sense, and that is said
                    continue
    finally:
        copy.unlink(missing_ok=True)
    assert not (well and found), f"doctor missed {found[0]}"
    return found


def test_a_whole_store_survives_every_call(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(whole)
    with Store.open(path) as store:
        for call in calls(store, tmp_path / "copy.db"):
            call()


def test_every_damaged_cell_is_told_with_its_place(whole: bytes) -> None:
    rng, told = random.Random(6), 0
    with tempfile.TemporaryDirectory(dir=memory_directory()) as place:
        path = Path(place, "runs.db")
        path.write_bytes(whole)
        columns = tables(path)
        assert len({table for table, _ in columns}) == 15
        for table, column in columns:
            for value in CELLS if FULL else rng.sample(CELLS, 4):
                path.write_bytes(whole)
                if damage(path, table, column, value, rng):
                    for error in surviving(path):
                        assert str(path) in str(error) or "the request of step" in str(error)
                        assert "run doctor" in str(error)
                        told += 1
    assert told > 100


def test_a_file_with_any_bytes_changed_raises_no_error_but_the_librarys(whole: bytes) -> None:
    rng, told = random.Random(8), 0
    with tempfile.TemporaryDirectory(dir=memory_directory()) as place:
        path = Path(place, "runs.db")
        for _ in range(1_000 if FULL else 60):
            content = bytearray(whole)
            for _ in range(rng.choice((1, 3, 30))):
                content[rng.randrange(len(content))] = rng.randrange(256)
            path.write_bytes(content)
            try:
                told += len(surviving(path))
            except HarnessError:  # it does not even open
                told += 1
    assert told > 30


@pytest.mark.parametrize("wrong", [5, None, b"run", ["run"]])
def test_a_run_id_that_is_no_text_is_the_callers_mistake(wrong: object) -> None:
    with Store.memory() as store:
        for call in (store.run, store.steps, store.context_events, store.drift, store.delete_run):
            with pytest.raises(ConfigError, match="run id"):
                call(cast("str", wrong))


COMMANDS = (
    ("runs",),
    ("runs", "--json"),
    ("show", "run"),
    ("show", "run", "--json"),
    ("show", "run", "--step", "1"),
    ("show", "run", "--step", "3", "--json"),
    ("show", "run", "--step", "2", "--request"),
    ("memory", "list", "id:w"),
    ("memory", "list", "id:w", "--json"),
    ("memory", "pin", "id:w", "k"),
    ("memory", "delete", "id:w", "k"),
    ("memory", "clear", "id:w", "--yes"),
    ("doctor",),
)


def test_the_command_line_says_it_in_one_sentence(
    whole: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, told = random.Random(9), 0
    with tempfile.TemporaryDirectory(dir=memory_directory()) as place:
        path = Path(place, "runs.db")
        path.write_bytes(whole)
        for table, column in tables(path):
            for value in rng.sample(CELLS, 6 if FULL else 2):
                path.write_bytes(whole)
                if damage(path, table, column, value, rng):
                    for command in COMMANDS if FULL else rng.sample(COMMANDS, 2):
                        monkeypatch.setattr("sys.argv", ["x", *command, "--store", str(path)])
                        with pytest.raises(SystemExit):
                            main()
                        said = capsys.readouterr().err
                        assert "Traceback" not in said
                        told += "run doctor" in said
    assert told > 20


@pytest.mark.parametrize("table", ["runs SET contract", "progress SET state"])
@pytest.mark.parametrize("value", ["", "{", "5", "[1]", '"x"', "null"])
def test_a_run_that_is_resumed_from_damage_is_told(tmp_path: Path, table: str, value: str) -> None:
    path, root = tmp_path / "runs.db", tmp_path / "w"
    root.mkdir()
    contract = TaskContract.workspace("Look.", root).with_max_steps(1)
    with Store.open(path) as store:
        provider = ScriptedProvider([ToolCall("1", "list_dir", {"path": "."})])
        run_id = run_sync(contract, provider, store, policy=Policy.workspace()).run_id
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"UPDATE {table} = ?", (value,))
    with Store.open(path) as store:
        again = resume(run_id, ScriptedProvider(["done"]), store, policy=Policy.workspace())
        if table.startswith("progress") and not value:  # as if there were none
            assert asyncio.run(again).run_id == run_id
            return
        with pytest.raises(StoreCorrupt, match="run doctor"):
            asyncio.run(again)
