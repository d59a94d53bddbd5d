"""The entry point: what goes wrong becomes one sentence and an exit code, never a traceback.

It imports the commands when it is called: that takes long enough to be interrupted.
"""

from __future__ import annotations

import os
import sys

from io_harness.cli import streams
from io_harness.cli.exits import INTERRUPTED, READER_GONE, WRONG_USE


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        streams.prepare()
        _run()
    except streams.ReaderGoneError:
        sys.exit(READER_GONE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run() -> None:
    from io_harness.cli.app import app
    from io_harness.cli.endings import exit_code_of
    from io_harness.cli.output import complain, help_width
    from io_harness.errors import HarnessError

    try:
        app(terminal_width=help_width())
    except HarnessError as error:
        complain(f"io-harness: {error}")
        sys.exit(exit_code_of(error))
    except OSError as error:
        complain(f"io-harness: {_what_failed(error)}")
        sys.exit(WRONG_USE)


def _what_failed(error: OSError) -> str:
    said = str(error.strerror or error)
    if error.filename is not None:
        return f"{error.filename}: {said}"
    try:
        os.getcwd()
    except OSError:
        return "the current directory is gone: go to one that exists"
    return said
