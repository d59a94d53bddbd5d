"""Recorded runs by the format their content shows; names of files decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from io_harness.errors import ConfigError
from io_harness.replay.importers import (
    chat,
    claude_code,
    codex_rollout,
    mini_swe_agent,
    openhands,
    own_store,
    pi,
    swe_agent,
)
from io_harness.replay.sessions import sessions
from io_harness.replay.source import load, printable, starts_with

if TYPE_CHECKING:
    from io_harness.replay.records import Record, Transcript
    from io_harness.replay.source import Source


class Importer(Protocol):
    """One format: whether a file's content is of it, and the run it holds."""

    def claims(self, source: Source) -> bool:
        """Whether the content is of this format."""

    def build(self, source: Source) -> Transcript:
        """The run as records."""


IMPORTERS: tuple[Importer, ...] = (
    claude_code,
    codex_rollout,
    pi,
    swe_agent,
    mini_swe_agent,
    openhands,
    chat,
)


def read_transcripts(path: str) -> tuple[Transcript, ...]:
    """The runs a file holds, mostly one. `ConfigError`: none; the message says what was found."""
    if starts_with(path, own_store.MAGIC):
        return own_store.store_transcripts(path)
    sources = [session for run in load(path).runs() for session in sessions(run)]
    known = [run for run in map(_import, sources) if run is not None]
    found = [run for run in known if run.records]
    if found:
        pairs = zip(found, [*found[1:], None], strict=True)
        last = tuple(run for run, later in pairs if not _begins(run, later))
        missing, repeated = len(sources) - len(found), len(found) - len(last)
        told = {"run without a record": missing, "run that the next one goes on with": repeated}
        last[0].report.notes.update({what: count for what, count in told.items() if count})
        return last
    if known:
        raise ConfigError(f"{path}: a {known[0].format} file that holds no record of a run")
    raise ConfigError(f"{path}: {_found(sources[0])}, no transcript of a known format")


def _begins(run: Transcript, later: Transcript | None) -> bool:
    """Whether a later run has all of this one and more, as in a log of requests."""
    return (
        later is not None
        and len(run.records) < len(later.records)
        and all(_same(one, other) for one, other in zip(run.records, later.records, strict=False))
    )


def _same(one: Record, other: Record) -> bool:
    place = (one.step, one.call) == (other.step, other.call)
    return place and (one.text, one.args) == (other.text, other.args)


def _import(source: Source) -> Transcript | None:
    for importer in IMPORTERS:
        if importer.claims(source):
            run = importer.build(source)
            run.report.notes.update(source.notes)
            return run
    return None


def _found(source: Source) -> str:
    """What the JSON is, in a few words."""
    first = source.values[0]
    if isinstance(first, dict):
        names = ", ".join(map(printable, sorted(first)[:5])) or "no fields"
        return f"JSON {'object' if source.whole else 'lines'} with {names}"[:160]
    if isinstance(first, list):
        return f"a JSON list of {len(first)} items"
    return f"a JSON {type(first).__name__}"
