"""The same task as context_growth.py, with every request's section held to 1,500 tokens.

python examples/context_growth_bounded.py [--model anthropic:claude-sonnet-4-5]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import four_files

from io_harness import ContextBudget, Policy, Store, TaskContract, Verification, run_sync
from io_harness.events import Completed, Event, RequestAssembled

CEILING = 1_500


class Table:
    """An observer that prints one row for each request."""

    def __init__(self) -> None:
        self.request: RequestAssembled | None = None

    def __call__(self, event: Event) -> None:
        """Keep the request until its answer is there."""
        if isinstance(event, RequestAssembled):
            self.request = event
        elif isinstance(event, Completed) and self.request is not None:
            decision = ", ".join(event.calls) or event.text
            reported = event.usage.input if event.usage else None
            sent = self.request
            four_files.row(sent.step, sent.chars, sent.est_section, reported, decision)


def main() -> None:
    """Run the example."""
    options = four_files.arguments(__doc__ or "")
    with (
        tempfile.TemporaryDirectory() as root,
        Store.open(options.store) if options.store else Store.memory() as store,
    ):
        four_files.make_workspace(Path(root))
        contract = TaskContract.workspace(
            four_files.GOAL, root, Verification.file_contains("check.py", "LIMIT = 200")
        ).with_context_budget(ContextBudget(max_tokens=CEILING))
        four_files.heading()
        result = run_sync(
            contract,
            four_files.provider(options.model),
            store,
            policy=Policy.workspace(),
            observer=Table(),
        )
        print(f"{result.outcome}: {result.reason}")


if __name__ == "__main__":
    main()
