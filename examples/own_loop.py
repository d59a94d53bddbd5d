"""The assembler in somebody else's loop: its own protocol with the model, its own tools.

python examples/own_loop.py [--model anthropic:claude-sonnet-4-5]
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import four_files

from io_harness import (
    Assembler,
    CompletionRequest,
    Ledger,
    Observation,
    ObsKind,
    Provider,
    ScriptedProvider,
    Workspace,
    provider_from,
)
from io_harness.types import Message

SYSTEM = "Answer with one line: READ name.py to see a file, or DONE and what LIMIT is."
SCRIPT = [*(f"READ {name}" for name in four_files.FILES * 5), "DONE it is 100 everywhere."]


async def loop(provider: Provider, workspace: Workspace) -> None:
    """Ask under a ceiling of 1,500 tokens until the model says that it is done."""
    ledger = Ledger()
    assembler = Assembler(ledger, workspace=workspace)
    for step in range(1, 41):
        section = assembler.assemble(step=step, budget_tokens=1_500)
        messages = (Message("user", f"What is LIMIT in {four_files.FILES}?\n\n{section.text}"),)
        answer = await provider.complete(CompletionRequest(SYSTEM, (), messages))
        print(f"{step:>3}  {section.est_tokens:>5} tokens, {section.carried} shown  {answer.text}")
        word, _, name = answer.text.strip().partition(" ")
        if word != "READ":
            return
        ledger.push(read(step, name, workspace))


def read(step: int, name: str, workspace: Workspace) -> Observation:
    """Read a file whole; what goes wrong is an observation too."""
    try:
        found = workspace.read(name)
    except (OSError, ValueError) as error:
        return Observation(step, ObsKind.ERROR, name, str(error))
    lines, total, digest = found.lines, found.total_lines, found.digest
    return Observation(
        step, ObsKind.READ, name, found.text, lines=lines, total_lines=total, digest=digest
    )


def main() -> None:
    """Run the example."""
    options = four_files.arguments(__doc__ or "")
    model = provider_from(options.model) if options.model else ScriptedProvider(SCRIPT)
    with tempfile.TemporaryDirectory() as root, Workspace(root) as workspace:
        four_files.make_workspace(Path(root))
        asyncio.run(loop(model, workspace))


if __name__ == "__main__":
    main()
