"""The kernel in use: the compiled one where it was built, else its twin in plain Python."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

_TRUE = frozenset({"1", "true", "yes", "on"})


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in _TRUE


def _is_built() -> bool:
    try:
        import_module("io_harness.context._kernel")
    except ImportError:
        if _is_set("IO_HARNESS_REQUIRE_EXTENSIONS"):
            raise
        return False
    return True


COMPILED = not _is_set("IO_HARNESS_NO_EXTENSIONS") and _is_built()

if TYPE_CHECKING or not COMPILED:
    from ._kernel_py import (
        Extent,
        Kernel,
        count_lines,
        cut_head,
        cut_lines,
        cut_tail,
        extent,
        filled,
        grouped,
        has_any,
        is_bare,
        plain_read,
    )
else:
    from ._kernel import (
        Extent,
        Kernel,
        count_lines,
        cut_head,
        cut_lines,
        cut_tail,
        extent,
        filled,
        grouped,
        has_any,
        is_bare,
        plain_read,
    )

__all__ = [
    "COMPILED",
    "Extent",
    "Kernel",
    "count_lines",
    "cut_head",
    "cut_lines",
    "cut_tail",
    "extent",
    "filled",
    "grouped",
    "has_any",
    "is_bare",
    "plain_read",
]
