"""Reported of other tools: the request grows over the window, or shrinking it never ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from io_harness import (
    Assembler,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
    estimate_tokens,
)
from io_harness.context.estimate import Calibration
from tests.reports.agent import CACHED, agent


def tools(*sizes: int) -> Ledger:
    ledger = Ledger()
    for step, size in enumerate(sizes, start=1):
        ledger.push(Observation(step, ObsKind.TOOL, f"job {step}", "x" * size))
    return ledger


@pytest.mark.parametrize("ceiling", [64, 100, 1_000, 24_000])
def test_the_newest_alone_is_larger_than_the_window(ceiling: int) -> None:
    request = Assembler(tools(10, ceiling * 40)).assemble(step=3, budget_tokens=ceiling)
    assert request.est_tokens <= ceiling
    newest = request.pieces[-1]
    assert newest.status == "bounded"
    assert "elided" in newest.text


def test_a_small_old_result_is_cut_in_place_of_a_huge_new_one() -> None:
    request = Assembler(tools(300, 900_000)).assemble(step=3, budget_tokens=4_000)
    assert [piece.status.value for piece in request.pieces] == ["carried", "bounded"]


def test_a_file_larger_than_the_window_is_read(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line of text\n" * 20_000) as me:
        me.read("a.py")
        assert 0 < me.ask(1_000).est_tokens <= 1_000


def test_shrinking_fails_exactly_where_it_is_needed() -> None:
    for total in range(900, 1_300, 13):
        ledger = tools(*[total * 4 // 10] * 10)
        request = Assembler(ledger).assemble(step=20, budget_tokens=1_000)
        assert request.est_tokens <= 1_000
        assert request.carried >= 6


def test_another_window_in_the_middle_of_the_run_breaks_it() -> None:
    ledger = tools(*[7_900] * 100)
    assembler = Assembler(ledger)
    wide = assembler.assemble(step=200, budget_tokens=200_000)
    assert wide.carried == 100
    narrow = assembler.assemble(step=200, budget_tokens=8_000)
    assert narrow.est_tokens <= 8_000
    assert 0 < narrow.carried < 5
    assert assembler.assemble(step=200, budget_tokens=200_000).text == wide.text


def test_requests_grow_with_the_run() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger)
    sent = []
    for step in range(1, 300):
        ledger.push(Observation(step, ObsKind.TOOL, "job", "x" * 500))
        sent.append(assembler.assemble(step=step, budget_tokens=2_000).est_tokens)
    assert max(sent) <= 2_000
    assert sum(sent) <= 300 * 2_000


def test_a_run_without_user_messages_cannot_be_trimmed() -> None:
    request = Assembler(tools(*[900] * 500)).assemble(step=501, budget_tokens=1_000)
    assert request.collapsed
    assert request.est_tokens <= 1_000


def test_one_result_of_ten_thousand_records_ends_the_run() -> None:
    ledger = tools(100)
    ledger.push(Observation(2, ObsKind.MCP, "db.query", '{"id": 1}\n' * 10_000))
    ledger.push(Observation(3, ObsKind.TOOL, "job", "done"))
    request = Assembler(ledger).assemble(step=4, budget_tokens=6_000)
    assert request.carried == 3


def test_notes_alone_are_larger_than_the_window() -> None:
    notes = [MemoryEntry(f"key {n}", "v" * 2_000, "run", n, seq=n) for n in range(64)]
    request = Assembler(tools(500)).assemble(step=2, budget_tokens=400, notes=notes)
    assert request.est_tokens <= 400
    assert (request.recalled, request.left_out, request.carried) == (1, 63, 1)


def test_the_newest_note_is_dropped_for_the_oldest() -> None:
    notes = [MemoryEntry(f"key {n}", "v" * 60, "run", n, seq=n) for n in range(64)]
    request = Assembler(Ledger()).assemble(step=2, budget_tokens=1_000, notes=notes)
    assert '"key 63"' in request.text
    assert '"key 0"' not in request.text


def test_a_deleted_note_is_still_in_the_prompt() -> None:
    kept, gone = MemoryEntry("kept", "v", "r", 1, seq=1), MemoryEntry("gone", "v", "r", 1, seq=2)
    for price in (CACHED, None):
        ledger = tools(100)
        assembler = Assembler(ledger) if price is None else Assembler(ledger, price=price)
        first = assembler.assemble(step=2, budget_tokens=2_000, notes=[kept, gone])
        assert '"gone"' in first.text
        after = assembler.assemble(step=3, budget_tokens=2_000, notes=[kept])
        assert '"gone"' not in after.text
        assert '"kept"' in after.text


def test_nothing_at_all_is_an_error() -> None:
    for notes in ([], [MemoryEntry("k", "v", "r", 1)]):
        request = Assembler(Ledger()).assemble(step=1, budget_tokens=1_000, notes=notes)
        assert (request.carried, request.stubbed, request.recalled) == (0, 0, len(notes))


def test_the_estimate_stays_wrong_for_the_whole_run() -> None:
    calibration = Calibration()
    for _ in range(8):
        calibration.learn(1_000, 1_500)
    assert calibration.ceiling(3_000) == 2_000
    calibration.learn(1_000, 10**12)
    calibration.learn(1_000, 0)
    calibration.learn(1_000, None)
    assert calibration.ceiling(3_000) == 2_000


def test_it_is_not_known_what_was_left_out() -> None:
    ledger = tools(*[900] * 30)
    request = Assembler(ledger).assemble(step=31, budget_tokens=2_000)
    whole = {piece.step for piece in request.pieces if piece.status == "carried"}
    named = {piece.step for piece in request.pieces if piece.status == "stub"}
    (count,) = (piece for piece in request.pieces if piece.status == "collapsed")
    rest = set(range(1, 31)) - whole - named
    assert f"[collapsed: {len(rest)} " in count.text
    assert rest == set(range(1, len(rest) + 1))


def test_the_estimate_counts_bytes() -> None:
    assert estimate_tokens("日本語の文章") == estimate_tokens("abcdef") == 2
