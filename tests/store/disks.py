"""Disks that fail or forget, as SQLite sees them."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import apsw

from io_harness.store import Store
from io_harness.store.sqlite.backend import FileBackend

Name: TypeAlias = "str | apsw.URIFilename | None"
_numbers = itertools.count()


def path_of(name: Name) -> str:
    return name.filename() if isinstance(name, apsw.URIFilename) else str(name)


def memory_directory() -> Path | None:
    """Where files are in memory, for tests that bring their own disk or need no sync."""
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else None


class Disk(apsw.VFS):
    """The real disk, with somebody watching what is written, synced, truncated and deleted."""

    def __init__(self) -> None:
        self.name = f"disk-{next(_numbers)}"
        super().__init__(self.name, base="")

    def xOpen(self, name: Name, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.before("delete", filename)
        super().xDelete(filename, syncdir)

    def before(self, act: str, path: str, at: int = 0, data: bytes = b"") -> None:
        """Called before each act; what it raises is what SQLite gets."""

    def open(self, path: Path) -> Store:
        return Store(FileBackend(path, timeout=10.0, vfs=self.name))


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Name, flags: list[int]) -> None:
        self.disk, self.path = disk, path_of(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.disk.before("write", self.path, offset, bytes(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.disk.before("sync", self.path)
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self.disk.before("truncate", self.path, newsize)
        super().xTruncate(newsize)


class FailingDisk(Disk):
    """Fails the `fail_at`-th act, or all from there on; counts them."""

    def __init__(self, code: int = apsw.SQLITE_IOERR) -> None:
        super().__init__()
        self.code = code
        self.fail_at = 0
        self.for_good = False
        self.acts = 0
        self.failed = ""

    def before(self, act: str, path: str, at: int = 0, data: bytes = b"") -> None:
        self.acts += 1
        due = self.acts >= self.fail_at if self.for_good else self.acts == self.fail_at
        if self.fail_at and due:
            self.failed = f"{act} of {Path(path).suffix} at {at}"
            raise apsw.exception_for(self.code)


class CountingDisk(Disk):
    """Counts syncs."""

    def __init__(self) -> None:
        super().__init__()
        self.syncs = 0

    def before(self, act: str, path: str, at: int = 0, data: bytes = b"") -> None:
        self.syncs += act == "sync"


@dataclass(slots=True)
class Contents:
    """A file's bytes: what a sync has made sure of, and what was written since."""

    synced: bytearray = field(default_factory=bytearray)
    since: list[Callable[[bytearray], None]] = field(default_factory=list)

    def after_power_loss(self, rng: random.Random | None) -> bytes:
        """What is found again: nothing since the sync, or whatever part the disk got to."""
        image = bytearray(self.synced)
        for change in self.since:
            if rng is not None and rng.random() < 0.5:
                change(image)
        return bytes(image)

    def sync(self) -> None:
        for change in self.since:
            change(self.synced)
        self.since.clear()


class ForgettingDisk(Disk):
    """Keeps a log of all acts, from which the disk after a power loss at any point is made."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, str, int, bytes]] = []

    def before(self, act: str, path: str, at: int = 0, data: bytes = b"") -> None:
        self.log.append((act, path, at, data))

    def acknowledged(self, what: str) -> None:
        """Note that a caller was told so here."""
        self.log.append(("acknowledged", what, 0, b""))

    def losses(self) -> Iterator[tuple[list[str], dict[str, Contents]]]:
        """For each point of the log: what had been acknowledged, and the files."""
        told: list[str] = []
        files: dict[str, Contents] = {}
        for act, path, at, data in self.log:
            if act == "acknowledged":
                told.append(path)
                continue
            yield told, files
            if act == "delete":
                files.pop(path, None)
                continue
            contents = files.setdefault(path, Contents())
            if act == "sync":
                contents.sync()
            elif act == "write":
                contents.since.append(partial(_overwrite, at=at, data=data))
            else:
                contents.since.append(partial(_resize, size=at))
        yield told, files


def _overwrite(image: bytearray, at: int, data: bytes) -> None:
    if len(image) < at:
        image.extend(bytes(at - len(image)))
    image[at : at + len(data)] = data


def _resize(image: bytearray, size: int) -> None:
    del image[size:]
    image.extend(bytes(size - len(image)))
