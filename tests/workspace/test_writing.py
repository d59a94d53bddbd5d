"""Writes: whole or not at all, and nothing lost of what a file is besides its bytes."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import pytest

from io_harness.workspace.reading import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from io_harness.workspace import Workspace


def test_created_changed_unchanged(workspace: Workspace, root: Path) -> None:
    created = workspace.write("a/b/f", "one")
    assert (created.status, created.path, created.digest) == ("created", "a/b/f", digest_of(b"one"))
    assert (created.created, created.changed, created.unchanged) == (True, False, False)
    before = (root / "a/b/f").stat().st_ctime_ns
    unchanged = workspace.write("./a//b/f", "one")
    assert (unchanged.created, unchanged.changed, unchanged.unchanged) == (False, False, True)
    assert (root / "a/b/f").stat().st_ctime_ns == before
    changed = workspace.write("a/b/f", "two")
    assert (changed.created, changed.changed, changed.unchanged) == (False, True, False)
    assert (root / "a/b/f").read_text() == "two"
    assert sorted(os.listdir(root / "a/b")) == ["f"]


def test_mode_and_attributes_stay_and_hard_links_break(workspace: Workspace, root: Path) -> None:
    file = root / "f"
    file.write_text("old")
    file.chmod(0o751)
    os.setxattr(file, "user.kept", b"value")
    os.link(file, root / "other")
    assert workspace.write("f", "new").changed
    assert file.stat().st_mode & 0o7777 == 0o751
    assert os.getxattr(file, "user.kept") == b"value"
    assert (root / "other").read_text() == "old"
    file.chmod(0o4755)
    workspace.write("f", "newer")
    assert file.stat().st_mode & 0o7777 == 0o755


def test_a_new_file_has_the_users_own_mode(workspace: Workspace, root: Path) -> None:
    old = os.umask(0o027)
    try:
        workspace.write("f", "x")
    finally:
        os.umask(old)
    assert (root / "f").stat().st_mode & 0o777 == 0o640


def test_a_write_through_a_link_replaces_its_target(workspace: Workspace, root: Path) -> None:
    (root / "d").mkdir()
    (root / "d" / "f").write_text("old")
    (root / "l").symlink_to("d/f")
    (root / "new").symlink_to("d/made")
    assert workspace.write("l", "new").path == "d/f"
    assert workspace.write("new", "made").created
    assert (root / "l").is_symlink()
    assert ((root / "d/f").read_text(), (root / "d/made").read_text()) == ("new", "made")


def test_the_base_must_still_be_there(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("one")
    assert workspace.write("f", "two", base=digest_of(b"one")).changed
    for path, base in (("f", digest_of(b"one")), ("f", ""), ("none", digest_of(b"x"))):
        with pytest.raises(OSError, match="changed meanwhile") as caught:
            workspace.write(path, "three", base=base)
        assert caught.value.errno == errno.ESTALE
    assert (root / "f").read_text() == "two"
    assert workspace.write("none", "made", base="").created


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod"])
def test_whatever_fails_leaves_the_old_file_and_nothing_else(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (root / "f").write_text("old")

    def full(*_args: object, **_options: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(OSError, match="No space") as caught:
            workspace.write("f", "new")
    assert caught.value.filename == "f"
    assert (root / "f").read_text() == "old"
    assert os.listdir(root) == ["f"]
    assert workspace.write("f", "new").changed


def test_a_half_written_file_is_hidden_and_in_time_removed(
    workspace: Workspace, root: Path
) -> None:
    stale, fresh = (f".io-harness-{digit * 16}.tmp" for digit in "ab")
    (root / stale).write_text("left")
    (root / fresh).write_text("in work")
    (root / ".io-harness-mine.tmp").write_text("somebody's own")
    hours_ago = time.time() - 2 * 3_600
    os.utime(root / stale, (hours_ago, hours_ago))
    for name in (stale, fresh):
        with pytest.raises(FileNotFoundError):
            workspace.read(name)
        with pytest.raises(FileNotFoundError):
            workspace.write(name, "x")
    with pytest.raises(FileNotFoundError):
        workspace.write(f".io-harness-{'c' * 16}.tmp", "x")
    workspace.write("f", "x")
    assert sorted(os.listdir(root)) == [fresh, ".io-harness-mine.tmp", "f"]


def test_text_that_utf_8_cannot_hold_is_an_error(workspace: Workspace, root: Path) -> None:
    with pytest.raises(ValueError, match="lone surrogate at character 2"):
        workspace.write("f", "ab\ud83e")
    assert os.listdir(root) == []


def test_line_ends_are_content(workspace: Workspace, root: Path) -> None:
    workspace.write("f", "a\r\nb\nc\r")
    assert (root / "f").read_bytes() == b"a\r\nb\nc\r"


def test_a_directory_is_no_file_to_write(workspace: Workspace, root: Path) -> None:
    (root / "d").mkdir()
    for path in ("d", ".", "d/..", ""):
        with pytest.raises(OSError, match="not a regular file"):
            workspace.write(path, "x")
