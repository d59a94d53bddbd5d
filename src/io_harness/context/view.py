"""What one assembler knows of a ledger: how each observation stands, and what it is shown as."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from io_harness.types import Observation

from . import render
from ._positions_py import CUT, FAILED, READ, REFRESHED, SEARCH, SUPERSEDED
from .arguments import for_entry, for_stub
from .entry import Carried, Refresh, carry, detail, entered, source, squeeze
from .escape import TARGET_CHARS
from .freshness import Files
from .grammar import SIGNS
from .hunks import lines_of
from .kernel import Extent, Kernel, extent, grouped
from .keys import path_of, question
from .ledger import Ledger
from .past import Remembering
from .sparse import Sparse

# Of many observations that enter at once only so many newest keep their text: a window's worth.
_KEEP_NEWEST = 512


class View:
    """A ledger's observations as they entered, with the refreshes made since.

    `moved` are live reads whose lines are elsewhere now: the first, how many. `past_writes` are
    live reads known to be true after a later write of their file: that write.
    """

    def __init__(self, ledger: Ledger, files: Files) -> None:
        self.ledger = ledger
        self.kernel = Kernel()
        self.refreshes: Remembering[Refresh] = Remembering()
        self.moved: Remembering[tuple[int, int]] = Remembering()
        self.past_writes: Remembering[int] = Remembering()
        self.cap_starts = array("q")
        self.caps: list[int] = []
        self._files = files
        self._heads = Sparse()
        self._refreshed_heads: dict[int, int] = {}
        self._hits: dict[int, tuple[str, ...]] = {}
        self._since: dict[int, str] = {}

    # Entering.

    def enter_new(self, cap: int, stop: int, *, keep: int = _KEEP_NEWEST) -> None:
        """Let in the observations up to `stop`, each bounded by `cap` code points.

        The kernel keeps the texts of the newest `keep`.
        """
        kernel, ledger = self.kernel, self.ledger
        start = len(kernel)
        if start >= stop:
            return
        if not self.caps:
            self._note_cap(start, cap)
        for position in range(start, stop):
            observation, keeps = ledger.pushed(position), stop - position <= keep
            kind, subject = question(observation, self._files.canonical)
            gone = None
            if kind == READ and subject and cap == self.caps[-1] and not ledger.call(position):
                gone = self._enter_plain_read(observation, subject, cap, keeps)
            if gone is None:
                gid = -1 if subject is None else kernel.group_of(subject)
                gone = self._enter(position, kind, gid, cap, keeps)
            for old in gone:
                self._forget(old)

    def _enter(self, position: int, kind: int, gid: int, cap: int, keeps: bool) -> list[int]:
        """Let in one observation; gives the positions it supersedes."""
        observation, kernel, mark = self.ledger.pushed(position), self.kernel, 0
        text, args, head, shown = entered(observation, self.ledger.call(position), cap)
        lo, hi = (0, 0) if shown is None else (shown.lo, shown.hi)
        if head is not None:
            self._heads.put(position, head)
            mark = CUT
        size = len(text) + len(args)
        if cap != self.caps[-1] and (
            head is not None or len(observation.args) > cap or size > self.caps[-1]
        ):
            self._note_cap(position, cap)
        gone = kernel.add(kind, gid, lo, hi, size, text if keeps else None, mark)
        if kind == SEARCH or (kind == READ and not self._files.visible):
            kernel.freshen(position)
        return gone

    def _enter_plain_read(
        self, observation: Observation, subject: str, cap: int, keeps: bool
    ) -> list[int] | None:
        """The same in one piece for a first call's read, where that can be; else `None`."""
        target, text = observation.target, observation.text
        if observation.args or target is None or len(text) > cap or len(target) > TARGET_CHARS:
            return None
        step, lines, total = observation.step, observation.lines, observation.total_lines
        fresh = not self._files.visible
        return self.kernel.add_read(
            render.READ, SIGNS, step, target, text, lines, total, subject, keeps, fresh
        )

    def _note_cap(self, position: int, cap: int) -> None:
        """From a position on this cap counts; what fits the one before is the same under both."""
        self.cap_starts.append(position)
        self.caps.append(cap)

    def _forget(self, position: int) -> None:
        """A position was superseded: what was known for carrying it is dropped."""
        if position in self.moved:
            del self.moved[position]
        if position in self.past_writes:
            del self.past_writes[position]
        if position in self.refreshes:
            del self.refreshes[position]
            self._refreshed_heads.pop(position, None)
        elif self._hits.pop(position, None) is None or self._since.pop(position, None) is None:
            return
        self._say_no_more(position)

    def _say_no_more(self, position: int) -> None:
        """From now on a position is as it entered: its header said more than its stub may."""
        text, args, head, _ = self.carry(position)
        self.kernel.show(position, None, len(text) + len(args), 0 if head is None else CUT)

    def cap_of(self, position: int) -> int:
        """The cap under which a position entered."""
        return self.caps[bisect_right(self.cap_starts, position) - 1]

    def path(self, gid: int) -> str:
        """The canonical path of a file's group."""
        return path_of(self.kernel.subject(gid))

    def apply(self, refresh: Refresh) -> None:
        """Take in a refresh, made now or recorded."""
        position = refresh.position
        self.refreshes[position] = refresh
        self._refreshed_heads.pop(position, None)
        if position in self.moved:
            del self.moved[position]
        if refresh.text is None:
            if position in self.past_writes:
                del self.past_writes[position]
            self.kernel.fail(position)
        else:
            self._show(position, self.carry(position))

    def hits(self, position: int) -> tuple[str, ...]:
        """The files that a live search hit."""
        paths = self._hits.get(position)
        if paths is None:
            given = self.ledger.pushed(position).paths
            paths = self._hits[position] = tuple(dict.fromkeys(map(self._files.canonical, given)))
        return paths

    def mention(self, position: int, words: str) -> None:
        """Say something in a search's header from now on."""
        self._since[position] = words
        self._show(position, self.carry(position))

    def mention_only(self, shown: set[int]) -> None:
        """Say nothing any more of searches that are not shown."""
        for position in [p for p in self._since if p not in shown]:
            del self._since[position]
            self._hits.pop(position, None)
            self._say_no_more(position)

    def mentions(self, position: int) -> bool:
        """Whether something is said in a search's header that the ledger alone does not tell."""
        return position in self._since

    # Showing.

    def head(self, position: int) -> int | None:
        """How many characters of its text a cut position shows; `None` where it is whole."""
        refresh = self.refreshes.get(position)
        if refresh is None or refresh.text is None:
            return self._heads.get(position)
        return self._refreshed_heads.get(position)

    def carry(self, position: int) -> Carried:
        """A position as it is carried now."""
        refresh = self.refreshes.get(position)
        carried = carry(
            self.ledger.pushed(position),
            self.ledger.call(position),
            self.cap_of(position) if refresh is None else refresh.cap,
            refresh=refresh,
            why=self._since.get(position, ""),
        )
        if refresh is not None and carried.head is not None:
            self._refreshed_heads[position] = carried.head
        return carried._replace(args=self.sent_args(position))

    def _show(self, position: int, carried: Carried) -> None:
        mark = 0 if carried.head is None else CUT
        if position in self.refreshes:
            mark |= REFRESHED
        self.kernel.show(position, carried.text, len(carried.text) + len(carried.args), mark)

    def render(self, position: int) -> None:
        """Make the text of a carried position again after it was let go."""
        self._show(position, self.carry(position))

    def shown_lines(self, position: int, head: int | None = None) -> tuple[Extent, list[str]]:
        """What a read shows as it is carried now: its extent, and its lines to their ends.

        `head` is how much of it is kept where it was cut further than at its entry.
        """
        text, lines, total = source(self.ledger.pushed(position), self.refreshes.get(position))
        shown = extent(text, lines, total, self.head(position) if head is None else head)
        count = shown.last - shown.first + 1 + (shown.inside > 0)
        return shown, lines_of(text)[:count]

    def squeeze(self, position: int, room: int) -> Carried:
        """The newest observation cut further, for this turn only."""
        refresh = self.refreshes.get(position)
        return squeeze(
            self.ledger.pushed(position),
            self.ledger.call(position),
            room,
            self.cap_of(position) if refresh is None else refresh.cap,
            refresh=refresh,
            why=self._since.get(position, ""),
        )

    def sent_args(self, position: int) -> str:
        """The arguments that are sent with a carried position."""
        args = self.ledger.pushed(position).args
        return for_entry(args, self.cap_of(position)) if args else ""

    # Stubs.

    def make_stub(self, position: int) -> None:
        """Give the kernel the one line that stands for a position now."""
        observation, kernel, done = self.ledger.pushed(position), self.kernel, False
        more = len(for_stub(observation.args)) if observation.args else 0
        if position not in self.refreshes and position not in self._since:
            # The same as `stub_text`, in one piece where that can be.
            step, by = observation.step, kernel.replaced_by(position)
            if by == position:
                chars, call = grouped(len(observation.text)), self.ledger.call(position)
                done = kernel.set_below(position, more, render.OLDER_BELOW, chars, step, call)
            elif by >= 0 and (later := self.ledger.pushed(by).step) != step:
                done = kernel.set_below(position, more, render.SUPERSEDED_BELOW, later)
        if not done:
            text = self.stub_text(position)
            kernel.set_stub(position, text, len(text) + more)

    def stub_text(self, position: int) -> str:
        """The one line that stands for a position now."""
        observation, refresh = self.ledger.pushed(position), self.refreshes.get(position)
        call, state = self.ledger.call(position), self.kernel.state(position)
        plain = refresh is None and position not in self._since
        top = self.kernel.top(position) if plain else ""
        if state == SUPERSEDED:
            reason = render.superseded(self._superseders(position))
        elif state == FAILED:
            assert refresh is not None
            reason = render.invalidated(refresh.reason, refresh.because)
        else:
            reason = render.older(len(observation.text), observation.step, call)
        if top:
            return render.stub_below(top, reason)
        _, words = detail(observation, refresh, self.head(position))
        return render.stub(observation, call, reason, detail=words)

    def stub_args(self, position: int) -> str:
        """The arguments that are sent with a stub."""
        args = self.ledger.pushed(position).args
        return for_stub(args) if args else ""

    def extent(self, position: int) -> Extent:
        """The lines a read showed as it entered."""
        observation = self.ledger.pushed(position)
        return extent(
            observation.text,
            observation.lines,
            observation.total_lines,
            self._heads.get(position),
        )

    def _superseders(self, position: int) -> list[str]:
        kernel = self.kernel
        gid = kernel.gid(position)
        if kernel.kind(position) != READ:
            return [self.place(kernel.last(gid), position)]
        shown = self.extent(position)
        later = kernel.covering(gid, shown.lo, shown.hi)
        # Several reads of one step have one place.
        return list(dict.fromkeys(self.place(read, position) for read in later))

    def place(self, position: int, seen_from: int) -> str:
        """Another observation's place: with its call only where the steps are the same."""
        step = self.ledger.pushed(position).step
        same_step = step == self.ledger.pushed(seen_from).step
        return render.place(step, self.ledger.call(position) if same_step else None, -1)
