"""Calling functions of others: whatever they raise is a failure of theirs, and never ends a run."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def call(function: Callable[P, object], /, *args: P.args, **options: P.kwargs) -> object:
    """Return what a function gives, once it is there; one that is not async runs in a thread.

    Raises `RuntimeError` for what would end the program or cancel the run.
    """
    if inspect.iscoroutinefunction(function):
        given: object = function(*args, **options)
    else:
        given = await in_thread(function, *args, **options)
    if not inspect.isawaitable(given):
        return given
    try:
        return await given
    except SystemExit as error:
        raise _failure(error) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise _failure(error) from error


async def in_thread(function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
    """Return what a function gives in a thread of its own, which nothing waits for at its end.

    A function that never returns would else keep the event loop, and the program, from ending.
    Raises `RuntimeError` for what would end the program, and for a `StopIteration`, which would
    never reach whoever waits for a thread.
    """
    loop = asyncio.get_running_loop()
    given: asyncio.Future[T] = loop.create_future()
    context = copy_context()
    called = partial(function, *args, **options)

    def tell(set_it: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if given.done() else set_it())

    def work() -> None:
        try:
            result = context.run(_guarded, called)
        except BaseException as error:
            tell(partial(given.set_exception, error))
        else:
            tell(partial(given.set_result, result))

    Thread(target=work, name="io-harness-call", daemon=True).start()
    return await given


def _guarded(function: Callable[[], T]) -> T:
    try:
        return function()
    except (StopIteration, SystemExit) as error:
        raise _failure(error) from error


def _failure(error: BaseException) -> RuntimeError:
    said = f": {error}" if str(error) else ""
    return RuntimeError(f"it raised {type(error).__name__}{said}")
