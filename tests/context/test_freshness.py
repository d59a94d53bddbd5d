"""No text shown as current is older than its file, and no file is opened without a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from io_harness import (
    Act,
    Assembled,
    Assembler,
    CachePrice,
    Ledger,
    Observation,
    ObsKind,
    Policy,
    Workspace,
)
from io_harness.types import Effect, Signature, Verdict
from tests.context.files import DenyList, MemoryFiles


class World:
    """Files, a ledger, and an assembler that sees both."""

    def __init__(self, policy: DenyList | None = None, **texts: str) -> None:
        self.files = MemoryFiles()
        for name, text in texts.items():
            self.files.put(name, text)
        self.ledger = Ledger()
        self.policy = policy
        self.assembler = Assembler(self.ledger, workspace=self.files, policy=policy)
        self.step = 0

    def read(
        self, path: str, first: int = 1, count: int | None = None, digest: bool = True
    ) -> None:
        self.step += 1
        got = self.files.read(path, offset=first, limit=count)
        lines = None if count is None else (first, first + count - 1)
        self.ledger.push(
            Observation(
                self.step,
                ObsKind.READ,
                path,
                got.text,
                lines=lines,
                total_lines=got.total_lines,
                digest=got.digest if digest else None,
            )
        )

    def write(self, path: str, text: str | None = None) -> None:
        self.step += 1
        if text is not None:
            self.files.put(path, text)
        self.ledger.push(Observation(self.step, ObsKind.WRITE, path, "written"))

    def say(self, size: int = 10, kind: ObsKind = ObsKind.TOOL) -> None:
        self.step += 1
        self.ledger.push(Observation(self.step, kind, "t", "z" * size))

    def ask(self, ceiling: int = 24_000) -> Assembled:
        self.files.opened.clear()
        return self.assembler.assemble(step=self.step + 1, budget_tokens=ceiling)

    def settle(self) -> Assembled:
        """Look once at everything that is shown."""
        return self.ask()


def statuses(request: Assembled) -> list[str]:
    return [piece.status.value for piece in request.pieces]


# A write makes every earlier read of its path stale.


def test_a_stale_read_is_shown_as_its_file_is_now() -> None:
    world = World(a="old\n")
    world.read("a")
    world.write("a", "new\n")
    request = world.ask()
    assert "old" not in request.text
    assert request.text.count("new\n") == 1
    assert statuses(request) == ["refreshed", "carried"]
    assert request.reread == 1


def test_it_is_read_again_at_the_same_lines() -> None:
    world = World(a="1\n2\n3\n4\n5\n")
    world.read("a", 2, 2)
    world.write("a", "one\ntwo\nthree\nfour\nfive\n")
    assert "read a, lines 2-3 of 5" in world.ask().text
    assert "\ntwo\nthree\n\n" in world.ask().text
    assert "four" not in world.ask().text


@pytest.mark.parametrize("digest", [True, False])
def test_a_write_that_changes_other_lines_only_changes_nothing(digest: bool) -> None:
    world = World(a="1\n2\n3\n4\n5\n")
    world.read("a", 2, 2, digest)
    before = world.ask().text
    world.write("a", "one\n2\n3\nfour\n")
    request = world.ask()
    assert request.text.startswith(before)
    assert (statuses(request), request.reread) == (["carried", "carried"], 0)


def test_every_read_of_the_path_is_stale() -> None:
    world = World(a="1\n2\n3\n4\n")
    world.read("a", 1, 2)
    world.read("a", 3, 2)
    world.write("a", "one\ntwo\nthree\nfour\n")
    request = world.ask()
    assert statuses(request) == ["refreshed", "refreshed", "carried"]
    assert request.reread == 2


def test_a_read_after_the_write_is_not_stale() -> None:
    world = World(a="old\n")
    world.write("a", "new\n")
    world.read("a")
    assert statuses(world.ask()) == ["carried", "carried"]


def test_the_order_within_a_step_counts_too() -> None:
    world = World(a="new\n")
    for kind, text in ((ObsKind.READ, "old\n"), (ObsKind.WRITE, "ok"), (ObsKind.READ, "new\n")):
        lines = (1, 5) if kind is ObsKind.READ and text == "old\n" else None
        world.ledger.push(Observation(1, kind, "a", text, lines=lines, total_lines=1))
    assert statuses(world.ask()) == ["stub", "carried", "carried"]


def test_a_failed_write_makes_nothing_stale() -> None:
    world = World(a="old\n")
    world.read("a")
    world.settle()
    world.ledger.push(Observation(2, ObsKind.ERROR, "a", "refused"))
    request = world.ask()
    assert statuses(request) == ["carried", "carried"]
    assert world.files.opened == []


def test_lines_that_are_gone_are_shown_as_gone_and_come_back() -> None:
    world = World(a="x\n" * 9)
    world.read("a", 8, 2)
    world.write("a", "x\n" * 3)
    assert "no lines from 8 on of 3" in world.ask().text
    assert "the file has 3 lines now" in world.ask().text
    world.write("a", "y\n" * 8)
    request = world.ask()
    assert "read a, lines 8-8 of 8" in request.text
    assert "the file has" not in request.text


# What cannot be refreshed.


@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
def test_the_policy_is_asked_before_the_file_is_opened(effect: Effect) -> None:
    policy = DenyList(effect=effect)
    world = World(policy, a="old\n")
    world.read("a")
    world.settle()
    policy.paths.add("a")
    world.write("a", "new\n")
    request = world.ask()
    assert world.files.opened == []
    assert "old" not in request.text
    assert "new" not in request.text
    assert statuses(request) == ["stub", "carried"]
    assert request.reread == 0


def test_a_refused_look_is_a_failed_refresh_without_a_write_too() -> None:
    policy = DenyList()
    world = World(policy, a="old\n")
    world.read("a")
    world.settle()
    policy.paths.add("a")
    world.files.put("a", "old\n")
    request = world.ask()
    assert statuses(request) == ["stub"]
    assert "invalidated by a change on disk" in request.text


def test_a_file_that_may_not_be_read_any_more_is_not_looked_for_until_it_changes() -> None:
    policy = DenyList()
    world = World(policy, a="old\n")
    world.read("a")
    world.settle()
    policy.paths.add("a")
    assert statuses(world.ask()) == ["carried"]


def test_a_failed_one_leaves_the_live_ones_until_it_is_read_again() -> None:
    world = World(a="old\n")
    world.read("a")
    world.files.remove("a")
    assert statuses(world.ask()) == ["stub"]
    world.files.put("a", "back\n")
    assert statuses(world.ask()) == ["stub"]
    world.read("a")
    request = world.ask()
    assert statuses(request) == ["stub", "carried"]
    assert "superseded by step 2" in request.text
    assert "back" in request.text


def test_a_failure_is_recorded_once() -> None:
    world = World(a="old\n")
    world.read("a")
    world.files.remove("a")
    (failure,) = world.ask().refreshes
    assert (failure.text, failure.because) == (None, "the file is gone")
    assert world.ask().refreshes == ()


def test_a_path_that_leads_outside_now_is_not_followed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root, outside = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("secret\n")
    (root / "a").write_text("mine\n")
    ledger = Ledger()
    with Workspace(root) as workspace:
        ledger.push(Observation(1, ObsKind.READ, "a", "mine\n", total_lines=1))
        assembler = Assembler(ledger, workspace=workspace, policy=Policy.workspace())
        assert statuses(assembler.assemble(step=2, budget_tokens=500)) == ["carried"]
        (root / "a").unlink()
        (root / "a").symlink_to(outside / "secret")
        request = assembler.assemble(step=3, budget_tokens=500)
    assert "secret" not in request.text
    assert "mine" not in request.text
    assert "invalidated by a change on disk and could not be refreshed because it is outside" in (
        request.text
    )


def test_without_a_workspace_only_writes_make_stale() -> None:
    world = World(a="old\n")
    world.read("a")
    world.files.put("a", "new\n")
    assert statuses(Assembler(world.ledger).assemble(step=2, budget_tokens=500)) == ["carried"]
    world.write("a")
    request = Assembler(world.ledger).assemble(step=3, budget_tokens=500)
    assert statuses(request) == ["stub", "carried"]
    assert "there is no workspace" in request.text


# Behind the agent's back.


def test_a_change_by_somebody_else_is_noticed() -> None:
    world = World(a="old\n")
    world.read("a")
    world.settle()
    world.files.put("a", "new\n")
    request = world.ask()
    assert statuses(request) == ["refreshed"]
    assert "it changed on disk" in request.text


def test_a_change_between_the_read_and_its_first_assembly_is_noticed() -> None:
    world = World(a="old\n")
    world.read("a")
    world.files.put("a", "new\n")
    assert statuses(world.ask()) == ["refreshed"]


@pytest.mark.parametrize("digest", [True, False])
def test_a_touched_file_is_not_stale(digest: bool) -> None:
    world = World(a="same\n")
    world.read("a", digest=digest)
    before = world.settle().text
    world.files.put("a", "same\n")
    request = world.ask()
    assert world.files.opened == ["a"]
    assert (request.text, request.reread) == (before, 0)
    world.ask()
    assert world.files.opened == []


def test_line_ends_are_content() -> None:
    world = World(a="x\r\ny\n")
    world.read("a")
    assert statuses(world.ask()) == ["carried"]
    world.files.put("a", "x\ny\n")
    assert statuses(world.ask()) == ["refreshed"]
    assert "\r" not in world.ask().text


@pytest.mark.parametrize(
    ("first", "count", "stale"), [(1, None, True), (1, 9, True), (2, 1, True), (1, 1, False)]
)
def test_lines_appended_are_a_change_for_who_saw_the_end(
    first: int, count: int | None, stale: bool
) -> None:
    world = World(a="1\n2\n")
    world.read("a", first, count)
    world.settle()
    world.files.put("a", "1\n2\n3\n")
    assert statuses(world.ask()) == ["refreshed" if stale else "carried"]


def test_a_read_past_the_end_says_how_long_the_file_is() -> None:
    world = World(a="1\n2\n")
    world.read("a", 9, 5)
    assert "no lines from 9 on of 2" in world.ask().text
    world.files.put("a", "1\n2\n" * 5)
    assert "lines 9-10 of 10" in world.ask().text


def test_what_a_cut_read_does_not_show_may_change() -> None:
    world = World(a="x\n" * 9_000)
    world.read("a")
    before = world.settle().text
    world.files.put("a", "x\n" * 8_999 + "y\n")
    request = world.ask()
    assert (request.text, request.reread) == (before, 0)
    world.files.put("a", "y\n" + "x\n" * 8_999)
    assert statuses(world.ask()) == ["refreshed"]


def test_a_cut_read_is_read_again_at_the_lines_it_showed() -> None:
    world = World(a="x\n" * 9_000)
    world.read("a")
    (before,) = world.settle().pieces
    world.files.put("a", "y\n" + "x\n" * 8_999)
    (piece,) = world.ask().pieces
    assert "\ny\nx\n" in piece.text
    shown = piece.text.count("\nx") + 1
    assert shown == before.text.count("\nx")
    assert f"read a, lines 1-{shown} of 9000: re-read" in piece.text


# Once per change.


def test_a_change_is_looked_at_once() -> None:
    world = World(a="old\n", b="b\n")
    world.read("a")
    world.read("b")
    world.write("a", "new\n")
    texts = {world.ask().text}
    for _ in range(5):
        request = world.ask()
        assert (world.files.opened, request.reread, request.refreshes) == ([], 0, ())
        texts.add(request.text)
    assert len(texts) == 1


def test_a_second_change_is_another_refresh_in_the_same_place() -> None:
    world = World(a="one\n")
    world.read("a")
    for number in ("two", "three", "four"):
        world.write("a", f"{number}\n")
        request = world.ask()
        assert request.reread == 1
        assert statuses(request)[0] == "refreshed"
        assert [word for word in ("one", "two", "three", "four") if word in request.text] == [
            number
        ]


def test_a_change_that_is_taken_back_is_shown_as_it_is() -> None:
    world = World(a="old\n")
    world.read("a")
    world.settle()
    world.files.put("a", "new\n")
    assert "new" in world.ask().text
    world.files.put("a", "old\n")
    request = world.ask()
    assert "old" in request.text
    assert "new" not in request.text


class Unsettled(MemoryFiles):
    """Files of which every stamp is too young to be sure."""

    def signature(self, path: str) -> Signature:
        sure = super().signature(path)
        return Signature(sure.dev, sure.ino, sure.size, 7, 7, settled=False)


def test_a_file_that_has_not_settled_is_looked_at_again() -> None:
    world = World()
    files = Unsettled()
    files.put("a", "old\n")
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.READ, "a", "old\n", total_lines=1))
    assembler = Assembler(ledger, workspace=files)
    assert statuses(assembler.assemble(step=2, budget_tokens=500)) == ["carried"]
    files.put("a", "new\n")
    assert statuses(assembler.assemble(step=2, budget_tokens=500)) == ["refreshed"]
    assert world.files.opened == []


def test_only_what_would_be_carried_is_looked_at() -> None:
    world = World(old="x\n", ender="y" * 300 + "\n", new="z\n")
    world.read("old")
    world.read("ender")
    world.say(1_500)
    world.read("new")
    for name in ("old", "ender", "new"):
        world.files.put(name, f"{'q' * 400}\n")
    request = world.ask(600)
    # The one that ends the walk is looked at too: it might have become shorter.
    assert world.files.opened == ["new", "ender"]
    assert "q" * 400 in request.text


def test_a_superseded_read_is_never_looked_at() -> None:
    world = World(a="x\n")
    world.read("a")
    world.read("a")
    world.files.put("a", "y\n")
    world.ask()
    assert world.files.opened == ["a"]


def test_one_stat_serves_all_reads_of_a_file() -> None:
    class Counting(MemoryFiles):
        stats = 0

        def signature(self, path: str) -> Signature:
            self.stats += 1
            return super().signature(path)

    files, ledger = Counting(), Ledger()
    files.put("a", "x\n" * 50)
    for step in range(1, 6):
        lines = (step * 10 - 9, step * 10)
        ledger.push(Observation(step, ObsKind.READ, "a", "x\n" * 10, lines=lines, total_lines=50))
    assembler = Assembler(ledger, workspace=files)
    assembler.assemble(step=9, budget_tokens=900)
    files.stats = 0
    assembler.assemble(step=9, budget_tokens=900)
    assert files.stats == 1


# Under the ceiling.


def test_refreshes_share_the_ceiling_newest_first() -> None:
    world = World()
    for n in range(10):
        world.files.put(f"f{n}", "was\n")
        world.read(f"f{n}")
    world.settle()
    for n in range(10):
        world.files.put(f"f{n}", f"new {n} " + "x" * 900 + "\n")
    request = world.ask(1_500)
    assert request.est_tokens <= 1_500
    assert request.reread == request.carried + 1
    shown = [p.target for p in request.pieces if p.status == "refreshed"]
    assert shown == [f"f{n}" for n in range(10 - len(shown), 10)]
    assert "was" not in request.text


def test_a_refresh_that_grew_is_cut_by_the_entry_cap() -> None:
    world = World(a="x\n")
    world.read("a")
    world.settle()
    world.files.put("a", "y\n" * 90_000)
    (piece,) = world.ask(2_000).pieces
    assert piece.status == "refreshed"
    assert len(piece.text) - len(piece.text.split("\n")[0]) - 2 <= 2_000


# Searches.


def test_a_search_keeps_its_hits_and_says_what_was_written_since() -> None:
    world = World(a="x\n")
    hits = Observation(1, ObsKind.GREP, "x", "a:1:x", paths=("a", "./b"))
    world.ledger.push(hits)
    world.step = 1
    assert world.ask().text == "[step 1, grep x]\na:1:x\n"
    world.write("a", "y\n")
    assert world.ask().text.startswith("[step 1, grep x: written since: a (step 2)]\na:1:x\n")
    world.write("b", "y\n")
    assert "written since: b (step 3), a (step 2)" in world.ask().text
    world.write("c", "y\n")
    assert "written since: b (step 3), a (step 2)]" in world.ask().text


def test_a_search_after_the_write_says_nothing() -> None:
    world = World(a="x\n")
    world.write("a", "y\n")
    world.ledger.push(Observation(2, ObsKind.GREP, "x", "a:1:x", paths=("a",)))
    assert "[step 2, grep x]\n" in world.ask().text


def test_a_search_knows_the_file_behind_a_link(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "a").write_text("x\n")
    (root / "link").symlink_to("a")
    ledger = Ledger()
    with Workspace(root) as workspace:
        ledger.push(Observation(1, ObsKind.GREP, "x", "link:1:x", paths=("link",)))
        ledger.push(Observation(2, ObsKind.WRITE, "a", "ok"))
        request = Assembler(ledger, workspace=workspace).assemble(step=3, budget_tokens=500)
    assert "written since: a (step 2)" in request.text


# Going on in another process.


def test_refreshes_and_failures_are_restored() -> None:
    world = World(a="old a\n", b="old b\n", c="c\n")
    for name in "abc":
        world.read(name)
    world.write("a", "new a\n")
    world.write("c", "c\n")
    world.files.remove("b")
    request = world.ask()
    other = Assembler(world.ledger, workspace=world.files, policy=None, manifest=request.manifest)
    again = other.assemble(step=world.step + 1, budget_tokens=24_000)
    assert (again.text, again.reread, again.refreshes) == (request.text, 0, ())
    assert again.manifest == request.manifest


def test_the_policy_sees_the_path_as_the_workspace_spells_it() -> None:
    asked: list[tuple[Act, str]] = []

    class Recorder:
        def check(self, act: Act, subject: str) -> Verdict:
            asked.append((act, subject))
            return Verdict(Effect.ALLOW, None, "test")

    files, ledger = MemoryFiles(), Ledger()
    files.put("a", "x\n")
    ledger.push(Observation(1, ObsKind.READ, "./a", "x\n", total_lines=1))
    Assembler(ledger, workspace=files, policy=Recorder()).assemble(step=2, budget_tokens=500)
    assert asked == [(Act.READ, "a")]


def test_what_was_said_of_a_search_is_restored() -> None:
    price = CachePrice(read=0.1, write=1.25)
    ledger = Ledger()
    one = Assembler(ledger, price=price)
    grep = Observation(1, ObsKind.GREP, "x", "a:1:x", paths=("a",))
    ledger.push(grep)
    ledger.push(Observation(2, ObsKind.WRITE, "a", "ok"))
    request = one.assemble(step=3, budget_tokens=500)
    assert "written since: a (step 2)" in request.text
    for step in (4, 5):
        other = Assembler(ledger, price=price, manifest=request.manifest)
        ledger.push(replace(grep, step=step))
        request = one.assemble(step=step, budget_tokens=500)
        again = other.assemble(step=step, budget_tokens=500)
        assert again.text == request.text
        assert again.manifest == request.manifest


def test_a_closed_workspace_is_named_as_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.READ, "a", "x\n", total_lines=1))
    with Workspace(tmp_path) as workspace:
        assembler = Assembler(ledger, workspace=workspace)

    text = assembler.assemble(step=2, budget_tokens=500).text

    assert "could not be refreshed because the workspace is closed]" in text
