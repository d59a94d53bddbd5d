"""A section that only grows between rewrites: true, bounded, append-only, and cheaper."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from io_harness import Assembled, Assembler, CachePrice, Ledger, MemoryEntry, Observation, ObsKind
from io_harness.context.escape import clean
from io_harness.context.parse import Parsed, parse
from tests.context.files import MemoryFiles

PRICE = CachePrice(read=0.1, write=1.25)
_RANGE = re.compile(r"(?:lines (\d+)-(\d+)|after line (\d+)): (?:now lines (\d+)-(\d+)|now gone)")
_SPAN = re.compile(r"lines (\d+)-(\d+)")


def replayed(pieces: list[Parsed]) -> dict[str, dict[int, str]]:
    """What somebody holds who reads a section's reads and hunks in order."""
    held: dict[str, dict[int, str]] = {}
    for piece in pieces:
        path = (piece.target or "").removeprefix("./")
        if piece.kind is not ObsKind.READ or piece.status == "stub":
            continue
        if not piece.text.startswith("[changed "):
            _read(held.setdefault(path, {}), piece)
        elif "nothing shown of it before holds" in piece.why:
            held[path] = {}
        else:
            held[path] = _changed(held.get(path, {}), piece)
    return held


def _read(lines: dict[int, str], piece: Parsed) -> None:
    match = _SPAN.match(piece.detail)
    if match is None:
        return
    first, last = map(int, match.groups())
    texts = piece.content.split("\n")
    lines.update(zip(range(first, last + 1), texts, strict=False))
    if "cut inside" in piece.marker:
        del lines[last]


def _changed(lines: dict[int, str], piece: Parsed) -> dict[int, str]:
    match = _RANGE.search(piece.why)
    assert match is not None
    first, last, after, new_first, new_last = (
        None if group is None else int(group) for group in match.groups()
    )
    if after is not None:
        first, last = after + 1, after
    assert first is not None
    assert last is not None
    texts = piece.content.split("\n") if new_first is not None else []
    shift = len(texts) - (last - first + 1)
    if new_first is not None and new_last is not None:
        assert (new_first, new_last - new_first + 1) == (first, len(texts))
    moved = {n + shift: text for n, text in lines.items() if n > last}
    kept = {n: text for n, text in lines.items() if n < first}
    return kept | dict(zip(range(first, first + len(texts)), texts, strict=True)) | moved


class Story:
    """A run over a few files, with what a sceptic checks after every turn."""

    def __init__(self, ceiling: int) -> None:
        self.files = MemoryFiles()
        self.ledger = Ledger()
        self.assembler = Assembler(self.ledger, workspace=self.files, price=PRICE)
        self.ceiling = ceiling
        self.step = 0
        self.before = ""
        self.manifest = ""

    def resumed(self) -> Assembler:
        """Another assembler that goes on from the last section."""
        manifest = self.manifest or None
        return Assembler(self.ledger, workspace=self.files, price=PRICE, manifest=manifest)

    def read(self, path: str, first: int, count: int | None) -> None:
        try:
            result = self.files.read(path, offset=first, limit=count)
        except FileNotFoundError:
            return
        self.ledger.push(
            Observation(
                self.step,
                ObsKind.READ,
                path,
                result.text,
                args=f'{{"path":"{path}"}}',
                lines=None if count is None else (first, first + count - 1),
                total_lines=result.total_lines,
                digest=result.digest,
            )
        )

    def search(self, pattern: str, *paths: str) -> None:
        self.ledger.push(Observation(self.step, ObsKind.GREP, pattern, "1:hit", paths=paths))

    def write(self, path: str, text: str) -> None:
        self.files.put(path, text)
        self.ledger.push(Observation(self.step, ObsKind.WRITE, path, "written"))

    def turn(self) -> Assembled:
        self.step += 1
        other = self.resumed()
        out = self.assembler.assemble(step=self.step, budget_tokens=self.ceiling)
        again = other.assemble(step=self.step, budget_tokens=self.ceiling)
        assert again.text == out.text
        assert again.stable_chars == out.stable_chars
        assert (again.carried, again.est_tokens) == (out.carried, out.est_tokens)
        assert again.manifest == out.manifest
        self.manifest = out.manifest
        args = sum(len(piece.args) for piece in out.pieces)
        assert "".join(piece.text for piece in out.pieces) == out.text
        assert out.est_tokens == -(-(len(out.text) + args) // 4) <= self.ceiling
        assert out.carried + out.stubbed == len(self.ledger)
        assert out.text[: out.stable_chars] == self.before[: out.stable_chars]
        assert out.rewritten == (out.stable_chars < len(self.before))
        self.before = out.text
        for path, lines in replayed(parse(out.text)).items():
            now = self.files.texts.get(path, "").split("\n")
            for number, text in lines.items():
                assert clean(now[number - 1]) == text, (path, number, out.text)
        return out


LINE = st.sampled_from(
    ["a", "b", "", "c" * 30, "[step 1, note]", "d\r", "e" * 300, "f" * 2100, "\ud83d"]
)
LINES = st.lists(LINE, max_size=12)
PATHS = st.sampled_from(["a", "b", "./a"])
EVENT = st.one_of(
    st.tuples(st.just("read"), PATHS, st.integers(1, 14), st.integers(1, 14)),
    st.tuples(st.just("read"), PATHS, st.just(1), st.none()),
    st.tuples(st.just("search"), st.sampled_from(["one", "two", "three"]), PATHS),
    st.tuples(st.just("write"), PATHS, st.integers(0, 12), st.integers(0, 4), LINES),
    st.tuples(st.just("edit"), PATHS, st.integers(0, 12), st.integers(0, 4), LINES),
    st.tuples(st.just("remove"), PATHS),
    st.tuples(st.just("said"), st.integers(0, 900)),
    st.tuples(st.just("ceiling"), st.integers(64, 300) | st.integers(64, 5_000)),
    st.tuples(st.just("turn")),
)


@settings(max_examples=600)
@given(st.lists(EVENT, max_size=40), st.integers(64, 700), LINES, LINES)
def test_who_replays_a_section_holds_the_files_as_they_are(
    events: list[tuple[object, ...]], ceiling: int, one: list[str], other: list[str]
) -> None:
    story = Story(ceiling)
    story.files.put("a", "".join(f"{line}\n" for line in one))
    story.files.put("b", "".join(f"{line}\n" for line in other))
    story.turn()
    for event in events:
        _happens(story, event)
    story.turn()
    story.turn()


def test_a_search_that_did_not_fit_is_as_if_it_had_not_been_looked_at() -> None:
    story = Story(64)
    story.files.put("a", "")
    story.turn()
    story.read("a", 1, None)
    story.search("one", "a")
    story.read("a", 1, None)
    story.write("a", "\n")
    for _ in range(3):
        story.turn()


def _happens(story: Story, event: tuple[object, ...]) -> None:
    match event:
        case ("read", str(path), int(first), (int() | None) as count):
            story.read(path, first, count)
        case ("search", str(pattern), str(path)):
            story.search(pattern, path)
        case ("write" | "edit" as how, str(path), int(at), int(gone), list(new)):
            plain = path.removeprefix("./")
            lines = story.files.texts.get(plain, "").removesuffix("\n").split("\n")
            lines[at : at + gone] = new
            lines = [f"{line}\n" for line in lines]
            if how == "write":
                story.write(plain, "".join(lines))
            else:
                story.files.put(plain, "".join(lines))
        case ("remove", str(path)) if path.removeprefix("./") in story.files.texts:
            story.files.remove(path.removeprefix("./"))
        case ("said", int(length)):
            story.ledger.push(Observation(story.step, ObsKind.TOOL, "run", "x" * length))
        case ("ceiling", int(tokens)):
            story.ceiling = tokens
        case ("turn",):
            story.turn()


def test_a_price_of_one_gives_the_bytes_of_the_base_rules() -> None:
    ledger = Ledger()
    plain, priced = Assembler(ledger), Assembler(ledger, price=CachePrice(1.0, 1.0))
    for step in range(1, 60):
        ledger.push(Observation(step, ObsKind.READ, f"f{step % 7}", "line\n" * step))
        one = plain.assemble(step=step, budget_tokens=400)
        assert one.text == priced.assemble(step=step, budget_tokens=400).text


def _work_after(observations: int) -> int:
    """The most that one of fifty turns visits, one push each, after a long run."""
    ledger = Ledger()
    assembler = Assembler(ledger, price=PRICE)
    for step in range(1, observations + 1):
        ledger.push(Observation(step, ObsKind.READ, f"f{step % 700}", "line\n" * 200))
    most = 0
    for step in range(observations + 1, observations + 51):
        assembler.assemble(step=step, budget_tokens=24_000)
        ledger.push(Observation(step, ObsKind.READ, f"f{step % 700}", "line\n" * 200))
        most = max(most, assembler.assemble(step=step, budget_tokens=24_000).work)
    return most


def test_a_turn_visits_no_more_after_a_longer_run() -> None:
    assert _work_after(14_000) == _work_after(1_400)


def test_two_edits_of_one_answer_both_reach_the_model() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger, price=PRICE)
    for step in (1, 2):
        for call in (0, 1):
            edit = Observation(step, ObsKind.WRITE, "a", f"edit {step}.{call}", call=call)
            ledger.push(edit)
        out = assembler.assemble(step=step, budget_tokens=24_000)
        assert f"edit {step}.0\n" in out.text
        assert f"edit {step}.1\n" in out.text


def test_a_ceiling_that_shrinks_below_the_notes_writes_the_section_anew() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger, price=PRICE)
    notes = (MemoryEntry("k" * 128, "v" * 200, "run", 1),)
    assert assembler.assemble(step=1, budget_tokens=2_877, notes=notes).recalled == 1
    ledger.push(Observation(1, ObsKind.TOOL, "run", ""))
    out = assembler.assemble(step=2, budget_tokens=64, notes=notes)
    assert out.est_tokens <= 64
    assert (out.recalled, out.left_out) == (0, 1)


def test_what_had_no_room_follows_as_soon_as_it_fits() -> None:
    """A result must reach the model once: it does not wait for a rewrite."""
    ledger = Ledger()
    assembler = Assembler(ledger, price=PRICE)
    results = [f"result {number} " + "x" * 300 for number in range(5)]
    for text in results:
        ledger.push(Observation(1, ObsKind.TOOL, "job", text))
    tight = assembler.assemble(step=2, budget_tokens=64)
    assert tight.collapsed
    ledger.push(Observation(2, ObsKind.TOOL, "job", "and on"))

    roomy = assembler.assemble(step=3, budget_tokens=24_000)

    assert not roomy.rewritten
    shown = [piece.text.split("\n")[1] for piece in roomy.pieces if piece.status == "carried"]
    assert shown == [*results[:4], "and on"]
    assert (roomy.carried, roomy.stubbed, roomy.collapsed) == (6, 0, False)


def test_what_waits_follows_newest_first_and_within_the_ceiling() -> None:
    ledger = Ledger()
    assembler = Assembler(ledger, price=PRICE)
    for number in range(40):
        ledger.push(Observation(1, ObsKind.TOOL, "job", f"result {number} " + "x" * 1_000))
    before = assembler.assemble(step=2, budget_tokens=64)

    some = assembler.assemble(step=3, budget_tokens=4_000)

    assert not some.rewritten
    assert some.est_tokens <= 4_000
    numbers = [int(found) for found in re.findall("\nresult ([0-9]+) ", some.text)][1:]
    assert numbers == list(range(39 - len(numbers), 39))
    assert len(numbers) > 10
    assert some.stubbed == before.stubbed - len(numbers)
