"""Writing to a terminal: what files and models say cannot steer it."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import IO, NoReturn

from rich.console import Console

from io_harness import jsontext


class ReaderGoneError(Exception):
    """Whoever read this command's output has stopped reading it."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Say so to the command, which may have a run to end first."""
        _give_up(self.file)


out = _Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
err = _Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def plain(text: str, *, lines: bool = False) -> str:
    r"""Return text whose control and format characters are shown as `\u{1b}`.

    `lines` keeps line ends and tabs.
    """
    kept = "\n\t" if lines else ""
    return "".join(
        char
        if char in kept or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else f"\\u{{{ord(char):x}}}"
        for char in text
    )


def short(text: str, width: int) -> str:
    """Return one line of at most `width` characters."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 1]}…"


def call_in_short(name: str, target: str, width: int = 80) -> str:
    """Return a call in a few words: its tool, and what it was about where that is known."""
    said = target if target.startswith(name) else f"{name} {target}"
    return short(said, width)


def say(text: str = "") -> None:
    """Print one line of ours."""
    out.print(text)


def complain(text: str) -> None:
    """Print one line to standard error."""
    err.print(text)


def print_json(value: object) -> None:
    """Print one JSON value on one line; lone surrogates, which no stream takes, escaped."""
    text = jsontext.dumps(value).encode("utf-8", "backslashreplace").decode()
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up(sys.stdout)


def _give_up(stream: IO[str]) -> NoReturn:
    """Let what is still to be written go nowhere, and raise `ReaderGoneError`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    raise ReaderGoneError from None
