"""What one run notes, a later one over the same workspace is told.

python examples/memory_across_runs.py [--model anthropic:claude-sonnet-4-5]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import four_files

from io_harness import (
    Policy,
    Provider,
    RunResult,
    ScriptedProvider,
    Store,
    TaskContract,
    ToolCall,
    provider_from,
    run_sync,
)

NOTE = ToolCall(
    "", "remember", {"key": "limits", "value": "LIMIT stands at the top of each module."}
)


def provider(model: str | None, *turns: str | ToolCall) -> Provider:
    """Return the model named on the command line, or a script of these turns."""
    return provider_from(model) if model else ScriptedProvider(turns)


def one_run(goal: str, root: str, model: Provider, store: Store) -> RunResult:
    """Work on a goal, and print what was said at its end."""
    contract = TaskContract.workspace(goal, root)
    result = run_sync(contract, model, store, policy=Policy.workspace())
    print(f"{result.outcome}: {result.text}")
    return result


def main() -> None:
    """Run the example."""
    options = four_files.arguments(__doc__ or "")
    search = ToolCall("", "grep", {"pattern": "^LIMIT"})
    with (
        tempfile.TemporaryDirectory() as root,
        Store.open(options.store) if options.store else Store.memory() as store,
    ):
        four_files.make_workspace(Path(root))
        first = provider(options.model, search, NOTE, "LIMIT stands at the top of each module.")
        one_run("Find where LIMIT stands, and remember it for later.", root, first, store)
        second = provider(options.model, "My notes say: at the top of each module.")
        later = one_run("Say where LIMIT stands, from your notes alone.", root, second, store)
        for recall in store.memory_recalls(later.run_id):
            print(f"recalled {recall.key!r} of run {recall.note_run_id}, step {recall.note_step}")
        for note in store.memory_list(root):
            print(f"{note.key}: {note.value}  (run {note.run_id}, step {note.step})")


if __name__ == "__main__":
    main()
