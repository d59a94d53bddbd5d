"""What tests of other code need: how a section reads back, and what a store must do.

`StoreConformance` needs `hypothesis` and `pytest`, which `io-harness[test]` brings; it is
imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from io_harness.context.parse import Parsed, parse

if TYPE_CHECKING:
    from io_harness.testing.conformance import StoreConformance

__all__ = ["Parsed", "StoreConformance", "parse"]


def __getattr__(name: str) -> object:
    if name != "StoreConformance":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("io_harness.testing.conformance").StoreConformance
