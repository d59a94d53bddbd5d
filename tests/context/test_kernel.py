"""The kernel's rules, each on both kernels."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from io_harness.context._kernel_py import MARGIN, Kernel
from io_harness.context._positions_py import (
    COLLAPSED,
    CUT,
    FAILED,
    KEYED,
    LIVE,
    PLAIN,
    READ,
    REFRESHED,
    SEARCH,
    SHIFT,
    STUB,
    SUPERSEDED,
    WRITE,
)

from .flavours import Flavour, texts_of

WIDE = 1 << 40


@pytest.fixture
def kernel(flavour: Flavour) -> Kernel:
    return flavour.kernel()


def read(kernel: Kernel, gid: int, first: int, stop: int, size: int = 10) -> list[int]:
    """Enter a read of lines `first` up to `stop`."""
    return kernel.add(READ, gid, first << 32, stop << 32, size, None, 0)


def plain(kernel: Kernel, *sizes: int) -> None:
    """Enter observations that nothing supersedes, with their texts."""
    for size in sizes:
        kernel.add(PLAIN, -1, 0, 0, size, f"<{len(kernel)}>", 0)


def fit(kernel: Kernel, room: int, stub_room: int = 1_000, stub_size: int = 1) -> list[int]:
    """One turn without anything to look at: what is emitted."""
    assert kernel.start(room, 1, False) == -1
    for position in kernel.missing:
        kernel.show(position, f"<{position}>", kernel.size(position), kernel.mark(position))
    position = kernel.start_stubs(stub_room, -1)
    while position >= 0:
        kernel.set_stub(position, f"({position})", stub_size)
        position = kernel.stubs()
    text, order, texts, counts = kernel.emit("", ("", "..."), None, 0)
    assert counts[:3] == (kernel.carried, len(kernel), kernel.hidden)
    assert counts[4:] == (kernel.work, len(order))
    assert ("".join(texts_of(text, texts)), len(texts_of(text, texts))) == (text, len(order))
    return list(order)


# Groups.


def test_one_subject_is_one_group(kernel: Kernel) -> None:
    gids = [kernel.group(number, f"s{number}") for number in range(1_000)]
    assert gids == list(range(1_000))
    assert [kernel.group(number, f"s{number}") for number in range(1_000)] == gids
    assert kernel.subject(7) == "s7"


def test_two_subjects_of_one_hash_are_two_groups(kernel: Kernel) -> None:
    assert [kernel.group(5, "a"), kernel.group(5, "b"), kernel.group(5, "a")] == [0, 1, 0]
    assert kernel.find(5, "b") == 1
    assert kernel.find(5, "c") == -1
    assert kernel.add(KEYED, 0, 0, 0, 1, None, 0) == []
    assert kernel.add(KEYED, 1, 0, 0, 1, None, 0) == []


def test_a_later_answer_supersedes_the_earlier(kernel: Kernel) -> None:
    gid = kernel.group(1, "q")
    assert kernel.add(KEYED, gid, 0, 0, 3, None, 0) == []
    assert kernel.add(KEYED, gid, 0, 0, 4, None, 0) == [0]
    assert [kernel.state(0), kernel.state(1)] == [SUPERSEDED, LIVE]
    assert (kernel.live, kernel.live_chars, kernel.newest(), kernel.before(1)) == (1, 4, 1, -1)
    assert kernel.last(gid) == 1


def test_without_a_group_nothing_is_superseded(kernel: Kernel) -> None:
    assert kernel.add(PLAIN, -1, 0, 0, 3, None, 0) == []
    assert kernel.add(PLAIN, -1, 0, 0, 4, None, 0) == []
    assert (kernel.live, kernel.live_chars) == (2, 7)


# Lines.


def test_a_read_is_superseded_once_all_its_lines_are_shown_later(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    assert read(kernel, gid, 1, 101) == []
    assert read(kernel, gid, 1, 51) == []
    assert read(kernel, gid, 40, 90) == []
    assert read(kernel, gid, 90, 101) == [0]
    assert kernel.covering(gid, 1 << 32, 101 << 32) == [3, 2, 1]
    assert kernel.covering(gid, 60 << 32, 61 << 32) == [2]
    assert kernel.covering(gid, 101 << 32, 200 << 32) == []


def test_a_read_cut_in_two_is_live_while_either_half_is_shown(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    read(kernel, gid, 1, 100)
    assert read(kernel, gid, 40, 60) == []
    assert read(kernel, gid, 1, 40) == []
    assert read(kernel, gid, 60, 99) == []
    assert read(kernel, gid, 99, 100) == [0]


def test_lines_far_apart_do_not_touch(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    read(kernel, gid, 400, 451)
    assert read(kernel, gid, 1, 51) == []
    assert read(kernel, gid, 1, 452) == [1, 0]


def test_a_read_that_shows_nothing_supersedes_nothing(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    read(kernel, gid, 1, 10)
    assert read(kernel, gid, 5, 5) == []
    assert read(kernel, gid, 1, 10) == [0]


def test_many_ranges_of_one_file(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    for number in range(500):
        first = number * 37 % 500 * 10 + 1
        assert read(kernel, gid, first, first + 10) == []
    assert kernel.live == 500
    assert sorted(read(kernel, gid, 1, 5_001)) == list(range(500))
    assert kernel.covering(gid, 0, WIDE) == [500]


# Freshness.


def test_a_write_makes_the_reads_of_its_file_stale(kernel: Kernel) -> None:
    one, other = kernel.group(1, "f"), kernel.group(2, "g")
    read(kernel, one, 1, 10)
    read(kernel, other, 1, 10)
    kernel.freshen(0)
    kernel.freshen(1)
    assert not kernel.unseen_write(0)
    kernel.add(WRITE, one, 0, 0, 1, None, 0)
    assert [kernel.is_fresh(0), kernel.is_fresh(1)] == [False, True]
    assert kernel.unseen_write(0)
    kernel.freshen(0)
    assert kernel.is_fresh(0)
    assert not kernel.unseen_write(0)


def test_a_touched_file_is_looked_at_again_but_nobody_wrote_it(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    read(kernel, gid, 1, 10)
    kernel.freshen(0)
    kernel.touch(gid)
    assert kernel.file_version(gid) == 1
    assert not kernel.is_fresh(0)
    assert not kernel.unseen_write(0)


def test_any_write_makes_a_search_worth_a_look(kernel: Kernel) -> None:
    kernel.add(SEARCH, -1, 0, 0, 5, None, 0)
    kernel.freshen(0)
    assert kernel.is_fresh(0)
    kernel.add(WRITE, kernel.group(1, "f"), 0, 0, 1, None, 0)
    assert not kernel.is_fresh(0)


def test_the_walk_stops_at_what_must_be_looked_at(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    read(kernel, gid, 1, 10)
    plain(kernel, 5)
    assert kernel.start(100, 1, False) == 0
    kernel.freshen(0)
    assert kernel.walk() == -1
    assert kernel.start(100, 2, True) == 0, "once a turn its file is compared"
    kernel.checked(gid)
    assert kernel.walk() == -1


def test_a_failed_one_leaves_the_walk(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    plain(kernel, 5)
    read(kernel, gid, 1, 10)
    assert kernel.start(100, 1, False) == 1
    kernel.fail(1)
    assert kernel.walk() == -1
    assert (kernel.state(1), kernel.carried, kernel.used, kernel.live) == (FAILED, 1, 5, 1)


# The fit.


def test_the_newest_are_carried_while_they_fit(kernel: Kernel) -> None:
    plain(kernel, 10, 10, 10, 10)
    assert fit(kernel, 25) == [0 << SHIFT | STUB, 1 << SHIFT | STUB, 2 << SHIFT, 3 << SHIFT]
    assert (kernel.used, kernel.carried, kernel.stub_count, kernel.stub_used) == (20, 2, 2, 2)


def test_the_first_that_does_not_fit_ends_the_walk(kernel: Kernel) -> None:
    plain(kernel, 1, 50, 10)
    assert fit(kernel, 25) == [0 << SHIFT | STUB, 1 << SHIFT | STUB, 2 << SHIFT]


def test_the_rest_is_counted_at_the_place_of_the_oldest(kernel: Kernel) -> None:
    plain(kernel, 10, 10, 10, 10)
    order = fit(kernel, 10, stub_room=1)
    assert order == [0 << SHIFT | COLLAPSED, 2 << SHIFT | STUB, 3 << SHIFT]


def test_what_is_carried_may_stand_before_what_is_counted(kernel: Kernel) -> None:
    gid = kernel.group(1, "q")
    plain(kernel, 5)
    for _ in range(4):
        kernel.add(KEYED, gid, 0, 0, 5, None, 0)
    order = fit(kernel, 100, stub_room=1)
    assert order == [0 << SHIFT, 1 << SHIFT | COLLAPSED, 3 << SHIFT | STUB, 4 << SHIFT]


def test_carried_ones_between_counted_ones_keep_their_place(kernel: Kernel) -> None:
    gid = kernel.group(1, "q")
    kernel.add(KEYED, gid, 0, 0, 5, None, 0)
    plain(kernel, 5)
    kernel.add(KEYED, gid, 0, 0, 5, None, 0)
    kernel.add(KEYED, gid, 0, 0, 5, None, 0)
    order = fit(kernel, 100, stub_room=0)
    assert order == [0 << SHIFT | COLLAPSED, 1 << SHIFT, 3 << SHIFT]


def test_a_mark_is_emitted_with_its_text(kernel: Kernel) -> None:
    plain(kernel, 5, 5)
    kernel.show(0, "cut", 5, CUT)
    kernel.show(1, "new", 7, REFRESHED)
    kernel.start(100, 1, False)
    kernel.start_stubs(0, -1)
    text, order, texts, counts = kernel.emit("before", ("", ""), None, kernel.work - 3)
    assert list(order) == [0 << SHIFT | CUT, 1 << SHIFT | REFRESHED]
    assert (text, texts_of(text, texts)) == ("beforecutnew", ["cut", "new"])
    assert counts == (2, 2, 0, 18, 3, 2)  # 12 of the sizes that were set, 6 of the block
    assert (kernel.live_chars, kernel.mark(0), kernel.size(1)) == (12, CUT, 7)


def test_the_newest_may_be_cut_for_the_turn(kernel: Kernel) -> None:
    plain(kernel, 10, 50)
    assert kernel.start(25, 1, False) == -1
    assert kernel.carried == 0
    assert kernel.start_stubs(100, 25) == 0
    kernel.set_stub(0, "(0)", 3)
    assert kernel.stubs() == -1
    text, order, *_ = kernel.emit("", ("", ""), "cut é", 0)
    assert list(order) == [0 << SHIFT | STUB, 1 << SHIFT]
    assert kernel.used == 25
    assert text == "(0)cut é"


def test_the_newest_may_be_cut_below_hidden_ones(kernel: Kernel) -> None:
    plain(kernel, 10, 50, 20)
    kernel.fail(2)
    kernel.start(25, 1, False)
    assert kernel.start_stubs(0, 25) == 2
    kernel.set_stub(2, "no room", 7)
    assert kernel.stubs() == -1
    text, order, _, counts = kernel.emit("", ("", " more "), "cut", 0)
    assert list(order) == [0 << SHIFT | COLLAPSED, 1 << SHIFT]
    assert text == "2 more cut"
    assert counts[:4] == (1, 3, 2, 25 + len("2 more "))


def test_a_stub_is_asked_for_again_when_a_later_answer_came(kernel: Kernel) -> None:
    gid = kernel.group(1, "q")
    for _ in range(2):
        kernel.add(KEYED, gid, 0, 0, 5, None, 0)
    fit(kernel, 100)
    assert kernel.start_stubs(100, -1) == -1
    kernel.add(KEYED, gid, 0, 0, 5, None, 0)
    kernel.start(100, 2, False)
    assert kernel.start_stubs(100, -1) == 1
    kernel.set_stub(1, "by the newest", 1)
    assert kernel.stubs() == 0


WORDS = ("", ": step ", "]\n")


def test_a_stub_below_a_top_can_be_made_again_from_it(kernel: Kernel) -> None:
    gid = kernel.group(1, "q")
    long = "n" * 256
    for text in ("top]\nrest", f"{long}]\nrest", "last]\n"):
        kernel.add(KEYED, gid, 0, 0, 5, text, 0)
    assert kernel.set_below(0, 4, WORDS, 3)
    assert kernel.top(0) == "top"
    assert kernel.set_below(0, 4, WORDS, 12)
    assert kernel.set_below(1, 0, WORDS, 3)
    assert kernel.top(1) == ""
    assert not kernel.set_below(1, 0, WORDS, 3)
    kernel.start(100, 1, False)
    assert kernel.start_stubs(300, -1) == -1
    assert kernel.emit("", ("", ""), None, 0)[0] == f"top: step 12]\n{long}: step 3]\nlast]\n"
    assert kernel.stub_used == len("top: step 12]\n") + 4 + len(f"{long}: step 3]\n")
    kernel.set_stub(0, "another", 7)
    assert kernel.top(0) == ""


def test_what_replaced_a_position_is_named_where_it_is_one(kernel: Kernel) -> None:
    plain(kernel, 1)
    question, file = kernel.group(1, "q"), kernel.group(2, "f")
    for _ in range(3):
        kernel.add(KEYED, question, 0, 0, 1, "", 0)
    assert [kernel.replaced_by(position) for position in range(4)] == [0, 3, 3, 3]
    kernel.add(READ, file, 1 << 32, 5 << 32, 1, "", 0)
    kernel.add(READ, file, 1 << 32, 9 << 32, 1, "", 0)
    assert kernel.replaced_by(4) == 5
    kernel.add(READ, file, 1 << 32, 3 << 32, 1, "", 0)
    assert kernel.replaced_by(4) == -1
    kernel.fail(0)
    assert kernel.replaced_by(0) == -1


def test_a_text_let_go_is_missing_when_it_is_carried_again(kernel: Kernel) -> None:
    plain(kernel, *[10] * (MARGIN + 3))
    fit(kernel, 10, stub_room=0)
    kernel.start(1_000, 2, False)
    assert kernel.missing == [MARGIN + 1, 1, 0]  # the first of them is a stub


def test_a_stub_without_room_is_there_when_it_has_some(kernel: Kernel) -> None:
    plain(kernel, 10, 10, 10)
    assert fit(kernel, 10, stub_room=0) == [0 << SHIFT | COLLAPSED, 2 << SHIFT]
    kernel.start(10, 2, False)
    assert kernel.start_stubs(100, -1) == 0


def test_work_does_not_grow_with_the_run(kernel: Kernel) -> None:
    works = []
    for _ in range(300):
        plain(kernel, 10)
        before = kernel.work
        fit(kernel, 40, stub_room=5)
        works.append(kernel.work - before)
    # The new one and the one it pushed out; then 4 carried, 5 stubs and the one that ended them.
    assert works[-1] == works[50] == 2 + 10


# What cannot be.


@pytest.mark.parametrize("position", [-1, 2, 2**31, 2**63, -(2**70)])
def test_a_position_that_has_not_entered_is_named(kernel: Kernel, position: int) -> None:
    plain(kernel, 1, 1)
    for act in (kernel.state, kernel.before, kernel.fail, kernel.freshen, kernel.unseen_write):
        with pytest.raises(IndexError, match=f"position {position}, 2 have entered"):
            act(position)
    with pytest.raises(IndexError, match="2 have entered"):
        kernel.show(position, "", 0, 0)
    with pytest.raises(IndexError, match="2 have entered"):
        kernel.set_stub(position, "", 0)


@pytest.mark.parametrize("gid", [-1, 1, 2**31, 2**64])
def test_a_group_that_does_not_exist_is_named(kernel: Kernel, gid: int) -> None:
    kernel.group(1, "f")
    for act in (kernel.subject, kernel.last, kernel.touch, kernel.checked, kernel.file_version):
        with pytest.raises(IndexError, match=f"group {gid}, there are 1"):
            act(gid)
    with pytest.raises(IndexError, match="there are 1"):
        kernel.covering(gid, 0, 1)


def test_what_does_not_enter_leaves_nothing_behind(kernel: Kernel) -> None:
    gid = kernel.group(1, "f")
    for kind, group, lo, hi, size in [
        (5, gid, 0, 0, 0),
        (-1, gid, 0, 0, 0),
        (READ, 1, 0, 0, 0),
        (READ, -2, 0, 0, 0),
        (READ, gid, -1, 5, 0),
        (READ, gid, 0, 2**63, 0),
        (READ, gid, 0, 5, -1),
        (READ, gid, 0, 5, 2**32),
    ]:
        with pytest.raises((OverflowError, IndexError)):
            kernel.add(kind, group, lo, hi, size, None, 0)
    assert (len(kernel), kernel.live, kernel.live_chars) == (0, 0, 0)
    with pytest.raises(OverflowError, match="key"):
        kernel.group(2**64, "f")
    with pytest.raises(OverflowError, match="key"):
        kernel.find(-1, "f")


# Cut points.

PAIR = "\ud83d\ude00"


@pytest.mark.parametrize(
    ("which", "text", "size", "at"),
    [
        ("cut_head", "abc", 3, 3),
        ("cut_head", "abc", 2, 2),
        ("cut_head", "abc", 0, 0),
        ("cut_head", "abc", -5, 0),
        ("cut_head", f"a{PAIR}b", 2, 1),
        ("cut_head", f"a{PAIR}b", 3, 3),
        ("cut_head", "a\ude00\ud83db", 2, 2),
        ("cut_tail", "abc", 3, 0),
        ("cut_tail", "abc", 1, 2),
        ("cut_tail", "abc", 0, 3),
        ("cut_tail", f"a{PAIR}b", 2, 3),
        ("cut_tail", f"a{PAIR}b", 3, 1),
        ("cut_lines", "ab\ncd\n", 6, 6),
        ("cut_lines", "ab\ncd\n", 5, 5),
        ("cut_lines", "ab\ncd\n", 4, 2),
        ("cut_lines", "ab\ncd\n", 2, 2),
        ("cut_lines", "ab\ncd\n", 1, -1),
        ("cut_lines", "\n", 0, 0),
        ("cut_lines", "abc", -1, -1),
        ("cut_lines", "abc", 2**80, 3),
        ("cut_head", "abc", -(2**80), 0),
    ],
)
def test_where_a_text_is_cut(flavour: Flavour, which: str, text: str, size: int, at: int) -> None:
    assert flavour.cut(which, text, size) == at


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1), ("\n\r", 2), ("é\n" * 300, 300)],
)
def test_how_many_lines_a_text_has(flavour: Flavour, text: str, lines: int) -> None:
    assert flavour.module.count_lines(text) == lines
    assert flavour.module.count_lines(text * 1_000) == (text * 1_000).count("\n") + (
        text != "" and not text.endswith("\n")
    )


def test_a_sign_is_found_wherever_it_stands(flavour: Flavour) -> None:
    signs = ("[step ", "[elided: ")
    for text, found in [
        ("", False),
        ("no bracket", False),
        ("x[0] = y[1]", False),
        ("[step", False),
        ("[step 1", True),
        ("a[b][elided: c", True),
        ("é[step ", True),
    ]:
        assert flavour.module.has_any(text, signs) is found


def test_a_kernel_of_another_build_is_not_passed_over() -> None:
    """It is an error, for the twin in its place would only be slow, and nobody would hear why."""
    code = (
        "import sys, types\n"
        "sys.modules['io_harness.context._kernel'] = types.ModuleType('_kernel')\n"
        "import io_harness.context.kernel\n"
    )
    environment = {**os.environ, "IO_HARNESS_NO_EXTENSIONS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ImportError: cannot import name" in done.stderr
