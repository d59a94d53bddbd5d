"""Holds every section of a story against what was true when it was made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from io_harness.context import PieceStatus
from io_harness.types import Effect, ObsKind

from . import checks, grammar, sent
from .model import Must, differs, ever_cut, least_cover, superseded
from .scenario import Fact, Frame
from .shown import Shown, complete, demand, is_cut, lines_of, size, stub_room
from .world import split_lines

SizeOf: TypeAlias = Callable[[Fact], int]


@dataclass(slots=True)
class Judge:
    """The four guarantees over the frames of one story, in order.

    `sees_files` is whether the assembler has a workspace. `size_of` tells what an observation
    takes alone, uncut but for its entry: measured in a ledger that holds nothing else.
    """

    sees_files: bool
    size_of: SizeOf
    before: Frame | None = None
    may_fail: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    reasons: dict[int, str] = field(default_factory=dict)

    def judge(self, frame: Frame) -> None:
        """Every check of one frame; raises `Broken`."""
        self._note_causes(frame)
        checks.bounded(frame)
        shown = complete(frame)
        checks.memory_block(frame)
        for item in shown.values():
            self._true(frame, item)
        self._fit(frame, shown)
        self._refreshes(frame, shown)
        self._repeatable(frame)
        sent.messages(frame)
        sent.read_back(frame)
        checks.asked_before_opening(frame)
        self.before = frame

    # -- true

    def _true(self, frame: Frame, item: Shown) -> None:
        seen = item.fact.observation
        demand(item.head.word == grammar.WORDS[seen.kind], "the wrong word", item.head)
        demand((item.head.target is None) == (seen.target is None), "target lost", item.head)
        if not item.whole:
            checks.stub_is_one_line(item)
            self._reason(frame, item)
        elif seen.kind is ObsKind.READ:
            self._current(frame, item)
        else:
            checks.shown_as_made(item, seen.text, seen.text)
        if item.whole:
            checks.forges_nothing(item)
        if seen.kind in {ObsKind.GREP, ObsKind.FIND} and item.whole:
            checks.written_since(frame, item)

    def _current(self, frame: Frame, item: Shown) -> None:
        """What a read shows is what those lines of the file hold now."""
        fact = item.fact
        first = fact.observation.lines[0] if fact.observation.lines else 1
        if self.sees_files:
            now = frame.files.get(fact.path or "")
            demand(now is not None, "carried though nobody can read it", fact.path, item.piece)
            lines = split_lines(now or "")
        else:
            demand(not checks.writes_after(frame, fact), "stale and carried", item.piece)
            lines = ["\n"] * (first - 1) + split_lines(fact.observation.text)
        refreshed = item.piece.status is PieceStatus.REFRESHED
        span = lines_of(item)
        demand(span is None or span[0] == first, "shows other lines than asked", item.head)
        if is_cut(item):
            rest = "".join(lines[first - 1 :])
            checks.shown_as_made(item, rest, None if refreshed else fact.observation.text)
            return
        asked = fact.observation.lines[1] if fact.observation.lines else math.inf
        # The tightest header has no line numbers; what was asked for is there all the same.
        last = span[1] if span else int(min(asked, len(lines)))
        text = "".join(lines[first - 1 : last])
        # A final line end that came or went is no other line: both are shown alike.
        ends = {text, text.removesuffix("\n"), text + "\n"} if text else {text}
        right = any(grammar.same(one, item.body) for one in ends)
        demand(right, "stale or wrong", item.head, text, item.body)
        ended = last < asked if refreshed else least_cover(fact).end
        if refreshed and ever_cut(fact, frame.versions):
            ended = False
        if ended:
            demand(len(lines) <= max(last, first - 1), "lines at the end are missing", item.head)

    def _reason(self, frame: Frame, item: Shown) -> None:
        why, fact = item.head.why, item.fact
        if found := grammar.SUPERSEDED.fullmatch(why):
            checks.replaced(frame, fact, found[1], int(found[2] or 0))
        elif found := grammar.INVALIDATED.fullmatch(why):
            demand(fact.observation.kind is ObsKind.READ, "only reads go stale", why)
            demand(fact.position in self.may_fail, "nothing kept it from being read", why)
            named = checks.named_among(frame, found[1], checks.writes_after(frame, fact))
            demand(named or not self.sees_files or "change" in found[1], "names no cause", why)
            self.failed.add(fact.position)
        else:
            found = grammar.OLDER.fullmatch(why)
            demand(found, "no reason", why)
            assert found
            length = grammar.number(found[1])
            demand(length == len(fact.observation.text), "the wrong length", why)
            demand(fact.position not in self.failed, "failed, and said to be old", why)
            here = (int(found[2]), int(found[3]))
            demand(here == (fact.observation.step, fact.observation.call), "leads elsewhere", why)

    # -- fit

    def _fit(self, frame: Frame, shown: dict[int, Shown]) -> None:
        failed = frozenset(self.failed)
        must = {
            fact.position: superseded(fact, frame.facts, failed, frame.versions)
            for fact in frame.facts
        }
        whole = {position for position, item in shown.items() if item.whole}
        dead = {position for position, sure in must.items() if sure is Must.YES} | failed
        demand(not whole & dead, "carried though replaced or failed", sorted(whole & dead))
        live = sorted(
            position
            for position, sure in must.items()
            if sure is Must.NO and position not in self.may_fail
        )
        if live:
            demand(max(whole, default=-1) >= live[-1], "the newest is not carried", live[-1])
        left = [position for position in live if position not in whole]
        if left:
            demand(min(whole) > left[-1], "carried behind an elided one", left[-1], min(whole))
        doubtful = must.keys() - dead - whole - set(live)
        if left and max(doubtful, default=-1) > left[-1]:
            left = []  # it may be a live one that did not fit, and ended the walk
        self._room(frame, shown, whole, left, bool(dead))
        checks.stub_order(frame, shown, whole)

    def _room(
        self, frame: Frame, shown: dict[int, Shown], whole: set[int], left: list[int], dead: bool
    ) -> None:
        budget = frame.ask.budget
        block = sum(size(p) for p in frame.assembled.pieces if p.status is PieceStatus.MEMORY)
        used = sum(shown[position].size for position in whole)
        if len(whole) == len(frame.facts):
            demand(used <= 4 * budget - block, "over the ceiling", used)
            return
        room = 4 * budget - block - stub_room(budget)
        demand(used <= room, "carried ones take the room of stubs", used, room)
        stubs = sum(item.size for item in shown.values() if not item.whole)
        demand(stubs <= stub_room(budget), "stubs over their share", stubs)
        if not left or not all(self._measurable(frame, position) for position in left):
            return
        newest = max(whole)
        alone = {fact.position: self.size_of(fact) for fact in frame.facts}
        if dead and shown[newest].size == alone[newest]:
            more = alone[left[-1]]
            demand(used + more > room, "one more would have fitted", used, more, room)
        elif not (dead or self.may_fail) and all(self._measurable(frame, p) for p in whole):
            total = sum(alone.values())
            demand(total > 4 * budget - block, "everything would have fitted", total)

    def _measurable(self, frame: Frame, position: int) -> bool:
        """Whether alone in a ledger it would be shown as it is here."""
        fact = frame.facts[position]
        touched = {path for path in (fact.path, *fact.paths) if path}
        return not touched & {path for path, log in frame.versions.items() if log[-1][0] > position}

    # -- refreshes

    def _note_causes(self, frame: Frame) -> None:
        for fact in frame.facts:
            if fact.observation.kind is not ObsKind.READ or fact.path is None:
                continue
            shut = frame.shut.get(fact.path, Effect.ALLOW) is not Effect.ALLOW
            unreadable = shut or frame.files.get(fact.path) is None
            if unreadable if self.sees_files else checks.writes_after(frame, fact):
                self.may_fail.add(fact.position)

    def _refreshes(self, frame: Frame, shown: dict[int, Shown]) -> None:
        newly = 0
        first_of_step = self.before is None or self.before.step < frame.step
        for position, item in shown.items():
            if not item.whole or item.fact.observation.kind is not ObsKind.READ:
                continue
            if item.piece.status is not PieceStatus.REFRESHED:
                continue
            demand(self._changed(frame, item.fact), "refreshed without a change", item.head)
            now = first_of_step and f"re-read at step {frame.step}," in item.head.why
            newly += now and self.reasons.get(position) != item.head.why
            self.reasons[position] = item.head.why
        demand(newly <= frame.assembled.reread, "refreshes not counted", newly, frame.assembled)
        quiet = self.before is not None and self._nothing_happened(frame, self.before)
        if quiet:
            demand(frame.assembled.reread == 0, "refreshed again without a change")

    def _changed(self, frame: Frame, fact: Fact) -> bool:
        """Whether any version since the read was made differs in the lines it shows."""
        log = frame.versions.get(fact.path or "", ())
        return any(differs(fact, text) for count, text in log if count > fact.position)

    def _nothing_happened(self, frame: Frame, before: Frame) -> bool:
        return (
            frame.versions == before.versions
            and len(frame.facts) == len(before.facts)
            and frame.ask == before.ask
            and frame.shut == before.shut
        )

    # -- repeatable

    def _repeatable(self, frame: Frame) -> None:
        prefix = 0
        if self.before is not None:
            pairs = zip(self.before.assembled.text, frame.assembled.text, strict=False)
            prefix = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        demand(frame.assembled.stable_chars <= prefix, "not stable", frame.assembled.stable_chars)
        again = frame.again
        if again is None:
            return
        demand(again.text == frame.assembled.text, "another text", frame.assembled.text, again.text)
        demand(list(again.pieces) == list(frame.assembled.pieces), "other pieces")
        demand(again.reread == 0, "refreshed again", again.reread)
        if frame.settled:
            opened = [look for look in frame.looks_again if look[0] == "open"]
            demand(not opened, "opened again with nothing changed", opened)
