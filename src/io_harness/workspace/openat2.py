"""The Linux system call that opens a path beneath a directory, or not at all.

Called through ctypes: neither the C library nor Python has a wrapper. Source: openat2(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import lru_cache

_SYS_OPENAT2 = 437
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
# EAGAIN says that a rename elsewhere raced with `..`; EINTR that a signal came in between.
_TRANSIENT = frozenset({errno.EAGAIN, errno.EINTR})
_ATTEMPTS = 1_000
_ENCODING = sys.getfilesystemencoding()


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


if sys.platform == "linux":
    _syscall = ctypes.CDLL(None, use_errno=True).syscall
    _syscall.restype = ctypes.c_long
    # Arguments that are ctypes values already need no conversion: half a microsecond a call.
    _NUMBER, _SIZE = ctypes.c_long(_SYS_OPENAT2), ctypes.c_size_t(ctypes.sizeof(_OpenHow))


@lru_cache(maxsize=64)
def _how(flags: int, one_device: bool) -> ctypes._CArgObject:
    """The arguments of a call; the kernel only reads them, so they are shared."""
    resolve = _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS | (_NO_XDEV if one_device else 0)
    return ctypes.byref(_OpenHow(flags | os.O_CLOEXEC, 0, resolve))


def openat2(directory: int, path: str, flags: int, one_device: bool) -> int:
    """A descriptor for a path beneath a directory that no link is any part of; nothing is made.

    Raises OSError; ELOOP for a link, ENOSYS or EPERM where the call is not to be had.
    """
    how, encoded = _how(flags, one_device), path.encode(_ENCODING, "surrogateescape")
    descriptor: int = _syscall(_NUMBER, directory, encoded, how, _SIZE)
    for _ in range(_ATTEMPTS):
        if descriptor >= 0 or ctypes.get_errno() not in _TRANSIENT:
            break
        descriptor = _syscall(_NUMBER, directory, encoded, how, _SIZE)
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
    return descriptor


def is_available(directory: int) -> bool:
    """Whether this kernel, and whatever filters its calls, lets the call through."""
    if sys.platform != "linux":
        return False
    try:
        os.close(openat2(directory, ".", os.O_PATH, False))
    except OSError:
        return False
    return True
