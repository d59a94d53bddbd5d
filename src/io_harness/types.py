"""The values that every layer shares: frozen, slotted, and validated where they enter a layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"


def exact(text: str) -> str:
    """Return the text that a value of a subclass of `str` holds; the kernel takes no other."""
    return text if type(text) is str else str.__str__(text)


class ObsKind(StrEnum):
    """What an observation is; the values are a wire format and an unknown one is an error."""

    READ = "read"
    GREP = "grep"
    FIND = "find"
    WRITE = "write"
    SKILL = "skill"
    TOOL = "tool"
    MCP = "mcp"
    CHILD = "child"
    MESSAGE = "message"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Observation:
    """What one tool call returned, or what the model said. Never changed once made.

    `text` is the raw result: no header, no line numbers; for a read exactly the lines read.
    `args` is the call's arguments as JSON text. `lines` is 1-based and inclusive, `None` the
    whole file. `scope` is all that makes a search's question besides its pattern. `key` lets a
    caller's tool say which question it answers. `digest` names the file's bytes when it was
    read. `paths` are the files a search hit. `call` is the position among the answer's calls,
    from 0; what the model said has -1; `None` takes the next free one.
    """

    step: int
    kind: ObsKind
    target: str | None
    text: str
    args: str = field(default="", kw_only=True)
    lines: tuple[int, int] | None = field(default=None, kw_only=True)
    total_lines: int | None = field(default=None, kw_only=True)
    scope: str | None = field(default=None, kw_only=True)
    key: str | None = field(default=None, kw_only=True)
    digest: str | None = field(default=None, kw_only=True)
    paths: tuple[str, ...] = field(default=(), kw_only=True)
    call: int | None = field(default=None, kw_only=True)


class Act(StrEnum):
    """What a policy rules on."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    NET = "net"


class Effect(StrEnum):
    """What a policy answers, from weak to strong."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a policy: the effect on an act for subjects that match a pattern."""

    act: Act
    effect: Effect
    pattern: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A policy's answer and what gave it: `rule` is `None` where a default decided."""

    effect: Effect
    rule: Rule | None
    layer: str


@dataclass(frozen=True, slots=True)
class Signature:
    """What one `stat` says of a file's identity and age.

    `settled` is False where the signature was taken less than 50 ms after the file's own mtime
    or ctime: a later write could leave the same stamps, so content must be looked at again.
    """

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int
    settled: bool = field(compare=False)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Lines of a file: `text` exactly as they are, line ends included.

    `lines` is the range shown, 1-based and inclusive; past the end it is (offset, offset - 1).
    `total_lines` and `digest` are `None` for files over 64 MiB. `size` is the file's, in bytes.
    `signature` is the open descriptor's, taken before the bytes were read. `note` says what
    `text` stands for where the file is not plain UTF-8 text.
    """

    text: str
    lines: tuple[int, int]
    total_lines: int | None
    size: int
    digest: str | None
    signature: Signature
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A note an agent recorded against a workspace, and where it came from.

    `seq` orders the writes of one workspace. `first_written` and `written` are UTC times in
    ISO 8601; `rewrites` counts how often the key was written again. `source` names what the
    step that wrote it had taken in.
    """

    key: str
    value: str
    run_id: str
    step: int
    seq: int = field(default=0, kw_only=True)
    pinned: bool = field(default=False, kw_only=True)
    source: str = field(default="", kw_only=True)
    first_written: str = field(default="", kw_only=True)
    written: str = field(default="", kw_only=True)
    rewrites: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """What writing a note did besides: the keys it evicted, and whether its value was cut."""

    evicted: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as a provider reported them; `None` is not reported, which is not 0.

    `input` is the whole prompt, the cached part included.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for. `arguments` is the JSON object, or the raw text where the model
    sent something that is no JSON object.
    """

    id: str
    name: str
    arguments: Mapping[str, object] | str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What is sent back for one call."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, in no vendor's form.

    A user message has `text`; an assistant message has `text` and `calls`; a tool message has
    `results`, one for each call of the assistant message before it, in the same order. The
    arguments in `calls` are what is sent: they may be elided.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    reasoning: JSON = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """All that is sent for one answer.

    `stable_chars` is the length, in code points of the section, of what the previous request of
    the run already carried: the place for a provider's cache mark.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_output_tokens: int = 8_192
    stable_chars: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer: what the model said, the calls it asked for, and why it stopped.

    `stop` is the vendor's word. `reasoning` is an opaque block that a vendor demands back.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop: str = "end"
    reasoning: JSON = None
