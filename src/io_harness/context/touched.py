"""Which files a run worked on lately, and which of their observations show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ._kernel_py import LIVE, READ, WRITE
from .view import View

READ_STEPS = 40
WRITE_STEPS = 80
READS_A_FILE = 3
# So many files are considered at most, however many one step touched.
MOST_FILES = 256


@dataclass(slots=True)
class Touched:
    """One file: when it was last read and written, its live reads, its newest whole write."""

    read_step: int = -READ_STEPS - 1
    write_step: int = -WRITE_STEPS - 1
    reads: list[int] = field(default_factory=list)
    whole_write: int | None = None


class TouchedFiles:
    """The files of a run, the one touched last at the end."""

    def __init__(self, view: View) -> None:
        """Know no file yet."""
        self._view = view
        self._files: dict[int, Touched] = {}

    def enter(self, position: int) -> None:
        """Take in an observation that has entered."""
        kernel = self._view.kernel
        kind = kernel.kind(position)
        if kind not in (READ, WRITE):
            return
        gid = kernel.gid(position)
        touched = self._files.pop(gid, None) or Touched()
        self._files[gid] = touched
        observation = self._view.ledger[position]
        if kind == READ:
            touched.read_step = observation.step
            touched.reads.append(position)
        else:
            touched.write_step = observation.step
            # A write that tells the file's number of lines has all of it in its arguments.
            touched.whole_write = None if observation.total_lines is None else position

    def newest_read(self, gid: int) -> int | None:
        """The newest live read of a file."""
        touched = self._files.get(gid)
        return next(self._live_reads(touched), None) if touched is not None else None

    def lately(self, step: int) -> Iterator[int]:
        """What shows the files touched lately: file by file, newest touched first."""
        for count, touched in enumerate(reversed(self._files.values())):
            newest = max(touched.read_step, touched.write_step)
            if count == MOST_FILES or newest < step - max(READ_STEPS, WRITE_STEPS):
                return
            if touched.read_step < step - READ_STEPS and touched.write_step < step - WRITE_STEPS:
                continue
            if touched.reads:
                for count_of_file, position in enumerate(self._live_reads(touched)):
                    if count_of_file == READS_A_FILE:
                        break
                    yield position
            elif touched.whole_write is not None:
                yield touched.whole_write

    def _live_reads(self, touched: Touched) -> Iterator[int]:
        """The live reads of a file, newest first; the others are forgotten on the way."""
        at = len(touched.reads) - 1
        while at >= 0:
            if self._view.kernel.state(touched.reads[at]) == LIVE:
                yield touched.reads[at]
            else:
                del touched.reads[at]
            at -= 1
