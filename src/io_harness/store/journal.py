"""The awaitable side of a store: what a run writes as it goes, and reads to go on.

Every method is acknowledged after COMMIT and never blocks the event loop. A commit that is
repeated (the same run, step and call) is acknowledged and not stored twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from io_harness.errors import MemoryRefused
from io_harness.memory import MemoryLimits, MemoryMode
from io_harness.store import commits, leases, notes, reading
from io_harness.store import events as happened
from io_harness.store.awaited import Deliveries
from io_harness.store.base import Backend, T, Transaction
from io_harness.store.checks import (
    check_call,
    check_completed,
    check_count,
    check_observations,
    check_run,
    check_ttl,
)
from io_harness.store.leases import LEASE_SECONDS
from io_harness.store.notes import Redactor
from io_harness.store.records import (
    Assembly,
    Event,
    Lease,
    ProviderCall,
    Recorded,
    Refresh,
    RunRecord,
    now,
)
from io_harness.store.versions import Versions
from io_harness.store.workspaces import WorkspaceLike, workspace_name
from io_harness.types import (
    JSON,
    Completion,
    CompletionRequest,
    MemoryEntry,
    MemoryWrite,
    Observation,
)

_SMALL = 512
"""Bytes that an operation without long texts is taken for."""


class Journal:
    """What the driver of a run calls; `Store.journal` gives it."""

    def __init__(self, backend: Backend, *, redact: Redactor | None = None) -> None:
        self._backend = backend
        self._redact = redact
        self._deliveries = Deliveries()
        self._versions = Versions()

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
        started = now()
        run_id = leases.new_run_id() if run_id is None else run_id
        check_ttl(ttl)
        run = RunRecord(
            run_id=run_id,
            goal=goal,
            workspace=workspace,
            contract=contract,
            provider=provider,
            model=model,
            policy=policy,
            started=started,
            parent=parent,
        )
        check_run(run)
        size = len(goal) + len(contract) + len(policy)
        return await self._leased(lambda tx: leases.begin(tx, run, ttl), size)

    async def acquire(self, run_id: str, *, ttl: float = LEASE_SECONDS) -> Lease:
        """Take the lease of a run; `RunLeased` while another holds it, `RunUnknown`."""
        check_ttl(ttl)

        def work(tx: Transaction) -> Lease:
            self._versions.forget()
            return leases.acquire(tx, run_id, ttl)

        return await self._leased(work)

    async def renew(self, lease: Lease, *, ttl: float = LEASE_SECONDS) -> Lease:
        """Hold the lease for `ttl` more seconds from now; `RunLeased` where it was lost."""
        check_ttl(ttl)
        return await self._write(lambda tx: leases.renew(tx, lease, ttl))

    async def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens where it was lost already."""
        await self._write(lambda tx: leases.release(tx, lease))

    async def attempted(self, lease: Lease, call: ProviderCall) -> None:
        """Record one attempt at an answer that failed (a success goes with `completed`)."""
        check_call(call)
        await self._write(lambda tx: happened.attempted(tx, leases.held(tx, lease), call))

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
        recalled_from: WorkspaceLike = "",
        events: Sequence[Event] = (),
        manifest: str | None = None,
        state: str | None = None,
    ) -> None:
        """Commit 1: the completion with its usage, the request it answers, and the assembly.

        The completion's usage is set against the last of `assemblies` (the others' requests
        overflowed). `recalled` are the notes in the request, `recalled_from` their workspace.
        """
        check_count("step", step, least=1)
        check_completed(completion, assemblies)
        if call is not None:
            check_call(call)
        done = commits.Completed(
            step=step,
            completion=completion,
            request=request,
            assemblies=assemblies,
            call=call,
            refreshes=refreshes,
            recalled=recalled,
            recalled_from=workspace_name(recalled_from) if recalled else "",
            events=events,
            manifest=manifest,
            state=state,
        )
        size = _SMALL + len(completion.text) + sum(len(made.text or "") for made in refreshes)
        await self._write(lambda tx: commits.completed(tx, self._versions, lease, done), size)

    async def call_started(
        self, lease: Lease, step: int, call: int, *, detail: Mapping[str, JSON] | None = None
    ) -> None:
        """Commit 2: an effectful call of the step's completion is about to start.

        `detail` is what resume needs to settle it (a write's path, its digests).
        """
        known = dict(detail or {})
        await self._write(lambda tx: commits.call_started(tx, lease, step, call, known))

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
        whole: bool = True,
    ) -> None:
        """Commit 3: the step's observations in ledger order, `call` filled in, and its events.

        Not `whole`: the run pauses inside the step and these calls are done; the step's last
        commit gives all its observations. `state` is the run's own JSON text (its stall tracker,
        say), given back by `load`.
        """
        check_count("step", step)
        check_observations(step, observations)
        done = commits.Stepped(
            step=step,
            observations=observations,
            events=events,
            refreshes=refreshes,
            manifest=manifest,
            state=state,
            whole=whole,
        )
        size = _SMALL + sum(len(seen.text) + len(seen.args) for seen in observations)
        await self._write(lambda tx: commits.stepped(tx, lease, done), size)

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
        check_count("step", step)

        def work(tx: Transaction) -> None:
            run = commits.finished(tx, lease, outcome, reason, now())
            if run is not None:
                happened.assembled(tx, self._versions, run, step, assemblies=assemblies)
                happened.events(tx, run, step, events)

        await self._write(work)

    async def load(self, run_id: str) -> Recorded:
        """Return all that resume needs; `RunUnknown`."""
        return await self._read(lambda tx: reading.load(tx, run_id))

    async def observation(self, run_id: str, step: int, call: int) -> Observation | None:
        """Return one observation with its whole text, `None` where the run has none there."""
        return await self._read(lambda tx: reading.observation(tx, run_id, step, call))

    async def notes(self, workspace: WorkspaceLike) -> tuple[MemoryEntry, ...]:
        """Return the workspace's notes, oldest write first."""
        name = workspace_name(workspace)
        return await self._read(lambda tx: notes.listed(tx, name))

    async def remember(
        self,
        lease: Lease,
        step: int,
        call: int,
        *,
        workspace: WorkspaceLike,
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
        check_count("step", step)
        check_count("call", call)
        note = notes.Note(
            workspace=workspace_name(workspace),
            key=key,
            value=value,
            run_id=lease.run_id,
            step=step,
            source=source,
            limits=limits or MemoryLimits(),
            now=now(),
        ).redacted(self._redact)
        answer = await self._write(lambda tx: notes.remember(tx, lease, note, call, mode))
        if isinstance(answer, MemoryRefused):
            raise answer
        return answer

    async def forget(
        self, lease: Lease, step: int, call: int, *, workspace: WorkspaceLike, key: str
    ) -> bool:
        """Delete a note as the agent; False where there is none, `MemoryRefused` where it stays."""
        name = workspace_name(workspace)
        return await self._write(
            lambda tx: notes.forget(tx, lease, step, call, workspace=name, key=key), erases=True
        )

    async def _write(
        self, work: Callable[[Transaction], T], size: int = _SMALL, *, erases: bool = False
    ) -> T:
        return await self._deliveries.awaited(self._backend.write(work, size=size, erases=erases))

    async def _leased(self, work: Callable[[Transaction], Lease], size: int = _SMALL) -> Lease:
        def give_back(lease: Lease) -> None:
            self._backend.write(lambda tx: leases.release(tx, lease), size=_SMALL)

        return await self._deliveries.kept(self._backend.write(work, size=size), give_back)

    async def _read(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.to_thread(self._backend.read, work)
