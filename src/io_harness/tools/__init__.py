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
from io_harness.tools.command import run_command
from io_harness.tools.dispatch import BeforeEffect, Toolbox
from io_harness.tools.function import FunctionTool, tool
from io_harness.tools.outcome import Approval, Deferred, Started, ToolOutcome
from io_harness.tools.reading import list_dir, read_file
from io_harness.tools.recall import forget, remember, show
from io_harness.tools.searching import find, grep
from io_harness.tools.writing import edit_file, write_file

BUILTIN_TOOLS: tuple[Tool, ...] = (
    *(read_file, list_dir, find, grep, write_file, edit_file, run_command),
    *(show, remember, forget),
)
"""What every run has, in the order the model is told of it."""

__all__ = [
    "BUILTIN_TOOLS",
    "Approval",
    "BeforeEffect",
    "Deferred",
    "Draft",
    "FunctionTool",
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
    "edit_file",
    "find",
    "forget",
    "grep",
    "list_dir",
    "read_file",
    "remember",
    "run_command",
    "show",
    "tool",
    "write_file",
]
