"""What a tool is, and what a call is given: the seams between tools, run, store and policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from io_harness.errors import ConfigError, HarnessError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from io_harness.policy import Approver, Policy
    from io_harness.tools.outcome import ToolOutcome
    from io_harness.types import JSON, Act, MemoryWrite, Observation, ToolSpec
    from io_harness.workspace import Workspace


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def checked_name(name: object) -> str:
    """Return a tool's name; `ConfigError` for one that a vendor would refuse in every request."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ConfigError(
            f"a tool's name has 1 to 64 letters, digits, _ and -, got {name!r}: give another name"
        )
    return name


def check_tool(tool: object) -> None:
    """Raise `ConfigError` for what is no tool, such as a function without `@tool`."""
    wanted = ("spec", "effectful", "acts", "trusted", "plan")
    missing = [name for name in wanted if not hasattr(tool, name)]
    if missing:
        raise ConfigError(
            f"each of the tools must have {', '.join(wanted)}; {tool!r} lacks {missing[0]}: "
            "`@tool` makes one of a function"
        )


class ToolError(HarnessError):
    """A call that cannot be done; the message is told to the model, and the run goes on."""


class TraceReader(Protocol):
    """The run's own trace, as `show` sees it."""

    async def observation(self, step: int, call: int) -> Observation | None:
        """The observation with its original, whole text; None where there is none."""
        ...

    def is_changed(self, observation: Observation) -> bool:
        """Whether a later change of what it shows is known."""
        ...


class MemoryWriter(Protocol):
    """The durable notes of this workspace, as the agent writes them.

    The run stamps run and step, and keeps the quota and the memory mode: it refuses by raising
    a HarnessError or a ValueError whose message the model can act on.
    """

    async def remember(self, key: str, value: str) -> MemoryWrite:
        """Write a note; says which notes it pushed out and whether its value was cut."""
        ...

    async def forget(self, key: str) -> bool:
        """Delete a note; False where there was none."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may use. One for a run: `grants` holds what was approved for all of it.

    `command_env` is what the contract adds to the environment of commands.
    """

    workspace: Workspace
    policy: Policy
    approver: Approver | None = None
    grants: set[tuple[Act, str]] = field(default_factory=set)
    command_env: Mapping[str, str] = field(default_factory=dict)
    trace: TraceReader | None = None
    memory: MemoryWriter | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """An act that the policy must allow: its subject as given, and as it really is."""

    act: Act
    subject: str
    canonical: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the subject."""
        return (self.subject,) if self.canonical is None else (self.canonical, self.subject)

    @property
    def grant(self) -> tuple[Act, str]:
        """What an approval for the whole run would allow."""
        return self.act, self.names[0]


@dataclass(frozen=True, slots=True)
class Draft:
    """A workspace write that is ready: the file's digest once written, and the difference to show.

    `outcome` is what `perform` gives; it raises ToolError where the file is no longer what it
    was when the draft was made, and then writes nothing.
    """

    path: str
    digest: str
    diff: Callable[[], str]
    outcome: ToolOutcome
    perform: Callable[[], Awaitable[ToolOutcome]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call would do: the acts it needs, then the doing. Making one touches no content."""

    needs: tuple[Need, ...]
    perform: Callable[[], Awaitable[ToolOutcome]]


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What a workspace write would do: its draft is made once nothing it needs is denied."""

    needs: tuple[Need, ...]
    draft: Callable[[], Draft]


class Tool(Protocol):
    """One tool. `effectful` calls are recorded before they start; others may overlap."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told: name, description, JSON schema of the arguments."""
        ...

    @property
    def effectful(self) -> bool:
        """Whether a call can change anything outside this process."""
        ...

    @property
    def acts(self) -> frozenset[Act]:
        """Every act that some call may need."""
        ...

    @property
    def trusted(self) -> bool:
        """Whether the text comes from inside, not from a file, a command or the network."""
        ...

    def plan(self, arguments: Mapping[str, JSON], context: ToolContext) -> Plan | WritePlan:
        """What a call would do; may block on file names. Raises ToolError, OSError, ValueError."""
        ...
