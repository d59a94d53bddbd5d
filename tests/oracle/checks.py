"""What must hold of one section, whatever came before it."""

from __future__ import annotations

import math
import re

from io_harness.context import PieceStatus
from io_harness.types import ObsKind

from . import grammar
from .model import covered, entry_cap, later_answers, least_cover, possible_covers
from .scenario import Fact, Frame
from .shown import Shown, demand, is_cut

HEADING_MOST = 130


def bounded(frame: Frame) -> None:
    """The ceiling holds, the estimate is right, and the text can be sent."""
    made = frame.assembled
    chars = len(made.text) + sum(len(piece.args) for piece in made.pieces)
    demand(made.est_tokens == math.ceil(chars / 4), "wrong estimate", made.est_tokens, chars)
    demand(made.est_tokens <= frame.ask.budget, "over the ceiling", made.est_tokens)
    made.text.encode("utf-8")
    demand("".join(piece.text for piece in made.pieces) == made.text, "pieces are not the text")


def named_among(frame: Frame, text: str, candidates: list[Fact]) -> list[list[Fact]]:
    """For every place that a reason names, which of the candidates it can mean.

    A reason gives the call only where the step alone could not tell: in the stub's own step.
    """
    found: list[list[Fact]] = []
    for step, call in grammar.places(text):
        meant = [
            one
            for one in candidates
            if one.observation.step == step and call in {None, one.observation.call}
        ]
        demand(meant, "names what it cannot mean", text, candidates)
        found.append(meant)
    return found


def writes_after(frame: Frame, fact: Fact) -> list[Fact]:
    """The writes of a read's file that came after it."""
    return [
        other
        for other in frame.facts[fact.position + 1 :]
        if other.observation.kind is ObsKind.WRITE and other.path == fact.path
    ]


def shown_as_made(item: Shown, original: str, counted: str | None) -> None:
    """Content byte for byte but for escapes; what is cut says so, how much, and inside its cap.

    `counted` is the text that the marker counts, where that is known.
    """
    text = grammar.clean(original)
    if not is_cut(item):
        demand(grammar.consumed(text, item.body) == len(text), "not as made", item.head, item.body)
        return
    demand(item.piece.cut or item.piece.status is PieceStatus.BOUNDED, "cut unsaid", item.piece)
    demand(len(item.body) <= entry_cap(item.fact.most_budget), "over its cap", len(item.body))
    lines = item.body.split("\n")
    first = grammar.MARKER.fullmatch(lines[0]) or lines[0] == grammar.SHORT_MARKER
    marker = lines[0] if first else lines[-1]
    parts = "\n".join(lines[1:] if first else lines[:-1])
    head, seam, tail = parts.partition(f"\n{grammar.SEAM}\n")
    used = kept_of(text, head, tail if seam else None)
    demand(used is not None, "kept text is not of the original", item.head, item.body)
    told = grammar.MARKER.fullmatch(marker)
    if told and counted is not None and grammar.clean(counted) == counted:
        gone, total = grammar.number(told[1]), grammar.number(told[2])
        demand(total == len(counted), "the wrong total", marker, len(counted))
        demand(gone in {total - u for u in used or ()}, "the wrong count", marker, used)


def kept_of(text: str, head: str, tail: str | None) -> set[int] | None:
    """How much of a text its kept parts use up; a line end may have been put after a part."""
    sizes: set[int] = set()
    for shown in (head, head + "\n"):
        used = grammar.consumed(text, shown)
        if used is not None:
            sizes.add(used)
    if tail is not None:
        least = max(0, len(text) - len(tail) - 1)
        starts = range(least, min(len(text), least + 2 + len(grammar.visible_lines(tail))) + 1)
        matching = {len(text) - start for start in starts if grammar.same(text[start:], tail)}
        sizes = {used + more for used in sizes for more in matching}
    return sizes or None


def forges_nothing(item: Shown) -> None:
    """No line of content, however lines are told apart, could be one of the harness's own."""
    lines = item.body.split("\n")
    cut = is_cut(item)
    for index, line in enumerate(lines):
        own = cut and (index in {0, len(lines) - 1} or line == grammar.SEAM)
        if own and (grammar.MARKER.fullmatch(line) or line in {grammar.SHORT_MARKER, grammar.SEAM}):
            continue
        for seen in grammar.visible_lines(line):
            demand(not grammar.is_ours(seen), "content imitates us", seen)


def stub_is_one_line(item: Shown) -> None:
    """A stub is one line, and so are its arguments bounded."""
    demand(len(grammar.visible_lines(item.piece.text)) == 2, "not one line", item.piece.text)
    demand(len(item.piece.args) <= 400, "arguments of a stub are too long", item.piece.args)


def written_since(frame: Frame, item: Shown) -> None:
    """A search's header names the writes of its files that came after it, and no others."""
    paths = set(item.fact.paths)
    later = [
        fact
        for fact in frame.facts[item.fact.position + 1 :]
        if fact.observation.kind is ObsKind.WRITE and fact.path in paths
    ]
    says = item.head.why.startswith("written since: ")
    demand(says == bool(later), "written since", item.head, later)
    for said in re.findall(r"\(([^()]*)\)", item.head.why):
        named_among(frame, said, later)


def replaced(frame: Frame, fact: Fact, names: str, more: int) -> None:
    """What a stub names did replace it: the newest answer, or the reads that do so together."""
    answers = later_answers(fact, frame.facts)
    named = named_among(frame, names, answers)
    demand(0 < len(named) <= 3, "names none, or more than three", names)
    if fact.observation.kind is not ObsKind.READ:
        demand(answers[-1] in named[0], "names another than the newest", fact, names)
    elif not more:
        together = [one for meant in named for one in meant]
        covers = [cover for one in together for cover in possible_covers(one, frame.versions)]
        demand(covered(least_cover(fact), covers, to_the_end=False), "not all replaced", names)


def stub_order(frame: Frame, shown: dict[int, Shown], whole: set[int]) -> None:
    """The newest are named, the oldest counted, and the count stands where the oldest stood."""
    hidden = [fact.position for fact in frame.facts if fact.position not in whole]
    counted = [position for position in hidden if position not in shown]
    demand(hidden[: len(counted)] == counted, "an older one is named, a newer counted", counted)
    if counted:
        order = [
            piece for piece in frame.assembled.pieces if piece.status is not PieceStatus.MEMORY
        ]
        place = [piece.status for piece in order].index(PieceStatus.COLLAPSED)
        ahead = sum(position < counted[0] for position in shown)
        demand(place == ahead, "the count stands elsewhere", place, ahead)


def memory_block(frame: Frame) -> None:
    """The newest notes that fit, quoted, and the number of the others."""
    made, notes = frame.assembled, sorted(frame.ask.notes, key=lambda note: note.seq)
    blocks = [piece.text for piece in made.pieces if piece.status is PieceStatus.MEMORY]
    demand(made.recalled + made.left_out == len(notes), "notes", made.recalled, made.left_out)
    room = 4 * (frame.ask.budget // 4)
    if not blocks:
        demand(made.recalled == 0, "recalled without a block")
        needed = HEADING_MOST + max(40, 30 + len(ascii(notes[-1].key))) if notes else math.inf
        demand(room < needed, "the block is left out", room)
        return
    heading, *lines = blocks[0].split("\n")[:-1]
    found = grammar.NOTES.fullmatch(heading)
    demand(found and len(blocks[0]) <= room, "no heading, or over a quarter", heading)
    assert found
    demand(int(found[1] or 0) == made.left_out, "says another number", heading)
    demand(len(lines) == made.recalled > 0, "lines and recalled differ", lines)
    for line, note in zip(lines, notes[made.left_out :], strict=True):
        told = grammar.NOTE.fullmatch(line)
        demand(told and len(grammar.visible_lines(line)) == 1, "a note is not one line", line)
        assert told
        demand(grammar.unquote(told[1]) == note.key, "another key", line)
        value = grammar.unquote(told[2])
        cut = value.removesuffix("…")
        only = made.recalled == 1 and value != cut and note.value.startswith(cut)
        demand(value == note.value or only, "another value", line)


def asked_before_opening(frame: Frame) -> None:
    """No file is opened but right after the policy let that very path be read."""
    allowed: set[str] = set()
    for what, path in frame.looks:
        if what == "open":
            demand(path in allowed, "opened without leave", path, frame.looks)
        elif what == "allow":
            allowed.add(path)
        elif what in {"ask", "deny"}:
            allowed.discard(path)
