"""The world of a story on a disk: real files, links and stats, through the real workspace."""

from __future__ import annotations

import re
from pathlib import Path

from io_harness import Workspace
from io_harness.types import ReadResult, Signature

from .strategies import LINKS
from .world import MemoryWorkspace

# What no text file has: a workspace answers such a file with a placeholder.
NO_TEXT = re.compile("[\0\ud800-\udfff]")


class DiskWorld(MemoryWorkspace):
    """Files are kept in memory to judge by, and written to a directory to be read from."""

    __slots__ = ("real", "root")

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        (root / "dir").mkdir()
        for name, target in LINKS.items():
            (root / name).symlink_to(target)
        self.real = Workspace(root)

    def put(self, path: str, text: str | None) -> None:
        """A new version; who may read everything gets none that nobody can read."""
        clean = NO_TEXT.sub("?", text or "")
        super().put(path, clean)
        place = self.root / path
        if place.is_dir():
            place.rmdir()
        place.write_bytes(clean.encode())

    def touch(self, path: str) -> None:
        """New times, the same bytes."""
        super().touch(path)
        if (self.root / path).is_file():
            (self.root / path).touch()

    def remove(self, path: str, *, folder: bool = False) -> None:
        """Unlink it; a directory may take its name."""
        super().remove(path, folder=folder)
        place = self.root / path
        if place.is_file():
            place.unlink()
        if folder and not place.exists():
            place.mkdir()

    def canonical(self, path: str) -> str:
        """As the kernel of the operating system resolves it."""
        return self.real.canonical(path)

    def signature(self, path: str) -> Signature:
        """A stat of the file."""
        self.looks.append(("stat", self.canonical(path)))
        return self.real.signature(path)

    def read(self, path: str, *, offset: int = 1, limit: int | None = None) -> ReadResult:
        """Lines of the file."""
        self.looks.append(("open", self.canonical(path)))
        return self.real.read(path, offset=offset, limit=limit)
