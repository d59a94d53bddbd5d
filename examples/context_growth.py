"""What a plain loop does: it sends everything it ever saw, and the request only grows.

    python examples/context_growth.py [--model anthropic:claude-sonnet-4-5]

Compare with context_growth_bounded.py: the same task, the same model.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import four_files

from io_harness import CompletionRequest, Provider, ToolCall, Workspace, estimate_tokens
from io_harness.types import JSON, Message, ToolResult, ToolSpec


def schema(**types: str) -> dict[str, JSON]:
    """Return the schema of an object with these fields."""
    fields: dict[str, JSON] = {name: {"type": kind} for name, kind in types.items()}
    return {"type": "object", "properties": fields, "required": list(fields)}


TOOLS = (
    ToolSpec(
        "read_file",
        "Read lines of a text file, `limit` of them from line `offset` on.",
        schema(path="string", offset="integer", limit="integer"),
    ),
    ToolSpec(
        "edit_file",
        "Replace a text in a file.",
        schema(path="string", old="string", new="string"),
    ),
)


async def work(provider: Provider, workspace: Workspace) -> None:
    """Ask, do, append, and ask again with all of it."""
    messages = [Message("user", four_files.GOAL)]
    for step in range(1, 41):
        request = CompletionRequest("You work on files.", TOOLS, tuple(messages))
        sent = "".join(m.text + "".join(r.text for r in m.results) for m in messages)
        answer = await provider.complete(request)
        reported = answer.usage.input if answer.usage else None
        decision = ", ".join(call.name for call in answer.calls) or answer.text
        four_files.row(step, len(sent), estimate_tokens(sent), reported, decision)
        if not answer.calls:
            return
        calls = tuple(
            ToolCall(f"call_{step}_{n}", call.name, call.arguments)
            for n, call in enumerate(answer.calls)
        )
        results = tuple(ToolResult(call.id, do(call, workspace)) for call in calls)
        messages += [Message("assistant", answer.text, calls), Message("tool", results=results)]


def do(call: ToolCall, workspace: Workspace) -> str:
    """Do one call; what goes wrong is told to the model."""
    given = call.arguments if isinstance(call.arguments, dict) else {}
    path, old, new = (str(given.get(name, "")) for name in ("path", "old", "new"))
    try:
        if call.name == "read_file":
            offset, limit = int(str(given.get("offset", 1))), int(str(given.get("limit", 1_000)))
            return workspace.read(path, offset=offset, limit=limit).text
        workspace.write(path, workspace.read(path).text.replace(old, new))
        return "changed"
    except (OSError, ValueError) as error:
        return f"failed: {error}"


def main() -> None:
    """Run the example."""
    options = four_files.arguments(__doc__ or "")
    with tempfile.TemporaryDirectory() as place, Workspace(place) as workspace:
        four_files.make_workspace(Path(place))
        four_files.heading()
        asyncio.run(work(four_files.provider(options.model), workspace))


if __name__ == "__main__":
    main()
