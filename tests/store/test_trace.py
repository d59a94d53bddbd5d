"""What a run's driver writes comes back, all of it, exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from io_harness.errors import ConfigError, RunLeased, RunUnknown
from io_harness.store import Event, PieceTrace, ProviderCall, Refresh, Store
from io_harness.types import Usage
from tests.store.runs import (
    CALLS,
    answer,
    begin,
    completion,
    observations,
    request,
    take_step,
)

NASTY = "a\0b \udc81 \ud83d\ude00 é\u0301 \r\n\u2028" + "x" * 5_000


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = Store.memory() if request.param == "memory" else Store.open(tmp_path / "runs.db")
    with made:
        yield made


def test_a_step_comes_back_whole(store: Store) -> None:
    async def drive() -> str:
        lease = await begin(store.journal)
        for step in range(1, 70):
            await take_step(store.journal, lease, step, f"{step}{NASTY}")
        await store.journal.finished(lease, outcome="success", reason="done")
        return lease.run_id

    run_id = asyncio.run(drive())
    steps = store.steps(run_id)
    assert [step.step for step in steps] == list(range(1, 70))
    for number, step in enumerate(steps, start=1):
        assert step.request == request(number, f"{number}{NASTY}")
        assert step.observations == observations(number, f"{number}{NASTY}")
        assert step.completion == completion()
        assert step.calls == CALLS
        assert step.committed
        assert step.result == f"Reading on.{number}{NASTY}not JSON"
    assert store.steps(run_id, step=40) == steps[39:40]
    run = store.run(run_id)
    assert (run.outcome, run.reason, run.model) == ("success", "done", "script-1")
    assert store.runs() == (run,)


def test_a_million_combining_marks_come_back(store: Store) -> None:
    text = "e" + "\u0301" * 1_000_000 + "\0\udc80"

    async def drive() -> None:
        lease = await begin(store.journal, "run")
        await take_step(store.journal, lease, 1, text)

    asyncio.run(drive())
    (step,) = store.steps("run")
    assert step.observations == observations(1, text)
    assert step.request == request(1, text)


def test_events_set_the_report_against_the_request_it_belongs_to(store: Store) -> None:
    async def drive() -> str:
        lease = await begin(store.journal)
        await answer(store.journal, lease, 1)
        await store.journal.stepped(
            lease, 1, observations(1), events=[Event(kind="stalled", detail={"times": 3})]
        )
        return lease.run_id

    run_id = asyncio.run(drive())
    first, second, third = store.context_events(run_id)
    assert (first.kind, first.est_request, first.reported) == ("assembled", 60, None)
    assert first.pieces == (PieceTrace(1, 0, "stub", "old", 9),)
    assert (second.est_section, second.est_request) == (20, 40)
    assert second.reported == Usage(120, 8, 100, None)
    assert second.detail == {"carried": 2}
    assert (third.kind, third.detail, third.sequence) == ("stalled", {"times": 3}, 2)
    drift = store.drift(run_id)
    assert (drift.requests, drift.estimated, drift.reported, drift.ratio) == (1, 40, 120, 3.0)


def test_a_repeated_commit_is_not_stored_twice(store: Store) -> None:
    async def drive() -> str:
        lease = await begin(store.journal)
        for _ in range(2):
            await answer(store.journal, lease, 1)
            await store.journal.call_started(lease, 1, 0, detail={"path": "a.txt"})
            await store.journal.stepped(lease, 1, observations(1), events=[Event(kind="replan")])
        for _ in range(2):
            await store.journal.finished(lease, outcome="success")
        return lease.run_id

    run_id = asyncio.run(drive())
    assert len(store.steps(run_id)) == 1
    assert [event.kind for event in store.context_events(run_id)] == [
        "assembled",
        "assembled",
        "replan",
    ]
    assert len(store.provider_calls(run_id)) == 1


def test_resume_finds_what_each_commit_left(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "run")
        refresh = Refresh(position=3, step=1, lines=(1, 2), total_lines=9, digest="d", text=NASTY)
        failed = Refresh(position=4, step=1, reason="gone")
        await store.journal.stepped(lease, 0, (), refreshes=[refresh, failed])
        fresh = await store.journal.load("run")
        assert (fresh.last_step, fresh.unfinished, fresh.manifest) == (0, None, None)
        assert fresh.last_request is None
        assert fresh.refreshes == (refresh, failed)

        await answer(store.journal, lease, 1)
        await store.journal.call_started(lease, 1, 1, detail={"path": NASTY})
        cut = await store.journal.load("run")
        assert cut.unfinished is not None
        assert cut.unfinished.completion == completion()
        (started,) = cut.unfinished.started
        assert (started.call, started.name, started.arguments) == (1, "read", "{broken")
        assert started.detail == {"path": NASTY}
        assert (cut.manifest, cut.state, cut.observations) == ('{"step":1}', None, ())

        await store.journal.stepped(lease, 1, observations(1), state="s")
        whole = await store.journal.load("run")
        assert (whole.unfinished, whole.state, whole.last_step) == (None, "s", 1)
        assert whole.observations == observations(1)
        assert whole.last_request == request(1)
        assert whole.calls == ((1, 0, CALLS[0]), (1, 1, CALLS[1]))
        failed_call = ProviderCall(step=2, attempt=1, kind="server", latency=0.1)
        await store.journal.attempted(lease, failed_call)
        assert (whole.attempts, (await store.journal.load("run")).attempts) == (0, 1)
        assert (whole.usages, whole.estimates) == ((Usage(120, 8, 100, None),), (40,))
        assert await store.journal.observation("run", 1, 0) == observations(1)[1]
        assert await store.journal.observation("run", 1, 7) is None

    asyncio.run(drive())


def test_a_pause_inside_a_step_keeps_what_was_done_of_it(store: Store) -> None:
    async def pause() -> None:
        lease = await begin(store.journal, "r")
        await answer(store.journal, lease, 1)
        await store.journal.stepped(
            lease, 1, observations(1)[:2], events=[Event(kind="approval")], whole=False
        )
        found = await store.journal.load("r")
        assert found.unfinished is not None
        assert found.observations == observations(1)[:2]
        await store.journal.stepped(lease, 1, observations(1))
        found = await store.journal.load("r")
        assert found.unfinished is None
        assert found.observations == observations(1)
        await store.journal.stepped(lease, 1, (), events=[Event(kind="late")], whole=False)

    asyncio.run(pause())
    assert [e.kind for e in store.context_events("r")].count("approval") == 1
    assert "late" not in [e.kind for e in store.context_events("r")]
    assert store.steps("r")[0].committed


def test_one_driver_at_a_time(store: Store) -> None:
    async def drive() -> None:
        first = await begin(store.journal, "run")
        with pytest.raises(RunLeased, match="is driven by"):
            await store.journal.acquire("run")
        await store.journal.release(first)
        second = await store.journal.acquire("run")
        with pytest.raises(RunLeased, match="given back or taken"):
            await answer(store.journal, first, 1)
        with pytest.raises(RunLeased):
            await store.journal.renew(first)
        assert store.steps("run") == ()
        longer = await store.journal.renew(second, ttl=60.0)
        assert longer.expires > second.expires
        with pytest.raises(RunLeased):
            store.delete_run("run")

    asyncio.run(drive())


def test_a_lease_that_ran_out_can_be_taken_and_till_then_still_holds(store: Store) -> None:
    async def drive() -> None:
        first = await begin(store.journal, "run")
        first = await store.journal.renew(first, ttl=0.01)
        await asyncio.sleep(0.02)
        await answer(store.journal, first, 1)
        second = await store.journal.acquire("run")
        with pytest.raises(RunLeased):
            await store.journal.stepped(first, 1, observations(1))
        await store.journal.stepped(second, 1, observations(1))

    asyncio.run(drive())


def test_deleting_a_run_leaves_nothing_of_it_and_all_of_others(store: Store) -> None:
    async def drive() -> None:
        for run_id in ("one", "two"):
            lease = await begin(store.journal, run_id)
            await take_step(store.journal, lease, 1, "shared " * 100)
            await store.journal.finished(lease, outcome="success")

    asyncio.run(drive())
    before = store.steps("two")
    store.delete_run("one")
    with pytest.raises(RunUnknown, match="'one'"):
        store.steps("one")
    assert store.steps("two") == before
    store.delete_run("two")
    assert store.runs() == ()
    left = store._backend.read(lambda tx: tx.execute("SELECT count(*) FROM texts"))
    assert left == [(0,)]


def test_a_deleted_run_is_in_no_file_while_the_store_is_open(tmp_path: Path) -> None:
    def files_with_it() -> list[str]:
        return [file.name for file in tmp_path.iterdir() if b"very-secret" in file.read_bytes()]

    async def drive(store: Store) -> None:
        lease = await begin(store.journal, "run")
        await take_step(store.journal, lease, 1, "very-secret " * 50)
        await store.journal.finished(lease, outcome="success")

    with Store.open(tmp_path / "runs.db") as store:
        asyncio.run(drive(store))
        assert files_with_it() == ["runs.db-wal"]
        store.delete_run("run")
        assert files_with_it() == []


def test_what_no_column_can_hold_is_refused_where_it_is_given(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "run")
        with pytest.raises(ConfigError, match="in the store already"):
            await begin(store.journal, "run")
        for step in (-1, 2**63, 0, True):
            with pytest.raises(ConfigError, match="step must be"):
                await store.journal.completed(lease, step, completion(), request=request(1))
        for usage in (Usage(-1), Usage(output=float("nan")), Usage(cache_read=2**63)):  # type: ignore[arg-type]
            failed = ProviderCall(step=1, attempt=1, kind="server", latency=0.1, usage=usage)
            with pytest.raises(ConfigError, match="Usage"):
                await store.journal.attempted(lease, failed)
        with pytest.raises(ConfigError, match="latency"):
            await store.journal.attempted(
                lease, ProviderCall(step=1, attempt=1, kind="ok", latency=float("nan"))
            )
        with pytest.raises(ConfigError, match="step 1"):
            await store.journal.stepped(lease, 2, observations(1))
        with pytest.raises(RunUnknown):
            await store.journal.acquire("other")

    asyncio.run(drive())
    assert store.provider_calls("run") == ()


def test_usage_that_was_not_reported_is_none_and_not_zero(store: Store) -> None:
    async def drive() -> None:
        lease = await begin(store.journal, "run")
        for attempt, usage in enumerate((None, Usage(0, 0, 0, 0), Usage(10**12)), start=1):
            call = ProviderCall(step=1, attempt=attempt, kind="server", latency=0.1, usage=usage)
            await store.journal.attempted(lease, call)

    asyncio.run(drive())
    none, zero, much = store.provider_calls("run")
    assert (none.usage, zero.usage, much.usage) == (None, Usage(0, 0, 0, 0), Usage(10**12))
