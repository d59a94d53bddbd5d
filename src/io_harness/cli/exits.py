"""Exit codes: what a script that calls the command line can rely on."""

from __future__ import annotations

from io_harness.errors import HarnessError, ProviderError
from io_harness.loop import Outcome

SUCCESS = 0
ENDED_WITHOUT_SUCCESS = 1
WRONG_USE = 2
PROVIDER_FAILED = 3
AWAITING_APPROVAL = 4
INTERRUPTED = 130
READER_GONE = 141
"""What a shell calls a program that was ended by SIGPIPE."""

EXIT_OF: dict[Outcome, int] = dict.fromkeys(Outcome, ENDED_WITHOUT_SUCCESS) | {
    Outcome.SUCCESS: SUCCESS,
    Outcome.PROVIDER_FAILED: PROVIDER_FAILED,
    Outcome.AWAITING_APPROVAL: AWAITING_APPROVAL,
    Outcome.CANCELLED: INTERRUPTED,
}


def exit_code_of(error: HarnessError) -> int:
    """Return the code for an error that ends a command."""
    return PROVIDER_FAILED if isinstance(error, ProviderError) else WRONG_USE
