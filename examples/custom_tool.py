"""A tool of one's own: a typed function, and the question that its answers answer.

python examples/custom_tool.py [--model anthropic:claude-sonnet-4-5]
"""

from __future__ import annotations

import tempfile
from typing import Annotated

import four_files

from io_harness import (
    Policy,
    ScriptedProvider,
    Store,
    TaskContract,
    ToolCall,
    provider_from,
    run_sync,
)
from io_harness.tools import tool

MEASURED = iter((18.5, 19.0))


@tool(key="room", effectful=False)
def temperature(room: Annotated[str, "kitchen or attic"]) -> str:
    """Measure the temperature of a room, in degrees Celsius."""
    return f"{next(MEASURED, 21.5)} °C in the {room}"


def main() -> None:
    """Run the example; of several answers to one question the newest is the live one."""
    options = four_files.arguments(__doc__ or "")
    ask = ToolCall("", "temperature", {"room": "kitchen"})
    script = ScriptedProvider([ask, ask, "It was 18.5 °C and is 19.0 °C now."])
    with (
        tempfile.TemporaryDirectory() as root,
        Store.open(options.store) if options.store else Store.memory() as store,
    ):
        result = run_sync(
            TaskContract.workspace("Measure the kitchen twice and say what you found.", root),
            provider_from(options.model) if options.model else script,
            store,
            policy=Policy.workspace(),
            tools=[temperature],
        )
        print(f"{result.outcome}: {result.text}")
        last = store.steps(result.run_id)[-1].request
        assert last is not None
        for message in last.messages:
            for answer in message.results:
                print(f"  {answer.text.rstrip()}")


if __name__ == "__main__":
    main()
