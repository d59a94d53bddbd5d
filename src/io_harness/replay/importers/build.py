"""The one place where calls meet their results and become records."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from io_harness.replay.importers.content import result_text
from io_harness.replay.importers.values import arguments_text
from io_harness.replay.readtext import ReadText, is_listing, read_text
from io_harness.replay.records import MappingReport, Meaning, Record, Transcript
from io_harness.types import JSON, ObsKind, Usage

_HIT = re.compile(r"^([^\s:][^:\n]*):\d+[:-]", re.MULTILINE)
MAX_HIT_PATHS = 200


@dataclass(slots=True)
class _Call:
    call_id: str
    step: int
    call: int
    name: str
    args: str
    meaning: Meaning
    text: str | None = None
    is_error: bool = False
    exit_code: int = 0
    read: ReadText | None = None


@dataclass(slots=True)
class Builder:
    """Collects one run: answers open steps, calls wait for results, messages stand between.

    `ids_come_once` tells that the format never gives a second call the id of a first. `root` is
    the directory that paths are relative to, `here` where the shell is by now.
    """

    ids_come_once: bool = False
    root: str = ""
    here: str = ""
    report: MappingReport = field(default_factory=MappingReport)
    step: int = 0
    _items: list[_Call | Record] = field(default_factory=list)
    _open: dict[str, list[_Call]] = field(default_factory=dict)
    _waiting: list[_Call] = field(default_factory=list)
    _usage: dict[int, Usage] = field(default_factory=dict)
    _next: dict[int, int] = field(default_factory=dict)
    _said: dict[int, int] = field(default_factory=dict)

    def answer(self, usage: Usage | None = None) -> None:
        """The model answered: what follows belongs to a new step."""
        self.step += 1
        self.use(usage)

    def use(self, usage: Usage | None) -> None:
        """What the provider reported for this step; a later report replaces an earlier one."""
        if usage is not None and (usage.input or usage.output):
            self._usage[self.step] = usage

    def said(self, text: str) -> None:
        """Text of the model's answer; several texts of one answer are one message."""
        if not text.strip():
            return
        at = self._said.get(self.step)
        if at is None:
            self._said[self.step] = len(self._items)
            self._items.append(_message(self.step, -1, text))
            return
        before = self._items[at]
        assert isinstance(before, Record)
        self._items[at] = replace(before, text=before.text + "\n" + text)

    def told(self, text: str) -> None:
        """Text that others put into the context: the user, the client."""
        if text.strip():
            self._items.append(_message(self.step, self._place(), text))

    def text(self, content: JSON) -> str:
        """The text of a message or a result; images, which have none here, are counted."""
        text, images = result_text(content)
        self.report.notes.update({"image": images} if images else {})
        return text

    def call(self, call_id: str, name: str, args: JSON, meaning: Meaning) -> str:
        """A tool call of this step's answer; its id, a new one where it has none.

        One that stands there a second time is counted and not taken twice.
        """
        call_id = call_id or f"#{len(self._items)}"
        made = _Call(call_id, self.step, self._place(), name, arguments_text(args), meaning)
        if any(self.ids_come_once or _same(made, one) for one in self._open.get(call_id, ())):
            self.report.notes["duplicate call"] += 1
            return call_id
        self._items.append(made)
        self._waiting.append(made)
        self._open.setdefault(call_id, []).append(made)
        return call_id

    def result(
        self,
        call_id: str,
        text: str,
        *,
        is_error: bool = False,
        exit_code: int = 0,
        read: ReadText | None = None,
    ) -> None:
        """The result of a call; one whose call is unknown stands as a message, counted."""
        calls = self._open.get(call_id, [])
        made = next((call for call in calls if call.text is None), None)
        if made is not None:
            made.text, made.is_error, made.read = text, is_error, read
            made.exit_code = exit_code
            self._waiting.remove(made)
        elif not calls:
            self.report.notes["result without call"] += 1
            self.told(text)
        else:
            self.report.notes["duplicate result"] += 1
            if all(call.text != text for call in calls):
                self.told(text)

    def knows(self, call_id: str) -> bool:
        """Whether there was a call of this id."""
        return call_id in self._open

    def waiting(self) -> str | None:
        """The id of the call that a result without an id belongs to: this step's first."""
        mine = (call for call in self._waiting if call.step == self.step)
        made = next(mine, self._waiting[-1] if self._waiting else None)
        return None if made is None else made.call_id

    def adopt(self, call_id: str, meaning: Meaning) -> None:
        """Give a call another meaning than its name had: what it turned out to continue."""
        for made in self._open.get(call_id, ())[-1:]:
            made.meaning = meaning

    def unknown(self, what: str) -> None:
        """Count a part that may have been in the context and is not understood."""
        self.report.unknown[what] += 1

    def transcript(self, path: str, form: str) -> Transcript:
        """The run so far; calls without a result are counted and kept, as errors."""
        records = sorted(
            (self._record(item) for item in self._items), key=lambda r: (r.step, r.call)
        )
        seen: set[int] = set()
        with_usage: list[Record] = []
        for record in records:
            usage = None if record.step in seen else self._usage.get(record.step)
            seen.add(record.step)
            with_usage.append(replace(record, usage=usage) if usage else record)
        return Transcript(path, form, tuple(with_usage), self.step, self.report)

    def _place(self) -> int:
        place = self._next.get(self.step, 0)
        self._next[self.step] = place + 1
        return place

    def _record(self, item: _Call | Record) -> Record:
        if isinstance(item, Record):
            return item
        if item.text is None:
            self.report.notes["call without result"] += 1
        text, is_error = item.text or "", item.text is None or _failed(item)
        meaning = _seen_to_be(item.meaning, text)
        lines, total, exact = meaning.lines, None, False
        if meaning.kind is ObsKind.READ and not is_error:
            found = item.read or read_text(text, meaning.lines)
            exact = found.exact and meaning.exact and meaning.target is not None
            exact = exact and found.lines is not None and 1 <= found.lines[0] <= found.lines[1] + 1
            if exact:
                text, lines, total = found.text, found.lines, found.total
        paths = _hits(meaning, text) if meaning.kind is ObsKind.GREP else ()
        return Record(
            item.step,
            item.call,
            meaning.kind,
            meaning.target,
            lines,
            meaning.scope,
            item.args,
            text,
            is_error,
            None,
            tool=item.name,
            total_lines=total,
            exact=exact,
            targets=meaning.targets,
            paths=paths,
            changes=() if is_error else meaning.changes,
        )


def _same(one: _Call, other: _Call) -> bool:
    """Whether two calls of one id are one: said in one answer, in the same words."""
    return (one.step, one.name, one.args) == (other.step, other.name, other.args)


def _seen_to_be(meaning: Meaning, text: str) -> Meaning:
    """What a call was by its result: a look at a directory is asked for like a read."""
    if meaning.kind is not ObsKind.READ or not meaning.target or not is_listing(text):
        return meaning
    return Meaning(ObsKind.FIND, "*", scope=meaning.target, targets=(meaning.target,))


def _hits(meaning: Meaning, text: str) -> tuple[str, ...]:
    """The files a search hit, as far as its lines name them."""
    found = tuple(dict.fromkeys(_HIT.findall(text)))[:MAX_HIT_PATHS]
    single = meaning.targets if len(meaning.targets) == 1 else ()
    return found or single


def _failed(item: _Call) -> bool:
    """Whether a call failed. A test run or a search with an exit code did its work."""
    fails_by_code = item.meaning.exact and item.meaning.kind in {ObsKind.READ, ObsKind.WRITE}
    return item.is_error or (item.exit_code != 0 and fails_by_code)


def _message(step: int, call: int, text: str) -> Record:
    return Record(step, call, ObsKind.MESSAGE, None, None, None, "", text, False, None)
