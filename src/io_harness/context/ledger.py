"""The observations of one run, in order, append-only."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace

from io_harness.errors import LedgerError
from io_harness.types import Observation, ObsKind, exact

from . import render

MAX_NUMBER = 1_000_000_000
_SAID = -1
_OPTIONAL = ("target", "scope", "key", "digest")
_TEXTS = (*_OPTIONAL, "text", "args")


def _number(name: str, value: object, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise LedgerError(f"{name} must be a whole number, got {value!r}")
    if not least <= value <= MAX_NUMBER:
        raise LedgerError(f"{name} must be from {least} to {MAX_NUMBER:,}, got {value}")
    return value


def _text(name: str, value: object, *, optional: bool = False) -> None:
    if not isinstance(value, str) and not (optional and value is None):
        raise LedgerError(f"{name} must be text, got {type(value).__name__}")


def _range(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, tuple) or len(value) != 2:
        raise LedgerError(f"lines must be a pair (first, last), got {value!r}")
    first = _number("lines[0]", value[0], 1)
    if _number("lines[1]", value[1], 0) < first - 1:
        raise LedgerError(f"lines must not end before they start, got {value!r}")


def checked(observation: Observation) -> Observation:
    """The observation as a ledger takes it; raises `LedgerError` for a field that cannot be."""
    if not isinstance(observation, Observation):
        raise LedgerError(f"observation must be an Observation, got {type(observation).__name__}")
    _number("step", observation.step, 0)
    if not isinstance(observation.kind, ObsKind):
        try:
            kind = ObsKind(observation.kind)
        except ValueError:
            known = ", ".join(ObsKind)
            raise LedgerError(f"kind {observation.kind!r} is unknown; use one of {known}") from None
        observation = replace(observation, kind=kind)
    odd = False
    for name in _TEXTS:
        value = getattr(observation, name)
        if type(value) is not str:
            _text(name, value, optional=name in _OPTIONAL)
            odd = odd or value is not None
    _range(observation.lines)
    if observation.total_lines is not None:
        _number("total_lines", observation.total_lines, 0)
    if not isinstance(observation.paths, tuple) or not all(
        isinstance(path, str) for path in observation.paths
    ):
        raise LedgerError(f"paths must be a tuple of text, got {observation.paths!r}")
    if observation.call is not None:
        _number("call", observation.call, _SAID)
    if odd or any(type(path) is not str for path in observation.paths):
        return _plain(observation)
    return observation


def _plain(observation: Observation) -> Observation:
    """The same with the texts that values of subclasses of `str` hold."""
    target, scope, key, digest = (
        None if text is None else exact(text)
        for text in (observation.target, observation.scope, observation.key, observation.digest)
    )
    return replace(
        observation,
        target=target,
        scope=scope,
        key=key,
        digest=digest,
        text=exact(observation.text),
        args=exact(observation.args),
        paths=tuple(map(exact, observation.paths)),
    )


def _with_call(observation: Observation, call: int) -> Observation:
    return observation if observation.call is not None else replace(observation, call=call)


class Ledger:
    """Observations in the order they were made; belongs to one thread at a time.

    `pushed(position)` is an observation as it was pushed, its call perhaps `None`, and
    `call(position)` is its call. `count()` is their number.
    """

    __slots__ = ("_calls", "_free", "_observations", "_step", "_taken", "call", "count", "pushed")

    def __init__(self) -> None:
        self._observations: list[Observation] = []
        # Beside the caller's own objects: a copy of each would cost more than all the rest.
        self._calls = array("i")
        self.pushed: Callable[[int], Observation] = self._observations.__getitem__
        self.call: Callable[[int], int] = self._calls.__getitem__
        self.count: Callable[[], int] = self._observations.__len__
        self._step = 0
        self._free = 0
        self._taken: set[int] = set()

    def push(self, observation: Observation) -> int:
        """Append an observation and return its position, counted from 0.

        Raises `LedgerError` for a field that cannot be, a step that goes back, or a (step, call)
        that is taken; the ledger is unchanged then.
        """
        observation = checked(observation)
        if observation.step < self._step:
            raise LedgerError(
                f"step goes back from {self._step} to {observation.step}; "
                "push observations in step order"
            )
        if observation.step > self._step:
            self._step = observation.step
            self._free = 0
            self._taken = set()
        self._calls.append(self._claim(observation))
        self._observations.append(observation)
        return self.count() - 1

    def _claim(self, observation: Observation) -> int:
        """The observation's call from now on: the one it names, or the next free one."""
        call = observation.call
        if call is None:
            call = self._free
        elif call in self._taken or 0 <= call < self._free:
            raise LedgerError(
                f"step {observation.step} call {call} is already in the ledger; "
                "leave call out to take the next free one"
            )
        self._taken.add(call)
        while self._free in self._taken:
            self._taken.remove(self._free)
            self._free += 1
        return call

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[Observation]:
        return map(_with_call, self._observations, self._calls)

    def __getitem__(self, position: int) -> Observation:
        if not isinstance(position, int):
            raise LedgerError(f"position must be a whole number, got {position!r}")
        return _with_call(self._observations[position], self._calls[position])

    def full_text(self) -> str:
        """Everything, uncut: each observation's header and its original text, in order."""
        return "".join(map(render.full, self._observations, self._calls))
