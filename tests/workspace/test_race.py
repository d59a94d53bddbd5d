"""Races: names are swapped for links as fast as another process can, and nothing gets out.

The numbers are small enough for every run of the tests. The full ones, minutes long:
IO_HARNESS_RACE_READS=100000 IO_HARNESS_RACE_WRITES=20000 pytest tests/workspace/test_race.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Literal

import pytest

from io_harness.types import Effect
from io_harness.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

READS = int(os.environ.get("IO_HARNESS_RACE_READS", "3000"))
WRITES = int(os.environ.get("IO_HARNESS_RACE_WRITES", "600"))

# Renames are atomic: the name is always either the real thing or a link to the secret.
SWAPPER = """
import os, sys
name, real, link = sys.argv[1:]
parent = os.getppid()
print("ready", flush=True)
while os.getppid() == parent:
    os.rename(name, real); os.rename(link, name)
    os.rename(name, link); os.rename(real, name)
"""


class Arena:
    """A root, what lies outside it, and a process that swaps one name in the root."""

    def __init__(self, base: Path) -> None:
        self.root, self.outside = base / "root", base / "outside"
        (self.root / "dir").mkdir(parents=True)
        (self.outside / "dir").mkdir(parents=True)
        (self.outside / "secret").write_text("SECRET")
        (self.outside / "dir" / "file").write_text("SECRET")
        (self.root / "dir" / "file").write_text("inside")
        (self.root / "denied").write_text("SECRET")

    def swapping(self, name: str, target: str) -> subprocess.Popen[bytes]:
        (self.root / "link").symlink_to(target)
        paths = (str(self.root / part) for part in (name, "real", "link"))
        process = subprocess.Popen([sys.executable, "-c", SWAPPER, *paths], stdout=-1)
        assert process.stdout
        process.stdout.readline()
        return process


def tries(count: int, raced: Callable[[], bool]) -> Iterator[None]:
    """So many, and more for a minute at most, until a busy machine has let the two race."""
    end = time.monotonic() + 60
    done = 0
    while done < count or (not raced() and time.monotonic() < end):
        yield
        done += 1


@pytest.fixture
def arena(memory: Path) -> Iterator[Arena]:
    base = memory / "arena"
    yield Arena(base)
    shutil.rmtree(base)


@pytest.mark.parametrize(
    ("name", "target"),
    [("dir/file", "../../outside/secret"), ("dir", "../outside/dir"), ("dir/file", "/etc/passwd")],
)
def test_no_read_leaks(
    arena: Arena, containment: Literal["kernel", "walk"], name: str, target: str
) -> None:
    process = arena.swapping(name, target)
    try:
        with Workspace(arena.root, containment=containment) as workspace:
            seen = {"inside": 0, "refused": 0}
            for _ in tries(READS, lambda: min(seen.values()) > READS // 1_000):
                try:
                    text = workspace.read("dir/file").text
                except OSError:
                    seen["refused"] += 1
                else:
                    assert text == "inside"
                    seen["inside"] += 1
    finally:
        process.kill()
        process.communicate()
    assert min(seen.values()) > READS // 1_000, f"the race was not one: {seen}"


@pytest.mark.parametrize(
    ("name", "target"), [("dir/file", "../../outside/secret"), ("dir", "../outside/dir")]
)
def test_no_write_gets_out(
    arena: Arena, containment: Literal["kernel", "walk"], name: str, target: str
) -> None:
    process = arena.swapping(name, target)
    try:
        with Workspace(arena.root, containment=containment) as workspace:
            for number in range(WRITES):
                try:
                    workspace.write("dir/file", f"written {number}")
                    workspace.write("dir/made", f"written {number}")
                except OSError:
                    continue
    finally:
        process.kill()
        process.communicate()
    outside = sorted(path.relative_to(arena.outside) for path in arena.outside.rglob("*"))
    assert [str(path) for path in outside] == ["dir", "dir/file", "secret"]
    assert (arena.outside / "secret").read_text() == "SECRET"
    assert (arena.outside / "dir" / "file").read_text() == "SECRET"
    assert not [p for p in arena.root.rglob("*.tmp") if p.name.startswith(".io-harness")]


def test_no_search_leaks(arena: Arena, containment: Literal["kernel", "walk"]) -> None:
    process = arena.swapping("dir", "../outside/dir")
    try:
        with Workspace(arena.root, containment=containment) as workspace:
            for _ in range(READS // 10):
                result = workspace.grep(
                    "SECRET", gate=lambda path: Effect("deny" if "denied" in path else "allow")
                )
                assert result.hits == ()
    finally:
        process.kill()
        process.communicate()


def test_what_the_policy_was_asked_about_is_what_is_read(
    arena: Arena, containment: Literal["kernel", "walk"]
) -> None:
    """A link inside to a denied file, swapped in after the check: `exact` refuses it."""
    process = arena.swapping("dir/file", "../denied")
    try:
        with Workspace(arena.root, containment=containment) as workspace:
            read: list[str] = []
            for _ in tries(READS, lambda: bool(read)):
                try:
                    canonical = workspace.canonical("dir/file")
                    if canonical != "denied":
                        assert workspace.read(canonical, exact=True).text == "inside"
                        read.append(canonical)
                except OSError:
                    continue
            assert read
    finally:
        process.kill()
        process.communicate()
