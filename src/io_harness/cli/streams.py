"""Standard streams: closed ones replaced, and a reader that leaves noticed, both in one place."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NAMES = ("stdin", "stdout", "stderr")


class ReaderGoneError(Exception):
    """Whoever read this command's output has stopped reading it.

    No `OSError`: the libraries between here and the stream make endings of their own of those.
    """


class _Descriptor(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        """Write; where that fails raise why, `ReaderGoneError` for one, and let the rest go."""
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if isinstance(error, BrokenPipeError):
                raise ReaderGoneError from None
            raise OSError(error.errno, error.strerror, "the output") from None


def prepare() -> None:
    """Make the standard streams such as every command can rely on.

    A closed one becomes an empty one: otherwise a file opened later, the store's say, would get
    its number, and whatever writes to that number would write into it. What no encoding has is
    shown escaped, and a reader that leaves raises `ReaderGoneError`, whoever writes.
    """
    for number, name in enumerate(_NAMES):
        if getattr(sys, name) is None:
            _open_nowhere(number, name)
    for number, name in enumerate(_NAMES[1:], 1):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
            if stream is getattr(sys, f"__{name}__"):
                setattr(sys, name, _noticing(number, stream))


def _open_nowhere(number: int, name: str) -> None:
    mode = os.O_WRONLY if number else os.O_RDONLY
    opened = os.open(os.devnull, mode)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _noticing(number: int, stream: io.TextIOWrapper) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Descriptor(number, "w", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through,
    )
