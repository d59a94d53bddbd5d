"""Who holds a lease, so that one whose process has died here is not waited for.

A process number means something only to the kernel and the namespace that gave it, so both stand
beside it: the boot's id, and the namespace's number, which no other namespace has while a process
is left in this one. Elsewhere, and on systems that do not tell them, only time ends a lease.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_DIGITS = 20
_NAMESPACE = Path("/proc/self/ns/pid")


def new_holder() -> str:
    """Return a name that nobody has held a lease under, which says who this process is."""
    token, place = secrets.token_hex(8), _place()
    return f"{token} {place} {os.getpid()}" if place else token


def who(holder: object) -> str:
    """Return what the holder is, as a message says it."""
    process = _process_of(holder)
    if process is None:
        return "another process"
    return "this process" if process == os.getpid() else f"process {process} of this machine"


def is_dead(holder: object) -> bool:
    """Whether the holder was a process of this boot and namespace that is no more.

    A number that was given to another process since counts as alive, as does a process that was
    killed and not yet collected by its parent.
    """
    process = _process_of(holder)
    if process is None:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _process_of(holder: object) -> int | None:
    """Return the number of the holder's process, `None` where it means nothing here."""
    token, place, number = [*str(holder).split(" "), "", ""][:3]
    if token and place and place == _place() and number.isdecimal() and len(number) < _DIGITS:
        return int(number)
    return None


def _place() -> str:
    """Return what tells this kernel and namespace from all others, "" where nothing does."""
    try:
        return f"{_BOOT.read_text('ascii').strip()}/{_NAMESPACE.stat().st_ino}"
    except (OSError, ValueError):
        return ""
