"""Stories played against the assembler that is installed, and judged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from io_harness.context import Assembler, CachePrice, Ledger

from .events import Ask, Change, Event, Happen, Read, Say, Shut
from .judge import Judge
from .priced_judge import PricedJudge
from .scenario import Assembles, Fact, Frame, Story
from .shown import Broken, size
from .strategies import LINKS
from .world import Gate, MemoryWorkspace, resolve

EXAMPLES = int(os.environ.get("IO_HARNESS_ORACLE_EXAMPLES", "2000"))


def with_files(
    ledger: Ledger, world: MemoryWorkspace, gate: Gate, manifest: str | None
) -> Assembles:
    """An assembler that can look at the files."""
    return Assembler(ledger, workspace=world, policy=gate, manifest=manifest)


def priced(ledger: Ledger, world: MemoryWorkspace, gate: Gate, manifest: str | None) -> Assembles:
    """An assembler for a provider that sells a repeated prefix cheaply."""
    price = CachePrice(read=0.1, write=1.25)
    return Assembler(ledger, workspace=world, policy=gate, price=price, manifest=manifest)


def without_files(
    ledger: Ledger, world: MemoryWorkspace, gate: Gate, manifest: str | None
) -> Assembles:
    """An assembler of a caller who has no workspace."""
    del world, gate
    return Assembler(ledger, manifest=manifest)


def size_alone(fact: Fact) -> int:
    """What an observation takes where it is the only one and nothing but its entry cuts it."""
    ledger = Ledger()
    ledger.push(fact.observation)
    budget = max(4_000, fact.entry_budget)
    made = Assembler(ledger).assemble(step=fact.observation.step, budget_tokens=budget)
    return size(made.pieces[0])


def filed(story: Story) -> Story:
    """A story whose world has the symbolic links that the strategies use."""
    story.world.links.update(LINKS)
    return story


def frames(events: tuple[Event, ...]) -> Iterator[Frame]:
    """The frames of a story with files, judged one after the other."""
    judge = Judge(sees_files=True, size_of=size_alone)
    for frame in filed(Story(with_files)).play(events):
        judged(judge, frame)
        yield frame


def priced_frames(events: tuple[Event, ...]) -> Iterator[Frame]:
    """The frames of a story where a rewrite has to pay, judged one after the other."""
    judge = PricedJudge()
    for frame in filed(Story(priced)).play(events):
        judged(judge, frame)
        yield frame


def disk_frames(world: MemoryWorkspace, events: tuple[Event, ...]) -> Iterator[Frame]:
    """The frames of a story in a world of its own, whose stats are too fresh to be trusted."""
    judge = Judge(sees_files=True, size_of=size_alone)
    for frame in Story(with_files, world=world).play(events):
        judged(judge, replace(frame, settled=False))
        yield frame


def frames_without_files(events: tuple[Event, ...]) -> Iterator[Frame]:
    """The same without a workspace: every path is spelled in one way, links being unknown."""
    judge = Judge(sees_files=False, size_of=size_alone)
    for frame in filed(Story(without_files)).play(tuple(map(spelled_once, events))):
        judged(judge, frame)
        yield frame


def judged(judge: Judge | PricedJudge, frame: Frame) -> None:
    """Judge a frame; what is broken is told with the section it is broken in."""
    try:
        judge.judge(frame)
    except Broken as broken:
        broken.add_note(f"frame {frame.index}, ceiling {frame.ask.budget}")
        for piece in frame.assembled.pieces:
            broken.add_note(f"  {piece.status} {piece.text[:300]!r} args {piece.args[:60]!r}")
        raise


def spelled_once(event: Event) -> Event:
    """An event that names its file as a workspace would."""
    match event:
        case Read() | Change() | Happen() | Shut():
            return replace(event, path=resolve(event.path, LINKS))
        case Say():
            return replace(event, paths=tuple(resolve(path, LINKS) for path in event.paths))
        case Ask():
            return event
