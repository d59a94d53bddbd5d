"""Two answers to one question are one answer: whose place a later one takes, and whose not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_harness import Assembled, Assembler, Ledger, Observation, ObsKind, PieceStatus, Workspace
from io_harness.context.keys import file_subject, path_of, question
from io_harness.context.parse import parse
from tests.context.files import MemoryFiles

BIG = 1_000_000


def assemble(observations: Sequence[Observation], workspace: Workspace | None = None) -> Assembled:
    ledger = Ledger()
    for observation in observations:
        ledger.push(observation)
    return Assembler(ledger, workspace=workspace).assemble(step=BIG, budget_tokens=24_000)


def dead(*observations: Observation) -> list[int]:
    """The steps of those that made way."""
    pieces = assemble(observations).pieces
    assert len(pieces) == len(observations)
    return [piece.step for piece in pieces if piece.status is PieceStatus.STUB]


def read(
    step: int,
    first: int,
    last: int,
    *,
    total: int | None = 500,
    path: str = "a",
    asked: int | None = None,
) -> Observation:
    """A read that got lines `first` to `last`, and asked for lines up to `asked`."""
    text = "".join(f"line {n}\n" for n in range(first, last + 1))
    lines = (first, last if asked is None else asked)
    return Observation(step, ObsKind.READ, path, text, lines=lines, total_lines=total)


def whole(step: int, lines: int, *, path: str = "a", shown: int | None = None) -> Observation:
    text = "x\n" * (lines if shown is None else shown)
    return Observation(step, ObsKind.READ, path, text, total_lines=lines)


# Reads.


def test_a_read_makes_way_for_the_same_lines() -> None:
    assert dead(read(1, 3, 9), read(2, 3, 9)) == [1]


def test_a_read_makes_way_for_more_lines() -> None:
    assert dead(read(1, 3, 9), read(2, 1, 20)) == [1]


def test_a_read_does_not_make_way_for_fewer_or_other_lines() -> None:
    assert dead(read(1, 1, 50), read(2, 400, 450)) == []
    assert dead(read(1, 1, 50), read(2, 1, 49)) == []
    assert dead(read(1, 1, 50), read(2, 2, 50)) == []


def test_a_read_makes_way_for_several_that_together_show_its_lines() -> None:
    assert dead(read(1, 1, 50), read(2, 1, 20), read(3, 21, 49), read(4, 50, 60)) == [1]
    assert dead(read(1, 1, 50), read(2, 1, 20), read(3, 22, 50)) == []


def test_an_earlier_read_is_no_part_of_what_covers_a_later_one() -> None:
    assert dead(read(1, 1, 20), read(2, 1, 50), read(3, 21, 50)) == [1]


def test_another_file_says_nothing() -> None:
    assert dead(read(1, 1, 5, path="a"), read(2, 1, 5, path="b")) == []


def test_a_whole_read_covers_all_of_the_file() -> None:
    assert dead(read(1, 3, 9, total=20), whole(2, 20)) == [1]
    assert dead(whole(1, 20), read(2, 1, 20, total=20)) == [1]
    assert dead(whole(1, 20), read(2, 1, 19, total=20)) == []


def test_a_whole_read_that_was_cut_covers_only_what_it_showed() -> None:
    long = Observation(2, ObsKind.READ, "a", "x" * 99 + "\n", total_lines=9_000)
    cut = Observation(2, ObsKind.READ, "a", ("x" * 99 + "\n") * 9_000, total_lines=9_000)
    request = assemble([read(1, 1, 100, total=9_000), cut])
    shown = parse(request.pieces[1].text)[0].content.count("\n") + 1
    assert 100 < shown < 130
    assert dead(read(1, 1, shown, total=9_000), cut) == [1]
    assert dead(read(1, 1, shown + 1, total=9_000), cut) == []
    assert dead(read(1, 8_000, 8_001, total=9_000), cut) == []
    assert dead(read(1, 1, 1, total=9_000), long) == [1]


def test_a_whole_read_that_came_short_covers_only_what_it_has() -> None:
    assert dead(read(1, 5, 9), whole(2, 500, shown=8)) == []
    assert dead(read(1, 5, 8), whole(2, 500, shown=8)) == [1]


@pytest.mark.parametrize(
    ("later", "covers"),
    [
        (read(2, 10, 20, total=None), False),
        (read(2, 10, 20, total=21), False),
        (read(2, 10, 20, total=20), True),
        (read(2, 10, 20, total=None, asked=40), True),
        (read(2, 10, 9, total=None, asked=40), True),
        (read(2, 10, 9, total=4, asked=40), True),
    ],
)
def test_a_read_that_reached_the_end_covers_every_line_after(
    later: Observation, covers: bool
) -> None:
    assert dead(read(1, 30, 40), later) == ([1] if covers else [])


def test_an_empty_read_covers_from_its_first_asked_line_on() -> None:
    nothing = read(2, 10, 9, total=None, asked=40)
    assert dead(read(1, 10, 12), nothing) == [1]
    assert dead(read(1, 9, 12), nothing) == []
    assert dead(read(1, 10, 9, total=None, asked=12), nothing) == [1]
    assert dead(read(1, 9, 8, total=None, asked=12), nothing) == []


def line_of(step: int, length: int, *, total: int = 2) -> Observation:
    """A read of line 1, which is so long."""
    return Observation(
        step, ObsKind.READ, "a", "x" * length + "\n", lines=(1, 1), total_lines=total
    )


def cut_at(ceiling: int, *observations: Observation) -> list[int]:
    """The dead ones where the first enters under another ceiling than the rest."""
    ledger = Ledger()
    ledger.push(observations[0])
    assembler = Assembler(ledger)
    assembler.assemble(step=BIG, budget_tokens=ceiling)
    for observation in observations[1:]:
        ledger.push(observation)
    pieces = assembler.assemble(step=BIG, budget_tokens=24_000).pieces
    return [piece.step for piece in pieces if piece.status is PieceStatus.STUB]


def test_a_line_cut_inside_is_covered_by_as_much_of_it() -> None:
    assert cut_at(24_000, line_of(1, 50_000), line_of(2, 50_000)) == [1]
    assert cut_at(4_000, line_of(1, 50_000), line_of(2, 50_000)) == [1]
    assert cut_at(48_000, line_of(1, 50_000), line_of(2, 50_000)) == []
    assert cut_at(48_000, line_of(1, 50_000), line_of(2, 11_000)) == [1]


LINES = st.tuples(st.integers(1, 12), st.integers(0, 5))


@given(st.lists(st.tuples(LINES, st.sampled_from("ab")), max_size=14))
def test_the_lines_that_are_shown_are_the_lines_that_were_read(
    spans: list[tuple[tuple[int, int], str]],
) -> None:
    """By an oracle that knows sets of lines only: nothing shown is lost, nothing double stays."""
    reads = [
        read(step, first, first + more, path=path, total=99)
        for step, ((first, more), path) in enumerate(spans)
    ]
    shown = [(path, set(range(first, first + more + 1))) for (first, more), path in spans]
    expected = []
    for step, (path, lines) in enumerate(shown):
        later = set().union(*(other for name, other in shown[step + 1 :] if name == path))
        if lines <= later:
            expected.append(step)
    assert dead(*reads) == expected


# Paths.


def test_one_file_by_any_name_is_one_file() -> None:
    names = ["a", "./a", "x/../a", ".//a", "x/./../a"]
    assert dead(*(read(n, 1, 3, path=path) for n, path in enumerate(names))) == [0, 1, 2, 3]
    writes = [Observation(n, ObsKind.WRITE, path, "ok") for n, path in enumerate(names)]
    assert dead(*writes) == [0, 1, 2, 3]


def test_a_link_is_the_file_it_leads_to(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "a").write_text("x\n")
    (root / "link").symlink_to("a")
    (root / "other").symlink_to(".")
    with Workspace(root) as workspace:
        reads = [
            Observation(n, ObsKind.READ, path, "x\n", total_lines=1)
            for n, path in enumerate(["a", "link", "other/a", "./other/link"])
        ]
        pieces = assemble(reads, workspace).pieces
    assert [piece.status for piece in pieces] == ["stub", "stub", "stub", "carried"]


# Everything else.


@pytest.mark.parametrize("kind", [ObsKind.GREP, ObsKind.FIND])
def test_a_search_makes_way_for_the_same_question_only(kind: ObsKind) -> None:
    def search(step: int, pattern: str | None, scope: str | None) -> Observation:
        return Observation(step, kind, pattern, "hits", scope=scope)

    assert dead(search(1, "x", "src -i"), search(2, "x", "src -i")) == [1]
    assert dead(search(1, "x", None), search(2, "x", None)) == [1]
    assert dead(search(1, "x", "src"), search(2, "x", "src -i")) == []
    assert dead(search(1, "x", "src"), search(2, "y", "src")) == []
    assert dead(search(1, "xs", "rc"), search(2, "x", "src")) == []
    assert dead(search(1, "x", None), search(2, "x", "src")) == []
    assert dead(search(1, None, "src"), search(2, None, "src")) == []


def test_a_grep_is_no_find() -> None:
    seen = [Observation(n, kind, "x", "") for n, kind in enumerate([ObsKind.GREP, ObsKind.FIND])]
    assert dead(*seen) == []


def test_a_write_makes_way_for_a_write_of_its_path() -> None:
    def write(step: int, path: str | None) -> Observation:
        return Observation(step, ObsKind.WRITE, path, "ok")

    assert dead(write(1, "a"), write(2, "b"), write(3, "a")) == [1]
    assert dead(write(1, None), write(2, None)) == []


def test_a_skill_makes_way_for_a_skill_of_its_name() -> None:
    def skill(step: int, name: str | None) -> Observation:
        return Observation(step, ObsKind.SKILL, name, "do this")

    assert dead(skill(1, "a"), skill(2, "b"), skill(3, "a")) == [1]
    assert dead(skill(1, None), skill(2, None)) == []


@pytest.mark.parametrize(
    "kind", [ObsKind.TOOL, ObsKind.MCP, ObsKind.CHILD, ObsKind.MESSAGE, ObsKind.ERROR]
)
def test_the_others_make_way_for_nothing_but_the_same_key(kind: ObsKind) -> None:
    def made(step: int, target: str | None, key: str | None) -> Observation:
        return Observation(step, kind, target, "x", key=key)

    assert dead(made(1, "t", None), made(2, "t", None)) == []
    assert dead(made(1, None, None), made(2, None, None)) == []
    assert dead(made(1, "t", "k"), made(2, "u", "k")) == [1]
    assert dead(made(1, "t", "k"), made(2, "t", "l")) == []
    assert dead(made(1, "t", "k"), made(2, "t", None)) == []


def test_a_key_holds_within_its_kind() -> None:
    kinds = [ObsKind.TOOL, ObsKind.MCP, ObsKind.CHILD, ObsKind.MESSAGE, ObsKind.ERROR]
    assert dead(*(Observation(n, k, "t", "x", key="k") for n, k in enumerate(kinds))) == []


@pytest.mark.parametrize("subject", ["a", "file:a", "tool:key:k", "skill:a", "grep:1:a:"])
def test_no_subject_is_taken_for_another(subject: str) -> None:
    seen = [
        Observation(0, ObsKind.READ, subject, "x", total_lines=1),
        Observation(1, ObsKind.GREP, subject, "x"),
        Observation(2, ObsKind.FIND, subject, "x"),
        Observation(3, ObsKind.SKILL, subject, "x"),
        Observation(4, ObsKind.TOOL, subject, "x", key=subject),
        Observation(5, ObsKind.MCP, subject, "x", key=subject),
    ]
    assert dead(*seen) == []


@pytest.mark.parametrize(
    "asked",
    [
        Observation(1, ObsKind.GREP, "a", "x", scope="b"),
        Observation(1, ObsKind.SKILL, "a", "x"),
        Observation(1, ObsKind.TOOL, "a", "x", key="k"),
    ],
)
def test_no_path_is_taken_for_a_question(asked: Observation) -> None:
    _, subject = question(asked, str)
    assert subject is not None
    for path in (subject, file_subject(subject), file_subject("\0")):
        assert dead(Observation(0, ObsKind.READ, path, "x"), asked) == []
        assert path_of(file_subject(path)) == path
    assert file_subject(subject) not in {subject, file_subject(file_subject(subject))}


def test_an_error_takes_nobodys_place() -> None:
    failed = Observation(3, ObsKind.ERROR, "a", "denied")
    assert dead(read(1, 1, 9), Observation(2, ObsKind.WRITE, "b", "ok"), failed) == []


# The order.


def test_the_later_one_is_live_in_the_same_step_too() -> None:
    seen = [Observation(4, ObsKind.SKILL, "s", "x") for _ in range(3)]
    pieces = assemble(seen).pieces
    assert [(p.call, p.status.value) for p in pieces] == [
        (0, "stub"),
        (1, "stub"),
        (2, "carried"),
    ]


def test_the_order_of_the_ledger_decides_not_that_of_the_calls() -> None:
    seen = [Observation(4, ObsKind.SKILL, "s", "x", call=call) for call in (2, 0, 1)]
    pieces = assemble(seen).pieces
    assert [(p.call, p.status.value) for p in pieces] == [
        (2, "stub"),
        (0, "stub"),
        (1, "carried"),
    ]


def test_a_stub_names_the_newest_of_a_chain_also_when_it_was_named_before() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger)
    for step in range(1, 30):
        ledger.push(Observation(step, ObsKind.SKILL, "s", "x"))
        pieces = assembler.assemble(step=step, budget_tokens=24_000).pieces
        reasons = [p.why for piece in pieces[:-1] for p in parse(piece.text)]
        assert reasons == [f"superseded by step {step}"] * (step - 1)


def test_a_read_shows_the_lines_that_it_has_whatever_was_asked() -> None:
    """Text with more lines than `lines` says: the header counts them, and they are not lost."""
    more = Observation(1, ObsKind.READ, "a", "1\n2\n3\n4\n5\n", lines=(1, 2), total_lines=9)
    section = assemble([more, read(2, 1, 2, total=9)])

    assert [piece.status for piece in section.pieces] == ["carried", "carried"]
    assert section.text.startswith("[step 1, read a, lines 1-5 of 9]\n")
    assert dead(more, read(2, 1, 2, total=9), read(3, 3, 5, total=9)) == [1]


def test_a_read_that_got_more_than_was_asked_is_looked_at_in_all_its_lines() -> None:
    files = MemoryFiles()
    files.put("a", "1\n2\n3\n")
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.READ, "a", "1\n2\n3\n", lines=(1, 2), total_lines=3))
    assembler = Assembler(ledger, workspace=files)
    assert assembler.assemble(step=2, budget_tokens=1_000).reread == 0
    files.put("a", "1\n2\nthree\n")

    assert "three" in assembler.assemble(step=3, budget_tokens=1_000).text
