"""What may enter a store: checked where it is given, before it is queued."""

from __future__ import annotations

import math
from collections.abc import Iterable

from io_harness.errors import ConfigError
from io_harness.store.codec import MAX_INTEGER
from io_harness.store.records import Assembly, ProviderCall, RunRecord
from io_harness.types import Completion, Observation, Usage

MOST_LEASE_SECONDS = 300.0
MOST_WAIT_SECONDS = 1e9
MOST_ID_CHARS = 200


def check_count(name: str, value: object, *, least: int = 0) -> None:
    """Raise `ConfigError` unless `value` is a whole number that a column can hold."""
    if type(value) is not int or not least <= value <= MAX_INTEGER:
        raise ConfigError(f"{name} must be a whole number from {least} to 2**63 - 1, not {value!r}")


def check_text(name: str, value: object) -> None:
    """Raise `ConfigError` unless `value` is text."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be text, not {type(value).__name__}")


def check_run_id(run_id: str) -> None:
    """Raise `ConfigError` unless `run_id` is text of 1 to 200 characters."""
    if not isinstance(run_id, str) or not 1 <= len(run_id) <= MOST_ID_CHARS:
        raise ConfigError(f"a run id has 1 to {MOST_ID_CHARS} characters, unlike {run_id!r:.80}")


def check_run(run: RunRecord) -> None:
    """Raise `ConfigError` unless all that a run is recorded with is text."""
    check_run_id(run.run_id)
    for name in ("goal", "workspace", "contract", "provider", "model", "policy"):
        check_text(name, getattr(run, name))


def check_completed(completion: Completion, assemblies: Iterable[Assembly]) -> None:
    """Raise `ConfigError` for what is no answer, or no record of the requests for it."""
    if not isinstance(completion, Completion):
        raise ConfigError(f"completion must be a Completion, not {type(completion).__name__}")
    check_usage(completion.usage)
    for made in assemblies:
        if not isinstance(made, Assembly):
            raise ConfigError(
                f"each of assemblies must be an Assembly, not {type(made).__name__}: assembly_of "
                "of io_harness.store makes one of what `assemble` gave"
            )


def check_ttl(ttl: float) -> None:
    """Raise `ConfigError` unless a lease of `ttl` seconds can be had."""
    if not 0 < ttl <= MOST_LEASE_SECONDS:
        raise ConfigError(f"a lease lasts up to {MOST_LEASE_SECONDS:g} seconds, not {ttl!r}")


def check_timeout(timeout: float) -> None:
    """Raise `ConfigError` unless `timeout` is a number of seconds from 0."""
    number: object = timeout
    if type(number) not in (int, float) or not 0 <= timeout <= MOST_WAIT_SECONDS:
        raise ConfigError(
            f"timeout must be a number of seconds from 0 to {MOST_WAIT_SECONDS:,.0f}, "
            f"not {number!r:.80}"
        )


def check_usage(usage: Usage | None) -> None:
    """Raise `ConfigError` for counts that are not whole numbers from 0; `None` may be any."""
    if usage is not None:
        for name in ("input", "output", "cache_read", "cache_write"):
            value: object = getattr(usage, name)
            if value is not None:
                check_count(f"Usage.{name}", value)


def check_call(call: ProviderCall) -> None:
    """Raise `ConfigError` for an attempt that no column can hold."""
    check_count("step", call.step)
    check_count("attempt", call.attempt)
    check_usage(call.usage)
    if not (math.isfinite(call.latency) and call.latency >= 0):
        raise ConfigError(f"latency must be a number of seconds from 0, not {call.latency!r}")


def check_observations(step: int, observations: Iterable[Observation]) -> None:
    """Raise `ConfigError` unless all are of `step` and have a place in it."""
    for seen in observations:
        check_count("Observation.call", seen.call, least=-1)
        if seen.step != step:
            raise ConfigError(f"an observation of step {seen.step} cannot go with step {step}")
