"""What tools see of the run that they work for: its trace, and its workspace's notes."""

from __future__ import annotations

from contextvars import ContextVar

from io_harness.events import MemoryWritten
from io_harness.loop.state import Run
from io_harness.store import Journal
from io_harness.types import MemoryWrite, Observation

place: ContextVar[tuple[int, int]] = ContextVar("place")
"""The step and call that a tool is working for."""


class RunMemory:
    """Writes notes as the agent of one run; the run is given once it is made."""

    run: Run

    async def remember(self, key: str, value: str) -> MemoryWrite:
        """Write a note; raises `MemoryRefused`, whose message is for the model."""
        run, (step, call) = self.run, place.get()
        written = await run.journal.remember(
            run.lease,
            step,
            call,
            workspace=run.workspace_key,
            key=key,
            value=value,
            source=_source(run, step),
            limits=run.contract.memory_limits,
            mode=run.contract.memory_mode,
        )
        run.tell(
            MemoryWritten(step=step, key=key, evicted=written.evicted, truncated=written.truncated)
        )
        return written

    async def forget(self, key: str) -> bool:
        """Delete a note; False where there was none."""
        run, (step, call) = self.run, place.get()
        return await run.journal.forget(run.lease, step, call, workspace=run.workspace_key, key=key)


class RunTrace:
    """A run's own trace, as `show` reads it."""

    def __init__(self, journal: Journal, run_id: str) -> None:
        self._journal, self._run_id = journal, run_id

    async def observation(self, step: int, call: int) -> Observation | None:
        """Return one observation with its whole text."""
        return await self._journal.observation(self._run_id, step, call)


def _source(run: Run, step: int) -> str:
    """Name what the model had taken in when it wrote: the targets of the step before."""
    before = [o for o in run.ledger if o.step == step - 1 and o.target]
    return ", ".join(f"{o.kind.value} {o.target}" for o in before)[:500]
