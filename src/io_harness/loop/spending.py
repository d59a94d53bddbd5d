"""Tokens: what was spent, and what that leaves for a section."""

from __future__ import annotations

from dataclasses import dataclass

from io_harness.context import ContextBudget, estimate_tokens
from io_harness.jsontext import arguments_text
from io_harness.types import Completion, Usage

_FOLLOWING_STEP = 1_000


@dataclass(slots=True)
class Spending:
    """Tokens of all requests of a run: as reported, else as estimated."""

    input: int = 0
    output: int = 0

    def add(self, completion: Completion, *, est_input: int) -> None:
        """Count one request of `est_input` estimated tokens, and its answer."""
        reported = completion.usage or Usage()
        said = "".join(arguments_text(call.arguments) for call in completion.calls)
        est_output = estimate_tokens(completion.text + said)
        self.input += est_input if reported.input is None else reported.input
        self.output += est_output if reported.output is None else reported.output

    @property
    def total(self) -> int:
        """Input and output tokens together."""
        return self.input + self.output


def section_ceiling(budget: ContextBudget, remaining: int | None) -> int:
    """Return the most estimated tokens that the next section may have.

    A ceiling that follows the remaining tokens moves in steps of 1,000, so that it moves rarely.
    """
    ceiling = budget.effective_tokens(remaining)
    if ceiling == budget.max_tokens:
        return ceiling
    return ceiling - ceiling % _FOLLOWING_STEP
