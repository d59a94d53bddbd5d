"""The store's blocking side: safe from any thread; the run uses `journal`, its awaitable side."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeAlias, runtime_checkable

from io_harness.memory import MemoryLimits
from io_harness.store.journal import Journal
from io_harness.store.records import (
    ContextEvent,
    Drift,
    MemoryRecall,
    ProviderCall,
    RunRecord,
    StepRecord,
)
from io_harness.types import MemoryEntry, MemoryWrite


@runtime_checkable
class HasRoot(Protocol):
    """A workspace, as far as a store knows one."""

    @property
    def root(self) -> str | PathLike[str]:
        """The directory it stands for."""
        ...


WorkspaceLike: TypeAlias = str | PathLike[str] | HasRoot
"""A path, a `Workspace`, or an id: text that is neither absolute, nor starts with a dot, nor
names a directory. "id:NAME" is always the id NAME."""


class Store:
    """What runs did, and the notes they left. A context manager."""

    journal: Journal

    @classmethod
    def open(cls, url: str | PathLike[str], *, timeout: float = 30.0) -> Store:
        """Open or make a store; `timeout` is how many seconds a write waits for other writers.

        Raises `ConfigError` (a URL of another engine, a network file system), `StoreReadOnly`,
        `StoreCorrupt`, `SchemaNewer`, `StoreFull`, `StoreLocked`.
        """
        raise NotImplementedError

    @classmethod
    def memory(cls) -> Store:
        """Make a store that is gone when it is closed."""
        raise NotImplementedError

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that a workspace must not hand out; they need not exist. () in memory."""
        raise NotImplementedError

    def close(self) -> None:
        """Commit what is waiting and close; closing again does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def runs(self) -> tuple[RunRecord, ...]:
        """Return every run, oldest first."""
        raise NotImplementedError

    def run(self, run_id: str) -> RunRecord:
        """Return one run; `RunUnknown`."""
        raise NotImplementedError

    def steps(self, run_id: str) -> tuple[StepRecord, ...]:
        """Return the steps of a run, in order; `RunUnknown`."""
        raise NotImplementedError

    def context_events(self, run_id: str) -> tuple[ContextEvent, ...]:
        """Return what happened to the context of a run, in order."""
        raise NotImplementedError

    def provider_calls(self, run_id: str) -> tuple[ProviderCall, ...]:
        """Return every attempt at an answer, failures included, in order."""
        raise NotImplementedError

    def drift(self, run_id: str) -> Drift:
        """Return how the estimates of a run's requests compare with what was reported."""
        raise NotImplementedError

    def delete_run(self, run_id: str) -> None:
        """Delete a run with its trace; notes it wrote stay. `RunUnknown`, `RunLeased`."""
        raise NotImplementedError

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a consistent copy to a path where nothing is, while others write."""
        raise NotImplementedError

    def memory_put(
        self,
        workspace: WorkspaceLike,
        key: str,
        value: str,
        *,
        run_id: str,
        step: int,
        source: str = "",
        limits: MemoryLimits | None = None,
    ) -> MemoryWrite:
        """Write a note, as an operator: no quota, and pinned notes can be rewritten.

        Raises `MemoryRefused` (also a `ValueError`) for a bad key or where pins leave no room.
        """
        raise NotImplementedError

    def memory_get(self, workspace: WorkspaceLike, key: str) -> MemoryEntry | None:
        """Return the note of exactly that key, `None` where there is none."""
        raise NotImplementedError

    def memory_list(self, workspace: WorkspaceLike) -> tuple[MemoryEntry, ...]:
        """Return the workspace's notes, oldest write first."""
        raise NotImplementedError

    def memory_delete(self, workspace: WorkspaceLike, key: str) -> bool:
        """Delete a note, pinned or not; False where there is none."""
        raise NotImplementedError

    def memory_clear(self, workspace: WorkspaceLike) -> int:
        """Delete every note of a workspace and return how many there were."""
        raise NotImplementedError

    def memory_pin(self, workspace: WorkspaceLike, key: str, *, pinned: bool = True) -> bool:
        """Pin a note so that the agent cannot evict, rewrite or forget it; False without one."""
        raise NotImplementedError

    def memory_recalls(self, run_id: str) -> tuple[MemoryRecall, ...]:
        """Return the notes that were shown to a run, in the order they were first shown."""
        raise NotImplementedError
