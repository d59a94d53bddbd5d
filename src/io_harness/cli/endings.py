"""Which exit code tells how a run ended, or which error ended a command."""

from __future__ import annotations

from io_harness.cli.exits import (
    AWAITING_APPROVAL,
    ENDED_WITHOUT_SUCCESS,
    INTERRUPTED,
    PROVIDER_FAILED,
    SUCCESS,
    WRONG_USE,
)
from io_harness.errors import HarnessError, ProviderError
from io_harness.loop import Outcome

EXIT_OF: dict[Outcome, int] = dict.fromkeys(Outcome, ENDED_WITHOUT_SUCCESS) | {
    Outcome.SUCCESS: SUCCESS,
    Outcome.PROVIDER_FAILED: PROVIDER_FAILED,
    Outcome.AWAITING_APPROVAL: AWAITING_APPROVAL,
    Outcome.CANCELLED: INTERRUPTED,
}


def exit_code_of(error: HarnessError) -> int:
    """Return the code for an error that ends a command."""
    return PROVIDER_FAILED if isinstance(error, ProviderError) else WRONG_USE
