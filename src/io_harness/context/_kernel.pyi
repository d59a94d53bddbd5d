# What the twin is, said again in a form that stubtest compares with the compiled module: it
# passes over names that are only re-exported.
from typing import final

from . import _kernel_py

@final
class Extent:
    first: int
    last: int
    inside: int
    lo: int
    hi: int
    reached: bool

def count_lines(text: str) -> int: ...
def cut_head(text: str, size: int) -> int: ...
def cut_lines(text: str, size: int) -> int: ...
def cut_tail(text: str, size: int) -> int: ...
def extent(
    text: str, lines: tuple[int, int] | None, total: int | None, head: int | None = None
) -> Extent: ...
def filled(words: tuple[str, ...], *values: int | str) -> str: ...
def grouped(number: int) -> str: ...
def is_bare(text: str) -> bool: ...
def plain_read(
    words: tuple[str, ...],
    signs: tuple[str, ...],
    step: int,
    target: str,
    text: str,
    lines: tuple[int, int] | None,
    total: int | None,
) -> tuple[str, Extent] | None: ...
def has_any(text: str, signs: tuple[str, ...]) -> bool: ...

@final
class Kernel(_kernel_py.Kernel): ...
