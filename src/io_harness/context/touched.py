"""Which files a run worked on lately, and which of their observations show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from ._positions_py import LIVE, READ, WRITE
from .view import View

# So many files are considered at most, however many one step touched.
MOST_FILES = 256


@dataclass(slots=True)
class Touched:
    """One file: when it was last read and written, its live reads, its newest whole write."""

    read_step: int | None = None
    write_step: int | None = None
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
        observation = self._view.ledger.pushed(position)
        if kind == READ:
            touched.read_step = observation.step
            touched.reads.append(position)
        else:
            touched.write_step = observation.step
            # A write that tells the file's number of lines has all of it in its arguments.
            touched.whole_write = None if observation.total_lines is None else position

    def reads(self, gid: int) -> Iterator[int]:
        """The live reads of a file, newest first."""
        touched = self._files.get(gid)
        return iter(()) if touched is None else self._live_reads(touched)

    def written(self, step: int, steps: int, reads: int, whole_steps: int) -> Iterator[int]:
        """What shows the files written in the last steps, newest touched first.

        So many newest live reads of each; then, of files never read, the newest whole writes,
        which need to be younger: who wrote a file and left it seldom comes back.
        """
        whole: list[int] = []
        for touched in self._lately(step, steps):
            if touched.write_step is None or touched.write_step < step - steps:
                continue
            if touched.read_step is not None:
                yield from islice(self._live_reads(touched), reads)
            elif touched.whole_write is not None and touched.write_step >= step - whole_steps:
                whole.append(touched.whole_write)
        yield from whole

    def only_read(self, step: int, steps: int, reads: int, written_steps: int) -> Iterator[int]:
        """The newest live reads of the files read in the last steps and not written lately."""
        for touched in self._lately(step, steps):
            if touched.write_step is None or touched.write_step < step - written_steps:
                yield from islice(self._live_reads(touched), reads)

    def _lately(self, step: int, steps: int) -> Iterator[Touched]:
        """The files touched in the last steps, newest first."""
        for touched in islice(reversed(self._files.values()), MOST_FILES):
            newest = max(at for at in (touched.read_step, touched.write_step) if at is not None)
            if newest < step - steps:
                return
            yield touched

    def _live_reads(self, touched: Touched) -> Iterator[int]:
        """The live reads of a file, newest first; the others are forgotten on the way."""
        at = len(touched.reads) - 1
        while at >= 0:
            if self._view.kernel.state(touched.reads[at]) == LIVE:
                yield touched.reads[at]
            else:
                del touched.reads[at]
            at -= 1
