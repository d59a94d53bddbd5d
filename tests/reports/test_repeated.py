"""Reported of other tools: one thing is shown many times, or so rarely that it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from io_harness import Assembler, Ledger, Observation, ObsKind, Workspace
from tests.reports.agent import BASE, CACHED, Agent, agent


def test_a_file_read_592_times_fills_the_request(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n" * 100) as me:
        for _ in range(592):
            me.read("a.py")
        request = me.ask(2_000)
        assert (request.carried, request.stubbed, request.collapsed) == (1, 591, True)
        assert request.text.count("line\n" * 100) == 1


def test_nine_reads_of_one_file_are_nine_bodies(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n" * 100) as me:
        for _ in range(9):
            me.read("a.py")
        *stubs, last = me.sees()
        assert [stub.why for stub in stubs] == ["superseded by step 9"] * 8
        assert last.content == "line\n" * 100


def test_edits_between_reads_leave_old_versions(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="version 0\n") as me:
        for number in range(1, 6):
            me.read("a.py")
            me.write("a.py", f"version {number}\n")
        text = me.ask().text
        assert [number for number in range(6) if f"\nversion {number}\n" in text] == [5]


def test_other_lines_of_the_file_are_taken_for_the_same(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="".join(f"{n}\n" for n in range(1, 501))) as me:
        me.read("a.py", 1, 50)
        me.read("a.py", 400, 51)
        first, second = me.sees()
        assert first.content.split("\n")[:2] == ["1", "2"]
        assert second.content.split("\n")[:2] == ["400", "401"]


def test_overlapping_reads_are_all_kept(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="".join(f"{n}\n" for n in range(1, 501))) as me:
        me.read("a.py", 80, 101)
        me.read("a.py", 1, 100)
        me.read("a.py", 101, 100)
        assert [piece.status for piece in me.sees()] == ["stub", "carried", "carried"]


@pytest.mark.parametrize("ceiling", range(100, 1_600, 50))
@pytest.mark.parametrize("cached", [False, True])
def test_a_stub_points_to_a_read_that_is_not_there(
    tmp_path: Path, ceiling: int, cached: bool
) -> None:
    with agent(tmp_path, price=CACHED if cached else BASE) as me:
        me.by_others("a.py", "line\n" * 100)
        me.read("a.py")
        me.made(ObsKind.TOOL, "job", "x" * 900)
        me.read("a.py")
        for number in range(4):
            me.made(ObsKind.TOOL, f"job {number}", "x" * 500)
            pieces = me.sees(ceiling)
            for stub in pieces:
                assert "refer to" not in stub.why
                if stub.why.startswith("superseded by "):
                    assert stub.why == "superseded by step 3"
            newest = [p for p in pieces if (p.kind, p.step) == ("read", 3)]
            if newest and newest[0].status == "stub":
                assert newest[0].why.startswith("500 characters, older than")
        me.read("a.py")
        assert me.sees(24_000)[-1].content == "line\n" * 100


def test_what_one_run_saw_is_hidden_from_the_next(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n") as me:
        me.read("a.py")
        me.read("a.py")
        me.ask()
        for other in (Agent(tmp_path, me.workspace), Agent(tmp_path, me.workspace)):
            other.read("a.py")
            assert other.sees()[0].content == "line\n"


def test_two_names_of_a_file_are_two_files(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n") as me:
        (tmp_path / "link.py").symlink_to("a.py")
        (tmp_path / "sub").mkdir()
        for path in ("a.py", "./a.py", "sub/../a.py", "link.py"):
            me.read(path)
        assert [piece.status for piece in me.sees()] == ["stub"] * 3 + ["carried"]
        me.write("a.py", "new\n")
        assert me.sees()[3].content == "new\n"


def test_two_files_behind_a_linked_directory_are_one(tmp_path: Path) -> None:
    for name in ("one", "two/deep"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "one" / "a.py").write_text("one\n")
    (tmp_path / "two" / "a.py").write_text("two\n")
    (tmp_path / "one" / "link").symlink_to("../two/deep")
    with Workspace(tmp_path) as workspace:
        me = Agent(tmp_path, workspace)
        me.read("one/a.py")
        me.read("one/link/../a.py")
        assert [piece.content for piece in me.sees()] == ["one\n", "two\n"]


def test_a_stub_makes_the_model_read_everything_again(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n" * 100) as me:
        me.read("a.py", 1, 40)
        me.read("a.py", 1, 60)
        me.made(ObsKind.TOOL, "job", "x" * 2_000)
        covered, old, _ = me.sees(600)
        assert (covered.detail, covered.why) == ("lines 1-40 of 100", "superseded by step 2")
        assert old.detail == "lines 1-60 of 100"
        assert old.why.startswith("300 characters, older than")
        assert "show(step=2, call=0)" in old.why


def test_observations_without_a_header_are_dropped() -> None:
    ledger = Ledger()
    kinds = list(ObsKind)
    for number in range(200):
        ledger.push(Observation(number, kinds[number % 10], None, ""))
    for ceiling in (64, 100, 1_000, 24_000):
        request = Assembler(ledger).assemble(step=200, budget_tokens=ceiling)
        assert request.carried + request.stubbed == 200


def test_a_plain_reread_costs_a_second_copy(tmp_path: Path) -> None:
    with agent(tmp_path, a_py="line\n" * 200) as me:
        me.read("a.py")
        once = me.ask().est_tokens
        for _ in range(4):
            me.read("a.py")
        assert me.ask().est_tokens < once + 4 * 25
