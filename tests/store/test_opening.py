"""What a store makes, what it refuses to open, and what others see in it."""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from pathlib import Path

import apsw
import pytest

from io_harness.errors import (
    ConfigError,
    HarnessError,
    SchemaNewer,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
)
from io_harness.store import Store
from io_harness.store.codec import squeezed
from io_harness.store.doctor import Finding, examine
from io_harness.store.schema import MIGRATIONS, VERSION
from io_harness.store.sqlite import filesystem, looking
from io_harness.store.sqlite.connection import SAFE_SQLITE, connect
from tests.store.golden.make import PLACE, fill
from tests.store.other import python
from tests.store.runs import begin, observations, request, take_step

FILE_NAMES = ["a b.db", "what?mode=memory", "50%.db", "#.db", "é.db", ":memory:"]
if sys.platform != "darwin":  # whose file systems take no such name
    FILE_NAMES.append("caf\udce9.db")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such permissions")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_every_file_is_the_owners_alone_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    there.chmod(0o755)
    before = os.umask(mask)
    try:
        for path in (there / "runs.db", tmp_path / "new" / "runs.db"):
            with Store.open(path) as store:
                store.memory_put("w", "k", "v", run_id="r", step=1)
                made = [file for file in store.files if file.exists()]
                assert len(made) == 4
                assert {mode(file) for file in made} == {0o600}
                store.backup(path.with_name("backup.db"))
                assert mode(path.with_name("backup.db")) == 0o600
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o700
    assert mode(there) == 0o755


def test_any_file_name_will_do(tmp_path: Path) -> None:
    for name in FILE_NAMES:
        with Store.open(tmp_path / name) as store:
            store.memory_put("w", "k", name.encode("utf-8", "replace").decode(), run_id="r", step=1)
        assert (tmp_path / name).exists()
        with Store.open(tmp_path / name) as store:
            assert len(store.memory_list("w")) == 1


def test_a_link_and_what_it_points_to_are_one_store(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "runs.db")
    with Store.open(tmp_path / "link.db") as one, Store.open(tmp_path / "runs.db") as two:
        one.memory_put("w", "k", "v", run_id="r", step=1)
        assert len(two.memory_list("w")) == 1
        assert one.files == two.files


@pytest.mark.parametrize("url", ["postgresql://localhost/runs", "mysql://x", "redis://x/0"])
def test_another_engine_is_not_in_this_version(url: str) -> None:
    with pytest.raises(ConfigError, match="not in this version"):
        Store.open(url)


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that lies on a network file system, as the system says."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda rw\n"
        f"23 22 0:50 / {tmp_path}/far rw shared:1 - nfs4 server:/x rw\n"
        f"24 22 0:51 / {tmp_path}/a\\040b rw - cifs //server/x rw\n"
    )
    kind_of = filesystem.kind_of
    for module in (filesystem, looking):
        monkeypatch.setattr(module, "kind_of", lambda path: kind_of(path, mounts))
    for place in ("far", "a b"):
        (tmp_path / place).mkdir()
    return tmp_path / "far"


def test_a_network_file_system_is_refused(tmp_path: Path, far: Path) -> None:
    for place in (far.name, "a b"):
        with pytest.raises(ConfigError, match="network file system"):
            Store.open(tmp_path / place / "runs.db")
        assert list((tmp_path / place).iterdir()) == []
    (tmp_path / "farther").mkdir()
    Store.open(tmp_path / "farther" / "runs.db").close()


def test_a_backup_on_a_network_file_system_can_be_made_and_looked_at(
    tmp_path: Path, far: Path
) -> None:
    copy = far / "copy.db"
    with Store.open(tmp_path / "runs.db") as store:
        store.memory_put("w", "k", "v", run_id="r", step=1)
        store.backup(copy)
        for suffix in ("", "-wal", "-shm"):
            shutil.copy(f"{tmp_path / 'runs.db'}{suffix}", f"{far / 'live.db'}{suffix}")
    with Store.open(copy, read_only=True) as looked:
        assert len(looked.memory_list("w")) == 1
    with pytest.raises(ConfigError, match="on a network file system"):
        Store.open(far / "live.db", read_only=True)
    (far / "live.db-shm").unlink()
    with Store.open(far / "live.db", read_only=True) as looked:
        assert len(looked.memory_list("w")) == 1
    assert sorted(file.name for file in far.iterdir()) == ["copy.db", "live.db", "live.db-wal"]


def refused(path: Path, error: type[HarnessError], match: str) -> None:
    """Opening says why not, what to do, and leaves the file as it is."""
    before = path.read_bytes()
    with pytest.raises(error, match=match) as caught:
        Store.open(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 1_000)
    refused(path, StoreCorrupt, "no store")


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    python("import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE t (x)')", path)
    refused(path, StoreCorrupt, "no store")


def test_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    change(path, f"PRAGMA user_version = {VERSION + 1}")
    refused(path, SchemaNewer, "upgrade io-harness")


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM memory; END",
        "CREATE VIEW v AS SELECT load_extension('evil')",
        "CREATE TABLE extra (x)",
        "DROP VIEW notes",
        "CREATE INDEX i ON memory (value)",
    ],
)
def test_a_schema_that_was_tampered_with_is_refused(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    change(path, sql)
    refused(path, StoreCorrupt, "did not make")


MANY = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for number in range(2_000):
    db.execute(f"CREATE TABLE t{number}_{'x' * 500} (x)")
db.commit()
"""


def test_a_schema_of_thousands_of_objects_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    python(MANY, path)
    with pytest.raises(StoreCorrupt, match="2000 tables") as caught:
        Store.open(path)
    assert len(str(caught.value)) < 1_000


def change(path: Path, *statements: str) -> None:
    script = (
        "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for sql in sys.argv[2:]: db.execute(sql)"
    )
    python(script, path, *statements)


def read_golden(path: Path) -> None:
    with Store.open(path) as store:
        store.steps("golden")


def test_damaged_pages_are_told_and_not_repaired(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        asyncio.run(fill(store))
    content = bytearray(path.read_bytes())
    for at in range(len(content) // 2, len(content)):
        content[at] ^= 0x55
    path.write_bytes(content)
    findings = {finding.subject: finding for finding in examine(path)}
    assert not all(finding.well for finding in findings.values())
    with pytest.raises(StoreCorrupt, match="restore a backup"):
        read_golden(path)
    assert path.read_bytes() == bytes(content)


def test_a_truncated_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        asyncio.run(fill(store))
    os.truncate(path, path.stat().st_size // 2 + 100)
    refused(path, StoreCorrupt, "restore a backup")


READ_ONLY = """
import os, sys
from io_harness.errors import StoreReadOnly
from io_harness.store import Store
import io_harness.store.sqlite.backend, io_harness.store.sqlite.looking
os.setuid(65534)
try:
    Store.open(sys.argv[1])
except StoreReadOnly as error:
    print(error)
"""


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become another user here"
)
def test_a_store_that_cannot_be_written_says_so() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        path = Path(place, "runs.db")
        Store.open(path).close()
        path.chmod(0o644)
        assert "cannot be written" in python(READ_ONLY, path)
        assert "cannot be written" in python(READ_ONLY, Path(place, "new.db"))


def test_what_can_be_no_store_is_told_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, says in {
        tmp_path: f"is a directory: name a file, as {tmp_path / 'runs.db'}",
        tmp_path / "file" / "runs.db": "choose another path",
        tmp_path / "loop": "choose another path",
        tmp_path / ("x" * 300): "File name too long",
    }.items():
        for read_only in (False, True):
            with pytest.raises(ConfigError) as caught:
                Store.open(path, read_only=read_only)
            assert str(path) in str(caught.value)
            assert read_only or says in str(caught.value)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "loop"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system has no /proc")
def test_devices_pipes_and_proc_are_no_place_for_a_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(ConfigError, match="a device, a pipe or a socket"):
            Store.open(path)
    with pytest.raises(ConfigError, match=r"no store can be at /proc/runs\.db: choose"):
        Store.open("/proc/runs.db")


BESIDE = """
import signal, sys
from io_harness.errors import ConfigError
from io_harness.store import Store
signal.alarm(10)
for read_only in (False, True):
    try:
        Store.open(sys.argv[1], read_only=read_only)
    except ConfigError as error:
        print(error)
"""


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_a_pipe_where_sqlite_looks_for_a_file_is_not_waited_for(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    pipe = Path(f"{path}{suffix}")
    os.mkfifo(pipe)
    told = f"{pipe} is no regular file, where a store has one: move it away"
    assert python(BESIDE, path).splitlines() == [told, told]


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (errno.EROFS, StoreReadOnly),
        (errno.EACCES, StoreReadOnly),
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EMFILE, StoreFailed),
    ],
)
def test_what_the_system_refuses_at_the_first_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[HarnessError]
) -> None:
    def refusing(path: Path) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr("io_harness.store.sqlite.backend.Gate", refusing)
    with pytest.raises(error, match=os.strerror(number)) as caught:
        Store.open(tmp_path / "runs.db")
    assert "check the disk" not in str(caught.value)


def test_a_disk_turned_read_only_stops_writes_and_not_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(name: str, *, vfs: str | None = None) -> apsw.Connection:
        connection = connect(name, vfs=vfs)
        connection.pragma("query_only", True)
        return connection

    with Store.open(tmp_path / "runs.db") as store:
        monkeypatch.setattr("io_harness.store.sqlite.backend.connect", read_only)
        with pytest.raises(StoreReadOnly, match="cannot be written"):
            store.memory_put("w", "k", "v", run_id="r", step=1)
        assert store.memory_list("w") == ()


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_every_released_schema_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((PLACE / f"schema-{version}.db.gz").read_bytes()))
    path.chmod(0o600)
    with Store.open(path) as store:
        first, second = store.steps("golden")
        text = "2: golden \ud800\0\n" + "x" * 5_000
        assert second.request == request(2, text)
        assert second.observations == observations(2, text)
        assert first.committed
        assert store.run("golden").outcome == "success"
        assert [note.value for note in store.memory_list("id:golden")] == ["value"]
        asyncio.run(go_on(store))
        steps = store.steps("golden")
        assert [step.step for step in steps] == list(range(1, 135))
        assert steps[:2] == (first, second)
        assert [step.request for step in steps[2:]] == [request(n, text) for n in range(3, 135)]
    assert [finding for finding in examine(path) if not finding.well] == []


async def go_on(store: Store) -> None:
    """Drive the run of a golden file past a request that stands alone."""
    lease = await store.journal.acquire("golden")
    for step in range(3, 135):
        await take_step(store.journal, lease, step, "2: golden \ud800\0\n" + "x" * 5_000)


OPENER = """
import sys
from io_harness.store import Store
with Store.open(sys.argv[1]) as store:
    assert len(store.steps("golden")) == 2
    store.memory_put("w", sys.argv[2], "v", run_id="r", step=1)
"""


def test_processes_that_open_an_older_store_at_once_all_get_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((PLACE / "schema-1.db.gz").read_bytes()))
    openers = [
        threading.Thread(target=python, args=(OPENER, path, str(n)), daemon=True) for n in range(6)
    ]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    with Store.open(path) as store:
        assert {note.key for note in store.memory_list("w")} == {str(n) for n in range(6)}


def test_a_migration_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    broken = (*MIGRATIONS, "CREATE TABLE one (x) STRICT; CREATE TABLE two (x INTEGER) STRICT")
    monkeypatch.setattr("io_harness.store.sqlite.connection.MIGRATIONS", broken)
    monkeypatch.setattr("io_harness.store.sqlite.connection.VERSION", VERSION + 1)
    with pytest.raises(HarnessError):
        Store.open(path)
    monkeypatch.undo()
    with Store.open(path) as store:
        store.memory_put("w", "k", "v", run_id="r", step=1)


def test_the_library_is_past_the_bug_that_corrupts_logs() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= SAFE_SQLITE


def test_a_backup_is_whole_though_taken_while_others_write(tmp_path: Path) -> None:
    stop = threading.Event()

    async def drive(store: Store) -> None:
        lease, step = await begin(store.journal, "run"), 0
        while not stop.is_set():
            step += 1
            await take_step(store.journal, lease, step, f"{step} " * 500)

    with Store.open(tmp_path / "runs.db") as store:
        writing = threading.Thread(target=lambda: asyncio.run(drive(store)), daemon=True)
        writing.start()
        try:
            while not store.runs():
                assert writing.is_alive()
                time.sleep(0.01)
            for number in range(5):
                store.backup(tmp_path / f"backup-{number}.db")
        finally:
            stop.set()
            writing.join(60)
        with pytest.raises(ConfigError, match="never replaces"):
            store.backup(tmp_path / "backup-0.db")
    for number in range(5):
        assert all(finding.well for finding in examine(tmp_path / f"backup-{number}.db"))
        with Store.open(tmp_path / f"backup-{number}.db") as copy:
            steps = copy.steps("run")
            assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    assert not list(tmp_path.glob("*.part"))


def test_a_well_store_is_found_well(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    assert Finding("file", True, f"{path} is not there yet") in examine(path)
    with Store.open(path) as store:
        asyncio.run(fill(store))
    findings = examine(path)
    assert [finding.subject for finding in findings if not finding.well] == []
    assert {"SQLite", "file system", "permissions", "log", "schema", "pages"} <= {
        finding.subject for finding in findings
    }


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        asyncio.run(fill(store))
        store.memory_put("/workspace", "k", "v", run_id="golden", step=1)
    path.chmod(0o644)
    change(path, "UPDATE texts SET body = 'forged', packed = 0 WHERE id = 1")
    wrong = {finding.subject: finding.message for finding in examine(path) if not finding.well}
    assert wrong["permissions"].startswith("0644: other users")
    assert wrong["texts"].startswith("1 cannot be read back (text 1)")
    assert "workspace id" in wrong["workspaces"]


@pytest.mark.parametrize(
    "sql",
    [
        f"UPDATE versions SET segments = x'{squeezed('[0,0]').hex()}'",
        f"UPDATE versions SET segments = x'{squeezed('no json').hex()}'",
        f"UPDATE versions SET segments = x'{squeezed('[9999,0,5]').hex()}'",
        "UPDATE versions SET segments = x'00'",
        "UPDATE versions SET novel = 'plain'",
        "UPDATE versions SET base = id",
        "UPDATE versions SET base = 9999",
        "UPDATE texts SET body = x'789c', packed = 1",
        f"UPDATE texts SET chars = {2**62}",
        "DELETE FROM texts",
        "UPDATE observations SET kind = 'spell'",
        "UPDATE observations SET paths = '{'",
        "UPDATE calls SET arguments = '{', raw = 0",
        "UPDATE steps SET reasoning = '['",
        "UPDATE steps SET decision = 9999",
        "UPDATE steps SET decision = x'ff'",
    ],
)
def test_rows_that_something_else_wrote_are_told(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        asyncio.run(fill(store))
    change(path, sql)
    with Store.open(path) as store, pytest.raises(StoreCorrupt, match="doctor"):
        store.steps("golden")


LOOK = """
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
names = [row[0] for row in db.execute(
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")]
found = {name: [
    {key: value.hex() if isinstance(value, bytes) else value for key, value in dict(row).items()}
    for row in db.execute(f'SELECT * FROM "{name}"')] for name in names}
print(json.dumps(found))
"""


def test_a_table_with_names_is_referred_to_by_its_column() -> None:
    """Datasette 0.65 answers with an error where it would show a name for a bare reference."""
    with Store.memory() as store:
        bare = store._backend.read(
            lambda tx: tx.execute(
                "SELECT t.name FROM sqlite_schema t, pragma_foreign_key_list(t.name) f"
                " WHERE t.type = 'table' AND f.\"to\" IS NULL AND EXISTS"
                " (SELECT 1 FROM pragma_table_info(f.\"table\") WHERE name IN ('name', 'title'))"
            )
        )
    assert bare == []


def test_another_program_reads_the_tables_and_views(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        asyncio.run(fill(store))
        found = json.loads(python(LOOK, path))
    assert set(found["drift"][0]) >= {"run_id", "model", "estimated", "reported", "ratio"}
    assert found["drift"][0]["ratio"] == 3.0
    said, read, failed = found["log"][:3]
    assert (said["run_id"], said["kind"], said["head"]) == ("golden", "message", "Reading on.")
    assert (read["target"], read["chars"], len(read["head"])) == ("a.txt", 5_013, 400)
    assert read["head"].startswith("1: golden ?\ufffd\nxxx")
    assert failed["head"] == "not JSON"
    assert found["notes"][0]["workspace"] == "id:golden"
    assert found["notes"][0]["run_id"] == "golden"
    assert [row["cached"] for row in found["requests"]] == [None, 100, None, 100]
    assert found["runs"][0]["run_id"] == "golden"
    assert found["runs"][0]["goal"] == "Refactor the parser."
    turn = found["turns"][0]
    assert (turn["run_id"], turn["decision"], turn["calls"]) == (
        "golden",
        "Reading on.",
        "read, read",
    )


def test_a_file_that_goes_while_a_store_is_opened_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever closes a store last deletes its log and index: they may go between two looks."""
    monkeypatch.setattr(Path, "exists", lambda *_, **__: True)
    with Store.open(tmp_path / "runs.db") as store:
        store.memory_put("w", "k", "v", run_id="r", step=1)
    assert all(finding.well for finding in examine(tmp_path / "runs.db"))


@pytest.mark.parametrize("given", ["", "a\0b", b"a.db", 5, None, "file:///tmp/x.db"])
def test_what_is_no_path_of_a_store_is_a_configuration_error(given: str) -> None:
    with pytest.raises(ConfigError):
        Store.open(given)


COLLECTED = """
import gc, os, sys, threading, time
from io_harness.store import Store
log = "".join(sys.argv[1:]) + "-wal"
store = Store.open(sys.argv[1]) if sys.argv[1:] else Store.memory()
store.memory_put("w", "k", "v", run_id="r", step=1)
with threading._active_limbo_lock:  # as in a thread that starts or ends
    del store
    gc.collect()
deadline = time.monotonic() + 60
while os.path.exists(log) or "store-writer" in {thread.name for thread in threading.enumerate()}:
    assert time.monotonic() < deadline
    time.sleep(0.01)
"""


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_store_that_is_collected_waits_for_no_thread(tmp_path: Path, in_memory: bool) -> None:
    """The collector may run where a thread holds what the writer's thread needs to end."""
    python(COLLECTED, *([] if in_memory else [tmp_path / "runs.db"]))
    left = {file.name for file in tmp_path.iterdir()}
    assert left == (set() if in_memory else {"runs.db", "runs.db.gate"})


LEFT_OPEN = """
import sys
from io_harness.store import Store
store = Store.open(sys.argv[1])
store.memory_put("w", "k", "v", run_id="r", step=1)
"""


def test_a_store_that_is_open_as_python_ends_is_closed(tmp_path: Path) -> None:
    python(LEFT_OPEN, tmp_path / "runs.db")
    assert {file.name for file in tmp_path.iterdir()} == {"runs.db", "runs.db.gate"}
