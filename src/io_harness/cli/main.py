"""The entry point: what goes wrong becomes one sentence and an exit code, never a traceback."""

from __future__ import annotations

import sys

from io_harness.cli.app import app
from io_harness.cli.exits import exit_code_of
from io_harness.errors import HarnessError


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except HarnessError as error:
        print(f"io-harness: {error}", file=sys.stderr)
        sys.exit(exit_code_of(error))
