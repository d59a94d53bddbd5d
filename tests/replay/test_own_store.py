"""The library's own store is a recording too."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from io_harness import Policy, ScriptedProvider, Store, TaskContract, ToolCall, run_sync
from io_harness.errors import ConfigError
from io_harness.replay.files import FileTexts
from io_harness.replay.importers import read_transcripts
from io_harness.types import JSON, ObsKind

from .samples import AFTER, BEFORE, NEW, OLD


def recorded(folder: Path) -> Path:
    """A store with one finished run that reads, edits and searches."""
    root, path = folder / "workspace", folder / "runs.db"
    root.mkdir()
    (root / "area.py").write_text(BEFORE, encoding="utf-8")
    turns: list[str | Sequence[ToolCall]] = [
        [call("read_file", path="area.py")],
        [call("edit_file", path="area.py", old=OLD, new=NEW)],
        [call("grep", pattern="radius"), call("read_file", path="missing.py")],
        "Done.",
    ]
    with Store.open(path) as store:
        contract = TaskContract.workspace("Fix the area.", root)
        run_sync(contract, ScriptedProvider(turns), store, policy=Policy.permissive())
    return path


def call(name: str, **arguments: JSON) -> ToolCall:
    return ToolCall("", name, arguments)


def test_a_run_of_the_store_is_read_as_records(tmp_path: Path) -> None:
    (run,) = read_transcripts(str(recorded(tmp_path)))
    kinds = [(record.step, record.kind) for record in run.records]

    assert (run.format, run.steps) == ("io_harness", 4)
    assert run.records[0].text == "Fix the area."
    assert kinds[1:] == [
        (1, ObsKind.READ),
        (2, ObsKind.WRITE),
        (3, ObsKind.GREP),
        (3, ObsKind.READ),
        (4, ObsKind.MESSAGE),
    ]
    assert [record.is_error for record in run.records] == [False] * 4 + [True, False]


def test_the_files_are_known_from_the_stores_records(tmp_path: Path) -> None:
    (run,) = read_transcripts(str(recorded(tmp_path)))
    files = FileTexts.empty()
    for record in run.records[:2]:
        files.take(record)
    assert files.lines("area.py", 1, None) == BEFORE
    for record in run.records[2:]:
        files.take(record)
    assert files.lines("area.py", 1, None) == AFTER


def test_a_foreign_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("create table t(a)")
    database.close()
    before = path.read_bytes()

    with pytest.raises(ConfigError, match="SQLite"):
        read_transcripts(str(path))
    assert path.read_bytes() == before
