"""What is carried, what is named and what is only counted, when not all of it fits."""

from __future__ import annotations

import pytest

from io_harness import (
    Assembled,
    Assembler,
    CachePrice,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
    PieceStatus,
)
from tests.context.files import MemoryFiles

SPARE = 16 * 4


def tools(*sizes: int, args: str = "") -> Ledger:
    """A ledger of tool results of so many characters, one a step."""
    ledger = Ledger()
    for step, size in enumerate(sizes, start=1):
        ledger.push(Observation(step, ObsKind.TOOL, "t", "x" * size, args=args))
    return ledger


def assemble(ledger: Ledger, ceiling: int, notes: tuple[MemoryEntry, ...] = ()) -> Assembled:
    return Assembler(ledger).assemble(step=99, budget_tokens=ceiling, notes=notes)


def sent(request: Assembled) -> int:
    """Code points of texts and arguments."""
    return sum(len(piece.text) + len(piece.args) for piece in request.pieces)


def statuses(request: Assembled) -> list[str]:
    return [piece.status.value for piece in request.pieces]


def reserve(ceiling: int) -> int:
    """The code points kept for stubs."""
    return 4 * min(max(ceiling // 8, 64), ceiling // 4)


def test_nothing_gives_nothing() -> None:
    request = assemble(Ledger(), 64)
    assert (request.text, request.est_tokens, list(request.pieces)) == ("", 0, [])
    assert (request.carried, request.stubbed, request.collapsed) == (0, 0, False)


def test_all_is_carried_to_the_last_code_point_of_the_ceiling() -> None:
    header = len("[step 1, tool t]\n\n")
    fits = assemble(tools(100, 4 * 500 - 100 - 2 * header), 500)
    assert statuses(fits) == ["carried", "carried"]
    assert (sent(fits), fits.est_tokens) == (2_000, 500)
    over = assemble(tools(100, 4 * 500 - 100 - 2 * header + 1), 500)
    assert over.carried == 1
    assert over.est_tokens <= 500


def test_one_that_is_superseded_keeps_room_free_for_stubs() -> None:
    header = len("[step 1, tool t]\n\n")
    size = 4 * 500 - reserve(500) - header - len("[step 2, skill s]\n\n")
    for more, carried in ((0, 2), (1, 1)):
        ledger = Ledger()
        ledger.push(Observation(1, ObsKind.SKILL, "s", ""))
        ledger.push(Observation(2, ObsKind.SKILL, "s", ""))
        ledger.push(Observation(3, ObsKind.TOOL, "t", "x" * (size + more)))
        request = assemble(ledger, 500)
        assert request.carried == carried
        assert statuses(request)[0] == "stub"


def test_the_first_that_does_not_fit_ends_it() -> None:
    request = assemble(tools(10, 1_500, 700), 500)
    assert statuses(request) == ["stub", "stub", "carried"]


def test_the_order_is_that_of_the_run() -> None:
    request = assemble(tools(*[150] * 40), 500)
    assert [piece.step for piece in request.pieces] == sorted(p.step for p in request.pieces)
    assert statuses(request)[0] == "collapsed"


@pytest.mark.parametrize("ceiling", [64, 100, 255, 256, 511, 512, 513, 1_000, 24_000])
def test_stubs_stay_within_what_is_kept_for_them(ceiling: int) -> None:
    request = assemble(tools(*[ceiling] * 60, args='{"n": 1}'), ceiling)
    pieces = [p for p in request.pieces if p.status in (PieceStatus.STUB, PieceStatus.COLLAPSED)]
    used = sum(len(piece.text) + len(piece.args) for piece in pieces)
    assert used <= reserve(ceiling)
    stub = next(p for p in assemble(tools(*[ceiling] * 3), 2 * ceiling).pieces)
    stubs = [piece for piece in pieces if piece.status is PieceStatus.STUB]
    named = sum(len(piece.text) + len(piece.args) for piece in stubs)
    if request.collapsed and stub.status is PieceStatus.STUB:
        assert named + len(stub.text) + len('{"n": 1}') + 8 > reserve(ceiling) - SPARE


def test_the_rest_is_counted_in_one_short_line_where_the_oldest_stood() -> None:
    request = assemble(tools(*[150] * 400), 500)
    line = request.pieces[0]
    assert line.status is PieceStatus.COLLAPSED
    stubs = statuses(request).count("stub")
    hidden = 400 - request.carried - stubs
    assert line.text == f"[collapsed: {hidden} earlier observations]\n"
    assert len(line.text) <= 60
    assert (line.step, line.call, line.kind, line.args) == (1, 0, None, "")
    assert request.collapsed
    assert request.stubbed == hidden + stubs


def test_what_is_carried_before_the_oldest_counted_stands_before_the_line() -> None:
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.TOOL, "first", "x"))
    for step in range(2, 80):
        ledger.push(Observation(step, ObsKind.SKILL, "same", "y"))
    request = assemble(ledger, 300)
    assert statuses(request)[:3] == ["carried", "collapsed", "stub"]
    assert statuses(request)[-1] == "carried"


@pytest.mark.parametrize("ceiling", range(64, 140))
def test_the_newest_is_always_carried(ceiling: int) -> None:
    request = assemble(tools(50, 9_000), ceiling)
    newest = request.pieces[-1]
    assert newest.status is PieceStatus.BOUNDED
    assert newest.cut
    assert newest.text.startswith("[step 2, tool t]\n[elided: ")
    assert newest.text.count("x") >= 40
    assert request.est_tokens <= ceiling
    assert sent(request) <= 4 * ceiling


def test_the_newest_is_the_newest_that_is_live() -> None:
    files = MemoryFiles()
    ledger = tools(40)
    ledger.push(Observation(2, ObsKind.READ, "gone.py", "x\n", total_lines=1))
    request = Assembler(ledger, workspace=files).assemble(step=3, budget_tokens=300)
    assert statuses(request) == ["carried", "stub"]


def read(ledger: Ledger, files: MemoryFiles, step: int, path: str) -> None:
    got = files.read(path)
    ledger.push(
        Observation(
            step,
            ObsKind.READ,
            path,
            got.text,
            lines=got.lines,
            total_lines=got.total_lines,
            digest=got.digest,
        )
    )


@pytest.mark.parametrize("size", range(1_380, 1_560, 20))
def test_a_read_that_shrank_does_not_let_the_others_take_the_room_of_stubs(size: int) -> None:
    files, ledger = MemoryFiles(), Ledger()
    files.put("old", "a\n")
    files.put("new", "b" * 1_500 + "\n")
    read(ledger, files, 1, "old")
    ledger.push(Observation(2, ObsKind.TOOL, "t", "c" * size))
    read(ledger, files, 3, "new")
    files.put("old", "a\n" * 950)
    files.put("new", "b" * 340 + "\n")
    request = Assembler(ledger, workspace=files).assemble(step=4, budget_tokens=500)
    assert request.est_tokens <= 500
    if request.stubbed:
        carried = [p for p in request.pieces if p.status is not PieceStatus.STUB]
        assert sum(len(piece.text) for piece in carried) <= 2_000 - reserve(500)


def test_a_read_that_shrank_lets_all_be_carried() -> None:
    files, ledger = MemoryFiles(), tools(1_500)
    files.put("new", "b" * 1_500 + "\n")
    read(ledger, files, 2, "new")
    files.put("new", "b\n")
    request = Assembler(ledger, workspace=files).assemble(step=3, budget_tokens=500)
    assert statuses(request) == ["carried", "refreshed"]


def test_arguments_take_room_like_text() -> None:
    args = '{"why": "' + "y" * 150 + '"}'
    header = len("[step 1, tool t]\n\n")
    fits = assemble(tools(100, 4 * 300 - 100 - 2 * header - 2 * len(args), args=args), 300)
    assert statuses(fits) == ["carried", "carried"]
    assert (sent(fits), len(fits.text)) == (1_200, 1_200 - 2 * len(args))
    over = assemble(tools(100, 4 * 300 - 100 - 2 * header - 2 * len(args) + 1, args=args), 300)
    assert over.carried == 1


def test_the_newest_says_less_of_itself_the_less_room_it_has() -> None:
    """The order in which header and arguments give way; the marker goes last of all."""
    path, args = "src/" + "a" * 90 + ".py", '{"path": "' + "a" * 40 + '"}'
    found: list[tuple[str, bool, str, bool]] = []
    for ceiling in range(64, 250):
        files, ledger = MemoryFiles(), Ledger()
        files.put(path, "new\n" * 900)
        ledger.push(Observation(1, ObsKind.READ, path, "old\n" * 900, args=args, total_lines=900))
        request = Assembler(ledger, workspace=files).assemble(step=2, budget_tokens=ceiling)
        newest = request.pieces[0]
        assert request.est_tokens <= ceiling
        header, *content = newest.text.split("\n")
        target = header.split(" ")[3].strip('",:]')
        words = "full" if "lines 1-" in header and "replaces" in header else "re-read"
        assert content.count("new") >= 8
        assert "elided" in content[-2]
        found.append((target, words == "full", newest.args, "go on from" in content[-2]))
    assert list(dict.fromkeys(reversed(found))) == [
        (path, True, args, True),
        ("src/" + "a" * 19 + "…", True, args, True),
        ("src/aaa…", True, args, True),
        ("src/aaa…", False, args, True),
        ("src/aaa…", False, "{}", True),
    ]


def test_the_shortest_marker_is_the_last_to_come() -> None:
    ledger = Ledger()
    ledger.push(Observation(10**9, ObsKind.SKILL, "s" * 50, "x" * 5_000_000, call=10**9, args="{}"))
    texts = {
        ceiling: Assembler(ledger).assemble(step=10**9, budget_tokens=ceiling).text
        for ceiling in (64, 90)
    }
    top = '[step 1000000000 call 1000000000, skill "sssssss…"]\n'
    assert texts[64] == f"{top}{'x' * 117}\n[elided: truncated]\n"
    assert "[elided: 4,9" in texts[90]


@pytest.mark.parametrize("width", [1, 4, 50, 90])
@pytest.mark.parametrize("lines", [3_000, 9_000, 99_999])
@pytest.mark.parametrize("told", [True, False])
def test_a_read_cut_at_its_entry_says_where_to_go_on(lines: int, width: int, told: bool) -> None:
    ledger = Ledger()
    text = ("x" * width + "\n") * lines
    total = lines if told else None
    ledger.push(Observation(1, ObsKind.READ, "a.py", text, total_lines=total))
    piece = Assembler(ledger).assemble(step=2, budget_tokens=6_000).pieces[0]
    header, *content, mark, end = piece.text.split("\n")
    assert end == ""
    shown = len(content)
    assert set(content) == {"x" * width}
    assert header == f"[step 1, read a.py, lines 1-{shown} of {lines}]"
    gone = len(text) - shown * (width + 1) + 1
    assert mark == (
        f"[elided: {gone:,} of {len(text):,} characters truncated; "
        f"lines 1-{shown} of {lines:,} shown, go on from line {shown + 1}]"
    )
    assert 3_000 - 2 * (width + 1) < len(piece.text) - len(header) - 2 <= 3_000


def note(key: str, value: str, seq: int) -> MemoryEntry:
    return MemoryEntry(key, value, "run", 1, seq=seq)


def test_the_memory_block_has_at_most_a_quarter() -> None:
    notes = tuple(note(f"key {n}", "v" * 100, n) for n in range(64))
    for ceiling in (64, 150, 200, 500, 5_000):
        request = assemble(tools(9_000), ceiling, notes)
        block = [p for p in request.pieces if p.status is PieceStatus.MEMORY]
        assert sum(len(piece.text) for piece in block) <= ceiling // 4 * 4
        assert request.recalled + request.left_out == 64
        assert bool(block) == bool(request.recalled)
        assert request.est_tokens <= ceiling
    assert request.recalled > 10


def test_the_newest_notes_stay_and_stand_in_the_order_of_their_writing() -> None:
    notes = tuple(note(f"key {n}", "v" * 100, n) for n in (3, 1, 2))
    request = assemble(Ledger(), 360, notes)
    assert request.recalled_keys == ("key 2", "key 3")
    assert request.text.index("key 2") < request.text.index("key 3")
    assert (request.recalled, request.left_out) == (2, 1)


def test_a_block_without_room_for_its_heading_and_forty_characters_is_left_out() -> None:
    lone = (note("k", "v" * 100, 1),)
    sizes = {len(assemble(Ledger(), ceiling, lone).text) for ceiling in range(64, 400)}
    heading = assemble(Ledger(), 24_000, lone).text.index("\n") + 1
    assert 0 in sizes
    assert min(sizes - {0}) >= heading + 40


@pytest.mark.parametrize("ceiling", [63, 0, -1])
def test_a_ceiling_below_64_is_an_error_that_names_it(ceiling: int) -> None:
    with pytest.raises(ValueError, match=rf"budget_tokens .*64.*{ceiling}"):
        assemble(Ledger(), ceiling)


def test_a_ceiling_that_falls_below_the_memory_block_is_kept() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger, price=CachePrice(read=0.1, write=1.25))
    notes = [note(f"key {n}", "v" * 300, n) for n in range(5)]
    assert assembler.assemble(step=1, budget_tokens=2_000, notes=notes).recalled == 5
    for step, text in enumerate(["", "x", "x" * 5_000], start=2):
        ledger.push(Observation(step, ObsKind.TOOL, None, text))
        request = assembler.assemble(step=step, budget_tokens=64, notes=notes)
        assert request.est_tokens <= 64
        assert request.pieces[-1].step == step
