"""What another thread has done reaches those who await it, however the loop is woken."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from io_harness.store.awaited import Deliveries


def test_nobody_is_forgotten_while_a_delivery_is_under_way() -> None:
    async def all_answers() -> list[int]:
        deliveries = Deliveries()
        promised: list[Future[int]] = [Future() for _ in range(20_000)]
        waiting = [deliveries.awaited(future) for future in promised]

        def answer(start: int) -> None:
            for number in range(start, len(promised), 4):
                promised[number].set_result(number)

        threads = [
            threading.Thread(target=answer, args=(start,), daemon=True) for start in range(4)
        ]
        for thread in threads:
            thread.start()
        answers = await asyncio.wait_for(asyncio.gather(*waiting), timeout=60)
        for thread in threads:
            thread.join()
        return answers

    assert asyncio.run(all_answers()) == list(range(20_000))


def test_one_that_is_done_already_is_told_too() -> None:
    async def answer() -> str:
        done: Future[str] = Future()
        done.set_result("at once")
        return await Deliveries().awaited(done)

    assert asyncio.run(answer()) == "at once"


def test_an_error_reaches_its_caller() -> None:
    async def fail() -> None:
        failing: Future[None] = Future()
        waiting = Deliveries().awaited(failing)
        threading.Thread(target=failing.set_exception, args=(OSError("no room"),)).start()
        await waiting

    with pytest.raises(OSError, match="no room"):
        asyncio.run(fail())


@pytest.mark.parametrize("begun", [False, True])
def test_who_gives_up_takes_back_what_has_not_begun(begun: bool) -> None:
    async def give_up() -> Future[int]:
        slow: Future[int] = Future()
        if begun:
            slow.set_running_or_notify_cancel()
        waiting = Deliveries().awaited(slow)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if begun:
            slow.set_result(1)
        return slow

    assert asyncio.run(give_up()).cancelled() is not begun


def test_an_answer_for_a_loop_that_has_ended_disturbs_nobody() -> None:
    late: Future[int] = Future()
    deliveries = Deliveries()

    async def leave() -> None:
        deliveries.awaited(late)
        await asyncio.sleep(0)

    asyncio.run(leave())
    late.set_result(1)

    async def next_one() -> int:
        done: Future[int] = Future()
        waiting = deliveries.awaited(done)
        threading.Timer(0.01, done.set_result, args=(2,)).start()
        return await waiting

    assert asyncio.run(next_one()) == 2
