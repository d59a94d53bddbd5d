"""Nothing leaves the root: spellings, links, special files, on both ways of containment."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from io_harness.errors import ConfigError, NotRegularFile, PathOutside
from io_harness.workspace import Workspace
from tests.workspace.privilege import as_nobody

if TYPE_CHECKING:
    from collections.abc import Callable

OUTSIDE = [
    *("../../etc/passwd", "../secret", "../nothing-there", "..", "a/../../x", "a/../.."),
    *("/etc/passwd", "//etc/passwd", "/", "~/x", "~", "~root/x", "file:///etc/passwd"),
    *("https://example.org/x", "ok\0/../../x", "a\0", "../root-evil/x", "../root/inside"),
    *("C:x", "C:\\x", "\\\\?\\C:\\x", "\\\\server\\share\\x", "NUL", "nul", "a/CON", "COM1"),
    *("a:stream", "dir/a:stream:$DATA", "trailing.", "trailing ", "dir./x", "PROGRA~1"),
    *("LONGNA~1.TXT", "...", "a\\..\\..\\x", "\ud83e"),
]


def acts(workspace: Workspace) -> list[Callable[[str], object]]:
    return [
        workspace.read,
        workspace.canonical,
        workspace.signature,
        lambda path: workspace.write(path, "x"),
    ]


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_leave_are_refused_by_every_act(workspace: Workspace, path: str) -> None:
    for act in acts(workspace):
        with pytest.raises(PathOutside) as caught:
            act(path)
        assert isinstance(caught.value, PermissionError)


def test_the_refusal_is_the_same_whether_or_not_anything_is_there(
    workspace: Workspace, root: Path, outer: Path
) -> None:
    (root / "there").symlink_to("../secret")
    (root / "gone1").symlink_to("../no-such-file")
    for act in acts(workspace):
        told = []
        for path in ("../secret", "../absent", "there", "gone1"):
            with pytest.raises(PathOutside) as caught:
                act(path)
            told.append(str(caught.value).replace(path, "PATH"))
            assert str(outer) not in str(caught.value)
        assert len(set(told)) == 1


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        *(("a/./b//c", "a/b/c"), ("a/../ok", "ok"), ("./a", "a"), ("a/", "a"), (".", ".")),
        *(("missing/../ok", "ok"), ("a/b/../../ok", "ok"), ("new/deep/er", "new/deep/er")),
        *(("link", "a"), ("link/b/c", "a/b/c"), ("up/ok", "ok"), ("dangling", "a/new")),
        *(
            ("chain", "a"),
            ("..a", "..a"),
            ("a b", "a b"),
            ("it's~", "it's~"),
            ("new\nline", "new\nline"),
        ),
    ],
)
def test_one_spelling_for_every_alias(
    workspace: Workspace, root: Path, path: str, canonical: str
) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c").write_text("c")
    (root / "ok").write_text("ok")
    for name, target in {"link": "a", "up": "a/..", "dangling": "a/new", "chain": "link"}.items():
        (root / name).symlink_to(target)
    assert workspace.canonical(path) == canonical
    assert workspace.canonical(canonical) == canonical


def test_aliases_read_the_same_file(workspace: Workspace, root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "f").write_text("text\n")
    (root / "d").symlink_to("a")
    (root / "l").symlink_to("d/../a/f")
    assert {workspace.read(path).text for path in ("a/f", "d/f", "l", "./a//f")} == {"text\n"}


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "../root/inside", "../.."])
@pytest.mark.parametrize("path", ["link", "dir/link", "via/link", "link/x"])
def test_links_that_leave_are_refused(
    workspace: Workspace, root: Path, path: str, target: str
) -> None:
    (root / "inside").write_text("x")
    (root / "dir").mkdir()
    (root / "via").symlink_to("dir")
    (root / "link").symlink_to(target)
    (root / "dir" / "link").symlink_to(target if target.startswith("/") else f"../{target}")
    for act in acts(workspace):
        with pytest.raises(PathOutside):
            act(path)


def test_an_absolute_link_is_refused_even_where_it_points_inside(
    workspace: Workspace, root: Path
) -> None:
    (root / "f").write_text("x")
    (root / "link").symlink_to(root / "f")
    for act in acts(workspace):
        with pytest.raises(PathOutside):
            act("link")


def test_chains_and_loops_end_as_typed_refusals(workspace: Workspace, root: Path) -> None:
    (root / "file").write_text("end")
    (root / "l0").symlink_to("file")
    for number in range(1, 42):
        (root / f"l{number}").symlink_to(f"l{number - 1}")
    (root / "loop").symlink_to("loop")
    (root / "ping").symlink_to("pong")
    (root / "pong").symlink_to("ping")
    assert workspace.read("l39").text == "end"
    for path in ("l40", "l41", "loop", "ping", "loop/x"):
        for act in acts(workspace):
            with pytest.raises(PathOutside) as caught:
                act(path)
            assert caught.value.errno == errno.ELOOP
            assert "\n" not in str(caught.value)


def test_a_write_through_a_dangling_link_creates_nothing_outside(
    workspace: Workspace, root: Path, outer: Path
) -> None:
    (root / "out").symlink_to("../new-file")
    (root / "outdir").symlink_to("../new-dir")
    (root / "far").symlink_to("..")
    before = sorted(outer.rglob("*"))
    for path in ("out", "outdir/x", "far/x", "far/deep/er/x"):
        with pytest.raises(PathOutside):
            workspace.write(path, "x")
    assert sorted(outer.rglob("*")) == before


def test_with_exact_a_link_anywhere_is_refused(workspace: Workspace, root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "f").write_text("x")
    (root / "d").symlink_to("a")
    (root / "l").symlink_to("a/f")
    assert workspace.read("a/f", exact=True).text == "x"
    for path in ("d/f", "l", "a/../a/f"):
        with pytest.raises(PathOutside):
            workspace.read(path, exact=True)
        with pytest.raises(PathOutside):
            workspace.signature(path, exact=True)
    for path in ("d/f", "l", "d/new"):
        with pytest.raises(PathOutside):
            workspace.write(path, "y", exact=True)
    assert (root / "a" / "f").read_text() == "x"


def test_special_files_are_refused_at_once(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "dir").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(root)  # the path of a socket is short
        listener.bind("socket")
        os.chdir(here)
        began = time.perf_counter()
        for path in ("fifo", "socket", "dir", "."):
            for act in (workspace.read, workspace.signature, lambda p: workspace.write(p, "x")):
                with pytest.raises(NotRegularFile, match="not a regular file"):
                    act(path)
        assert time.perf_counter() - began < 30, "a FIFO would be waited for without end"


@pytest.mark.skipif(os.geteuid() != 0, reason="making a device needs root")
@pytest.mark.parametrize(("major", "minor"), [(1, 5), (1, 3), (1, 8)])
def test_devices_are_refused_at_once(
    workspace: Workspace, root: Path, major: int, minor: int
) -> None:
    try:
        os.mknod(root / "device", 0o600 | 0o020000, os.makedev(major, minor))
    except PermissionError:
        pytest.skip("no devices can be made here")
    began = time.perf_counter()
    with pytest.raises(NotRegularFile):
        workspace.read("device")
    with pytest.raises(NotRegularFile):
        workspace.write("device", "x")
    assert time.perf_counter() - began < 30, "/dev/zero has no end"


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="there is no /proc here")
@pytest.mark.parametrize("path", ["environ", "root/etc/passwd", "cwd/x", "exe", "fd/0", "maps"])
def test_proc_is_no_way_out(containment: Literal["kernel", "walk"], path: str) -> None:
    for root, prefix in (("/proc/self", ""), ("/proc", f"{os.getpid()}/"), ("/", "proc/self/")):
        refusals = (PathOutside, FileNotFoundError, NotRegularFile)
        with Workspace(root, containment=containment) as workspace, pytest.raises(refusals):
            workspace.read(prefix + path)


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="there is no /proc here")
def test_proc_is_not_searched_or_listed_either(containment: Literal["kernel", "walk"]) -> None:
    place = f"proc/{os.getpid()}"
    with Workspace("/", containment=containment) as workspace:
        assert workspace.grep("PATH", place).hits == ()
        assert workspace.find("environ", place).paths == ()
        with pytest.raises(PathOutside):
            workspace.list(place)


def test_what_is_mounted_beneath_can_be_refused(
    memory: Path, containment: Literal["kernel", "walk"]
) -> None:
    if memory.stat().st_dev == os.stat("/").st_dev:
        pytest.skip("there is no second file system to reach from the root")
    (memory / "f").write_text("elsewhere")
    path = f"{memory}/f"[1:]
    with Workspace("/", containment=containment) as workspace:
        assert workspace.read(path).text == "elsewhere"
    with Workspace("/", containment=containment, one_device=True) as workspace:
        for act in (workspace.read, workspace.signature, lambda p: workspace.write(p, "x")):
            with pytest.raises(PathOutside):
                act(path)
    assert (memory / "f").read_text() == "elsewhere"


def test_a_hidden_file_is_not_there_under_any_name(workspace: Workspace, root: Path) -> None:
    (root / "runs.db").write_text("store")
    os.link(root / "runs.db", root / "alias")
    (root / "soft").symlink_to("runs.db")
    status = (root / "runs.db").stat()
    workspace.hide(status.st_dev, status.st_ino)
    for path in ("runs.db", "alias", "soft", "./runs.db"):
        for act in (workspace.read, workspace.signature, lambda p: workspace.write(p, "x")):
            with pytest.raises(FileNotFoundError):
                act(path)
    assert (root / "runs.db").read_text() == "store"


def test_looking_for_a_hidden_file_keeps_its_locks(workspace: Workspace, root: Path) -> None:
    """A database's locks belong to the process and go with any descriptor it closes."""
    with (root / "runs.db").open("w+b") as store:
        store.write(b"needle")
        fcntl.lockf(store, fcntl.LOCK_EX)
        status = os.fstat(store.fileno())
        workspace.hide(status.st_dev, status.st_ino)
        for act in (workspace.read, workspace.signature, lambda p: workspace.write(p, "x")):
            with pytest.raises(FileNotFoundError):
                act("runs.db")
        assert workspace.grep("needle").hits == ()
        assert workspace.find("*").paths == ()
        assert workspace.list().entries == ()
        with pytest.raises(FileNotFoundError):
            workspace.grep("needle", "runs.db")
        code = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | 4)"
        other = subprocess.run(
            [sys.executable, "-c", code, str(root / "runs.db")], capture_output=True, check=False
        )
        assert b"BlockingIOError" in other.stderr


def test_hard_links_are_told_and_can_be_refused(
    root: Path, outer: Path, containment: Literal["kernel", "walk"]
) -> None:
    os.link(outer / "secret", root / "second-name")
    with Workspace(root, containment=containment) as workspace:
        assert workspace.read("second-name").note == "one of 2 hard links"
    strict = Workspace(root, containment=containment, hard_links="refuse")
    with strict as workspace, pytest.raises(PathOutside):
        workspace.read("second-name")


def test_permission_denied_is_a_typed_error(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("x")
    (root / "f").chmod(0)
    with as_nobody(), pytest.raises(PermissionError, match="f") as caught:
        workspace.read("f")
    assert not isinstance(caught.value, PathOutside)


def test_missing_files_are_missing_under_the_name_that_was_asked_for(
    workspace: Workspace, root: Path
) -> None:
    (root / "file").write_text("x")
    for act in (workspace.read, workspace.signature):
        with pytest.raises(FileNotFoundError) as caught:
            act("./no/such")
        assert caught.value.filename == "./no/such"
        with pytest.raises(NotADirectoryError):
            act("file/x")
    with pytest.raises(NotADirectoryError):
        workspace.write("file/x", "y")


def test_the_root_is_pinned(root: Path, containment: Literal["kernel", "walk"]) -> None:
    (root / "f").write_text("mine")
    with Workspace(root, containment=containment) as workspace:
        root.rename(root.with_name("moved"))
        root.mkdir()
        (root / "f").write_text("another's")
        assert workspace.read("f").text == "mine"


def test_closing_twice_is_closing_and_forgetting_to_is_no_leak(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    workspace = Workspace(root)
    workspace.close()
    workspace.close()
    with pytest.raises(OSError, match="the workspace is closed: open it again"):
        workspace.read("f")
    Workspace(root)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_device_that_fails_is_a_typed_error(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("x")

    def broken(_descriptor: int, _count: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "read", broken)
    with pytest.raises(OSError, match="Input/output error") as caught:
        workspace.read("f")
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, "f")


WINDOWS = """
import ctypes, os, pathlib, sys, tempfile, io_harness.errors, re2, pathspec
for name in list(vars(os)):
    if name.startswith("O_") and name[2:] not in ("RDONLY", "WRONLY", "RDWR", "CREAT", "EXCL"):
        delattr(os, name)
sys.platform = "win32"
import io_harness.workspace
try:
    io_harness.workspace.Workspace(".")
except io_harness.errors.ConfigError as error:
    print(error)
"""


def test_where_the_means_are_lacking_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (
        "a workspace needs Linux or macOS: Windows lacks the means\n",
        "",
    )


def test_a_root_that_is_no_directory_is_a_config_error(outer: Path) -> None:
    for path in (outer / "secret", outer / "nowhere"):
        with pytest.raises(ConfigError, match="cannot be opened"):
            Workspace(path)


def test_descriptors_do_not_leak(workspace: Workspace, root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "f").write_text("x")
    (root / "l").symlink_to("a/b")
    (root / "out").symlink_to("a/../../..")
    os.mkfifo(root / "fifo")

    def everything() -> None:
        for path in ("a/b/f", "l/f", "l/../b/f", "out/x", "fifo", "none", "a/b/f/x", "../x"):
            for act in (workspace.read, workspace.signature, workspace.canonical):
                try:
                    act(path)
                except OSError:
                    continue
        workspace.write("l/g", "x")

    everything()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        everything()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("path", [None, 5, b"a", ["a"], Path("a")])
def test_what_is_no_text_is_the_callers_mistake_and_says_so(
    workspace: Workspace, root: Path, path: str
) -> None:
    for act in (workspace.read, workspace.list, workspace.canonical, workspace.exists):
        with pytest.raises(ConfigError, match="a path in the workspace is text"):
            act(path)
    for search in (workspace.find, workspace.grep):
        with pytest.raises(ValueError, match="a pattern is text"):
            search(path)
    with pytest.raises(ConfigError, match="what is written is text"):
        workspace.write("a", path)


@pytest.mark.parametrize("root", [None, 5, b"/tmp", "", "a\0b", "\ud800"])
def test_what_names_no_root_is_refused(root: str) -> None:
    with pytest.raises(ConfigError, match="the workspace root is"):
        Workspace(root)


@pytest.mark.parametrize(("offset", "limit"), [(None, None), (1.5, None), ("1", None), (1, "2")])
def test_lines_are_counted_in_whole_numbers(workspace: Workspace, offset: int, limit: int) -> None:
    with pytest.raises(ValueError, match="lines count from 1"):
        workspace.read("ok", offset=offset, limit=limit)
