"""Reported of other tools: the model works on text that its file no longer has."""

from __future__ import annotations

import os
from pathlib import Path

from io_harness import Act, Effect, ObsKind, Policy, Rule
from tests.reports.agent import agent


def test_old_text_stays_after_an_edit(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="version one\n") as me:
        me.read("a.py")
        me.write("a.py", "version two\n")
        shown = "".join(piece.content for piece in me.sees())
        assert "one" not in shown
        assert shown.count("two") == 1


def test_changes_of_the_user_are_overwritten_from_stale_text(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="mine\n") as me:
        me.read("a.py")
        me.ask()
        me.by_others("a.py", "the user's\n")
        (piece,) = me.sees()
        assert piece.content == "the user's\n"
        assert "changed on disk" in piece.why


def test_a_change_of_the_same_length_at_the_same_time_is_missed(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="one\n") as me:
        me.read("a.py")
        me.ask()
        stamp = os.stat(tmp_path / "a.py").st_mtime_ns
        me.by_others("a.py", "two\n")
        os.utime(tmp_path / "a.py", ns=(stamp, stamp))
        assert me.sees()[0].content == "two\n"


def test_edits_fail_after_the_history_was_folded(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="old\n" * 9) as me:
        me.read("a.py")
        for number in range(50):
            me.made(ObsKind.TOOL, f"job {number}", "x" * 200)
        me.write("a.py", "new\n" * 9)
        for ceiling in (24_000, 4_000, 1_000, 200):
            read = [piece for piece in me.sees(ceiling) if piece.kind == "read"]
            assert not any("old" in piece.content for piece in read)
            for piece in read:
                assert "new" in piece.content or "older than" in piece.why


def test_a_formatter_runs_after_the_edit(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="x=1\n") as me:
        me.read("a.py")
        me.write("a.py", "x=2\n")
        me.by_others("a.py", "x = 2\n")
        assert me.sees()[0].content == "x = 2\n"


def test_a_touched_file_is_read_and_shown_again(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="same\n") as me:
        me.read("a.py")
        before = me.ask()
        os.utime(tmp_path / "a.py")
        after = me.ask()
        assert (after.text, after.reread) == (before.text, 0)


def test_a_big_file_is_taken_for_changed(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n" * 50_000) as me:
        me.read("a.py")
        assert len({me.ask().text for _ in range(3)}) == 1


def test_line_ends_make_a_file_look_changed(tmp_path: Path) -> None:
    for number, text in enumerate(["a\r\nb\nc", "a\rb\r\n", "\r\n\r\n", "a\n\r"]):
        with agent(tmp_path) as me:
            me.by_others(f"f{number}", text)
            me.read(f"f{number}")
            request = me.ask()
            assert request.reread == 0
            assert me.sees()[0].content == text


def test_changed_files_are_sent_again_every_turn(tmp_path: Path) -> None:
    with agent(tmp_path) as me:
        for number in range(17):
            me.by_others(f"f{number}", "old\n" * 50)
            me.read(f"f{number}")
        for number in range(17):
            me.write(f"f{number}", "new\n" * 50)
        first = me.ask()
        assert first.reread == 17
        for _ in range(100):
            assert (me.ask().text, me.ask().reread) == (first.text, 0)


def test_the_same_reminder_comes_again_and_again(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="old\n") as me:
        me.read("a.py")
        me.write("a.py", "new\n")
        refreshes = 0
        for number in range(20):
            me.made(ObsKind.TOOL, f"job {number}", "x")
            request = me.ask()
            refreshes += request.reread
            assert request.text.count("re-read") == 1
        assert refreshes == 1


def test_a_hook_that_changes_ten_files_fills_the_request(tmp_path: Path) -> None:
    with agent(tmp_path) as me:
        for number in range(10):
            me.by_others(f"f{number}", "x\n")
            me.read(f"f{number}")
        me.ask()
        for number in range(10):
            me.by_others(f"f{number}", f"{number}\n" * 900)
        pieces = me.sees(2_000)
        fresh = [piece.target for piece in pieces if piece.status == "refreshed"]
        assert fresh == [f"f{number}" for number in range(10 - len(fresh), 10)]
        assert 0 < len(fresh) < 10
        assert not any(piece.content == "x\n" for piece in pieces)


def test_a_search_shows_lines_from_before_the_edit(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="needle\n", b_py="needle\n") as me:
        me.grep("needle")
        me.write("a.py", "gone\n")
        search = me.sees()[0]
        assert search.why == "written since: a.py (step 2)"
        assert "b.py: needle" in search.content


def test_a_denied_file_is_read_by_way_of_a_refresh(tmp_path: Path) -> None:
    rule = Rule(Act.READ, Effect.DENY, "a.py")
    policy = Policy.workspace().extended(rule, name="now")
    with agent(tmp_path, policy=policy, a_py="before\n") as me:
        (tmp_path / "link.py").symlink_to("a.py")
        me.read("a.py")
        me.read("link.py", 1, 1)
        me.by_others("a.py", "secret\n")
        request = me.ask()
        assert "secret" not in request.text
        assert "before" not in request.text
        assert "the policy denies reading it" in request.text


def test_a_deleted_file_lives_on(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="here\n") as me:
        me.read("a.py")
        me.ask()
        (tmp_path / "a.py").unlink()
        (piece,) = me.sees()
        assert piece.status == "stub"
        assert piece.why.endswith("because the file is gone")


def test_a_path_turns_into_something_that_blocks(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="here\n") as me:
        me.read("a.py")
        me.ask()
        (tmp_path / "a.py").unlink()
        os.mkfifo(tmp_path / "a.py")
        assert "no regular file" in me.sees()[0].why


def test_lines_that_an_edit_removed_are_shown_as_they_were(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="x\n" * 400) as me:
        me.read("a.py", 300, 20)
        me.write("a.py", "x\n" * 100)
        piece = me.sees()[0]
        assert piece.content == ""
        assert "the file has 100 lines now" in piece.why
