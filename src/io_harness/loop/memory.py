"""What tools see of the run that they work for: its trace, and its workspace's notes."""

from __future__ import annotations

from contextvars import ContextVar

from io_harness.events import MemoryWritten
from io_harness.loop.state import Run
from io_harness.types import MemoryWrite, Observation, ObsKind

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
            source=_source(run),
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
    """A run's own trace, as `show` reads it; the run is given once it is made."""

    run: Run

    async def observation(self, step: int, call: int) -> Observation | None:
        """Return one observation with its whole text."""
        if not 0 < step <= self.run.step:
            return None
        return await self.run.journal.observation(self.run.run_id, step, call)

    def is_changed(self, observation: Observation) -> bool:
        """Return whether a write or a refresh told of a change after an observation."""
        if observation.kind in (ObsKind.READ, ObsKind.WRITE):
            paths: tuple[str, ...] = (observation.target or "",)
        else:
            paths = observation.paths if observation.kind is ObsKind.GREP else ()
        at = (observation.step, observation.call or 0)
        return any(
            change.at > at and (change.digest is None or change.digest != observation.digest)
            for path in paths
            if (change := self.run.changes.get(path)) is not None
        )


def _source(run: Run) -> str:
    """Name what the model had in view when it wrote: the newest step's results first, each once.

    Text from a file stays in view for steps: what was done in between does not wash it clean.
    """
    seen = [o for o in run.ledger if (o.step, o.call) in run.in_view and _from_outside(run, o)]
    seen.sort(key=lambda o: -o.step)
    return ", ".join(dict.fromkeys(f"{o.kind.value} {o.target}" for o in seen))[:500]


def _from_outside(run: Run, seen: Observation) -> bool:
    """Whether an observation names what it shows, and its text may be another's than the run's."""
    call = run.calls.get((seen.step, seen.call or 0))
    tool = None if call is None else run.toolbox.get(call.name)
    return bool(seen.target) and (tool is None or not tool.trusted)
