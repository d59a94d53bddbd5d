"""The walk takes over what the one before carried, and must carry what a walk of all would."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from io_harness.context._kernel_py import Kernel
from io_harness.context._positions_py import (
    COLLAPSED,
    KEYED,
    LIVE,
    PLAIN,
    READ,
    SEARCH,
    SHIFT,
    STUB,
    WRITE,
)

from .flavours import Flavour, texts_of

NONE = -1
Act: TypeAlias = tuple[str, int, int, int]

GROUPS = ("a", "b")
ENTER = st.tuples(
    st.just("add"),
    st.sampled_from([PLAIN, KEYED, KEYED, READ, READ, WRITE, SEARCH]),
    st.integers(0, 1),
    st.integers(1, 9),
)
FIT = st.tuples(st.just("fit"), st.integers(0, 60), st.integers(0, 9), st.integers(-1, 9))
RARE = st.one_of(
    st.tuples(st.just("show"), st.integers(0, 40), st.integers(0, 9), st.integers(0, 1)),
    st.tuples(st.just("fail"), st.integers(0, 40), st.just(0), st.just(0)),
    st.tuples(st.just("touch"), st.integers(0, 1), st.just(0), st.just(0)),
)
ACTS = st.one_of(ENTER, ENTER, ENTER, FIT, FIT, RARE)


class Run:
    """A kernel, and its live ones as a plain list."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        for number, name in enumerate(GROUPS):
            assert kernel.group(number, name) == number

    def live(self) -> list[int]:
        """The live positions, newest first."""
        return [p for p in reversed(range(len(self.kernel))) if self.kernel.state(p) == LIVE]

    def fitting(self, room: int) -> list[int]:
        """The newest live ones that fit, newest first: what has to be carried."""
        found: list[int] = []
        for position in self.live():
            room -= self.kernel.size(position)
            if room < 0:
                break
            found.append(position)
        return found

    def add(self, kind: int, gid: int, size: int) -> None:
        """One observation more; a read shows a few lines of its file."""
        lo = size % 4 << 32 if kind == READ else 0
        hi = lo + (size << 31) if kind == READ else 0
        gid = NONE if kind == PLAIN else gid
        self.kernel.add(kind, gid, lo, hi, size, f"<{len(self.kernel)}>", 0)

    def fit(self, room: int, stubs: int, cut: int) -> None:
        """One turn; what it carries is what a walk of all live ones would."""
        kernel = self.kernel
        position = kernel.start(room, 1, False)
        while position >= 0:
            assert not kernel.is_fresh(position)
            # Now and then this one turns out to be gone, or another that the walk would come to.
            if cut == 9:
                older = [p for p in self.live() if p <= position]
                kernel.fail(older[stubs % len(older)])
            kernel.freshen(position)
            position = kernel.walk()
        carried = self.fitting(room)
        assert kernel.carried == len(carried)
        assert kernel.used == sum(map(kernel.size, carried))
        assert all(map(kernel.is_fresh, carried))
        for position in kernel.missing:
            kernel.show(position, f"<{position}>", kernel.size(position), 0)
        if cut == 8 and carried:
            carried = carried[:1]
        position = kernel.start_stubs(stubs, NONE if carried and cut != 8 else cut)
        while position >= 0:
            kernel.set_stub(position, f"({position})", 1)
            position = kernel.stubs()
        text, order, parts, _ = kernel.emit("", ("", "..."), None, 0)
        texts = dict(zip(order, texts_of(text, parts), strict=True))
        stubs_made = [code >> SHIFT for code in order if code & STUB]
        assert all(texts[p << SHIFT | STUB] == f"({p})" for p in stubs_made)
        if carried:
            shown = [code for code in order if not code & (STUB | COLLAPSED)]
            assert [code >> SHIFT for code in shown] == carried[::-1]
            assert all(texts[code] == f"<{code >> SHIFT}>" for code in shown)

    def show(self, place: int, size: int, held: int) -> None:
        """A position has another size, and perhaps no text."""
        if len(self.kernel):
            position = place % len(self.kernel)
            self.kernel.show(position, f"<{position}>" if held else None, size, 0)

    def fail(self, place: int, _one: int, _two: int) -> None:
        """A live position could not be read again."""
        live = self.live()
        if live:
            self.kernel.fail(live[place % len(live)])

    def touch(self, gid: int, _one: int, _two: int) -> None:
        """A file changed on disk."""
        self.kernel.touch(gid)


@settings(max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(ACTS, min_size=20, max_size=60))
def test_each_walk_carries_what_a_walk_of_all_would(flavour: Flavour, acts: list[Act]) -> None:
    run = Run(flavour.kernel())
    for name, one, two, three in acts:
        getattr(run, name)(one, two, three)


def test_what_goes_while_the_walk_is_under_way_is_not_taken_over(flavour: Flavour) -> None:
    run = Run(flavour.kernel())
    for _ in range(3):
        run.add(PLAIN, NONE, 1)
    run.fit(20, 0, NONE)
    run.add(READ, 0, 4)
    assert run.kernel.start(20, 2, False) == 3
    run.kernel.fail(1)
    run.kernel.freshen(3)
    assert run.kernel.walk() == NONE
    assert (run.kernel.carried, run.kernel.used) == (3, 6)


def test_a_walk_visits_only_what_is_new(flavour: Flavour) -> None:
    run = Run(flavour.kernel())
    for _ in range(30):
        run.add(PLAIN, NONE, 1)
    run.fit(20, 0, NONE)
    before = run.kernel.work
    assert run.kernel.start(20, 2, False) == NONE
    assert run.kernel.work - before == 1
    run.add(PLAIN, NONE, 1)
    before = run.kernel.work
    assert run.kernel.start(20, 3, False) == NONE
    assert run.kernel.work - before == 2
