"""What an agent can do: the seams, the dispatch of a call, the built-in tools and `@tool`."""

from io_harness.tools.base import (
    Draft,
    MemoryWriter,
    Need,
    Plan,
    Tool,
    ToolContext,
    ToolError,
    TraceReader,
    WritePlan,
)
from io_harness.tools.dispatch import BeforeEffect, Toolbox
from io_harness.tools.outcome import Approval, Deferred, Started, ToolOutcome

__all__ = [
    "Approval",
    "BeforeEffect",
    "Deferred",
    "Draft",
    "MemoryWriter",
    "Need",
    "Plan",
    "Started",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolOutcome",
    "Toolbox",
    "TraceReader",
    "WritePlan",
]
