"""When a run tries again, and when it has stopped getting anywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from io_harness.errors import ConfigError


def whole(name: str, value: object, *, least: int) -> None:
    """Raise `ConfigError` unless `value` is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} must be a whole number from {least:,}, got {value!r}")


def seconds(name: str, value: object) -> None:
    """Raise `ConfigError` unless `value` is a positive, finite number of seconds."""
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if not number or not 0 < float(str(value)) < math.inf:
        raise ConfigError(f"{name} must be a positive number of seconds, got {value!r}")


def of_kind(name: str, value: object, kind: type) -> None:
    """Raise `ConfigError` unless `value` is one of a kind, naming what to give."""
    if not isinstance(value, kind):
        raise ConfigError(f"{name} must be a {kind.__name__}, got {value!r}")


def text(name: str, value: object) -> None:
    """Raise `ConfigError` unless `value` is text with something in it, and without NUL."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(f"{name} must be a text that is not empty, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how patiently a provider is asked again after a retryable failure.

    `attempts` counts the first one. The wait doubles from `first_delay` to `max_delay` seconds;
    `deadline` is how many seconds one answer may take.
    """

    attempts: int = 5
    first_delay: float = 1.0
    max_delay: float = 60.0
    deadline: float = 600.0

    def __post_init__(self) -> None:
        whole("Retries.attempts", self.attempts, least=1)
        for name in ("first_delay", "max_delay", "deadline"):
            seconds(f"Retries.{name}", getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class StallLimits:
    """What counts as getting nowhere: the same call in a row, or steps that show nothing new."""

    repeats: int = 3
    idle_steps: int = 3

    def __post_init__(self) -> None:
        whole("StallLimits.repeats", self.repeats, least=2)
        whole("StallLimits.idle_steps", self.idle_steps, least=1)
