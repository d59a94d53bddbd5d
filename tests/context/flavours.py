"""The two kernels, so that one test can run on both."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from types import ModuleType

from io_harness.context import _kernel_py

TRUE = ("1", "true", "yes", "on")


def switched_on(name: str) -> bool:
    """Whether an environment variable holds a truthy word."""
    return os.environ.get(name, "").strip().lower() in TRUE


def compiled_module() -> ModuleType | None:
    """The compiled kernel; `None` where it was not built, an error where it had to be."""
    try:
        return import_module("io_harness.context._kernel")
    except ImportError:
        if switched_on("IO_HARNESS_REQUIRE_EXTENSIONS"):
            raise
        return None


@dataclass(frozen=True, slots=True)
class Flavour:
    """One kernel, seen through the types of the twin."""

    name: str
    module: ModuleType

    def kernel(self) -> _kernel_py.Kernel:
        """A new kernel of this flavour."""
        made: _kernel_py.Kernel = self.module.Kernel()
        return made

    def cut(self, which: str, text: str, size: int) -> int:
        """One of the cut functions by name."""
        at: int = getattr(self.module, which)(text, size)
        return at


def texts_of(text: str, texts: _kernel_py.Texts) -> list[str]:
    """The texts of a section, which may be told by where they end."""
    if isinstance(texts, list):
        return texts
    return [text[start:end] for start, end in pairwise(texts)]


TWIN = Flavour("twin", _kernel_py)
_module = compiled_module()
COMPILED = None if _module is None else Flavour("compiled", _module)
NO_COMPILED = "the compiled kernel was not built"
