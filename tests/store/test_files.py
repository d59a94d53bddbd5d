"""The files of a store while it is open: moved, deleted, replaced, owned by others, copied."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from io_harness.errors import ConfigError, RunUnknown, SchemaNewer, StoreCorrupt, StoreFailed
from io_harness.store import Store
from tests.store.other import can_mount, python

needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="the system lets nobody move a file that is open"
)


def put(store: Store, key: str) -> None:
    store.memory_put("id:w", key, "v", run_id="r", step=1)


def keys(store: Store) -> list[str]:
    return [note.key for note in store.memory_list("id:w")]


def moved(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replaced(path: Path) -> None:
    path.with_name("other.db").replace(path)


@needs_posix
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("do", [os.unlink, moved, replaced])
def test_nothing_is_acknowledged_into_files_that_nobody_else_finds(
    tmp_path: Path, suffix: str, do: Callable[[Path], None]
) -> None:
    path = tmp_path / "runs.db"
    with Store.open(tmp_path / "other.db") as other:
        put(other, "other")
    with Store.open(path) as store:
        put(store, "before")
        do(Path(f"{path}{suffix}"))
        for _ in range(2):
            with pytest.raises(StoreFailed, match="moved, deleted or replaced"):
                put(store, "after")
        assert "after" not in keys(store)


@needs_posix
@pytest.mark.parametrize("written", [False, True])
def test_a_file_that_is_put_back_is_written_again(tmp_path: Path, written: bool) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "aside.db"
    with Store.open(path) as store:
        if written:
            put(store, "before")
        path.rename(aside)
        with pytest.raises(StoreFailed, match="put them back"):
            put(store, "while it was away")
        aside.rename(path)
        put(store, "after")
    with Store.open(path) as store:
        assert keys(store) == ["before", "after"] if written else ["after"]


def test_a_log_that_was_started_again_is_no_change(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        for number in range(3):
            with pytest.raises(RunUnknown):  # which lets go of the connection that read
                store.run("nobody's")
            put(store, f"k{number}")
            assert store.memory_delete("id:w", f"k{number}")  # which cuts the log
        put(store, "last")
        assert keys(store) == ["last"]


KILLED = """
import os, sys
from io_harness.store import Store
store = Store.open(sys.argv[1])
store.memory_put("id:w", "k", "v", run_id="r", step=1)
print("written", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("empty", [False, True])
def test_a_log_without_its_database_is_not_deleted(tmp_path: Path, empty: bool) -> None:
    path, log, aside = tmp_path / "runs.db", tmp_path / "runs.db-wal", tmp_path / "aside.db"
    assert python(KILLED, path) == "written\n"
    before = log.read_bytes()
    path.rename(aside)
    if empty:
        path.touch()
    with pytest.raises(StoreCorrupt, match="put the file back, or move the log away"):
        Store.open(path)
    assert log.read_bytes() == before
    aside.replace(path)
    with Store.open(path) as store:
        assert keys(store) == ["k"]


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can make another user's file"
)
def test_what_root_makes_belongs_to_the_owner_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(path).close()
    (tmp_path / "runs.db.gate").unlink()
    os.chown(path, 1234, 5678)
    with Store.open(path) as store:
        put(store, "k")
        for file in store.files:
            status = file.stat()
            assert (file.name, status.st_uid, status.st_gid) == (file.name, 1234, 5678)


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can make another user's file"
)
def test_root_gives_away_nothing_that_was_there(tmp_path: Path) -> None:
    path, roots_own = tmp_path / "runs.db", tmp_path / "shadow"
    Store.open(path).close()
    roots_own.touch(mode=0o600)
    (tmp_path / "runs.db.gate").unlink()
    os.link(roots_own, tmp_path / "runs.db.gate")
    os.chown(path, 1234, 5678)
    with Store.open(path) as store:
        put(store, "k")
    assert (roots_own.stat().st_uid, roots_own.read_bytes()) == (0, b"")


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_a_disk_without_hard_links_takes_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def no_link(made: Path, path: Path) -> None:
        raise OSError(number, os.strerror(number), str(made), None, str(path))

    monkeypatch.setattr(os, "link", no_link)
    with Store.open(tmp_path / "runs.db") as store:
        put(store, "k")
        store.backup(tmp_path / "copy.db")
        with pytest.raises(ConfigError, match="never replaces"):
            store.backup(tmp_path / "copy.db")
    with Store.open(tmp_path / "copy.db") as copy:
        assert keys(copy) == ["k"]
    assert not list(tmp_path.glob("*.part"))


def test_a_place_for_no_backup_is_told_as_what_it_is(tmp_path: Path) -> None:
    with Store.memory() as store:
        for place in (tmp_path, ""):
            with pytest.raises(ConfigError, match="is a directory: name a file"):
                store.backup(place)
        with pytest.raises(ConfigError, match="No such file or directory"):
            store.backup(tmp_path / "no" / "copy.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("timeout", [None, -1, float("nan"), float("inf"), 10**400, "5", True])
def test_a_timeout_that_is_no_number_of_seconds_is_refused(tmp_path: Path, timeout: float) -> None:
    with pytest.raises(ConfigError, match="timeout must be a number of seconds"):
        Store.open(tmp_path / "runs.db", timeout=timeout)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_two_names_is_not_opened(tmp_path: Path) -> None:
    path, other = tmp_path / "runs.db", tmp_path / "other.db"
    with Store.open(path) as store:
        put(store, "k")
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(ConfigError, match="2 names"):
            Store.open(name)
        with pytest.raises(ConfigError, match="2 names"):
            Store.open(name, read_only=True)
    other.unlink()
    with Store.open(path) as store:
        put(store, "k2")


MOUNT = """
set -e
touch "$2/runs.db"
mount --bind "$1/runs.db" "$2/runs.db"
"$3" -c "$4" "$2/runs.db"
"""
OPEN = """
import sys
from io_harness.errors import ConfigError
from io_harness.store import Store
for read_only in (False, True):
    try:
        Store.open(sys.argv[1], read_only=read_only)
    except ConfigError as error:
        print(error)
"""


@pytest.mark.skipif(not can_mount(), reason="nothing can be mounted here")
def test_a_file_that_is_mounted_without_its_log_is_not_opened(tmp_path: Path) -> None:
    for place in ("outside", "inside"):
        (tmp_path / place).mkdir()
    with Store.open(tmp_path / "outside" / "runs.db") as store:
        put(store, "k")
        done = subprocess.run(
            [
                "unshare",
                "-m",
                "sh",
                "-c",
                MOUNT,
                "sh",
                *("outside", "inside"),
                sys.executable,
                OPEN,
            ],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
    assert done.stdout.count("mounted here without its directory") == 2
    assert [file.name for file in (tmp_path / "inside").iterdir()] == ["runs.db"]


def test_a_later_version_that_takes_an_open_store_over_is_left_alone(tmp_path: Path) -> None:
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version=99')"
    with Store.open(tmp_path / "runs.db") as store:
        put(store, "before")
        python(script, tmp_path / "runs.db")
        with pytest.raises(SchemaNewer, match=r"schema 99 .* upgrade"):
            put(store, "after")
        assert keys(store) == ["before"]


def test_a_path_that_only_a_shell_expands_makes_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for read_only in (False, True):
        with pytest.raises(ConfigError, match="expanduser"):
            Store.open("~/runs.db", read_only=read_only)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "~").mkdir()
    Store.open("~/runs.db").close()
    with Store.memory() as store:
        for workspace in ("~", "~/project"):
            with pytest.raises(ConfigError, match="expanduser"):
                store.memory_list(workspace)
            assert store.memory_list(f"id:{workspace}") == ()
        assert store.memory_list("~project") == ()
