"""A story told to the assembler: what a model did, what happened to its files, when it asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from io_harness.context import Assembled, Ledger
from io_harness.types import Effect, MemoryEntry, Observation, ObsKind

from .events import Ask, Change, Event, Happen, Read, Say, Shut, edited
from .world import Gate, MemoryWorkspace


class Assembles(Protocol):
    """What a story needs of an assembler."""

    def assemble(
        self, *, step: int, budget_tokens: int, notes: tuple[MemoryEntry, ...]
    ) -> Assembled:
        """One section."""
        ...


Maker: TypeAlias = Callable[[Ledger, MemoryWorkspace, Gate, str | None], Assembles]


@dataclass(slots=True)
class Fact:
    """What the oracle knows of one observation besides itself: nothing the assembler says."""

    position: int
    observation: Observation
    path: str | None
    paths: tuple[str, ...]
    entry_budget: int = 0
    most_budget: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """One assembly and all that was true when it was made."""

    index: int
    step: int
    ask: Ask
    facts: tuple[Fact, ...]
    files: dict[str, str | None]
    folders: frozenset[str]
    shut: dict[str, Effect]
    versions: dict[str, tuple[tuple[int, str | None], ...]]
    assembled: Assembled
    looks: tuple[tuple[str, str], ...]
    again: Assembled | None
    looks_again: tuple[tuple[str, str], ...]
    settled: bool


@dataclass(slots=True)
class Story:
    """Plays events in order and yields a frame for every assembly.

    A `resuming` one makes a new ledger and a new assembler from the last manifest each time.
    """

    make: Maker
    resuming: bool = False
    world: MemoryWorkspace = field(default_factory=MemoryWorkspace)
    gate: Gate = field(default_factory=Gate)
    ledger: Ledger = field(default_factory=Ledger)
    facts: list[Fact] = field(default_factory=list)
    versions: dict[str, list[tuple[int, str | None]]] = field(default_factory=dict)
    step: int = 0
    shown: str = ""
    assembler: Assembles = field(init=False)

    def __post_init__(self) -> None:
        """One log for both, so that the order of asking and opening is seen."""
        self.gate.looks = self.world.looks
        self.assembler = self.make(self.ledger, self.world, self.gate, None)

    def play(self, events: tuple[Event, ...]) -> Iterator[Frame]:
        """The frames of a story, each made as it is asked for."""
        index = 0
        for event in events:
            match event:
                case Read():
                    self._read(event)
                case Change():
                    self._change(event)
                case Happen():
                    self._happen(event)
                case Shut():
                    self.gate.effects[event.path] = event.effect
                case Say():
                    self._say(event)
                case Ask():
                    yield self._ask(event, index)
                    index += 1

    def _resume(self, manifest: str) -> None:
        self.ledger, old = Ledger(), self.ledger
        for observation in old:
            self.ledger.push(observation)
        self.assembler = self.make(self.ledger, self.world, self.gate, manifest)

    def _push(
        self, observation: Observation, path: str | None = None, paths: tuple[str, ...] = ()
    ) -> None:
        position = self.ledger.push(observation)
        *_, placed = self.ledger
        self.facts.append(Fact(position, placed, path, paths))

    def _next_step(self, joined: bool) -> int:
        if not joined or self.step == 0:
            self.step += 1
        return self.step

    def _read(self, event: Read) -> None:
        step = self._next_step(event.joined)
        here = self.world.canonical(event.path)
        offset = event.lines[0] if event.lines else 1
        limit = event.lines[1] - event.lines[0] + 1 if event.lines else None
        try:
            if self.gate.effects.get(here, Effect.ALLOW) is not Effect.ALLOW:
                raise PermissionError(f"the policy does not let {here} be read")
            result = self.world.read(event.path, offset=offset, limit=limit)
        except OSError as error:
            text = f"{type(error).__name__}: {error}"
            self._push(Observation(step, ObsKind.ERROR, event.path, text, args=event.args))
            return
        known = result.total_lines if event.told else None
        digest = result.digest if event.told else None
        self._push(
            Observation(
                step,
                ObsKind.READ,
                event.path,
                result.text,
                args=event.args,
                lines=event.lines,
                total_lines=known,
                digest=digest,
            ),
            here,
        )

    def _change(self, event: Change) -> None:
        here = self.world.canonical(event.path)
        if event.wrote:
            self._next_step(event.joined)
        before = self.world.files.get(here)
        if event.echo:
            event = replace(event, lines=tuple(self.shown.split("\n")))
        after = edited(before or "", event)
        self._set(here, after)
        if event.wrote:
            said = f"wrote {len(after)} characters"
            self._push(
                Observation(self.step, ObsKind.WRITE, event.path, said, args=event.args), here
            )

    def _happen(self, event: Happen) -> None:
        here = self.world.canonical(event.path)
        match event.fate:
            case "touch":
                if here in self.world.files:
                    self.world.touch(here)
            case "remove" | "folder":
                self.world.remove(here, folder=event.fate == "folder")
                self._log(here, None)
            case "unreadable":
                self._set(here, None)
            case "restore":
                texts = [text for _, text in self.versions.get(here, []) if text is not None]
                self._set(here, texts[0] if texts else "")
            case "settle":
                self.world.unsettled.discard(here)
                if here in self.world.files:
                    self.world.touch(here)
            case "unsettle":
                if here in self.world.files:
                    self.world.touch(here)
                self.world.unsettled.add(here)

    def _say(self, event: Say) -> None:
        step = self._next_step(event.joined)
        paths = event.paths if event.kind in {ObsKind.FIND, ObsKind.GREP} else ()
        key = None if event.kind is ObsKind.SKILL else event.key
        self._push(
            Observation(
                step,
                event.kind,
                event.target,
                self.shown if event.echo else event.text,
                args=event.args,
                scope=event.scope,
                key=key,
                paths=paths,
            ),
            paths=tuple(self.world.canonical(path) for path in paths),
        )

    @staticmethod
    def _most_budget(fact: Fact, budget: int) -> int:
        """A refresh may be bounded by the cap of its own turn; nothing else may."""
        if fact.observation.kind is ObsKind.READ:
            return max(fact.most_budget, budget)
        return fact.entry_budget

    def _set(self, here: str, text: str | None) -> None:
        self.world.put(here, text)
        self._log(here, text)

    def _log(self, here: str, text: str | None) -> None:
        self.versions.setdefault(here, []).append((len(self.facts), text))

    def _ask(self, event: Ask, index: int) -> Frame:
        for fact in self.facts:
            fact.entry_budget = fact.entry_budget or event.budget
            fact.most_budget = self._most_budget(fact, event.budget)
        step = self.step + 1
        looks = self.world.looks
        looks.clear()
        first = self.assembler.assemble(step=step, budget_tokens=event.budget, notes=event.notes)
        seen = tuple(looks)
        looks.clear()
        second: Assembled | None = None
        if event.twice:
            second = self.assembler.assemble(
                step=step, budget_tokens=event.budget, notes=event.notes
            )
        self.shown = first.text
        if self.resuming:
            self._resume((second or first).manifest)
        return Frame(
            index,
            step,
            event,
            tuple(replace(fact) for fact in self.facts),
            dict(self.world.files),
            frozenset(self.world.folders),
            dict(self.gate.effects),
            {path: tuple(log) for path, log in self.versions.items()},
            first,
            seen,
            second,
            tuple(looks),
            not self.world.unsettled,
        )
