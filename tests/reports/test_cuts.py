"""Reported of other tools: a cut that nobody sees, that loses the end, or that is for ever."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from io_harness import Assembler, ContextBudget, Ledger, Observation, ObsKind, entry_cap_chars
from io_harness.testing import parse
from tests.reports.agent import agent


def shown(kind: ObsKind, text: str, ceiling: int = 24_000) -> str:
    ledger = Ledger()
    ledger.push(Observation(1, kind, "t", text))
    return Assembler(ledger).assemble(step=2, budget_tokens=ceiling).text


@pytest.mark.parametrize("kind", ObsKind)
def test_one_character_too_many_is_cut_in_silence(kind: ObsKind) -> None:
    cap = entry_cap_chars(24_000)
    whole, cut = shown(kind, "x" * cap), shown(kind, "x" * (cap + 1))
    assert "elided" not in whole
    assert cut.count("[elided: ") >= 1
    assert "truncated" in cut
    assert len(cut.split("\n", 1)[1]) == cap + 1


@pytest.mark.parametrize("kind", ObsKind)
def test_the_marker_stands_in_the_middle_where_nobody_reads_it(kind: ObsKind) -> None:
    lines = shown(kind, "line of text\n" * 5_000).removesuffix("\n").split("\n")[1:]
    assert "truncated" in lines[0] or "truncated" in lines[-1]


def test_a_part_of_a_list_is_taken_for_all_of_it() -> None:
    records = [{"id": number, "name": "x" * 60} for number in range(276)]
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.MCP, "list", json.dumps(records)))
    (piece,) = Assembler(ledger).assemble(step=2, budget_tokens=24_000).pieces
    assert (piece.cut, piece.status.value) == (True, "bounded")
    assert re.search(r"\[elided: [\d,]+ of 2\d,\d{3} characters truncated", piece.text)


def test_the_error_at_the_end_of_a_build_is_lost() -> None:
    for kind in (ObsKind.TOOL, ObsKind.ERROR, ObsKind.MCP):
        out = shown(kind, "$ make\n" + "warning: long\n" * 9_000 + "error: it failed\n")
        assert "$ make\n" in out
        assert "error: it failed\n" in out


def test_the_length_is_that_of_what_was_read_first() -> None:
    out = shown(ObsKind.TOOL, "x" * 3 * 1024 * 1024)
    assert "of 3,145,728 characters truncated" in out


def test_the_rest_cannot_be_had() -> None:
    text = "".join(f"{number:06}\n" for number in range(9_000))
    ledger = Ledger()
    ledger.push(Observation(7, ObsKind.CHILD, "t", text))
    request = Assembler(ledger).assemble(step=8, budget_tokens=24_000)
    (piece,) = parse(request.text)
    match = re.search(r"show\(step=(\d+), call=(\d+), start=(\d+)\)", piece.marker)
    assert match is not None
    step, call, start = map(int, match.groups())
    original = next(o for o in ledger if (o.step, o.call) == (step, call)).text
    assert piece.content + original[start:] == text


def test_a_long_file_is_read_in_its_first_window_for_ever(tmp_path: Path) -> None:
    with agent(tmp_path) as me:
        text = "".join(f"line {number}\n" for number in range(1, 9_173))
        me.by_others("a.py", text)
        got, first = "", 1
        for _ in range(99):
            me.read("a.py", first, 9_173)
            piece = me.sees()[-1]
            got += piece.content.removesuffix("\n") + "\n"
            match = re.search(r"go on from line (\d+)", piece.marker)
            if match is None:
                break
            assert int(match[1]) > first
            first = int(match[1])
        assert got == text


def test_one_line_of_a_megabyte_takes_the_request() -> None:
    line = "x" * 600_000 + "needle" + "x" * 400_000
    for kind in (ObsKind.GREP, ObsKind.READ, ObsKind.TOOL):
        out = shown(kind, f"a.js:1:{line}\n")
        assert len(out) < 12_100
        assert "of 1,000,014 characters truncated" in out
    assert "it has 1,000,013 characters" in shown(ObsKind.READ, f"a.js:1:{line}\n")


@pytest.mark.parametrize("size", range(11_890, 11_935))
def test_a_cut_through_a_character_breaks_the_request(size: int) -> None:
    for odd in ("😀", "\ud83d\ude00", "\ud83e"):
        for kind in (ObsKind.SKILL, ObsKind.TOOL, ObsKind.READ):
            shown(kind, "x" * size + odd * 200 + "x" * 20_000).encode()


def test_caps_are_numbers_of_their_own() -> None:
    budget = ContextBudget(max_tokens=40_000)
    assert entry_cap_chars(budget.effective_tokens(None)) == 20_000
    assert len(shown(ObsKind.CHILD, "x" * 99_999, 40_000).split("\n", 1)[1]) == 20_001


def test_what_was_cut_is_cut_out_of_the_record() -> None:
    ledger = Ledger()
    text = "x" * 50_000 + "\ud83e\0"
    ledger.push(Observation(1, ObsKind.TOOL, "t", text))
    before = list(ledger)
    Assembler(ledger).assemble(step=2, budget_tokens=64)
    assert list(ledger) == before
    assert text in ledger.full_text()
