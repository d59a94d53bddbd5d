"""How many tokens one request's section may have, and what a provider charges for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from io_harness.errors import ConfigError

from .checks import shown, whole

CHARS_PER_TOKEN = 4
FLOOR_TOKENS = 2_000
FLOOR_CAP_CHARS = 2_000
MIN_CEILING_TOKENS = 64
MIN_STUB_TOKENS = 64
# What is kept for the line that counts what is not even named.
COLLAPSED_CHARS = 16 * CHARS_PER_TOKEN


def exact(number: float) -> Fraction:
    """The decimal the caller wrote, without the binary error of a float: 0.29 is 29/100."""
    return Fraction(Decimal(repr(float(number))))


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} must be a number, got {shown(value)}")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ConfigError(f"{name} must be finite, got {shown(value)}")
    return value


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """A ceiling in estimated tokens and a share of the tokens still unspent.

    Half is the default share because the estimate runs low, so that it leaves margin for drift.
    Raises `ConfigError`, a `ValueError`, where `max_tokens` is below 1 or `share` is not in (0, 1].
    """

    max_tokens: int = 24_000
    share: float = 0.5

    def __post_init__(self) -> None:
        whole("max_tokens", self.max_tokens, 1, unit="tokens")
        if not 0 < _number("share", self.share) <= 1:
            raise ConfigError(f"share must be greater than 0 and at most 1, got {self.share!r}")

    def effective_tokens(self, remaining: int | None) -> int:
        """The ceiling for one request, in tokens, when `remaining` tokens are unspent.

        `None` is no limit on spending. A share below 2,000 tokens is lifted to 2,000, but
        never above `max_tokens`. A negative remainder counts as 0.
        """
        if remaining is None:
            return self.max_tokens
        whole("remaining", remaining, unit="tokens")
        shared = math.floor(max(remaining, 0) * exact(self.share))
        return min(self.max_tokens, max(FLOOR_TOKENS, shared))


@dataclass(frozen=True, slots=True)
class CachePrice:
    """What a provider charges for a cached and a new input token, as multiples of its base price.

    Where `read` is below `write` a section is rewritten only when that pays. Raises
    `ConfigError`, a `ValueError`, for a price that is negative or not finite.
    """

    read: float = 1.0
    write: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("read", self.read), ("write", self.write)):
            if _number(name, value) < 0:
                raise ConfigError(f"{name} must not be negative, got {value!r}")

    @property
    def rewards_a_stable_prefix(self) -> bool:
        """Whether a request that repeats its prefix costs less than one that does not."""
        return self.read < self.write


NO_CACHE = CachePrice()


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One request's ceiling of `tokens`, and what its parts may have, in code points.

    `chars` is for all of the section, `cap` for an observation that enters, `block` for the
    memory block, and `stubs` is kept for stubs once not everything is carried.
    """

    tokens: int
    chars: int
    cap: int
    block: int
    stubs: int


def ceiling_of(tokens: int) -> Ceiling:
    """A ceiling and its parts; raises `ConfigError` where it is no whole number from 64 on."""
    whole("budget_tokens", tokens, MIN_CEILING_TOKENS, unit="tokens")
    return Ceiling(
        tokens=tokens,
        chars=tokens * CHARS_PER_TOKEN,
        cap=entry_cap_chars(tokens),
        block=tokens // 4 * CHARS_PER_TOKEN,
        stubs=min(max(tokens // 8, MIN_STUB_TOKENS), tokens // 4) * CHARS_PER_TOKEN,
    )


def entry_cap_chars(effective_tokens: int) -> int:
    """The most characters one observation may have when it enters: an eighth, at least 2,000."""
    whole("effective_tokens", effective_tokens, unit="tokens")
    return max(FLOOR_CAP_CHARS, effective_tokens * CHARS_PER_TOKEN // 8)
