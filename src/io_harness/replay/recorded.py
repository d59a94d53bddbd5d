"""A recording's files as the assembler reads them: a workspace made of what records tell."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from io_harness.replay.paths import canonical
from io_harness.replay.readtext import count_lines
from io_harness.types import ReadResult, Signature

if TYPE_CHECKING:
    from io_harness.replay.files import FileTexts


class NotRecorded(OSError):
    """The recording does not tell what these lines are now."""


class RecordedFiles:
    """Reads of a file give its text as of the records taken so far.

    `unknown` counts reads that could not be answered: their observations stay stale.
    """

    def __init__(self, files: FileTexts) -> None:
        self._files = files
        self.unknown = 0

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
        last = None if limit is None else offset + limit - 1
        text = self._files.lines(path, offset, last)
        if state is None or text is None:
            self.unknown += 1
            raise NotRecorded(f"{path}: lines {offset} to {last or 'the end'} are not recorded")
        total = count_lines(state.text) if state.ends else None
        return ReadResult(
            text,
            (offset, offset + count_lines(text) - 1),
            total,
            len(state.text),
            None,
            self.signature(path),
        )
