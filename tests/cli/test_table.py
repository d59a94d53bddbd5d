"""Tables: as wide as the terminal, and nothing that must be whole is ever cut."""

from __future__ import annotations

import pytest

from io_harness.cli.table import Column, table, terminal_width

COLUMNS = (
    Column("run"),
    Column("count"),
    Column("goal", fold=8, drop=1),
    Column("when", drop=2),
)
ROWS = (
    ("20261130-222837-d7d1a647", "1,234,567", "Mend the parser of the shop", "2026-11-30"),
    ("20261130-222837-00000000", "-", "日本語のとても長い目標です", "2026-11-30"),
)


@pytest.mark.parametrize("width", [None, *range(1, 120)])
def test_what_must_be_whole_is_and_the_rest_fits(width: int | None) -> None:
    lines = list(table(COLUMNS, ROWS, width=width))
    whole = "\n".join(lines)
    for run, count, *_ in ROWS:
        assert whole.count(run) == 1
        assert any(line.startswith(run) and line.split()[1] == count for line in lines)
    assert width is None or max(map(len, lines)) <= max(width, 35)
    assert all(line == line.rstrip() for line in lines)


def test_a_pipe_has_a_row_a_line() -> None:
    assert list(table(COLUMNS, ROWS[:1], width=None)) == [
        "run                           count  goal                         when",
        "20261130-222837-d7d1a647  1,234,567  Mend the parser of the shop  2026-11-30",
    ]


def test_the_least_needed_column_goes_first_and_text_wraps() -> None:
    assert list(table(COLUMNS, ROWS[:1], width=50)) == [
        "run                           count  goal",
        "20261130-222837-d7d1a647  1,234,567  Mend the",
        "                                     parser of the",
        "                                     shop",
    ]


def test_the_width_is_the_terminals_or_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width() is None
    monkeypatch.setenv("COLUMNS", "33")
    assert terminal_width() == 33
