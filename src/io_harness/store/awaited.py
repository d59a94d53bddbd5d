"""Futures of the writer's thread for an event loop, which is woken once a commit, not once each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from weakref import WeakKeyDictionary

from io_harness.errors import HarnessError
from io_harness.store.base import T


class Deliveries:
    """What other threads have done for those who await it, each on its own event loop."""

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Post] = WeakKeyDictionary()

    def awaited(self, done: Future[T]) -> asyncio.Future[T]:
        """What the running loop can await; cancelled, it cancels `done` where that can be."""
        loop = asyncio.get_running_loop()
        post = self._loops.get(loop)
        if post is None:
            post = self._loops[loop] = _Post()
        waiting: asyncio.Future[T] = loop.create_future()
        waiting.add_done_callback(partial(_give_up, done))
        done.add_done_callback(partial(post.arrived, waiting))
        return waiting

    async def kept(self, done: Future[T], give_back: Callable[[T], None]) -> T:
        """Wait for what must not be lost: given back where nobody waits any more when it comes."""
        try:
            return await self.awaited(done)
        except asyncio.CancelledError:
            done.add_done_callback(partial(_return, give_back))
            raise


class _Post:
    """What is done and not told yet, to one loop; appended to by other threads."""

    def __init__(self) -> None:
        self._letters: deque[Callable[[], None]] = deque()
        self._called = False

    def arrived(self, waiting: asyncio.Future[T], done: Future[T]) -> None:
        self._letters.append(partial(_tell, waiting, done))
        # After appending: a delivery under way takes the flag down first and then looks.
        if not self._called:
            self._called = True
            try:
                waiting.get_loop().call_soon_threadsafe(self._deliver)
            except RuntimeError:  # the loop is closed, and nobody waits any more
                self._letters.clear()

    def _deliver(self) -> None:
        self._called = False
        while self._letters:
            self._letters.popleft()()


def _give_up(done: Future[T], waiting: asyncio.Future[T]) -> None:
    if waiting.cancelled():
        done.cancel()


def _return(give_back: Callable[[T], None], done: Future[T]) -> None:
    if not done.cancelled() and done.exception() is None:
        with suppress(HarnessError):  # where even that cannot be done, its time runs out
            give_back(done.result())


def _tell(waiting: asyncio.Future[T], done: Future[T]) -> None:
    if waiting.done():
        return
    if done.cancelled():
        waiting.cancel()
        return
    error = done.exception()
    if error is None:
        waiting.set_result(done.result())
    else:
        waiting.set_exception(error)
