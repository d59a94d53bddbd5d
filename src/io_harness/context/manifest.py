"""What an assembler needs to go on from a section in another process, as JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from io_harness.errors import ConfigError
from io_harness.types import JSON

from ._positions_py import SHIFT
from .checks import shown
from .entry import Refresh

VERSION = 1
_BITS = 62
# JSON would give the two halves of a pair back as one character.
_BETWEEN_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


@dataclass(frozen=True, slots=True)
class SectionState:
    """A section that only grows: its pieces, what it has paid, its notes, the files it shows.

    A piece is its code and its text; the text is `None` where the ledger gives it again.
    `squeezed` is the index of the piece cut further, its arguments and how much is kept;
    `squeezed_lines` the whole lines it shows where it is a read, which its header may not say.
    `waiting` has waited for a section in vain; `files` are a path, its number of lines and
    whether its end is shown; `moved` are reads whose lines are elsewhere now: the first, how many.
    """

    pieces: tuple[tuple[int, str | None], ...]
    squeezed: tuple[int, str, int | None] | None
    squeezed_lines: tuple[int, int] | None
    hidden: int
    paid: int
    waiting: tuple[int, ...]
    block: str
    keys: tuple[str, ...]
    left_out: int
    files: tuple[tuple[str, int | None, bool], ...]
    moved: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class State:
    """The facts of a section that do not follow from the ledger.

    `entered` is how many observations had entered, `caps` where the entry cap changed, `looked`
    the live reads known to be true after a later write of their file, and that write. `section`
    is there where the section only grows.
    """

    entered: int
    caps: tuple[tuple[int, int], ...]
    refreshes: tuple[Refresh, ...]
    looked: tuple[tuple[int, int], ...]
    section: SectionState | None = None


def dump(state: State) -> str:
    """The manifest of a state."""
    return json.dumps(
        {
            "version": VERSION,
            "entered": state.entered,
            "caps": state.caps,
            "refreshes": [refresh_to_json(refresh) for refresh in state.refreshes],
            "looked": state.looked,
            "section": None if state.section is None else asdict(state.section),
        },
        separators=(",", ":"),
    )


def refresh_to_json(refresh: Refresh) -> dict[str, JSON]:
    """A refresh as the trace records it."""
    return {
        "position": refresh.position,
        "step": refresh.step,
        "reason": refresh.reason,
        "text": None if refresh.text is None else _halved(refresh.text),
        "lines": None if refresh.lines is None else list(refresh.lines),
        "total_lines": refresh.total_lines,
        "digest": refresh.digest,
        "cap": refresh.cap,
        "because": refresh.because,
    }


def _halved(text: str) -> JSON:
    parts: list[JSON] = [*_BETWEEN_HALVES.split(text)]
    return text if len(parts) == 1 else parts


@contextmanager
def readable() -> Iterator[None]:
    """What goes wrong within is the manifest's fault: raises `ConfigError`."""
    try:
        yield
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"the manifest cannot be read ({error}); pass the text of Assembled.manifest "
            "unchanged, and the ledger of the same run"
        ) from error


def load(text: str) -> State:
    """The state of a manifest; raises `ConfigError` for what is none."""
    with readable():
        value = json.loads(text)
        if value["version"] != VERSION:
            raise ConfigError(
                f"the manifest has version {shown(value['version'])}, this library reads "
                f"{VERSION}; assemble from the ledger instead"
            )
        state = State(
            _whole(value["entered"]),
            tuple((_whole(start), _whole(cap)) for start, cap in _rows(value["caps"])),
            tuple(_refresh(record) for record in value["refreshes"]),
            tuple((_whole(read), _whole(write)) for read, write in _rows(value["looked"])),
            None if value["section"] is None else _section(value["section"]),
        )
        _check(state)
    return state


def _check(state: State) -> None:
    """Raises `ValueError` where a state names what has not entered."""
    positions = {refresh.position for refresh in state.refreshes}.union(*state.looked)
    if state.section is not None:
        positions.update(code >> SHIFT for code, _ in state.section.pieces)
        positions.update(state.section.waiting, (move[0] for move in state.section.moved))
    positions.update(starts := [start for start, _ in state.caps])
    if any(not 0 <= position < state.entered for position in positions):
        raise ValueError("it names an observation that has not entered")
    if starts != sorted(set(starts)) or starts[:1] != [0][: state.entered]:
        raise ValueError("its entry caps start nowhere or twice")


def _section(record: Mapping[str, JSON]) -> SectionState:
    squeezed = record["squeezed"]
    return SectionState(
        tuple((_whole(code), _text(text)) for code, text in _rows(record["pieces"])),
        None if squeezed is None else _squeezed(_row(squeezed)),
        _lines(record["squeezed_lines"]),
        _whole(record["hidden"]),
        _whole(record["paid"]),
        tuple(_whole(position) for position in _row(record["waiting"])),
        str(record["block"]),
        tuple(str(key) for key in _row(record["keys"])),
        _whole(record["left_out"]),
        tuple(
            (str(path), None if total is None else _whole(total), bool(end))
            for path, total, end in _rows(record["files"])
        ),
        tuple(
            (_whole(position), _whole(first), _whole(count))
            for position, first, count in _rows(record["moved"])
        ),
    )


def _squeezed(row: list[JSON]) -> tuple[int, str, int | None]:
    index, args, head = row
    return _whole(index), str(args), None if head is None else _whole(head)


def _row(value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise ValueError(f"{shown(value)} is no list")
    return value


def _rows(value: JSON) -> list[list[JSON]]:
    return [_row(row) for row in _row(value)]


def _refresh(record: Mapping[str, JSON]) -> Refresh:
    lines, total, text = record["lines"], record["total_lines"], record["text"]
    return Refresh(
        _whole(record["position"]),
        _whole(record["step"]),
        str(record["reason"]),
        "".join(str(part) for part in text) if isinstance(text, list) else _text(text),
        _lines(lines),
        None if total is None else _whole(total),
        _text(record["digest"]),
        _whole(record["cap"]),
        str(record["because"]),
    )


def _lines(value: JSON) -> tuple[int, int] | None:
    if value is None:
        return None
    first, last = _row(value)
    return _whole(first), _whole(last)


def _whole(value: JSON) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value.bit_length() > _BITS:
        raise ValueError(f"{shown(value)} is no whole number")
    return value


def _text(value: JSON) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{shown(value)} is no text")
    return value
