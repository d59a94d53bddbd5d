"""A thousand files that are read and then written: every second observation makes a read stale."""

from __future__ import annotations

from io_harness.types import Observation, ObsKind, ReadResult, Signature

from .shapes import LAST_STEP, LINE

FILES = 1_000
LAG = 10


class Files:
    """A workspace in memory whose files have as many versions as writes were told to it."""

    def __init__(self) -> None:
        self.version = [0] * FILES

    def canonical(self, path: str) -> str:
        """Paths here have one spelling."""
        return path

    def read(self, path: str, *, offset: int = 1, limit: int | None = None) -> ReadResult:
        """The whole file: nothing here reads parts."""
        del offset, limit
        text = self.text(int(path[3:]))
        total = text.count("\n")
        return ReadResult(text, (1, total), total, len(text), None, self.signature(path))

    def signature(self, path: str) -> Signature:
        """A file's version as its time."""
        version = self.version[int(path[3:])]
        return Signature(1, 1, 1, version, version, settled=True)

    def text(self, file: int) -> str:
        """What a file holds now."""
        return f"version {self.version[file]}\n" + LINE * 8

    def observation(self, offset: int) -> Observation:
        """A read, or a write of the file that was read a few turns before; then it changes."""
        step = LAST_STEP + offset
        turn, wrote = divmod(offset, 2)
        file = (turn - LAG * wrote) % FILES
        if wrote:
            self.version[file] += 1
            return Observation(step, ObsKind.WRITE, f"src{file}", "changed")
        text = self.text(file)
        return Observation(step, ObsKind.READ, f"src{file}", text, total_lines=text.count("\n"))
