"""The entry point: what goes wrong becomes one sentence and an exit code, never a traceback."""

from __future__ import annotations

import io
import os
import sys

from io_harness.cli.app import app
from io_harness.cli.exits import READER_GONE, WRONG_USE, exit_code_of
from io_harness.cli.output import ReaderGoneError
from io_harness.errors import HarnessError


def main() -> None:
    """Run the command line and exit with its code."""
    _stand_in_for_closed_streams()
    try:
        app()
    except HarnessError as error:
        _fail(str(error), exit_code_of(error))
    except ReaderGoneError:
        sys.exit(READER_GONE)
    except OSError as error:
        what = "the output" if error.filename is None else str(error.filename)
        _fail(f"{what}: {error.strerror or error}", WRONG_USE)


def _fail(message: str, code: int) -> None:
    print(f"io-harness: {message}", file=sys.stderr)
    sys.exit(code)


def _stand_in_for_closed_streams() -> None:
    """Give each standard stream that is closed an empty one; show what no encoding has escaped.

    Otherwise a file opened later, the store's say, would get the number of a closed stream, and
    whatever writes to that number would write into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = os.O_WRONLY if number else os.O_RDONLY
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
