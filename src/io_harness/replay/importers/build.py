"""The one place where calls meet their results and become records."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import orjson

from io_harness.replay.readtext import ReadText, read_text
from io_harness.replay.records import MappingReport, Meaning, Record, Transcript
from io_harness.types import JSON, ObsKind, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIT = re.compile(r"^([^\s:][^:\n]*):\d+[:-]", re.MULTILINE)
MAX_HIT_PATHS = 200


@dataclass(slots=True)
class _Call:
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
    """Collects one run: answers open steps, calls wait for results, messages stand between."""

    report: MappingReport = field(default_factory=MappingReport)
    step: int = 0
    _items: list[_Call | Record] = field(default_factory=list)
    _open: dict[str, _Call] = field(default_factory=dict)
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

    def call(self, call_id: str, name: str, args: JSON, meaning: Meaning) -> None:
        """A tool call of this step's answer; an id met before is counted and not taken twice."""
        if call_id and call_id in self._open:
            self.report.notes["duplicate call"] += 1
            return
        made = _Call(self.step, self._place(), name, arguments_text(args), meaning)
        self._items.append(made)
        self._open[call_id or f"#{len(self._items)}"] = made

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
        made = self._open.get(call_id)
        if made is None:
            self.report.notes["result without call"] += 1
            self.told(text)
        elif made.text is not None:
            self.report.notes["duplicate result"] += 1
        else:
            made.text, made.is_error, made.read = text, is_error, read
            made.exit_code = exit_code

    def last_call_id(self) -> str | None:
        """The id of the newest call that still waits for its result."""
        for call_id, made in reversed(self._open.items()):
            if made.text is None:
                return call_id
        return None

    def adopt(self, call_id: str, meaning: Meaning) -> None:
        """Give a call another meaning than its name had: what it turned out to continue."""
        if call_id in self._open:
            self._open[call_id].meaning = meaning

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
        meaning = item.meaning
        text, is_error = item.text or "", item.text is None or _failed(item)
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


def arguments_text(args: JSON) -> str:
    """A call's arguments as the JSON text that is sent."""
    if isinstance(args, str):
        return args
    if args is None:
        return ""
    try:
        return orjson.dumps(args).decode("utf-8", "replace")
    except (TypeError, ValueError):
        return str(args)


def usage_of(
    value: JSON, *, prompt: tuple[str, ...], read: str, write: str, output: str
) -> Usage | None:
    """Token counts from an object; the prompt is the sum of the fields named, `None` without."""
    if not isinstance(value, dict):
        return None
    parts = [n for n in (_count(value.get(name)) for name in prompt) if n is not None]
    if not parts:
        return None
    return Usage(
        sum(parts), _count(value.get(output)), _count(value.get(read)), _count(value.get(write))
    )


def _count(value: JSON) -> int | None:
    ok = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) if ok and isinstance(value, int) else None


def as_dict(value: JSON) -> Mapping[str, JSON]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: JSON) -> str:
    """The text, or the empty one."""
    return value if isinstance(value, str) else ""


def parsed(text: JSON) -> Mapping[str, JSON]:
    """The object a JSON text holds; `{}` where it is none."""
    if isinstance(text, dict):
        return text
    try:
        return as_dict(orjson.loads(as_text(text)))
    except orjson.JSONDecodeError:
        return {}
