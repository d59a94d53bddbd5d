"""What containment costs: a small file read with it, without it, and by the way that leaks.

python -m benchmarks.workspace.reads [rounds]
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from io_harness.workspace import Workspace

PATH = "src/package/module.py"
SIZE = 2_000
CALLS = 2_000


@contextmanager
def place() -> Iterator[Path]:
    """A root with one small file three levels down, on a memory file system where there is one."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    root = Path(tempfile.mkdtemp(dir=memory))
    (root / PATH).parent.mkdir(parents=True)
    (root / PATH).write_text("x" * SIZE)
    (root / "alias").symlink_to("src")
    yield root
    shutil.rmtree(root)


def finish(descriptor: int) -> bytes:
    """The calls that every way has in common after the open and the status."""
    data = os.read(descriptor, SIZE + 1)
    os.close(descriptor)
    return data


def plain(root: Path) -> Callable[[], bytes]:
    """Open, fstat, read, close: nothing checked."""
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)

    def read() -> bytes:
        descriptor = os.open(PATH, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
        os.fstat(descriptor)
        return finish(descriptor)

    return read


def contained(workspace: Workspace, path: str = PATH) -> Callable[[], bytes]:
    """The same with the spelling checked, the open contained, the file's kind verified.

    The canonical path comes with it.
    """
    root = workspace._root

    def read() -> bytes:
        return finish(root.open_file(path)[0])

    return read


def whole_call(workspace: Workspace) -> Callable[[], bytes]:
    """`Workspace.read`: decoded, counted and named by its digest besides."""

    def read() -> bytes:
        return workspace.read(PATH).text.encode()

    return read


def realpath_then_open(root: Path) -> Callable[[], bytes]:
    """The usual way, which a swap between its two halves defeats."""
    top = os.path.realpath(root)

    def read() -> bytes:
        real = os.path.realpath(os.path.join(top, PATH))
        if os.path.commonpath([top, real]) != top:
            raise PermissionError(PATH)
        descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC)
        os.fstat(descriptor)
        return finish(descriptor)

    return read


def seconds(ways: dict[str, Callable[[], bytes]], rounds: int) -> dict[str, float]:
    """CPU seconds a call of each way, the ways taking turns: the median over the rounds.

    CPU time, user and system: others on the machine move it less than they move the clock.
    """
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, read in ways.items():
            began = time.process_time()
            for _ in range(CALLS):
                read()
            taken[name].append((time.process_time() - began) / CALLS)
    return {name: statistics.median(times) for name, times in taken.items()}


def measure(rounds: int = 15) -> dict[str, float]:
    """Microseconds of a plain read, and of the others as multiples of it."""
    with (
        place() as root,
        Workspace(root, containment="kernel") as kernel,
        Workspace(root, containment="walk") as walk,
    ):
        taken = seconds(
            {
                "plain": plain(root),
                "contained": contained(kernel),
                "contained_through_link": contained(kernel, f"alias/{PATH[4:]}"),
                "fallback": contained(walk),
                "realpath_then_open": realpath_then_open(root),
                "read_call": whole_call(kernel),
            },
            rounds,
        )
    us = taken.pop("plain")
    return {"plain_us": us * 1e6} | {name: value / us for name, value in taken.items()}


if __name__ == "__main__":
    for name, value in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 15).items():
        print(f"{name:24} {value:6.2f}")
