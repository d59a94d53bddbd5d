"""A workspace made to hurt: every act answers within its bound and says what it left out."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

import pytest

from io_harness.workspace import Workspace
from io_harness.workspace.listing import LIST_MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Literal

ENTRIES = 100_000
LEVELS = 500
DEEPER = 1_100


@pytest.fixture(scope="module")
def hostile(memory: Path) -> Iterator[Path]:
    root = memory / "hostile"
    root.mkdir()
    os.mkfifo(root / "fifo")
    here = os.getcwd()
    os.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    os.chdir(here)
    with (root / "sparse").open("wb") as file:
        file.truncate(2**40)
    (root / os.fsdecode(b"not-utf8-\xff\xfe")).write_text("needle\n")
    (root / "new\nline: 1 matching line").write_text("needle\n")
    (root / "loop").symlink_to(".")
    deep(root, LEVELS)
    (root / "crowd").mkdir()
    crowd = os.open(root / "crowd", os.O_RDONLY)
    for number in range(ENTRIES):
        os.close(os.open(f"f{number:06}", os.O_CREAT | os.O_WRONLY, dir_fd=crowd))
    os.close(crowd)
    yield root
    shallow(root)


def deep(root: Path, levels: int) -> None:
    """Directories in directories, each called d; a file at the bottom."""
    place = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.write(bottom := os.open("needle", os.O_CREAT | os.O_WRONLY, dir_fd=place), b"needle\n")
    os.close(bottom)
    os.close(place)


def shallow(root: Path) -> None:
    """Move what is deep up, level by level: rmtree would recurse."""
    while (root / "d").is_dir():
        for name in ("bottom", "needle"):
            (root / "d" / name).unlink(missing_ok=True)
        if (root / "d" / "d").is_dir():
            (root / "d" / "d").rename(root / "e")
        (root / "d").rmdir()
        if (root / "e").is_dir():
            (root / "e").rename(root / "d")


@pytest.fixture
def workspace(hostile: Path, containment: Literal["kernel", "walk"]) -> Iterator[Workspace]:
    with Workspace(hostile, containment=containment) as opened:
        yield opened


def test_grep_answers_and_finds_what_can_be_found(workspace: Workspace) -> None:
    began = time.perf_counter()
    result = workspace.grep("needle", glob="*[!0-9]*")
    elapsed = time.perf_counter() - began
    assert result.paths == (
        "new\nline: 1 matching line",
        "not-utf8-\udcff\udcfe",
        "/".join(["d"] * LEVELS) + "/needle",
    )
    assert "1 over 64 MiB" in result.left_out
    assert elapsed < 30


def test_find_answers_and_counts_what_it_leaves_out(workspace: Workspace) -> None:
    began = time.perf_counter()
    result = workspace.find("f*")
    assert len(result.paths) == 5_000
    assert result.left_out == f"{ENTRIES - 5_000:,} more paths; narrow the pattern or the path"
    assert workspace.find("bottom").paths == ("/".join(["d"] * LEVELS) + "/bottom",)
    assert time.perf_counter() - began < 30


def test_list_answers(workspace: Workspace) -> None:
    began = time.perf_counter()
    listing = workspace.list("crowd")
    assert [entry.name for entry in listing.entries[:2]] == ["f000000", "f000001"]
    assert len(listing.entries) == LIST_MAX_ENTRIES
    assert listing.left_out.startswith(f"{ENTRIES - LIST_MAX_ENTRIES:,} more entries")
    kinds = {entry.name: (entry.kind, entry.size) for entry in workspace.list().entries}
    assert kinds["fifo"] == kinds["socket"] == ("other", None)
    assert kinds["sparse"] == ("file", 2**40)
    assert kinds["loop"] == ("link", None)
    assert time.perf_counter() - began < 10


def test_reads_and_writes_deep_down(workspace: Workspace) -> None:
    path = "/".join(["d"] * LEVELS)
    assert workspace.read(f"{path}/needle").text == "needle\n"
    assert workspace.canonical(f"{'loop/' * 20}d/../{path}") == path
    assert workspace.write(f"{path}/made", "x").created
    (workspace.root / path / "made").unlink()


def test_levels_without_end_are_left_out(
    memory: Path, containment: Literal["kernel", "walk"]
) -> None:
    root = memory / "deeper"
    root.mkdir()
    deep(root, DEEPER)
    try:
        with Workspace(root, containment=containment) as workspace:
            result = workspace.grep("needle")
            assert result.matches == 0
            assert result.left_out == "left out: 1 too deep to enter"
    finally:
        shallow(root)
        root.rmdir()
