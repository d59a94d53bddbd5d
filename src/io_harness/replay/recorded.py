"""A recording's files as the assembler reads them: a workspace made of what records tell."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from io_harness.replay.files import HOLE, FileTexts
from io_harness.replay.paths import canonical
from io_harness.replay.readtext import count_lines
from io_harness.types import ReadResult, Signature

_UNSEEN = "?" * 40 + "\n"


class NotRecorded(OSError):
    """The recording does not tell what these lines are now."""


class RecordedFiles:
    """Reads of a file give its text as of the records taken so far.

    `unknown` counts reads that could not be answered: their observations stay stale. A look at
    a whole file gives lines that nobody was shown as lines of ordinary length: what is said of
    the lines shown, and what it costs, is as it would be with the file at hand.
    """

    def __init__(self, files: FileTexts, known: Mapping[tuple[str, int], int]) -> None:
        self._files = files
        self._lengths = known
        self.unknown = 0

    def total_lines(self, path: str) -> int | None:
        """How many lines the file has now; `None` where nothing is known of it."""
        state = self._files.state(path)
        if state is None or state.gone or not state.text:
            return None
        counted = count_lines(state.text)
        return counted if state.ends else max(counted, self._lengths.get((path, state.version), 0))

    def canonical(self, path: str) -> str:
        """The path as the importer spelled it: it has been made canonical there."""
        return canonical(path)

    def signature(self, path: str) -> Signature:
        """Changes exactly when a record changed the file."""
        state = self._files.state(path)
        version = 0 if state is None else state.version
        return Signature(0, crc32(path.encode("utf-8", "replace")), 0, version, version, True)

    def read(self, path: str, *, offset: int = 1, limit: int | None = None) -> ReadResult:
        """Lines of the file now. `NotRecorded`: a line of them was never shown."""
        state = self._files.state(path)
        if state is not None and state.gone:
            raise FileNotFoundError(path)
        total = self.total_lines(path)
        last = None if limit is None else offset + limit - 1
        text = self._files.lines(path, offset, last)
        if text is None and offset == 1 and limit is None and state is not None and total:
            text = _filled(state.text, total)
        if text is None:
            self.unknown += 1
            raise NotRecorded(f"{path}: lines {offset} to {last or 'the end'} are not recorded")
        return ReadResult(
            text,
            (offset, offset + count_lines(text) - 1),
            total,
            len(text),
            None,
            self.signature(path),
        )


def _filled(text: str, total: int) -> str:
    """A text with ordinary lines for those that nobody was shown."""
    if text and not text.endswith("\n"):
        text += "\n"
    return text.replace(HOLE, _UNSEEN) + _UNSEEN * (total - count_lines(text))
