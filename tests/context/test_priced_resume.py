"""A growing section goes on from its manifest byte for byte, whatever a rewrite looked at."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from io_harness import Assembler, CachePrice, Ledger, MemoryEntry, Observation, ObsKind
from tests.context.files import MemoryFiles

PRICE = CachePrice(0.1, 1.25)


class Run:
    """A run whose every section is made twice: by the one assembler and by a resumed one."""

    def __init__(self, ceiling: int = 24_000) -> None:
        self.files = MemoryFiles()
        self.ledger = Ledger()
        self.assembler = Assembler(self.ledger, workspace=self.files, price=PRICE)
        self.ceiling = ceiling
        self.step = 0
        self.rewrites = 0
        self.manifest: str | None = None
        self.text = ""

    def push(self, kind: ObsKind, target: str | None, text: str, *paths: str) -> None:
        self.ledger.push(Observation(self.step, kind, target, text, paths=paths))

    def read(self, path: str) -> None:
        self.push(ObsKind.READ, path, self.files.texts[path])

    def read_lines(self, path: str, first: int, last: int) -> None:
        found = self.files.read(path, offset=first, limit=last - first + 1)
        self.ledger.push(
            Observation(
                self.step,
                ObsKind.READ,
                path,
                found.text,
                lines=(first, last),
                total_lines=found.total_lines,
            )
        )

    def write(self, path: str, text: str, said: str = "Done.") -> None:
        self.files.put(path, text)
        self.push(ObsKind.WRITE, path, said)

    def turn(self, *, anew: bool = False) -> bool:
        """One section, by force written `anew`; whether it was."""
        self.step += 1
        self.rewrites += anew
        notes = (MemoryEntry(f"key {self.rewrites}", "value", "run", 1),)
        other = Assembler(self.ledger, workspace=self.files, price=PRICE, manifest=self.manifest)
        made = self.assembler.assemble(step=self.step, budget_tokens=self.ceiling, notes=notes)
        again = other.assemble(step=self.step, budget_tokens=self.ceiling, notes=notes)
        assert again.text == made.text
        assert list(again.pieces) == list(made.pieces)
        assert again.manifest == made.manifest
        self.manifest, self.text = made.manifest, made.text
        return made.rewritten


def searched(run: Run) -> None:
    """A rewrite looks at a search, says what was written since, and finds no room for it."""
    run.files.put("a.py", "one\n")
    # What the tail of a rewrite holds, but for the words of the header.
    run.push(ObsKind.GREP, "one", "x" * 1_970, "a.py")
    run.turn()
    run.write("a.py", "two\n")
    run.turn(anew=True)
    rewritten = []
    for _ in range(20):
        # The one before is superseded, and is what a rewrite would drop.
        run.write("a.py", f"{run.step}\n", said="y" * 6_000)
        rewritten.append(run.turn())
    assert any(rewritten)


def half_characters(run: Run) -> None:
    """A file has half of a surrogate pair, and its other lines change."""
    run.files.put("a.py", "one\ntwo\n")
    run.read("a.py")
    run.turn()
    run.write("a.py", "\ud83d\ntwo\n")
    run.turn()
    run.files.put("a.py", "\ud83d\nthree\n")
    run.turn()
    assert run.text.count("u{d83d}") == 1


def halves_side_by_side(run: Run) -> None:
    """A refresh shows both halves of a character, which JSON would make one."""
    run.files.put("a.py", "one\n")
    run.read("a.py")
    run.turn()
    run.write("a.py", "\ud83d\ude00" + "z" * 20_000)
    run.turn(anew=True)
    run.push(ObsKind.MESSAGE, None, "Go on.")
    run.turn()
    run.push(ObsKind.MESSAGE, None, "Go on.")
    run.turn(anew=True)


def mentioned_then_superseded(run: Run) -> None:
    """A search in the section is asked again after a resume."""
    run.files.put("a.py", "one\n")
    run.push(ObsKind.GREP, "one", "a.py:1:one", "a.py")
    run.turn()
    run.write("a.py", "two\n")
    run.turn(anew=True)
    assert "written since" in run.text
    run.push(ObsKind.GREP, "one", "", "a.py")
    run.turn()
    run.turn(anew=True)


def cut_and_superseded(run: Run) -> None:
    """A search that waited for room is superseded, and carried once all the same, cut."""
    run.ceiling = 100
    run.push(ObsKind.GREP, "one", "hit\n" * 1_000, "a.py")
    run.push(ObsKind.MESSAGE, None, "Go on.")
    run.turn()
    run.push(ObsKind.GREP, "one", "", "a.py")
    run.turn()
    run.ceiling = 1_000
    run.push(ObsKind.TOOL, "run", "x" * 1_500)
    run.turn()
    assert "[elided: " in run.text
    for _ in range(3):
        run.push(ObsKind.TOOL, "run", "x" * 1_500)
        run.turn()


def squeezed_and_superseded(run: Run) -> None:
    """A read had no room for its line numbers; a later read shows other lines under them."""
    lines = [f"line number {number}" for number in range(60)]

    def changed(at: int, *new: str) -> str:
        lines[at : at + 1] = new
        return "".join(f"{line}\n" for line in lines)

    run.files.put("a.py", changed(0, "zero"))
    run.read_lines("a.py", 1, 20)
    run.files.put("a.py", changed(0, "nought"))
    run.ceiling = 64
    run.turn()
    assert "[step 0, read a.py: re-read]\nnought\n" in run.text
    run.ceiling = 4_000
    run.write("a.py", changed(0, *map(str, range(15)), "nought"))
    run.turn()
    run.read_lines("a.py", 1, 20)
    run.turn()
    run.files.put("a.py", changed(20, "only the first read shows this"))
    run.turn()
    assert "[changed a.py, lines 21-21: " in run.text


STORIES = (
    searched,
    half_characters,
    halves_side_by_side,
    mentioned_then_superseded,
    cut_and_superseded,
    squeezed_and_superseded,
)


@pytest.mark.parametrize("play", STORIES)
def test_a_resumed_run_makes_the_same_requests(play: Callable[[Run], None]) -> None:
    play(Run())


def longest_manifest(searches: int) -> int:
    """Of the last turns of a run that made so many searches, and wrote their file."""
    run, lengths = Run(ceiling=1_000), []
    for number in range(searches):
        run.push(ObsKind.GREP, f"pattern {number:04}", "hit", "a.py")
        if number % 10 == 0:
            run.write("a.py", f"{number}\n")
            run.turn()
            lengths.append(len(run.manifest or ""))
    return max(lengths[-10:])


def test_searches_that_no_section_shows_are_not_remembered() -> None:
    assert longest_manifest(2_000) <= 1.1 * longest_manifest(200)


def test_all_of_a_file_stays_all_of_it_when_lines_come_before_it() -> None:
    run = Run()
    run.files.put("a.py", "first\n")
    run.read("a.py")
    run.turn()
    run.write("a.py", "before it\nfirst\n")
    run.turn()
    run.push(ObsKind.MESSAGE, None, "Go on.")

    run.turn(anew=True)

    assert "lines 1-2 of 2" in run.text
    assert "before it\nfirst\n" in run.text
