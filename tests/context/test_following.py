"""A read that a rewrite keeps shows its lines where they are now, not others at the old numbers."""

from __future__ import annotations

from io_harness import Assembler, CachePrice, Ledger, MemoryEntry, Observation, ObsKind
from tests.context.files import MemoryFiles

NOTE = MemoryEntry("key", "value", "run", 1)
LINES = [f"line {number}" for number in range(1, 61)]


def text_of(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def read(step: int, lines: list[str], first: int, last: int) -> Observation:
    text = text_of(lines[first - 1 : last])
    return Observation(
        step, ObsKind.READ, "a.py", text, lines=(first, last), total_lines=len(lines)
    )


def wrote(step: int) -> Observation:
    return Observation(step, ObsKind.WRITE, "a.py", "Done.")


def test_a_write_in_the_turn_of_the_rewrite_moves_the_reads_before_it() -> None:
    files, ledger = MemoryFiles(), Ledger()
    files.put("a.py", text_of(LINES))
    assembler = Assembler(ledger, workspace=files, price=CachePrice(0.1, 1.25))
    ledger.push(read(1, LINES, 40, 45))
    assembler.assemble(step=2, budget_tokens=8_000, notes=[NOTE])
    now = ["new", "lines", *LINES]
    files.put("a.py", text_of(now))
    ledger.push(wrote(2))

    made = assembler.assemble(step=3, budget_tokens=8_000)  # the note is gone: a rewrite

    assert made.rewritten
    assert "lines 42-47 of 62" in made.text
    assert text_of(LINES[39:45]) in made.text


def test_a_read_that_came_after_the_write_stays_where_it_is() -> None:
    files, ledger = MemoryFiles(), Ledger()
    files.put("a.py", text_of(LINES))
    assembler = Assembler(ledger, workspace=files, price=CachePrice(0.1, 1.25))
    ledger.push(read(1, LINES, 1, 10))
    assembler.assemble(step=2, budget_tokens=8_000, notes=[NOTE])
    now = ["new", "lines", *LINES]
    files.put("a.py", text_of(now))
    ledger.push(wrote(2))
    ledger.push(read(2, now, 40, 45))

    assembler.assemble(step=3, budget_tokens=8_000, notes=[NOTE])
    ledger.push(Observation(3, ObsKind.MESSAGE, None, "On."))
    made = assembler.assemble(step=4, budget_tokens=8_000)

    assert made.rewritten
    assert "lines 40-45 of 62" in made.text
    assert text_of(now[39:45]) in made.text
