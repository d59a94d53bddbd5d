"""Holds the sections of a story against the world where a rewrite has to pay.

Sections only grow between rewrites, so that what they show of a file must be read in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import checks, grammar, sent
from .replayer import Held, Replayer, read_all
from .scenario import Frame
from .shown import demand
from .strategies import LINKS
from .world import resolve, split_lines


def canonical(path: str) -> str:
    """A path as the world of the stories spells it."""
    return resolve(path, LINKS)


@dataclass(slots=True)
class PricedJudge:
    """The guarantees over the frames of one story, in order."""

    before: Frame | None = None
    seen: set[tuple[int, int]] = field(default_factory=set)

    def judge(self, frame: Frame) -> None:
        """Every check of one frame; raises `Broken`."""
        checks.bounded(frame)
        pieces = list(frame.assembled.pieces)
        known = read_all(pieces, canonical)
        current(frame, known)
        self._grows(frame)
        self._complete(frame, known)
        self._repeats(frame)
        sent.messages(frame)
        sent.read_back(frame)
        checks.asked_before_opening(frame)
        self.before = frame

    def _grows(self, frame: Frame) -> None:
        """Last section's text is a prefix of this one's, but after a rewrite."""
        made = frame.assembled
        demand(0 <= made.stable_chars <= len(made.text), "stable chars", made.stable_chars)
        if self.before is None:
            return
        old = self.before.assembled if self.before.again is None else self.before.again
        demand(
            old.text[: made.stable_chars] == made.text[: made.stable_chars],
            "the stable prefix moved",
            made.stable_chars,
        )
        if not made.rewritten:
            demand(made.text.startswith(old.text), "not a prefix", old.text, made.text)
            demand(made.stable_chars == len(old.text), "less said to be stable than is")
        if block_keys(old.text) - {note.key for note in frame.ask.notes}:
            demand(made.rewritten, "a note was forgotten and is still shown")

    def _complete(self, frame: Frame, known: Replayer) -> None:
        """Every observation stands as its last piece says, or is counted."""
        made = frame.assembled
        places = {(fact.observation.step, fact.observation.call) for fact in frame.facts}
        demand(known.whole.keys() <= places, "of no ledger", known.whole.keys() - places)
        demand(made.carried == len(known.whole), "carried", made.carried, len(known.whole))
        demand(made.carried + made.stubbed == len(frame.facts), "lost", made.carried, made.stubbed)
        facts = {(fact.observation.step, fact.observation.call): fact for fact in frame.facts}
        for place, piece in known.whole.items():
            fact = facts[place]
            if piece.kind != fact.observation.kind:
                demand(False, "another kind", piece)
            if fact.path is None:
                body = piece.text.partition("\n")[2][:-1]
                text = grammar.clean(fact.observation.text)
                whole = grammar.consumed(text, body) == len(text)
                demand(whole or piece.cut, "not as made, and not said to be cut", piece)

    def _repeats(self, frame: Frame) -> None:
        """Asked again, nothing changed: a rewrite may pay by now, or one that waited follows."""
        again = frame.again
        if again is None or again.rewritten:
            return
        demand(again.text.startswith(frame.assembled.text), "another text", again.text)
        if again.text == frame.assembled.text:
            demand(again.reread == 0, "refreshed again", again.reread)
            opened = [look for look in frame.looks_again if look[0] == "open"]
            demand(not opened or not frame.settled, "opened again, nothing changed", opened)


def block_keys(text: str) -> set[str]:
    """The keys of the notes that a section shows."""
    heading, *lines = text.split("\n")
    keys: set[str] = set()
    if grammar.NOTES.fullmatch(heading):
        for line in lines:
            found = grammar.NOTE.fullmatch(line)
            if not found:
                break
            keys.add(grammar.unquote(found[1]))
    return keys


def current(frame: Frame, known: Replayer) -> None:
    """Every line held is the file's line of that number now."""
    for path, held in known.files.items():
        now = frame.files.get(path)
        demand(now is not None or not held.lines, "held though nobody can read it", path, held)
        lines = [line.removesuffix("\n") for line in split_lines(now or "")]
        for number, text in held.lines.items():
            demand(number <= len(lines), "holds a line that is gone", path, number, text)
            demand(grammar.same(lines[number - 1], text), "holds another line", path, number, text)
        part_holds(path, held, lines)


def part_holds(path: str, held: Held, lines: list[str]) -> None:
    """A line cut inside is the start of the file's line."""
    if held.part is None or held.part[0] in held.lines:
        return
    number, text = held.part
    demand(number <= len(lines), "holds part of a line that is gone", path, number)
    start = grammar.consumed(grammar.clean(lines[number - 1]), text)
    demand(start is not None, "holds part of another line", path, number, text)
