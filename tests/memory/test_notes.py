"""Notes in a store: whose they are, what they push out, and what the trace says of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from io_harness.errors import ConfigError, MemoryRefused, RunLeased
from io_harness.memory import MemoryMode
from io_harness.store import Store
from io_harness.types import MemoryEntry, MemoryWrite
from tests.store.other import READER, holding
from tests.store.runs import begin, completion, request


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.memory() as made:
        yield made


def put(store: Store, key: str, value: str = "v", *, workspace: str = "w") -> MemoryWrite:
    return store.memory_put(workspace, key, value, run_id="run", step=3)


def test_the_65th_note_pushes_out_the_first_and_says_so(store: Store) -> None:
    for number in range(64):
        assert put(store, f"k{number}") == MemoryWrite((), truncated=False)
    assert put(store, "k64") == MemoryWrite(("k0",), truncated=False)
    assert [note.key for note in store.memory_list("w")] == [f"k{n}" for n in range(1, 65)]
    *_, wrote, evicted = store.context_events("run")
    assert (wrote.kind, wrote.detail["key"], wrote.detail["evicted"]) == (
        "memory_write",
        "k64",
        ["k0"],
    )
    assert (evicted.kind, evicted.detail["key"]) == ("memory_evict", "k0")


def test_16000_characters_fit_and_one_more_does_not(store: Store) -> None:
    for number in range(8):
        put(store, f"k{number}", "é" * 2_000)
    assert sum(len(note.value) for note in store.memory_list("w")) == 16_000
    assert put(store, "one more", "x").evicted == ("k0",)


def test_a_value_that_is_cut_is_told_and_the_bound_holds(store: Store) -> None:
    assert put(store, "k", "x" * 3_000).truncated
    (note,) = store.memory_list("w")
    assert len(note.value) == 2_000
    assert note.value.endswith("x…[truncated]")


def test_the_caps_count_code_points_where_sql_would_stop_at_nul(store: Store) -> None:
    for number in range(9):
        put(store, f"k{number}", "\0" * 2_000)
    assert [note.key for note in store.memory_list("w")] == [f"k{n}" for n in range(1, 9)]


def test_a_rewrite_is_attributed_anew_and_counts_as_the_newest(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    first = store.memory_get("w", "a")
    store.memory_put("w", "a", "again", run_id="other", step=9, source="read b.txt")
    again = store.memory_get("w", "a")
    assert first is not None
    assert again is not None
    assert (again.value, again.run_id, again.step, again.source) == (
        "again",
        "other",
        9,
        "read b.txt",
    )
    assert again.first_written == first.first_written
    assert (first.rewrites, again.rewrites) == (0, 1)
    assert [note.key for note in store.memory_list("w")] == ["b", "a"]


def test_a_sequence_is_never_given_twice(store: Store) -> None:
    put(store, "a")
    store.memory_clear("w")
    put(store, "b")
    assert [note.seq for note in store.memory_list("w")] == [2]


def test_delete_is_true_then_false_and_clear_counts(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    store.memory_pin("w", "b")
    assert store.memory_delete("w", "a") is True
    assert store.memory_delete("w", "a") is False
    assert store.memory_clear("w") == 1
    assert store.memory_clear("w") == 0
    assert store.memory_pin("w", "b") is False


@pytest.mark.parametrize("other", ["aXb", "a-b", "A_B", "a_b ", "a%b", "a", "a_bc", "%", "a_b/"])
def test_workspaces_and_keys_are_equal_exactly_or_not_at_all(store: Store, other: str) -> None:
    put(store, "a_b", "one", workspace="id:a_b")
    assert store.memory_list(f"id:{other}") == ()
    assert store.memory_get("id:a_b", other) is None
    put(store, other, "two", workspace="id:a_b")
    assert store.memory_delete("id:a_b", other)
    assert [note.value for note in store.memory_list("id:a_b")] == ["one"]


def test_keys_that_look_alike_stay_apart(store: Store) -> None:
    keys = ["é", "e\u0301", "E\u0301", "'); DROP TABLE memory;--", "*", "\\", "1", "1.0", "\ud83d"]
    for key in keys:
        put(store, key, key)
    assert [(note.key, note.value) for note in store.memory_list("w")] == [(k, k) for k in keys]


def test_a_workspace_and_a_key_are_never_joined(store: Store) -> None:
    put(store, "c", "one", workspace="id:a/b")
    put(store, "b/c", "two", workspace="id:a")
    put(store, "a/b/c", "three", workspace="id:")
    assert [note.value for note in store.memory_list("id:a/b")] == ["one"]
    assert [note.value for note in store.memory_list("id:a")] == ["two"]
    assert store.memory_clear("id:a") == 1
    assert [note.value for note in store.memory_list("id:")] == ["three"]


def test_what_is_no_text_is_the_callers_mistake(store: Store) -> None:
    wrong = cast("str", 5)
    for call in (
        lambda: put(store, wrong),
        lambda: put(store, "k", wrong),
        lambda: put(store, "k", workspace=wrong),
        lambda: store.memory_put("w", "k", "v", run_id=wrong, step=1),
        lambda: store.memory_put("w", "k", "v", run_id="r", step=1, source=wrong),
        lambda: store.memory_get("w", wrong),
        lambda: store.memory_delete("w", wrong),
        lambda: store.memory_pin("w", wrong),
        lambda: store.memory_list(wrong),
        lambda: store.memory_clear(wrong),
    ):
        with pytest.raises(ConfigError):
            call()
    assert store.memory_list("w") == ()


def test_a_workspace_is_its_real_root_however_it_is_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass
    class Rooted:
        root: Path

    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(tmp_path)
    put(store, "k", workspace=str(root))
    for name in (root, "project", "./project", "project/../project", "link", f"{root}/"):
        assert len(store.memory_list(name)) == 1, name
    assert len(store.memory_list(Rooted(root))) == 1
    assert store.memory_list("id:project") == ()
    assert store.memory_list("org/project") == ()
    for name in ("", "a\0b"):
        with pytest.raises(ConfigError, match="a path or an id"):
            store.memory_list(name)


def test_an_id_follows_a_project_that_moves(store: Store) -> None:
    put(store, "k", workspace="org/project")
    assert len(store.memory_list("id:org/project")) == 1


@pytest.mark.parametrize(("run_id", "step"), [("", 1), ("r" * 201, 1), ("run", -1), ("run", 2**63)])
def test_an_attribution_that_no_column_can_hold_is_refused(
    store: Store, run_id: str, step: int
) -> None:
    with pytest.raises(ConfigError):
        store.memory_put("w", "k", "v", run_id=run_id, step=step)
    assert store.memory_list("w") == ()


def test_the_agent_cannot_touch_a_pinned_note_and_the_operator_can(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        remember = store.journal.remember
        with pytest.raises(MemoryRefused, match="pinned"):
            await remember(lease, 1, 0, workspace="w", key="k", value="poison")
        with pytest.raises(MemoryRefused, match="pinned"):
            await store.journal.forget(lease, 1, 1, workspace="w", key="k")

    put(store, "k", "honest")
    store.memory_pin("w", "k")
    asyncio.run(drive())
    assert [(note.value, note.pinned) for note in store.memory_list("w")] == [("honest", True)]
    put(store, "k", "corrected")
    assert [(note.value, note.pinned) for note in store.memory_list("w")] == [("corrected", True)]
    assert store.memory_pin("w", "k", pinned=False)
    assert store.memory_delete("w", "k")


def test_the_same_call_again_gives_the_first_answer_and_writes_nothing(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        remember = store.journal.remember
        for _ in range(2):
            wrote = await remember(lease, 1, 0, workspace="w", key="k", value="x" * 3_000)
            assert wrote == MemoryWrite((), truncated=True)
            with pytest.raises(MemoryRefused, match="128 characters"):
                await remember(lease, 1, 1, workspace="w", key="k" * 200, value="v")

    asyncio.run(drive())
    assert [note.rewrites for note in store.memory_list("w")] == [0]
    assert [event.kind for event in store.context_events("r")] == [
        "memory_write",
        "memory_refused",
    ]


def test_eight_notes_a_run_and_the_next_run_has_eight_again(store: Store) -> None:
    async def drive(run_id: str) -> None:
        lease = await begin(store.journal, run_id)
        for call in range(8):
            await store.journal.remember(
                lease, 1, call, workspace="w", key=f"{run_id}{call}", value="v"
            )
        with pytest.raises(MemoryRefused, match="its 8 notes"):
            await store.journal.remember(lease, 1, 8, workspace="w", key="k", value="v")

    put(store, "an operator's write counts for nobody")
    asyncio.run(drive("one"))
    asyncio.run(drive("two"))
    assert len(store.memory_list("w")) == 17


@pytest.mark.parametrize("mode", ["read-only", "off"])
def test_a_mode_that_forbids_writing_is_told(store: Store, mode: MemoryMode) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        with pytest.raises(MemoryRefused, match=mode):
            await store.journal.remember(lease, 1, 0, workspace="w", key="k", value="v", mode=mode)

    asyncio.run(drive())
    assert store.memory_list("w") == ()
    assert [event.kind for event in store.context_events("r")] == ["memory_refused"]


def test_attribution_comes_from_the_lease_and_a_lost_one_writes_nothing(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        await store.journal.remember(lease, 5, 0, workspace="w", key="k", value="run_id: evil")
        await store.journal.release(lease)
        with pytest.raises(RunLeased):
            await store.journal.remember(lease, 6, 0, workspace="w", key="late", value="v")

    asyncio.run(drive())
    (note,) = store.memory_list("w")
    assert (note.run_id, note.step) == ("r", 5)


def test_forgetting_is_in_the_trace(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        assert await store.journal.forget(lease, 1, 0, workspace="w", key="k") is True
        assert await store.journal.forget(lease, 1, 1, workspace="w", key="k") is False
        assert await store.journal.notes("w") == ()

    put(store, "k")
    asyncio.run(drive())
    assert [event.kind for event in store.context_events("r")] == ["memory_forget"]


def test_forgetting_again_after_an_interruption_gives_the_first_answer(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        assert await store.journal.forget(lease, 1, 0, workspace="w", key="k") is True
        assert await store.journal.forget(lease, 1, 0, workspace="w", key="k") is True

    put(store, "k")
    asyncio.run(drive())
    assert [event.kind for event in store.context_events("r")] == ["memory_forget"]


def test_an_agent_cannot_wash_the_notes_of_others_out_by_forgetting_them(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        for number in range(8):
            assert await store.journal.forget(lease, 1, number, workspace="w", key=f"k{number}")
        with pytest.raises(MemoryRefused, match="deleted 8 notes of other runs"):
            await store.journal.forget(lease, 1, 8, workspace="w", key="k8")
        await store.journal.remember(lease, 1, 9, workspace="w", key="own", value="v")
        assert await store.journal.forget(lease, 1, 10, workspace="w", key="own")

    for number in range(10):
        put(store, f"k{number}")
    asyncio.run(drive())
    assert [note.key for note in store.memory_list("w")] == ["k8", "k9"]
    assert store.memory_delete("w", "k8"), "an operator may"


def test_a_recall_is_recorded_when_a_run_is_first_shown_a_note(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "r")
        for step in (1, 2, 3):
            if step == 3:
                put(store, "a", "rewritten")
            notes = await store.journal.notes("w")
            await store.journal.completed(
                lease,
                step,
                completion(),
                request=request(step),
                recalled=notes,
                recalled_from="w",
            )
            await store.journal.stepped(lease, step, ())

    put(store, "a")
    put(store, "b")
    asyncio.run(drive())
    recalls = store.memory_recalls("r")
    assert [(r.step, r.key, r.seq, r.note_run_id, r.note_step) for r in recalls] == [
        (1, "a", 1, "run", 3),
        (1, "b", 2, "run", 3),
        (3, "a", 3, "run", 3),
    ]
    assert {recall.workspace for recall in recalls} == {"id:w"}
    events = [e for e in store.context_events("r") if e.kind == "memory_recall"]
    assert [(e.step, e.detail["keys"]) for e in events] == [(1, ["a", "b"]), (3, ["a"])]


def test_a_deleted_note_is_gone_from_the_next_look(store: Store) -> None:
    put(store, "k", "secret")
    notes: tuple[MemoryEntry, ...] = store.memory_list("w")
    assert len(notes) == 1
    store.memory_delete("w", "k")
    assert asyncio.run(store.journal.notes("w")) == ()
    assert store.memory_get("w", "k") is None


def test_the_clock_set_back_does_not_change_the_order(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "old")
    monkeypatch.setattr("io_harness.store.store.now", lambda: "1999-01-01T00:00:00+00:00")
    put(store, "new")
    for number in range(63):
        put(store, f"k{number}")
    assert store.memory_get("w", "old") is None
    assert store.memory_get("w", "new") is not None


SECRET = b"very-secret"


def holding_secret(place: Path) -> list[str]:
    return [file.name for file in place.iterdir() if SECRET in file.read_bytes()]


@pytest.mark.parametrize("how", ["delete", "clear", "forget"])
def test_a_deleted_note_is_in_no_file_while_the_store_is_open(tmp_path: Path, how: str) -> None:
    async def forget(opened: Store) -> None:
        lease = await begin(opened.journal)
        assert await opened.journal.forget(lease, 1, 0, workspace="w", key="token")

    with Store.open(tmp_path / "runs.db") as opened:
        put(opened, "token", "sk-very-secret" * 20)
        assert holding_secret(tmp_path) == ["runs.db-wal"]
        if how == "delete":
            assert opened.memory_delete("w", "token")
        elif how == "clear":
            assert opened.memory_clear("w") == 1
        else:
            asyncio.run(forget(opened))
        assert holding_secret(tmp_path) == []
    assert holding_secret(tmp_path) == []


def test_a_deleted_note_leaves_the_log_once_its_last_reader_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as opened:
        put(opened, "token", "sk-very-secret" * 20)
        with holding(READER, path):
            assert opened.memory_delete("w", "token")
            assert holding_secret(tmp_path) == ["runs.db-wal"]
        deadline = time.monotonic() + 20
        while holding_secret(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert holding_secret(tmp_path) == []


def hide(text: str) -> str:
    return text.replace("very-secret", "[hidden]")


def test_what_no_note_may_hold_is_taken_out_before_it_is_written(tmp_path: Path) -> None:
    async def remember(opened: Store) -> None:
        lease = await begin(opened.journal, "run")
        for call, key in enumerate(("very-secret token", "a\0very-secret")):
            wrote = opened.journal.remember(
                *(lease, 1, call),
                workspace="w",
                key=key,
                value="sk-very-secret",
                source="read very-secret.txt",
            )
            await asyncio.gather(wrote, return_exceptions=True)

    with Store.open(tmp_path / "runs.db", redact=hide) as opened:
        opened.memory_put("w", "k", "sk-very-secret", run_id="me", step=0)
        asyncio.run(remember(opened))
        first, second = opened.memory_list("w")
        assert (first.key, first.value) == ("k", "sk-[hidden]")
        assert (second.key, second.value) == ("[hidden] token", "sk-[hidden]")
        assert second.source == "read [hidden].txt"
        kinds = [event.kind for event in opened.context_events("run")]
        assert kinds == ["memory_write", "memory_refused"]
        assert holding_secret(tmp_path) == []


@pytest.mark.parametrize("answer", [None, b"bytes", KeyError("mine")])
def test_a_redactor_that_fails_lets_nothing_through(answer: object) -> None:
    def failing(text: str) -> str:
        if isinstance(answer, Exception):
            raise answer
        return cast("str", answer)

    with Store.memory(redact=failing) as store:
        with pytest.raises((ConfigError, KeyError)):
            put(store, "k")
        assert store.memory_list("w") == ()
