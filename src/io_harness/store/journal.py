"""The awaitable side of a store: what a run writes as it goes, and reads to go on.

Every method is acknowledged after COMMIT and never blocks the event loop. A commit that is
repeated (the same run, step and call) is acknowledged and not stored twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from io_harness.memory import MemoryLimits, MemoryMode
from io_harness.store.records import (
    Assembly,
    Event,
    Lease,
    ProviderCall,
    Recorded,
    Refresh,
)
from io_harness.types import (
    JSON,
    Completion,
    CompletionRequest,
    MemoryEntry,
    MemoryWrite,
    Observation,
)

LEASE_SECONDS = 30.0


class Journal:
    """What the driver of a run calls; `Store.journal` gives it."""

    async def begin(
        self,
        *,
        goal: str,
        workspace: str,
        contract: str,
        provider: str,
        model: str,
        policy: str,
        run_id: str | None = None,
        parent: str | None = None,
        ttl: float = LEASE_SECONDS,
    ) -> Lease:
        """Record a new run and take its lease; `ConfigError` where the run id is taken.

        `contract` and `policy` are JSON text. Without `run_id` the store makes one, which
        sorts by time.
        """
        raise NotImplementedError

    async def acquire(self, run_id: str, *, ttl: float = LEASE_SECONDS) -> Lease:
        """Take the lease of a run; `RunLeased` while another holds it, `RunUnknown`."""
        raise NotImplementedError

    async def renew(self, lease: Lease, *, ttl: float = LEASE_SECONDS) -> Lease:
        """Hold the lease for `ttl` more seconds from now; `RunLeased` where it was lost."""
        raise NotImplementedError

    async def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens where it was lost already."""
        raise NotImplementedError

    async def attempted(self, lease: Lease, call: ProviderCall) -> None:
        """Record one attempt at an answer that failed (a success goes with `completed`)."""
        raise NotImplementedError

    async def completed(
        self,
        lease: Lease,
        step: int,
        completion: Completion,
        *,
        request: CompletionRequest,
        assemblies: Sequence[Assembly] = (),
        call: ProviderCall | None = None,
        refreshes: Sequence[Refresh] = (),
        recalled: Sequence[MemoryEntry] = (),
        recalled_from: str = "",
        events: Sequence[Event] = (),
        manifest: str | None = None,
        state: str | None = None,
    ) -> None:
        """Commit 1: the completion with its usage, the request it answers, and the assembly.

        The completion's usage is set against the last of `assemblies` (the others' requests
        overflowed). `recalled` are the notes in the request, `recalled_from` their workspace.
        """
        raise NotImplementedError

    async def call_started(
        self,
        lease: Lease,
        step: int,
        call: int,
        *,
        name: str,
        arguments: str,
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        """Commit 2: an effectful call is about to start.

        `arguments` is JSON text; `detail` is what resume needs to settle the call (a write's
        path, the digests before and after).
        """
        raise NotImplementedError

    async def stepped(
        self,
        lease: Lease,
        step: int,
        observations: Sequence[Observation],
        *,
        events: Sequence[Event] = (),
        refreshes: Sequence[Refresh] = (),
        manifest: str | None = None,
        state: str | None = None,
    ) -> None:
        """Commit 3: the step's observations in ledger order, `call` filled in, and its events.

        `state` is the run's own JSON text (its stall tracker, say), given back by `load`.
        """
        raise NotImplementedError

    async def finished(
        self,
        lease: Lease,
        *,
        outcome: str,
        reason: str = "",
        step: int = 0,
        assemblies: Sequence[Assembly] = (),
        events: Sequence[Event] = (),
    ) -> None:
        """Record how the run ended and give the lease back; a later end replaces it.

        `assemblies` and `events` are those of `step` that no commit has taken.
        """
        raise NotImplementedError

    async def load(self, run_id: str) -> Recorded:
        """Return all that resume needs; `RunUnknown`."""
        raise NotImplementedError

    async def observation(self, run_id: str, step: int, call: int) -> Observation | None:
        """Return one observation with its whole text, `None` where the run has none there."""
        raise NotImplementedError

    async def notes(self, workspace: str) -> tuple[MemoryEntry, ...]:
        """Return the workspace's notes, oldest write first."""
        raise NotImplementedError

    async def remember(
        self,
        lease: Lease,
        step: int,
        call: int,
        *,
        workspace: str,
        key: str,
        value: str,
        source: str = "",
        limits: MemoryLimits | None = None,
        mode: MemoryMode = "on",
    ) -> MemoryWrite:
        """Write a note as the agent of the run, attributed to it, with its events.

        Raises `MemoryRefused` (its message is for the model, its event is in the trace) for a
        bad key, a pinned note, full pins, the run's quota, or a mode other than "on". The same
        (run, step, call) again gives the first answer again.
        """
        raise NotImplementedError

    async def forget(self, lease: Lease, step: int, call: int, *, workspace: str, key: str) -> bool:
        """Delete a note as the agent; False where there is none, `MemoryRefused` if pinned."""
        raise NotImplementedError
