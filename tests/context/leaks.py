"""Makes, uses and drops kernels, and prints by how many bytes the process's allocations grew.

Run as `python -m tests.context.leaks twin|compiled`. tracemalloc sees what the compiled kernel
takes, too, for it takes it from Python's allocator.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc

from .flavours import COMPILED, TWIN, Flavour

KINDS = (0, 1, 2, 3, 4)
READ = ("step ", " read ", " ", "-", " of ", " ", ".")
STUB = ("", ": ", " chars ", " ", ".")


def use(flavour: Flavour) -> None:
    """All that allocates: groups, many ranges of a file, texts, stubs, sections, errors."""
    kernel = flavour.kernel()
    for number in range(300):
        gid = kernel.group(number % 90, f"subject {number % 120}")
        kernel.add(
            KINDS[number % 5],
            -1 if number % 7 == 0 else gid,
            number % 40 << 32,
            number % 40 + 1 + number % 9 << 32,
            100,
            f"text {number}]\n",
            number % 4,
        )
        position = kernel.start(1_000, number, False)
        while position >= 0:
            kernel.freshen(position)
            position = kernel.walk()
        position = kernel.start_stubs(500, -1)
        while position >= 0:
            if number % 2 or not kernel.set_below(position, 3, STUB, number, "x", 2):
                kernel.set_stub(position, f"stub of {kernel.top(position)}", 30)
            position = kernel.stubs()
        kernel.emit("block", ("", " hidden é"), None, 0)
        kernel.covering(gid, 0, 2**40)
        flavour.module.filled(
            ("step ", " of ", ""), number, f"text {flavour.module.grouped(number)}"
        )
        words, text = READ, "text\n" * number
        kernel.add_read(
            words,
            ("[",),
            number,
            "a.py",
            text,
            None,
            None,
            f"f {number % 70}",
            number % 3 > 0,
            True,
        )
        kernel.group_of(f"a subject {number % 30}")
        flavour.module.plain_read(READ, ("[",), number, "a.py", "text\n" * number, None, None)
        try:
            kernel.show(number + 1, "no such position", 0, 0)
        except IndexError:
            kernel.find(2**63, "none")


def growth(flavour: Flavour, rounds: int) -> int:
    """Bytes allocated more after so many uses, the first ones not counted."""
    for _ in range(3):
        use(flavour)
    gc.collect()
    tracemalloc.start()
    use(flavour)
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(rounds):
        use(flavour)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    return after - before


if __name__ == "__main__":
    chosen = TWIN if sys.argv[1] == "twin" else COMPILED
    assert chosen is not None
    sys.stdout.write(f"{growth(chosen, 20)}\n")
