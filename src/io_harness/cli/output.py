"""Writing to a terminal: what files and models say cannot steer it."""

from __future__ import annotations

import json
import re
import sys
import unicodedata

from rich.cells import cell_len
from rich.console import Console

from io_harness import jsontext

out = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)

_NARROW_HELP = 52
"""Cells below which typer no longer looks at how wide a terminal is."""


def help_width() -> int | None:
    """The cells for a line of help, where typer would not find them by itself."""
    return max(20, out.width - 1) if out.width < _NARROW_HELP else None


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


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


def say(text: str = "", *, whole: bool = False) -> None:
    """Print one line of ours, wrapped between words on a terminal.

    A `whole` one is left to the terminal to break, so that it can be copied as it is.
    """
    shown = plain(text, lines=True)
    out.print(shown if whole else _wrapped(shown, out))


def complain(text: str, *, whole: bool = False) -> None:
    """Print one line to standard error, wrapped as by `say`."""
    shown = plain(text, lines=True)
    err.print(shown if whole else _wrapped(shown, err))


def print_json(value: object) -> None:
    """Print one JSON value on one line; what steers a terminal or fits no stream is escaped."""
    text = _NOT_ASCII.sub(_escaped, jsontext.dumps(value))
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _escaped(char: re.Match[str]) -> str:
    return char[0] if char[0].isprintable() else json.dumps(char[0])[1:-1]


def _wrapped(text: str, console: Console) -> str:
    """Break a line between words where a terminal would break it within one."""
    if not console.file.isatty() or cell_len(text) <= console.width:
        return text
    body = text.lstrip(" ")
    lead = " " * (len(text) - len(body))
    lines, hang = [lead], f"{lead}  "
    for word in body.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if lines[-1].strip() and cell_len(longer) > console.width:
            lines.append(hang + word)
        else:
            lines[-1] = longer
    return "\n".join(lines)
