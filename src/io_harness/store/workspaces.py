"""By which name a workspace's notes are known."""

from __future__ import annotations

import os
from os import PathLike
from typing import Protocol, TypeAlias

from io_harness.errors import ConfigError

ID = "id:"
SHARED_ROOTS = frozenset({"/", "/app", "/code", "/project", "/repo", "/src", "/work", "/workspace"})
"""Paths at which any project may be, as in a container: notes kept under one may be another's."""


class HasRoot(Protocol):
    """A workspace, as far as a store knows one."""

    @property
    def root(self) -> str | PathLike[str]:
        """The directory it stands for."""
        ...


WorkspaceLike: TypeAlias = str | PathLike[str] | HasRoot
"""A path, a `Workspace`, or an id: text that is neither absolute, nor starts with a dot, nor
names a directory. "id:NAME" is always the id NAME."""


def workspace_name(workspace: WorkspaceLike) -> str:
    """Return the canonical root path, or "id:NAME" for an id the caller gave."""
    if isinstance(workspace, PathLike):  # first: a pathlib path has a root too, another one
        return os.fspath(os.path.realpath(workspace))
    if not isinstance(workspace, str):
        if not hasattr(workspace, "root"):
            raise ConfigError(f"a workspace is a path, an id or a Workspace, not {workspace!r:.80}")
        return os.path.realpath(workspace.root)
    if workspace.startswith(ID):
        return workspace
    if not workspace or "\0" in workspace:
        raise ConfigError(f"a workspace is a path or an id, not {workspace!r:.80}")
    if workspace.split(os.sep, 1)[0] == "~":
        raise ConfigError(
            f"only a shell expands ~: give Path({workspace!r:.80}).expanduser(), or id:{workspace} "
            "for an id of that name"
        )
    if os.path.isabs(workspace) or workspace.startswith(".") or os.path.isdir(workspace):
        return os.path.realpath(workspace)
    return ID + workspace
