"""How it is known that a task is done: a check that the operator chose, not the model."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from io_harness.contract.limits import whole
from io_harness.errors import ConfigError

Check: TypeAlias = Callable[[Path], bool | str | Awaitable[bool | str]]
"""Given the root: True where the task is done, else False or what is missing."""


class VerificationKind(StrEnum):
    """What is checked; the values stand in stored contracts."""

    NONE = "none"
    COMMAND = "command"
    FILE_CONTAINS = "file_contains"
    FILE_EQUALS = "file_equals"
    CALLABLE = "callable"
    ALL_OF = "all_of"


@dataclass(frozen=True, slots=True)
class Verification:
    """One check; make it with one of the class methods."""

    kind: VerificationKind
    argv: tuple[str, ...] = ()
    expect_exit: int = 0
    file: str = ""
    text: str = ""
    check: Check | None = field(default=None)
    parts: tuple[Verification, ...] = ()

    @classmethod
    def command(cls, *argv: str, expect_exit: int = 0) -> Verification:
        """Done when this command exits with `expect_exit`, run in the root without a shell.

        It is the operator's, so nobody is asked; but it executes what the agent wrote. Raises
        `ConfigError` for what can be no command.
        """
        if not argv or not all(isinstance(arg, str) and "\0" not in arg for arg in argv):
            raise ConfigError(f"a verification command is one or more texts, got {argv!r}")
        if len(argv) == 1 and len(words := argv[0].split()) > 1 and "/" not in words[0]:
            raise ConfigError(
                f"no program is named {argv[0]!r}: give each word as a text of its own, "
                f"Verification.command({', '.join(map(repr, words))})"
            )
        whole("expect_exit", expect_exit, least=0)
        return cls(VerificationKind.COMMAND, argv=argv, expect_exit=expect_exit)

    @classmethod
    def file_contains(cls, file: str, needle: str) -> Verification:
        """Done when the file, relative to the root, contains the text."""
        return cls(VerificationKind.FILE_CONTAINS, file=_named(file), text=needle)

    @classmethod
    def file_equals(cls, file: str, text: str) -> Verification:
        """Done when the file, relative to the root, is exactly the text."""
        return cls(VerificationKind.FILE_EQUALS, file=_named(file), text=text)

    @classmethod
    def callable(cls, fn: Check) -> Verification:
        """Done when `fn(root)` gives True; a text it gives is what is missing.

        A plain function runs in a worker thread. A stored run cannot hold it: to resume, give
        the contract again.
        """
        return cls(VerificationKind.CALLABLE, check=fn)

    @classmethod
    def all_of(cls, *parts: Verification) -> Verification:
        """Done when every part says so; they are tried in order, up to the first that does not."""
        if not parts:
            raise ConfigError("all_of needs at least one verification")
        return cls(VerificationKind.ALL_OF, parts=parts)

    @classmethod
    def none(cls) -> Verification:
        """Done when the model stops calling tools."""
        return cls(VerificationKind.NONE)

    @property
    def holds_callable(self) -> bool:
        """Whether a stored contract cannot hold this whole."""
        return self.check is not None or any(part.holds_callable for part in self.parts)

    @property
    def is_none(self) -> bool:
        """Whether the model's word is all there is."""
        return self.kind is VerificationKind.NONE

    def describe(self) -> str:
        """Say, for the model, when the task counts as done."""
        match self.kind:
            case VerificationKind.COMMAND:
                return f"the command `{shlex.join(self.argv)}` exits with {self.expect_exit}"
            case VerificationKind.FILE_CONTAINS:
                return f"{self.file} contains {self.text!r}"
            case VerificationKind.FILE_EQUALS:
                return f"{self.file} is exactly {self.text!r}"
            case VerificationKind.CALLABLE:
                return "a check by the operator passes"
            case VerificationKind.ALL_OF:
                return "; and ".join(part.describe() for part in self.parts)
            case VerificationKind.NONE:
                return ""


def _named(file: str) -> str:
    if not file or file.startswith("/") or "\0" in file:
        raise ConfigError(f"a verification's file is relative to the root, got {file!r}")
    return file
