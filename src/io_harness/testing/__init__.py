"""What tests of other code need: how a section reads back, and what a store must do.

`StoreConformance` needs `hypothesis` and `pytest`, which `io-harness[test]` brings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io_harness.testing.conformance import StoreConformance

__all__ = ["StoreConformance"]


def __getattr__(name: str) -> object:
    if name != "StoreConformance":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("io_harness.testing.conformance").StoreConformance
