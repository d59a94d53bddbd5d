"""The kernel in use: the compiled one where it was built, else its twin in plain Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

_TRUE = frozenset({"1", "true", "yes", "on"})


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in _TRUE


if TYPE_CHECKING or _is_set("IO_HARNESS_NO_EXTENSIONS"):
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
    )

    COMPILED = False
else:
    try:
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
        )
    except ImportError:
        if _is_set("IO_HARNESS_REQUIRE_EXTENSIONS"):
            raise
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
        )

        COMPILED = False
    else:
        COMPILED = True

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
]
