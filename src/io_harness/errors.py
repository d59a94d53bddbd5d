"""Every error the library raises: one root, few leaves, each also the builtin a caller would guess.

A message says what happened, to what, and what to do next.
"""

from __future__ import annotations

from typing import Literal


class HarnessError(Exception):
    """The root of every error this library raises on purpose."""


class ConfigError(HarnessError, ValueError):
    """A setting, option or file that cannot be used; the message names the field and the value."""


class LedgerError(HarnessError, ValueError):
    """An observation that a ledger cannot take; the message names the field."""


class PathOutside(HarnessError, PermissionError):
    """A path that does not stay inside the workspace, whether or not anything exists there."""


class NotRegularFile(HarnessError, OSError):
    """A FIFO, socket, device or directory where a regular file is needed."""


class PolicyNeedsApprover(HarnessError, PermissionError):
    """The policy would ask before acting and the run has nobody to ask."""


class StoreLocked(HarnessError, TimeoutError):
    """Other writers held the store beyond the caller's deadline; nothing was written."""


class StoreFull(HarnessError, OSError):
    """No room on the disk; nothing of the operation was written and earlier work is intact."""


class StoreFailed(HarnessError, OSError):
    """The disk failed while the store was read or written; nothing of the operation was kept."""


class StoreReadOnly(HarnessError, PermissionError):
    """The store's file or directory cannot be written."""


class StoreCorrupt(HarnessError):
    """The store's file is damaged or is no store; it was left as it is."""


class SchemaNewer(HarnessError):
    """The store was written by a later version of this library; it was left as it is."""


class RunLeased(HarnessError, RuntimeError):
    """Another process drives this run now."""


class RunUnknown(HarnessError, KeyError):
    """No run of that id is in the store."""

    def __str__(self) -> str:
        """The message itself: KeyError would show its repr."""
        return str(self.args[0]) if self.args else ""


class MemoryRefused(HarnessError, ValueError):
    """A note that cannot be kept: its key, the pins, the quota or the mode forbid it."""


ErrorKind = Literal[
    "transport",
    "timeout",
    "rate_limited",
    "server",
    "malformed",
    "auth",
    "request",
    "context_overflow",
]
"""What went wrong between here and the model; the first five are worth another attempt."""

RETRYABLE_KINDS: frozenset[ErrorKind] = frozenset(
    {"transport", "timeout", "rate_limited", "server", "malformed"}
)


class ProviderError(HarnessError):
    """A model provider did not answer; `kind` says how, `retryable` whether to try again.

    `retry_after` is the server's own wish in seconds, where it gave one.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind,
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = kind in RETRYABLE_KINDS if retryable is None else retryable
        self.retry_after = retry_after


class RecordingMismatch(HarnessError):
    """A replayed request differs from the recorded one; the message shows where."""
