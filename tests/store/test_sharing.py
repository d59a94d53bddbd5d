"""Many writers on one store: shared commits, deadlines, readers, processes, forks."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from io_harness.errors import ConfigError, StoreLocked
from io_harness.store import Store
from io_harness.store.sqlite import log
from io_harness.types import MemoryWrite
from tests.store.disks import CountingDisk
from tests.store.other import GATE, READER, WRITER, holding, python
from tests.store.runs import begin, take_step

MIB = 1024 * 1024


def put(store: Store, key: str, value: str = "v") -> MemoryWrite:
    return store.memory_put("w", key, value, run_id="r", step=1)


def fill(store: Store, size: int) -> None:
    """Write so many bytes in one commit, with no text to make them of."""
    sql = (
        "INSERT INTO texts (digest, chars, packed, body) VALUES (randomblob(32), 0, 0, zeroblob(?))"
    )
    store._backend.write(lambda tx: tx.execute(sql, (size,)), size=size).result()


def test_a_commit_is_synced_once_and_64_operations_share_one(tmp_path: Path) -> None:
    disk = CountingDisk()

    async def write_many(store: Store) -> int:
        lease = await begin(store.journal, "run")
        before = disk.syncs
        await asyncio.gather(*(store.journal.renew(lease) for _ in range(640)))
        return disk.syncs - before

    with disk.open(tmp_path / "runs.db") as store:
        put(store, "first, which finds the log new")
        before = disk.syncs
        put(store, "k")
        assert disk.syncs == before + 1
        assert 10 <= asyncio.run(write_many(store)) <= 640 // 16


def test_large_operations_share_a_commit_up_to_256_kib(tmp_path: Path) -> None:
    disk = CountingDisk()

    async def write(store: Store) -> int:
        before = disk.syncs
        leases = [begin(store.journal, f"run {n} " + "x" * 100) for n in range(8)]
        taken = await asyncio.gather(*leases)
        texts = [random.Random(n).randbytes(100_000).hex() for n in range(8)]
        steps = (take_step(store.journal, one, 1, t) for one, t in zip(taken, texts, strict=True))
        await asyncio.gather(*steps)
        return disk.syncs - before

    with disk.open(tmp_path / "runs.db") as store:
        assert asyncio.run(write(store)) >= 8


@pytest.mark.parametrize("script", [GATE, WRITER])
def test_a_writer_waits_until_its_deadline_and_not_longer(tmp_path: Path, script: str) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path, timeout=0.5) as store:
        put(store, "before")
        with holding(script, path):
            began = time.monotonic()
            with pytest.raises(StoreLocked, match="nothing was written"):
                put(store, "during")
            assert 0.4 <= time.monotonic() - began <= 5.0
            assert [note.key for note in store.memory_list("w")] == ["before"]
        put(store, "after")
        assert [note.key for note in store.memory_list("w")] == ["before", "after"]


@pytest.mark.parametrize("script", [GATE, WRITER])
def test_only_those_whose_time_is_up_are_turned_away(tmp_path: Path, script: str) -> None:
    async def drive(store: Store, other: subprocess.Popen[str]) -> None:
        first = asyncio.ensure_future(begin(store.journal, "first"))
        await asyncio.sleep(1.5)
        second = asyncio.ensure_future(begin(store.journal, "second"))
        with pytest.raises(StoreLocked):
            await first
        assert not second.done()
        await asyncio.to_thread(other.communicate, "\n")
        await second

    path = tmp_path / "runs.db"
    with Store.open(path, timeout=3.0) as store, holding(script, path) as other:
        asyncio.run(drive(store, other))
        assert [run.run_id for run in store.runs()] == ["second"]


def test_opening_waits_for_its_turn_too(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    with holding(GATE, path), pytest.raises(StoreLocked):
        Store.open(path, timeout=0.2)


def test_the_event_loop_runs_on_while_a_write_waits(tmp_path: Path) -> None:
    async def drive(store: Store) -> float:
        writing = asyncio.ensure_future(begin(store.journal))
        longest, last = 0.0, time.monotonic()
        while not writing.done():
            await asyncio.sleep(0.001)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        with pytest.raises(StoreLocked):
            await writing
        return longest

    path = tmp_path / "runs.db"
    with Store.open(path, timeout=3.0) as store, holding(GATE, path):
        assert asyncio.run(drive(store)) < 1.5


def test_a_cancelled_write_does_not_disturb_the_others(tmp_path: Path) -> None:
    async def drive(store: Store) -> None:
        lease = await begin(store.journal, "run")
        tasks = [asyncio.ensure_future(store.journal.renew(lease)) for _ in range(50)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in done[::2])
        assert not any(isinstance(result, BaseException) for result in done[1::2])

    with Store.open(tmp_path / "runs.db") as store:
        asyncio.run(drive(store))


def test_an_open_reader_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path, timeout=2.0) as store:
        put(store, "k")
        with holding(READER, path):
            for number in range(20):
                put(store, f"k{number}")


def test_the_log_shrinks_once_a_reader_that_held_it_is_gone(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.db", tmp_path / "runs.db-wal"

    with Store.open(path) as store:
        put(store, "k")
        with holding(READER, path):
            for _ in range(10):
                fill(store, 8 * MIB)
            assert log.stat().st_size > 64 * MIB
        deadline = time.monotonic() + 10
        while log.stat().st_size > 64 * MIB and time.monotonic() < deadline:
            time.sleep(0.1)
        assert log.stat().st_size <= 64 * MIB


def test_the_log_stays_small_where_nobody_holds_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        for _ in range(100):
            fill(store, MIB)
        assert (tmp_path / "runs.db-wal").stat().st_size <= 32 * MIB


def test_the_log_stays_small_where_many_write_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "CHECKPOINT_PAGES", 100)
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.open(tmp_path / "runs.db")) for _ in range(6)]
        for _ in range(40):
            for store in stores:
                fill(store, MIB // 2)
        assert (tmp_path / "runs.db-wal").stat().st_size <= MIB


OPENER = """
import sys
from io_harness.store import Store
for number in range(int(sys.argv[2])):
    with Store.open(f"{sys.argv[1]}/{number}.db") as store:
        store.memory_put("w", sys.argv[3], "v", run_id="r", step=1)
"""


def test_processes_that_open_a_new_store_at_once_all_get_it(tmp_path: Path) -> None:
    files, openers = 6, 6
    threads = [
        threading.Thread(
            target=python, args=(OPENER, tmp_path, str(files), str(number)), daemon=True
        )
        for number in range(openers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(files):
        with Store.open(tmp_path / f"{number}.db") as store:
            keys = {note.key for note in store.memory_list("w")}
        assert keys == {str(opener) for opener in range(openers)}


REMEMBERER = """
import sys
from io_harness.memory import MemoryLimits
from io_harness.store import Store
limits = MemoryLimits(max_entries=6, max_chars=200, max_entry_chars=60)
with Store.open(sys.argv[1]) as store:
    for number in range(int(sys.argv[3])):
        key = f"{sys.argv[2]}-{number}"
        store.memory_put("w", key, "x" * (number * 13 % 70), run_id="r", step=1, limits=limits)
        notes = store.memory_list("w")
        assert len(notes) <= 6, notes
        assert sum(len(note.value) for note in notes) <= 200, notes
        seqs = [note.seq for note in notes]
        assert seqs == sorted(set(seqs)), seqs
        there = store.memory_get("w", key)
        gone = {event.detail["key"] for event in store.context_events("r")
                if event.kind == "memory_evict"}
        assert there is not None or key in gone, key  # others may have pushed it out by now
"""


def test_processes_that_remember_at_once_never_break_a_cap(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    writers, each = 16, 6
    failed: list[str] = []

    def remember(number: int) -> None:
        try:
            python(REMEMBERER, path, str(number), str(each))
        except AssertionError as error:
            failed.append(str(error))

    threads = [
        threading.Thread(target=remember, args=(number,), daemon=True) for number in range(writers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with Store.open(path) as store:
        events = store.context_events("r")
        (newest,) = store.memory_list("w")[-1:]
    assert sum(event.kind == "memory_write" for event in events) == writers * each
    assert newest.seq == writers * each


WATCHER = """
import asyncio, os, sys
from contextlib import ExitStack
from pathlib import Path
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from io_harness.store import Store
path = sys.argv[1]
for _ in range(2):
    with Store.open(path) as store:
        store.memory_put("w", "k", "v", run_id="r", step=1)
        store.memory_list("w")
        store.backup(f"{path}.backup{_}")
        from io_harness.store.doctor import examine
        examine(Path(path))
watched = [path, path + "-wal", path + "-shm", path + "-journal"]
print([name for name in opened if os.path.realpath(name) in watched])
print(len(opened))
"""


def test_nobody_but_sqlite_opens_the_database_or_its_log(tmp_path: Path) -> None:
    touched, seen = python(WATCHER, tmp_path / "runs.db").splitlines()
    assert touched == "[]"
    assert int(seen) > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_is_told_to_open_its_own(tmp_path: Path) -> None:
    script = """
import os, sys
from io_harness.errors import ConfigError
from io_harness.store import Store
store = Store.open(sys.argv[1])
store.memory_put("w", "k", "v", run_id="r", step=1)
child = os.fork()
if child == 0:
    refused = 0
    for act in (lambda: store.memory_list("w"), lambda: store.memory_delete("w", "k")):
        try:
            act()
        except ConfigError as error:
            refused += "forked" in str(error)
    store.close()
    os._exit(0 if refused == 2 else 1)
print(os.waitpid(child, 0)[1])
store.memory_put("w", "k2", "v", run_id="r", step=1)
print(len(store.memory_list("w")))
store.close()
"""
    assert python(script, tmp_path / "runs.db").split() == ["0", "2"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork_while_another_thread_holds_the_locks_leaves_the_child_waiting_for_none(
    tmp_path: Path,
) -> None:
    script = """
import os, signal, sys, threading
from io_harness.errors import ConfigError
from io_harness.store import Store
stores = [Store.open(sys.argv[1]), Store.memory()]
held, over = threading.Event(), threading.Event()
def hold():
    file, memory = (store._backend for store in stores)
    with file._guard, file._writer._wake, memory._turn, memory._writer._wake:
        held.set()
        over.wait(60)
threading.Thread(target=hold, daemon=True).start()
held.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(20)
    refused = 0
    for store in stores:
        for act in (lambda: store.memory_list("w"), lambda: store.memory_delete("w", "k")):
            try:
                act()
            except ConfigError as error:
                refused += "forked" in str(error)
        store.close()
    os._exit(refused)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
"""
    assert python(script, tmp_path / "runs.db").strip() == "4"


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    for store in (Store.open(tmp_path / "runs.db"), Store.memory()):
        put(store, "k")
        store.close()
        store.close()
        with pytest.raises(ConfigError, match="closed"):
            store.memory_list("w")
        with pytest.raises(ConfigError, match="closed"):
            put(store, "k")


def test_a_store_that_was_never_closed_does_not_keep_the_process(tmp_path: Path) -> None:
    script = (
        "import sys; from io_harness.store import Store; store = Store.open(sys.argv[1]);"
        "store.memory_put('w', 'k', 'v', run_id='r', step=1)"
    )
    python(script, tmp_path / "runs.db")
    assert not (tmp_path / "runs.db-wal").exists()
    with Store.open(tmp_path / "runs.db") as store:
        assert len(store.memory_list("w")) == 1


def test_any_thread_may_use_a_store(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def use(number: int) -> None:
        try:
            for turn in range(10):
                put(store, f"{number}-{turn}")
                store.memory_list("w")
                store.runs()
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with Store.open(tmp_path / "runs.db") as store:
            threads = [
                threading.Thread(target=use, args=(number,), daemon=True) for number in range(12)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
