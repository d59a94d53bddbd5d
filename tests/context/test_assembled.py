"""What an assembled section says of itself, at once and much later."""

from __future__ import annotations

import json

import pytest

from io_harness import (
    Assembled,
    Assembler,
    CachePrice,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
    Piece,
    PieceStatus,
    estimate_tokens,
)
from tests.context.files import MemoryFiles

PRICES = [CachePrice(), CachePrice(read=0.1, write=1.25)]
NOTES = [MemoryEntry("key", "value", "run", 1)]


class Story:
    """Steps that read, write and run, with the request after each."""

    def __init__(self, price: CachePrice) -> None:
        self.files = MemoryFiles()
        self.ledger = Ledger()
        self.assembler = Assembler(self.ledger, workspace=self.files, price=price)
        self.step = 0

    def take(self) -> Assembled:
        self.step += 1
        step, path = self.step, f"f{self.step % 3}"
        self.files.put(path, f"{step}\n" * 20)
        self.ledger.push(Observation(step, ObsKind.WRITE, path, "ok", args='{"n":1}'))
        got = self.files.read(path)
        self.ledger.push(
            Observation(step, ObsKind.READ, path, got.text, total_lines=20, digest=got.digest)
        )
        self.ledger.push(Observation(step, ObsKind.TOOL, None, "x" * 90 * (step % 4)))
        return self.assembler.assemble(step=step, budget_tokens=600, notes=NOTES)


Told = tuple[str, list[Piece], tuple[int, ...], int, bool, str]


def told(request: Assembled) -> Told:
    return (
        request.text,
        list(request.pieces),
        (request.carried, request.stubbed, request.reread, request.recalled, request.left_out),
        request.stable_chars,
        request.rewritten,
        request.manifest,
    )


@pytest.mark.parametrize("price", PRICES)
def test_a_section_is_never_changed_once_made(price: CachePrice) -> None:
    at_once, much_later = Story(price), Story(price)
    expected = [told(at_once.take()) for _ in range(25)]
    requests = [much_later.take() for _ in range(25)]
    assert [told(request)[:5] for request in requests] == [one[:5] for one in expected]


@pytest.mark.parametrize("price", PRICES)
def test_the_account_adds_up(price: CachePrice) -> None:
    story, before = Story(price), ""
    for _ in range(25):
        request = story.take()
        pieces = list(request.pieces)
        assert "".join(piece.text for piece in pieces) == request.text
        size = len(request.text) + sum(len(piece.args) for piece in pieces)
        assert request.est_tokens == -(-size // 4) <= 600
        assert request.carried + request.stubbed == len(story.ledger)
        shown = {PieceStatus.CARRIED, PieceStatus.BOUNDED, PieceStatus.REFRESHED}
        if price == PRICES[0]:
            assert request.carried == sum(piece.status in shown for piece in pieces)
            assert [piece.cut for piece in pieces if piece.kind and piece.status in shown] == [
                piece.status is PieceStatus.BOUNDED
                for piece in pieces
                if piece.kind and piece.status in shown
            ]
        assert request.collapsed == any(p.status is PieceStatus.COLLAPSED for p in pieces)
        assert (request.recalled, request.left_out) == (1, 0)
        assert request.text[: request.stable_chars] == before[: request.stable_chars]
        assert request.rewritten == (request.stable_chars < len(before))
        before = request.text


def test_pieces_are_a_sequence() -> None:
    pieces = Story(PRICES[0]).take().pieces
    everything = list(pieces)
    assert len(pieces) == len(everything) == 4
    assert pieces[0] == everything[0]
    assert pieces[-1] == everything[-1]
    assert list(pieces[1:3]) == everything[1:3]
    assert list(reversed(pieces)) == everything[::-1]
    assert everything[2] in pieces
    with pytest.raises(IndexError):
        pieces[4]


def test_the_memory_block_is_a_piece_of_its_own() -> None:
    piece = Story(PRICES[0]).take().pieces[0]
    assert (piece.status, piece.kind, piece.target, piece.args) == (
        PieceStatus.MEMORY,
        None,
        None,
        "",
    )
    assert piece.text.startswith("[notes: ")


def test_the_statuses_are_words() -> None:
    assert [str(status) for status in PieceStatus] == [
        "carried",
        "bounded",
        "refreshed",
        "stub",
        "collapsed",
        "memory",
    ]


def test_the_manifest_is_json_of_the_same_bytes_each_time() -> None:
    request = Story(PRICES[0]).take()
    assert request.manifest == request.manifest
    assert isinstance(json.loads(request.manifest), dict)


def test_the_manifest_does_not_grow_with_the_run() -> None:
    for price in PRICES:
        story = Story(price)
        sizes = [len(story.take().manifest) for _ in range(120)]
        assert max(sizes[60:]) < 3 * max(sizes[20:60])


@pytest.mark.parametrize(
    "manifest", ["", "x", "[]", "{}", '{"version": 99}', '{"version": 1, "entered": 5}', "null"]
)
def test_a_manifest_that_is_none_is_an_error(manifest: str) -> None:
    with pytest.raises(ValueError, match="manifest"):
        Assembler(Ledger(), manifest=manifest)


def test_a_manifest_of_a_longer_ledger_is_an_error() -> None:
    manifest = Story(PRICES[0]).take().manifest
    with pytest.raises(ValueError, match="3 observations and the ledger has 0"):
        Assembler(Ledger(), manifest=manifest)


def test_its_repr_is_short() -> None:
    assert len(repr(Story(PRICES[0]).take())) < 120


def test_the_estimate_is_a_quarter_of_all_that_is_sent() -> None:
    ledger = Ledger()
    ledger.push(Observation(1, ObsKind.TOOL, None, "abc", args="{}"))
    request = Assembler(ledger).assemble(step=2, budget_tokens=64)
    assert request.est_tokens == estimate_tokens(request.text + "{}") == 6


def test_a_failed_read_of_a_written_file_weighs_the_same_after_a_resume() -> None:
    price = PRICES[1]
    files, ledger = MemoryFiles(), Ledger()
    one = Assembler(ledger, workspace=files, price=price)
    ledger.push(Observation(1, ObsKind.WRITE, "a", "ok", args='{"n":1}', total_lines=1))
    ledger.push(Observation(1, ObsKind.READ, "a", "x\n", total_lines=1))
    manifest = one.assemble(step=2, budget_tokens=100).manifest
    for step in range(2, 9):
        other = Assembler(ledger, workspace=files, price=price, manifest=manifest)
        ledger.push(Observation(step, ObsKind.TOOL, None, "x" * 90))
        request = one.assemble(step=step, budget_tokens=100)
        again = other.assemble(step=step, budget_tokens=100)
        assert (again.text, again.manifest) == (request.text, request.manifest)
        manifest = request.manifest
