"""Exit codes: what a script that calls the command line can rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from io_harness.errors import ProviderError

if TYPE_CHECKING:
    from io_harness.errors import HarnessError

SUCCESS = 0
ENDED_WITHOUT_SUCCESS = 1
WRONG_USE = 2
PROVIDER_FAILED = 3
AWAITING_APPROVAL = 4
INTERRUPTED = 130


def exit_code_of(error: HarnessError) -> int:
    """Return the code for an error that ends a command."""
    return PROVIDER_FAILED if isinstance(error, ProviderError) else WRONG_USE
