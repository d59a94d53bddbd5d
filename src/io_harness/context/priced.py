"""A section that only grows between rewrites, for providers that sell a repeated prefix cheaply."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from io_harness.types import MemoryEntry

from . import render
from ._positions_py import COLLAPSED, CUT, LIVE, READ, SEARCH, SHIFT, STUB
from .assembled import AGAIN, HUNK, carries
from .budget import CHARS_PER_TOKEN, CachePrice, entry_cap_chars
from .entry import Carried
from .grammar import escape
from .hunks import Hunk, ShownFile, Unknown, lines_of
from .rewrite import Plan, Planner, pays, reaches_the_model
from .section import Addition, Section, size_of
from .touched import TouchedFiles
from .view import View
from .watch import Watch

_FOLLOWED_READS = 8
# What did not fit the ceiling waits for another section, so many newest of it.
MOST_WAITING = 64


class PricedAssembler:
    """Appends each turn, and rewrites when the ceiling, a deleted note or the price asks for it."""

    def __init__(self, view: View, watch: Watch, price: CachePrice) -> None:
        """Begin with no section."""
        self._view = view
        self._watch = watch
        self._price = price
        self._touched = TouchedFiles(view)
        self._planner = Planner(view, self._touched)
        self.waiting: list[int] = []
        self._entered = range(0)
        self.section: Section | None = None
        self.paid = 0
        self.visited = 0

    def turn(self, step: int, ceiling: int, notes: Sequence[MemoryEntry]) -> Section:
        """The section for a request: the last one grown, or written anew."""
        cap = entry_cap_chars(ceiling)
        self.visited = len(self._view.ledger) - len(self._view.kernel)
        self.enter(cap, len(self._view.ledger))
        section = self.section
        if section is None or self._asks_for_rewrite(section, step, ceiling, notes):
            return self._rewrite(step, ceiling, notes)
        changes, new = self._additions(section, step, cap)
        room = ceiling * CHARS_PER_TOKEN - section.chars - size_of(changes) - size_of(new)
        if room < 0:
            return self._rewrite(step, ceiling, notes)
        for addition in [*changes, *self._waited(section, changes, room, step, cap), *new]:
            section.put(*addition)
        if self.waiting:
            # One that did not fit was looked at all the same.
            self._view.mention_only(section.carried)
        return section

    def enter(self, cap: int, stop: int) -> None:
        """Let in the observations up to `stop`, which no section has carried yet."""
        start = len(self._view.kernel)
        self._view.enter_new(cap, stop, keep=0)
        for position in range(start, stop):
            self._touched.enter(position)
        self._entered = range(start, stop)

    def _asks_for_rewrite(
        self, section: Section, step: int, ceiling: int, notes: Sequence[MemoryEntry]
    ) -> bool:
        keys = {note.key for note in notes}
        if not keys.issuperset(section.block.recalled):
            return True
        if len(section.block.text) > ceiling // 4 * CHARS_PER_TOKEN:
            return True
        plan = self._planner.plan(
            ceiling, len(section.block.text), [*self.waiting, *self._entered], step, look=_as_it_is
        )
        self.visited += plan.visited
        self.paid += max(0, section.chars - plan.chars)
        return pays(self._price, self.paid, plan.chars, self._planner.terms.patience)

    # Growing.

    def _additions(
        self, section: Section, step: int, cap: int
    ) -> tuple[list[Addition], list[Addition]]:
        """What this turn adds: the changes of the files shown, then what is new."""
        changes: list[Addition] = []
        for gid in sorted(section.files, key=self._view.path):
            changes += self._changes(section, gid, step, cap)
        self.visited += len(section.files)
        return changes, [self._new(section, position, step, cap) for position in self._entered]

    def _waited(
        self, section: Section, changes: Sequence[Addition], room: int, step: int, cap: int
    ) -> list[Addition]:
        """What had no room in the sections before, while it fits: newest first, given in order."""
        if not self.waiting:
            return []
        known = section.carried.union(code >> SHIFT for code, _, _ in changes if carries(code))
        waited: list[Addition] = []
        while self.waiting:
            position = self.waiting[-1]
            self.visited += 1
            if position not in known and self._reaches(position, step, cap):
                room -= self._view.kernel.size(position)
                if room < 0:
                    break
                waited.append(self._new(section, position, step, cap))
                section.hidden -= not section.names(position)
            self.waiting.pop()
        return waited[::-1]

    def _new(self, section: Section, position: int, step: int, cap: int) -> Addition:
        view, kernel = self._view, self._view.kernel
        if not self._reaches(position, step, cap):
            return position << SHIFT | STUB, view.stub_text(position), view.stub_args(position)
        carried = view.carry(position)
        if kernel.kind(position) == READ:
            self.show(section, position, None)
        return position << SHIFT | kernel.mark(position), carried.text, carried.args

    def _reaches(self, position: int, step: int, cap: int) -> bool:
        """Whether the model is to see a position, once it was looked at."""
        kernel = self._view.kernel
        if kernel.state(position) == LIVE and kernel.kind(position) in (READ, SEARCH):
            self._watch.look(position, step, cap)
        return kernel.state(position) == LIVE or reaches_the_model(kernel, position)

    def show(self, section: Section, position: int, head: int | None) -> None:
        """Remember which lines of its file a carried read shows."""
        view, kernel = self._view, self._view.kernel
        gid = kernel.gid(position)
        shown, lines = view.shown_lines(position, head)
        file = section.files.setdefault(gid, ShownFile())
        file.show(shown.first, lines, self._watch.total_lines(position), end=shown.reached)
        file.version = kernel.file_version(gid)

    def _changes(self, section: Section, gid: int, step: int, cap: int) -> list[Addition]:
        """What makes the lines shown of a file true again: nothing, a hunk, or a void."""
        view, kernel, file = self._view, self._view.kernel, section.files[gid]
        self._watch.check(gid)
        version = kernel.file_version(gid)
        if file.version == version:
            return []
        reason = self._reason(gid, file.version)
        look = self._watch.look_at_file(gid)
        if look.result is None:
            return [self._void(section, gid, step, reason, look.because)]
        try:
            hunk = file.change_to(lines_of(look.result.text), look.result.total_lines)
        except Unknown:
            return self._show_again(section, gid, step, cap, reason)
        content = "" if hunk is None else escape("\n".join(hunk.lines))
        if len(content) > cap:
            return self._show_again(section, gid, step, cap, reason)
        file.version = version
        if hunk is None:
            return []
        file.apply(hunk)
        self._move_reads(section, gid, hunk)
        top = render.hunk(view.path(gid), hunk, step, reason)
        return [(self._newest(section, gid) << SHIFT | HUNK, top + _line(hunk.lines, content), "")]

    def _move_reads(self, section: Section, gid: int, hunk: Hunk) -> None:
        """Reads follow their lines, so that a rewrite shows these and not others in their place."""
        newest = islice(self._touched.reads(gid), _FOLLOWED_READS)
        written = self._view.kernel.last(gid)
        for position in {*self.reads(section, gid), *newest}:
            came_after = position > written and position in self._entered
            if self._view.kernel.state(position) == LIVE and not came_after:
                self._watch.move(position, hunk)

    def _reason(self, gid: int, version: int) -> str:
        kernel = self._view.kernel
        if kernel.write_version(gid) <= version:
            return render.CHANGED_ON_DISK
        return render.wrote(render.place(self._view.ledger.pushed(kernel.last(gid)).step, None))

    def reads(self, section: Section, gid: int) -> list[int]:
        """The reads of a file that the section carries."""
        kernel = self._view.kernel
        return [p for p in section.carried if kernel.gid(p) == gid and kernel.kind(p) == READ]

    def _newest(self, section: Section, gid: int) -> int:
        return max(self.reads(section, gid))

    def _void(self, section: Section, gid: int, step: int, reason: str, because: str) -> Addition:
        """The file cannot be read: nothing that the section shows of it holds."""
        view, newest = self._view, self._newest(section, gid)
        for position in sorted(self.reads(section, gid)):
            section.carried.discard(position)
            if view.kernel.state(position) == LIVE:
                self._watch.fail(position, step, because)
        del section.files[gid]
        line = render.void(view.path(gid), step, reason, render.unreadable(because))
        return newest << SHIFT | HUNK, line, ""

    def _show_again(
        self, section: Section, gid: int, step: int, cap: int, reason: str
    ) -> list[Addition]:
        """The change is too large to tell: all shown is void, the newest read is shown again."""
        view, newest = self._view, self._newest(section, gid)
        section.carried.difference_update(self.reads(section, gid))
        del section.files[gid]
        line = render.void(view.path(gid), step, reason, "")
        additions = [(newest << SHIFT | HUNK, line, "")]
        again = next(self._touched.reads(gid), None)
        if again is not None and again not in self._entered:
            self._watch.look(again, step, cap)
            if view.kernel.state(again) == LIVE:
                code, text, _ = self._new(section, again, step, cap)
                additions.append((code | AGAIN, text, ""))
        return additions

    # Writing anew.

    def _rewrite(self, step: int, ceiling: int, notes: Sequence[MemoryEntry]) -> Section:
        cap = entry_cap_chars(ceiling)
        block = render.render_notes(notes, ceiling // 4 * CHARS_PER_TOKEN)

        def look(position: int) -> None:
            self._watch.look(position, step, cap)

        if self.section is not None:
            self._follow_changes(self.section)
        pending = [*self.waiting, *self._entered]
        plan = self._planner.plan(ceiling, len(block.text), pending, step, look=look)
        self._view.mention_only(plan.kept)
        self.visited += plan.visited
        self.waiting = pending[: plan.left][-MOST_WAITING:]
        self.paid = 0
        self.section = self._write(plan, block)
        return self.section

    def _follow_changes(self, section: Section) -> None:
        """Let reads follow what changed since the last turn, before any is looked at again."""
        for gid, file in section.files.items():
            self._watch.check(gid)
            if file.version == self._view.kernel.file_version(gid):
                continue
            now = self._watch.look_at_file(gid).result
            if now is None:
                continue
            with suppress(Unknown):
                hunk = file.change_to(lines_of(now.text), now.total_lines)
                if hunk is not None:
                    self._move_reads(section, gid, hunk)

    def _write(self, plan: Plan, block: render.NotesBlock) -> Section:
        section = Section(block)
        stubs = dict(plan.stubs)
        oldest = 0
        while oldest in plan.kept:
            oldest += 1
        for position in sorted([*plan.kept, *stubs, *([oldest] if plan.line else [])]):
            if position in stubs:
                args = self._view.stub_args(position)
                section.put(position << SHIFT | STUB, stubs[position], args)
            elif position not in plan.kept:
                section.put(position << SHIFT | COLLAPSED, plan.line)
            else:
                self._carry(section, position, plan)
        section.hidden = len(self._view.kernel) - len(plan.kept) - len(stubs)
        return section

    def _carry(self, section: Section, position: int, plan: Plan) -> None:
        kernel, mark = self._view.kernel, self._view.kernel.mark(position)
        cut: Carried | None = None
        if plan.squeezed is not None and plan.squeezed[0] == position:
            cut = plan.squeezed[1]
            section.squeezed = len(section.codes), cut.args, cut.head
            section.squeezed_lines = cut.shown and (cut.shown.first, cut.shown.last)
            mark |= CUT if cut.head is not None else 0
        carried = cut or self._view.carry(position)
        section.put(position << SHIFT | mark, carried.text, carried.args)
        if kernel.kind(position) == READ:
            self.show(section, position, None if cut is None else cut.head)


def _as_it_is(_position: int) -> None:
    """A rewrite that is only thought of looks at no file."""


def _line(lines: Sequence[str], content: str) -> str:
    """The content of a hunk with its line end; nothing where no lines are left."""
    return f"{content}\n" if lines else ""
