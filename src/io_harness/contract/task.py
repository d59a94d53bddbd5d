"""The contract of one run: a frozen value, and `with_` methods that give a changed one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fsencode, fspath
from typing import get_args

from io_harness.context.budget import MIN_CEILING_TOKENS, CachePrice, ContextBudget
from io_harness.contract.limits import Retries, StallLimits, of_kind, seconds, text, whole
from io_harness.contract.verification import Verification
from io_harness.errors import ConfigError
from io_harness.memory import MemoryLimits, MemoryMode

_KINDS: dict[str, type] = {
    "verification": Verification,
    "context_budget": ContextBudget,
    "memory_limits": MemoryLimits,
    "retries": Retries,
    "stall": StallLimits,
    "calibration": bool,
}


def _has_bytes(word: object) -> bool:
    """Whether the environment of a process can hold a word."""
    try:
        return isinstance(word, str) and b"\0" not in fsencode(word)
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, slots=True)
class TaskContract:
    """What to do in which directory, how it is known to be done, and within which limits.

    Make one with `TaskContract.workspace(goal, root, verify)`. Goal and constraints are never
    elided. Raises `ConfigError` for a limit that cannot be.
    """

    goal: str
    root: str
    verification: Verification = field(default_factory=Verification.none)
    constraints: tuple[str, ...] = ()
    token_budget: int | None = None
    time_budget: float | None = None
    max_steps: int = 50
    context_budget: ContextBudget = field(default_factory=ContextBudget)
    output_reserve: int = 8_192
    cache_price: CachePrice | None = None
    memory_limits: MemoryLimits = field(default_factory=MemoryLimits)
    memory_mode: MemoryMode = "on"
    workspace_id: str | None = None
    retries: Retries = field(default_factory=Retries)
    stall: StallLimits = field(default_factory=StallLimits)
    command_env: tuple[tuple[str, str], ...] = ()
    calibration: bool = False

    def __post_init__(self) -> None:
        of_kind("goal", self.goal, str)
        if not self.goal.strip():
            raise ConfigError("goal is empty: say what is to be done")
        text("root", self.root)
        for name, kind in _KINDS.items():
            of_kind(name, getattr(self, name), kind)
        for constraint in self.constraints:
            text("each of the constraints", constraint)
        if self.token_budget is not None:
            whole("token_budget", self.token_budget, least=1)
        if self.time_budget is not None:
            seconds("time_budget", self.time_budget)
        whole("max_steps", self.max_steps, least=1)
        whole("context_budget.max_tokens", self.context_budget.max_tokens, least=MIN_CEILING_TOKENS)
        whole("output_reserve", self.output_reserve, least=1)
        if self.cache_price is not None:
            of_kind("cache_price", self.cache_price, CachePrice)
        if self.memory_mode not in get_args(MemoryMode):
            known = ", ".join(get_args(MemoryMode))
            raise ConfigError(f"memory_mode must be one of {known}, got {self.memory_mode!r}")
        if self.workspace_id is not None:
            text("workspace_id", self.workspace_id)
            text("workspace_id", self.workspace_id.removeprefix("id:"))
        for name, value in self.command_env:
            if not name or "=" in name or not (_has_bytes(name) and _has_bytes(value)):
                raise ConfigError(
                    f"command_env: {name!r}={value!r} cannot be an environment variable"
                )

    @classmethod
    def workspace(
        cls, goal: str, root: str | PathLike[str], verify: Verification | None = None
    ) -> TaskContract:
        """Work towards `goal` in the directory `root` until `verify` says that it is done."""
        where = fspath(root) if isinstance(root, PathLike) else root
        return cls(goal, where, Verification.none() if verify is None else verify)

    def with_verification(self, verify: Verification) -> TaskContract:
        """How it is known that the task is done."""
        return replace(self, verification=verify)

    def with_constraints(self, *constraints: str) -> TaskContract:
        """What the model must keep to, one text each; shown in every request."""
        return replace(self, constraints=constraints)

    def with_token_budget(self, tokens: int | None) -> TaskContract:
        """Input and output tokens of all requests together; `None` is no limit."""
        return replace(self, token_budget=tokens)

    def with_time_budget(self, seconds: float | None) -> TaskContract:
        """Seconds of driving the run; `None` is no limit."""
        return replace(self, time_budget=seconds)

    def with_max_steps(self, steps: int) -> TaskContract:
        """Answers of the model, at most."""
        return replace(self, max_steps=steps)

    def with_context_budget(self, budget: ContextBudget) -> TaskContract:
        """The ceiling of each request's section, at least 64 estimated tokens."""
        return replace(self, context_budget=budget)

    def with_output_reserve(self, tokens: int) -> TaskContract:
        """Tokens kept free for each answer, and the most it may have."""
        return replace(self, output_reserve=tokens)

    def with_cache_price(self, price: CachePrice) -> TaskContract:
        """What cached tokens cost here, instead of what the provider says."""
        return replace(self, cache_price=price)

    def with_memory_limits(self, limits: MemoryLimits) -> TaskContract:
        """The caps of the workspace's notes."""
        return replace(self, memory_limits=limits)

    def with_memory_mode(self, mode: MemoryMode) -> TaskContract:
        """Notes "on", "read-only" (shown, not written) or "off"."""
        return replace(self, memory_mode=mode)

    def with_workspace_id(self, workspace_id: str | None) -> TaskContract:
        """The name that notes are kept under, instead of the root's path."""
        return replace(self, workspace_id=workspace_id)

    def with_retries(self, retries: Retries) -> TaskContract:
        """How often and how patiently a provider is asked again."""
        return replace(self, retries=retries)

    def with_stall(self, limits: StallLimits) -> TaskContract:
        """What counts as getting nowhere."""
        return replace(self, stall=limits)

    def with_command_env(self, env: Mapping[str, str]) -> TaskContract:
        """Environment variables that commands see besides the few they always do."""
        return replace(self, command_env=tuple(sorted(env.items())))

    def with_calibration(self, on: bool = True) -> TaskContract:
        """Enforce the ceiling in the provider's tokens, by the ratio learned in this run."""
        return replace(self, calibration=on)
