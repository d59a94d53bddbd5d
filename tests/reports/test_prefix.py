"""Reported of other tools: each turn moves the prefix that a provider had cached."""

from __future__ import annotations

from pathlib import Path

from io_harness import MemoryEntry, ObsKind
from tests.reports.agent import BASE, CACHED, agent


def test_every_turn_rewrites_the_history(tmp_path: Path) -> None:
    breaks: dict[str, int] = {}
    sent: dict[str, int] = {}
    for name, price in (("cached", CACHED), ("base", BASE)):
        with agent(tmp_path, price=price, a_py="line\n" * 60) as me:
            breaks[name] = sent[name] = 0
            for turn in range(120):
                if turn % 3:
                    me.made(ObsKind.TOOL, f"job {turn}", "x" * 700)
                else:
                    me.read("a.py")
                request = me.ask(4_000)
                breaks[name] += request.rewritten
                sent[name] += len(request.text) - request.stable_chars
    assert breaks["cached"] * 5 < breaks["base"]
    assert sent["cached"] * 2 < sent["base"]


def test_a_new_note_moves_all_that_follows(tmp_path: Path) -> None:
    with agent(tmp_path, price=CACHED) as me:
        me.made(ObsKind.TOOL, "job", "x" * 300)
        old = MemoryEntry("old", "v", "r", 1, seq=1)
        before = me.ask(2_000, [old])
        me.made(ObsKind.TOOL, "remember", "noted")
        after = me.ask(2_000, [old, MemoryEntry("new", "v", "r", 2, seq=2)])
        assert after.text.startswith(before.text)
        assert (after.stable_chars, after.rewritten) == (len(before.text), False)


def test_a_changed_file_moves_all_that_follows_its_read(tmp_path: Path) -> None:
    with agent(tmp_path, price=CACHED, a_py="one\ntwo\nthree\n") as me:
        me.read("a.py")
        me.made(ObsKind.TOOL, "job", "x" * 300)
        before = me.ask(2_000)
        me.write("a.py", "one\n2\nthree\n")
        after = me.ask(2_000)
        assert after.text.startswith(before.text)
        assert "[changed a.py, lines 2-2: now lines 2-2 of 3, step 4: step 3 wrote it]\n2\n" in (
            after.text
        )


def test_the_place_of_the_break_is_not_known(tmp_path: Path) -> None:
    with agent(tmp_path) as me:
        before = ""
        for number in range(60):
            me.made(ObsKind.TOOL, f"job {number}", "x" * 300)
            request = me.ask(1_500)
            shared = request.stable_chars
            assert request.text[:shared] == before[:shared]
            assert request.text[shared : shared + 1] != before[shared : shared + 1] or (
                shared == len(before)
            )
            before = request.text
