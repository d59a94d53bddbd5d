"""A root directory and everything that may be done beneath it."""

from io_harness.workspace.workspace import Workspace

__all__ = ["Workspace"]
