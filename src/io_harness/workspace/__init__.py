"""A root directory and everything that may be done beneath it."""

from io_harness.workspace.workspace import Workspace
from io_harness.workspace.writing import WriteResult

__all__ = ["Workspace", "WriteResult"]
