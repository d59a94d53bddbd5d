"""A store that is only looked at: on disks that cannot be written, beside writers, unchanged."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from io_harness.errors import ConfigError, StoreLocked
from io_harness.store import Store
from io_harness.store.doctor import examine
from io_harness.store.schema import VERSION
from io_harness.store.sqlite import looking
from tests.store.golden.make import PLACE
from tests.store.other import can_mount, python, stopped

if sys.platform == "win32":
    pytest.skip("the system has no such permissions", allow_module_level=True)

NOBODY = 65_534
KILLED = """
import os, sys
from io_harness.store import Store
store = Store.open(sys.argv[1])
for number in range(20):
    store.memory_put("id:w", f"k{number}", "v", run_id="r", step=1)
os.kill(os.getpid(), 9)
"""
LOOK = """
import os, sys
from io_harness.errors import StoreReadOnly
from io_harness.store import Store
from io_harness.store.doctor import examine
from pathlib import Path
if os.getuid() == 0:
    os.setuid(65534)
path = Path(sys.argv[1])
with Store.open(path, read_only=True) as store:
    print(len(store.memory_list("id:w")))
    try:
        store.memory_put("id:w", "k", "v", run_id="r", step=1)
    except StoreReadOnly as error:
        print("read-only" in str(error))
    store.backup(sys.argv[2])
with Store.open(sys.argv[2]) as copy:
    print(len(copy.memory_list("id:w")))
print([(f.subject) for f in examine(path) if not f.well])
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that another user may look into, as those that pytest makes may not be."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)
        for each in Path(made).rglob("*"):
            each.chmod(0o755 if each.is_dir() else 0o644)


def state(place: Path) -> dict[str, tuple[str, int]]:
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in place.iterdir()
    }


def left_by_a_killed_writer(directory: Path) -> None:
    directory.mkdir()
    done = subprocess.run([sys.executable, "-c", KILLED, directory / "runs.db"], check=False)
    assert done.returncode == -9
    assert (directory / "runs.db-wal").stat().st_size > 0


def without_an_index(directory: Path) -> None:
    left_by_a_killed_writer(directory)
    (directory / "runs.db-shm").unlink()


def with_an_index_cut_short(directory: Path) -> None:
    left_by_a_killed_writer(directory)
    os.truncate(directory / "runs.db-shm", 3)


def closed(directory: Path) -> None:
    directory.mkdir()
    with Store.open(directory / "runs.db") as store:
        for number in range(20):
            store.memory_put("id:w", f"k{number}", "v", run_id="r", step=1)
    (directory / "runs.db.gate").unlink()


def with_an_empty_log(directory: Path) -> None:
    closed(directory)
    (directory / "runs.db-wal").touch()


def with_an_index_of_another(directory: Path) -> None:
    left_by_a_killed_writer(directory)
    index = (directory / "runs.db-shm").read_bytes()
    shutil.rmtree(directory)
    closed(directory)
    (directory / "runs.db-shm").write_bytes(index)


@pytest.mark.parametrize("mode", [0o555, 0o777], ids=["closed-directory", "open-directory"])
@pytest.mark.parametrize(
    "made",
    [
        *(left_by_a_killed_writer, without_an_index, with_an_index_cut_short),
        *(closed, with_an_empty_log, with_an_index_of_another),
    ],
)
def test_a_store_that_cannot_be_written_is_seen_whole_and_left_as_it_is(
    place: Path, made: object, mode: int
) -> None:
    directory, copies = place / "store", place / "copies"
    copies.mkdir()
    copies.chmod(0o777)
    assert callable(made)
    made(directory)
    for file in directory.iterdir():
        file.chmod(0o444)
    directory.chmod(mode)
    before = state(directory)
    printed = python(LOOK, directory / "runs.db", copies / "copy.db").splitlines()
    assert printed == ["20", "True", "20", "['permissions', 'writing']"]
    assert state(directory) == before


@pytest.mark.parametrize("made", [left_by_a_killed_writer, without_an_index, closed])
def test_who_may_write_changes_nothing_by_looking_either(tmp_path: Path, made: object) -> None:
    assert callable(made)
    made(tmp_path / "store")
    before = state(tmp_path / "store")
    with Store.open(tmp_path / "store" / "runs.db", read_only=True) as store:
        assert len(store.memory_list("id:w")) == 20
    assert {finding.well for finding in examine(tmp_path / "store" / "runs.db")} == {True}
    after = state(tmp_path / "store")
    for states in (before, after):
        states.pop("runs.db-shm", None)  # made anew from the log by whoever is first
    assert after == before


INTERRUPTED = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = DELETE")
db.execute("PRAGMA cache_size = 2")
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE memory SET value = 'torn' || randomblob(300)")
db.execute("CREATE TABLE junk AS SELECT randomblob(500) FROM memory, memory")
print("interrupted", flush=True)
os._exit(0)
"""


def test_a_write_that_another_program_left_half_done_is_told_or_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(tmp_path / "store")
    path = tmp_path / "store" / "runs.db"
    assert python(INTERRUPTED, path) == "interrupted\n"
    assert path.with_name("runs.db-journal").stat().st_size > 0
    before = state(tmp_path / "store")
    monkeypatch.setattr("io_harness.store.sqlite.looking.is_writable", lambda _: False)
    with pytest.raises(ConfigError, match="after a write that was interrupted"):
        Store.open(path, read_only=True)
    assert state(tmp_path / "store") == before
    monkeypatch.undo()
    with Store.open(path, read_only=True) as store:
        assert {note.value for note in store.memory_list("id:w")} == {"v"}


READ_ONLY_DISK = """
set -e
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
"$2" -c "$3" "$1/runs.db" "$4"
"""


@pytest.mark.skipif(not can_mount(), reason="nothing can be mounted here")
@pytest.mark.parametrize("made", [left_by_a_killed_writer, without_an_index, closed])
def test_a_disk_that_is_mounted_read_only_can_be_looked_at(place: Path, made: object) -> None:
    assert callable(made)
    made(place / "store")
    before = state(place / "store")
    look = LOOK.replace("os.setuid(65534)", "pass")
    script = ["unshare", "-m", "sh", "-c", READ_ONLY_DISK, "sh", str(place / "store")]
    done = subprocess.run(
        [*script, sys.executable, look, str(place / "copy.db")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["20", "True", "20", "['writing']"]
    assert state(place / "store") == before


COMING_AND_GOING = """
import sys
from io_harness.store import Store
for opening in range(25):
    with Store.open(sys.argv[1]) as store:
        for number in range(opening % 7 + 1):
            text = f"{opening:03}{number:03} " * 200
            for key in ("a", "b"):
                store.memory_put("id:w", key, text, run_id="r", step=1)
"""
WATCH = """
import os, sys, time
from io_harness.store import Store
from io_harness.store.sqlite import looking
os.setuid(65534)
opened, ways = looking._opened, set()
def noted(path, way, **options):
    connection = opened(path, way, **options)
    ways.add(way.shared)
    return connection
looking._opened = noted
seen, last = 0, ""
with Store.open(sys.argv[1], read_only=True) as store:
    print("looking", flush=True)
    while not os.path.exists(sys.argv[2]):
        notes = store.memory_list("id:w")
        for note in notes:
            assert note.value == note.value[:7] * 200
        newest = max((note.value for note in notes), default="")
        assert newest >= last, (newest[:7], last[:7])
        last, seen = newest, seen + 1
print(sorted(ways), seen > 0, last[:7])
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user here")
def test_who_may_not_write_looks_beside_writers_that_come_and_go(place: Path) -> None:
    path, stop = place / "runs.db", place / "stop"
    Store.open(path).close()
    path.chmod(0o644)
    watching = subprocess.Popen(
        [sys.executable, "-c", WATCH, path, stop], stdout=subprocess.PIPE, text=True
    )
    assert watching.stdout is not None
    with stopped(watching):
        assert watching.stdout.readline() == "looking\n"
        python(COMING_AND_GOING, path)
        stop.touch()
        printed, _ = watching.communicate(timeout=60)
    assert printed.strip() == "[False, True] True 024003"
    assert {file.stat().st_uid for file in place.iterdir()} == {0}


def test_a_file_that_changes_at_every_look_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    monkeypatch.setattr("io_harness.store.sqlite.looking.is_writable", lambda _: False)
    with Store.open(path, read_only=True, timeout=0.05) as store:
        count = iter(range(1_000_000))

        def listed(*_: object) -> tuple[()]:
            os.utime(path, ns=(0, next(count)))
            return ()

        monkeypatch.setattr("io_harness.store.reading.runs", listed)
        with pytest.raises(StoreLocked, match="changed each time"):
            store.runs()
        monkeypatch.undo()
        assert store.runs() == ()


def test_an_index_that_a_writer_is_just_making_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two steps of its making it is there, and useless to who may not write it."""
    path = tmp_path / "runs.db"
    unfinished = apsw.ReadOnlyError("attempt to write a readonly database")
    unfinished.extendedresult = apsw.SQLITE_READONLY_RECOVERY  # type: ignore[attr-defined]
    opened, left = looking._opened, [unfinished] * 3

    def soon(path: Path, way: looking._Way, *, keeps_log: bool) -> apsw.Connection:
        if left:
            raise left.pop()
        return opened(path, way, keeps_log=keeps_log)

    Store.open(path).close()
    monkeypatch.setattr(looking, "is_writable", lambda _: False)
    monkeypatch.setattr(looking, "_opened", soon)
    with Store.open(path, read_only=True) as store:
        assert store.runs() == ()
    left.extend([unfinished] * 10_000)
    with pytest.raises(StoreLocked, match="changed each time"):
        Store.open(path, read_only=True, timeout=0.05)


def test_a_look_makes_nothing_and_waits_for_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with pytest.raises(ConfigError, match="there is no store at"):
        Store.open(path, read_only=True)
    path.touch()
    with pytest.raises(ConfigError, match="is empty and no store yet"):
        Store.open(path, read_only=True)
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]
    with Store.open(path) as writing:
        writing.memory_put("id:w", "k", "v", run_id="r", step=1)
        with Store.open(path, read_only=True) as looking:
            assert looking.memory_list("id:w") == writing.memory_list("id:w")
            assert looking.files == writing.files
            writing.memory_put("id:w", "k2", "v", run_id="r", step=1)
            assert len(looking.memory_list("id:w")) == 2
        with pytest.raises(ConfigError, match="is closed"):
            looking.runs()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["runs.db", "runs.db.gate"]


def everything(store: Store) -> list[object]:
    """All that a store tells of the golden run."""
    return [
        store.runs(),
        store.steps("golden"),
        [step.request for step in store.steps("golden")],
        store.context_events("golden"),
        store.provider_calls("golden"),
        store.drift("golden"),
        store.memory_recalls("golden"),
        store.memory_list("id:golden"),
    ]


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_an_older_schema_is_read_and_not_brought_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((PLACE / f"schema-{version}.db.gz").read_bytes()))
    path.chmod(0o600)
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        looked = everything(store)
    assert [finding for finding in examine(path) if not finding.well] == []
    assert path.read_bytes() == before
    with Store.open(path) as store:
        assert looked == everything(store)


def test_any_thread_may_look(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    seen: list[int] = []
    with Store.open(path, read_only=True) as store:
        threads = [
            threading.Thread(target=lambda: seen.append(len(store.runs())), daemon=True)
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == [0] * 8
