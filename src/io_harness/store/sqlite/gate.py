"""The lock between processes that write to one store: fair enough, and never waited in.

It is taken on a file of its own, for closing any descriptor of the database would drop SQLite's
locks in this process, and without blocking, so that a deadline can be kept.
"""

from __future__ import annotations

import os
import random
import sys
import time
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


LONGEST_PAUSE = 0.008
SHORTEST_PAUSE = 0.0005
PATIENCE = 0.05
"""Seconds of waiting after which a waiter looks twice as often."""


class Gate:
    """One process's handle on the lock. Not for two threads at once."""

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._descriptor = os.open(path, flags | os.O_EXCL, 0o600)
            self._is_new = True
        except FileExistsError:
            self._descriptor = os.open(path, flags, 0o600)
            self._is_new = False
        self._random = random.Random()  # noqa: S311 - spreads waiters, guards nothing
        self._crowded = False

    def belong_to_owner_of(self, path: Path) -> None:
        """Give a file that root just made to the owner of `path`, who could not open it.

        Never one that was there: it may be a link to a file that is not that owner's.
        """
        if self._is_new and hasattr(os, "geteuid") and os.geteuid() == 0:
            with suppress(OSError):  # no file, a root or a file system that cannot
                status = path.stat()
                os.fchown(self._descriptor, status.st_uid, status.st_gid)

    def acquire(self, deadline: float) -> bool:
        """Take the lock; False where `deadline` (of `time.monotonic`) came first.

        Who has waited longer looks more often, and who met others last time starts by waiting:
        otherwise the process that lets go would be the first to take it again.
        """
        began = time.monotonic()
        if self._crowded:
            time.sleep(self._pause(0.0))
        self._crowded = False
        while not _try_lock(self._descriptor):
            self._crowded = True
            now = time.monotonic()
            if now >= deadline:
                return False
            time.sleep(min(self._pause(now - began), deadline - now))
        return True

    def try_acquire(self) -> bool:
        """Take the lock if it is free now."""
        return _try_lock(self._descriptor)

    def release(self) -> None:
        """Let the next one in."""
        _unlock(self._descriptor)

    def close(self) -> None:
        """Close the handle; what it held is free."""
        os.close(self._descriptor)

    def _pause(self, waited: float) -> float:
        longest = LONGEST_PAUSE / (1.0 + waited / PATIENCE)
        return max(SHORTEST_PAUSE, longest * self._random.uniform(0.5, 1.0))
