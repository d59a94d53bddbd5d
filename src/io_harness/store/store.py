"""The store's blocking side: safe from any thread; the run uses `journal`, its awaitable side."""

from __future__ import annotations

import _thread
import atexit
import os
import re
import weakref
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType

from io_harness.errors import ConfigError
from io_harness.memory import MemoryLimits
from io_harness.store import leases, notes, reading
from io_harness.store.base import Backend, T, Transaction
from io_harness.store.checks import check_count, check_run_id, check_text, check_timeout
from io_harness.store.journal import Journal
from io_harness.store.notes import Redactor
from io_harness.store.records import (
    ContextEvent,
    Drift,
    MemoryRecall,
    ProviderCall,
    RunRecord,
    StepRecord,
    now,
)
from io_harness.store.workspaces import WorkspaceLike, workspace_name
from io_harness.types import MemoryEntry, MemoryWrite

_OPEN: weakref.WeakSet[Store] = weakref.WeakSet()
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Store:
    """What runs did, and the notes they left. A context manager."""

    def __init__(self, backend: Backend, *, redact: Redactor | None = None) -> None:
        self._backend = backend
        self._redact = redact
        self.journal = Journal(backend, redact=redact)
        self._finalizer = weakref.finalize(self, _let_go, backend)
        self._finalizer.atexit = False
        _OPEN.add(self)

    @classmethod
    def open(
        cls,
        url: str | PathLike[str],
        *,
        timeout: float = 30.0,
        read_only: bool = False,
        redact: Redactor | None = None,
    ) -> Store:
        """Open or make a store; `timeout` is how many seconds a write waits for other writers.

        `read_only` makes and changes nothing, works where nothing can be written, and has every
        write raise `StoreReadOnly`. `redact` is given the key, the value and the source of each
        note before it is written, and returns what of them is kept.

        Raises `ConfigError` (a URL of another engine, a network file system, a path that is no
        place for a store), `StoreReadOnly`, `StoreCorrupt`, `SchemaNewer`, `StoreFull`,
        `StoreLocked`.
        """
        check_timeout(timeout)
        text = os.fspath(url) if isinstance(url, str | PathLike) else url
        if not isinstance(text, str) or not text or "\0" in text:
            raise ConfigError(f"a store is a path as text, or a PathLike, not {url!r:.80}")
        if _URL.match(text):
            raise ConfigError(
                f"Store.open({text!r}): that engine is not in this version; give the path of a file"
            )
        if text == ":memory:":
            raise ConfigError("':memory:' would be a file of that name: call Store.memory()")
        from io_harness.store.sqlite.backend import FileBackend
        from io_harness.store.sqlite.looking import LookingBackend

        kind = LookingBackend if read_only else FileBackend
        return cls(kind(Path(text), timeout=timeout), redact=redact)

    @classmethod
    def memory(cls, *, redact: Redactor | None = None) -> Store:
        """Make a store that is gone when it is closed; `redact` as for `open`."""
        from io_harness.store.sqlite.backend import MemoryBackend

        return cls(MemoryBackend(), redact=redact)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that a workspace must not hand out; they need not exist. () in memory."""
        return self._backend.files

    def close(self) -> None:
        """Commit what is waiting and close; closing again does nothing."""
        _OPEN.discard(self)
        self._finalizer.detach()
        self._backend.close()

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
        return self._backend.read(reading.runs)

    def run(self, run_id: str) -> RunRecord:
        """Return one run; `RunUnknown`."""
        return self._backend.read(lambda tx: reading.run(tx, run_id))

    def steps(self, run_id: str, *, step: int | None = None) -> tuple[StepRecord, ...]:
        """Return the steps of a run, in order, or only the one asked for; `RunUnknown`."""
        if step is not None:
            check_count("step", step)
        return self._backend.read(lambda tx: tuple(reading.steps(tx, run_id, step)))

    def context_events(self, run_id: str) -> tuple[ContextEvent, ...]:
        """Return what happened to the context of a run, in order."""
        return self._backend.read(lambda tx: tuple(reading.context_events(tx, run_id)))

    def provider_calls(self, run_id: str) -> tuple[ProviderCall, ...]:
        """Return every attempt at an answer, failures included, in order."""
        return self._backend.read(lambda tx: reading.provider_calls(tx, run_id))

    def drift(self, run_id: str) -> Drift:
        """Return how the estimates of a run's requests compare with what was reported."""
        return self._backend.read(lambda tx: reading.drift(tx, run_id))

    def delete_run(self, run_id: str) -> None:
        """Delete a run with its trace; notes it wrote stay. `RunUnknown`, `RunLeased`."""
        self._erase(lambda tx: leases.delete_run(tx, run_id))

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a consistent copy to a path where nothing is, while others write."""
        self._backend.backup(path)

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
        check_run_id(run_id)
        check_count("step", step)
        for name, text in (("key", key), ("value", value), ("source", source)):
            check_text(name, text)
        note = notes.Note(
            workspace=workspace_name(workspace),
            key=key,
            value=value,
            run_id=run_id,
            step=step,
            source=source,
            limits=limits or MemoryLimits(),
            now=now(),
        ).redacted(self._redact)
        return self._write(lambda tx: notes.put(tx, note), len(value))

    def memory_get(self, workspace: WorkspaceLike, key: str) -> MemoryEntry | None:
        """Return the note of exactly that key, `None` where there is none."""
        check_text("key", key)
        name = workspace_name(workspace)
        return self._backend.read(lambda tx: notes.get(tx, name, key))

    def memory_list(self, workspace: WorkspaceLike) -> tuple[MemoryEntry, ...]:
        """Return the workspace's notes, oldest write first."""
        name = workspace_name(workspace)
        return self._backend.read(lambda tx: notes.listed(tx, name))

    def memory_delete(self, workspace: WorkspaceLike, key: str) -> bool:
        """Delete a note, pinned or not; False where there is none."""
        check_text("key", key)
        name = workspace_name(workspace)
        return self._erase(lambda tx: notes.delete(tx, name, key))

    def memory_clear(self, workspace: WorkspaceLike) -> int:
        """Delete every note of a workspace and return how many there were."""
        name = workspace_name(workspace)
        return self._erase(lambda tx: notes.clear(tx, name))

    def memory_pin(self, workspace: WorkspaceLike, key: str, *, pinned: bool = True) -> bool:
        """Pin a note so that the agent cannot evict, rewrite or forget it; False without one."""
        check_text("key", key)
        name = workspace_name(workspace)
        return self._write(lambda tx: notes.pin(tx, name, key, pinned=pinned))

    def memory_recalls(self, run_id: str) -> tuple[MemoryRecall, ...]:
        """Return the notes that were shown to a run, in the order they were first shown."""
        return self._backend.read(lambda tx: reading.recalls(tx, run_id))

    def _write(self, work: Callable[[Transaction], T], size: int = 512) -> T:
        return self._backend.write(work, size=size).result()

    def _erase(self, work: Callable[[Transaction], T]) -> T:
        return self._backend.write(work, size=512, erases=True).result()


def _let_go(backend: Backend) -> None:
    """Close what nobody closed, without waiting for it.

    Garbage is collected anywhere, also where a thread holds one of Python's own locks, which the
    writer's thread needs in order to end, and a `Thread` in order to start.
    """
    with suppress(RuntimeError):  # Python is ending, and nothing acknowledged is lost
        _thread.start_new_thread(backend.close, ())


@atexit.register
def _close_all() -> None:
    """Commit what is waiting in the stores that are open as Python ends."""
    for store in tuple(_OPEN):
        store.close()
