"""Codex rollouts: `response_item` lines are what the model saw, `event_msg` a second log."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.values import as_dict, as_list, as_text, parsed, usage_of
from io_harness.replay.records import Meaning
from io_harness.replay.vocabulary import call_meaning, patch_meaning
from io_harness.types import JSON, ObsKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source

FORMAT = "codex_rollout"
_HEADER = re.compile(
    r"\A(?:Chunk ID: .*\n|Wall time: .*\n|Process (?:exited|running) .*\n|Exit code: .*\n"
    r"|Original token count: .*\n|Total output lines: .*\n)+Output:\n?"
)
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})\b", re.MULTILINE)
_SESSION = re.compile(r"^Process running with session ID (\d+)", re.MULTILINE)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_SKIPPED = frozenset({"reasoning", "ghost_snapshot"})


def claims(source: Source) -> bool:
    """Lines of a type and a payload; early rollouts have the items without the envelope."""
    return any(_is_rollout_line(line) for line in _lines(source))


def _lines(source: Source) -> list[Mapping[str, JSON]]:
    """The lines of a rollout, or the items of a list in the style of OpenAI's Responses."""
    if not source.whole:
        return [as_dict(value) for value in source.values]
    top = source.values[0]
    names = ("input", "items", "messages")
    lists = (as_list(as_dict(top).get(name)) for name in names)
    return [as_dict(item) for item in as_list(top) or next(filter(None, lists), [])]


def _is_rollout_line(line: Mapping[str, JSON]) -> bool:
    kind = as_text(line.get("type"))
    wrapped = kind in {"session_meta", "response_item"} and isinstance(line.get("payload"), dict)
    return wrapped or (kind in _CALLS and "call_id" in line)


def build(source: Source) -> Transcript:
    """The rollout as records; polls of a running command stand for its result."""
    run = _Rollout()
    for line in _lines(source):
        kind = as_text(line.get("type"))
        payload = as_dict(line.get("payload"))
        if kind == "response_item":
            run.item(payload)
        elif kind in {"session_meta", "turn_context"}:
            run.cwd = run.cwd or as_text(payload.get("cwd"))
        elif kind == "event_msg":
            run.event(payload)
        elif kind == "compacted":
            run.compacted(payload)
        elif "payload" not in line and (_is_item(kind) or "role" in line):
            run.item(line)
        elif kind in _SKIPPED or "record_type" in line or ("id" in line and not kind):
            run.builder.report.notes["line without text"] += 1
        else:
            run.builder.unknown(f"line of type {kind or 'none'}")
    return run.builder.transcript(source.path, "chat" if source.whole else FORMAT)


def _is_item(kind: str) -> bool:
    return kind in {"message", "reasoning"} or kind.endswith(("_call", "_output"))


class _Rollout:
    """The builder, and which command each running session belongs to."""

    def __init__(self) -> None:
        self.builder = Builder(ids_come_once=True)
        self.cwd = ""
        self._answering = False
        self._sessions: dict[str, Meaning] = {}
        self._meanings: dict[str, Meaning] = {}
        self._totals: set[JSON] = set()
        self._counted = {0}

    def item(self, item: Mapping[str, JSON]) -> None:
        """One thing the model saw or said."""
        kind = as_text(item.get("type"))
        if kind == "message" or (not kind and "role" in item):
            self._message(item)
        elif kind.endswith("_output"):
            self._output(item)
        elif kind == "web_search_call":
            self._answer()
            self.builder.call("", kind, item.get("action"), Meaning(ObsKind.TOOL))
            self.builder.report.notes["web search, whose result is not recorded"] += 1
        elif kind.endswith("_call"):
            self._call(item, kind)
        elif kind == "reasoning":
            self._answer()
            self.builder.report.notes["reasoning without text"] += 1
        elif kind in _SKIPPED:
            self.builder.report.notes[f"{kind} item"] += 1
        else:
            self.builder.unknown(f"item of type {kind or 'none'}")

    def compacted(self, payload: Mapping[str, JSON]) -> None:
        """The client summed up what was before; what it replaced the history by came before."""
        self._answering = False
        self.builder.report.notes["compaction"] += 1
        self.builder.told(as_text(payload.get("message")))

    def event(self, event: Mapping[str, JSON]) -> None:
        """The screen's log: only its token counts are used; they close an answer."""
        if event.get("type") != "token_count":
            return
        info = as_dict(event.get("info"))
        total = str(info.get("total_token_usage"))
        if not info or total in self._totals:
            self.builder.report.notes["token count said twice or empty"] += 1
            return
        self._totals.add(total)
        if self.builder.step in self._counted:
            self.builder.report.notes["token count of no answer"] += 1
            return
        self._counted.add(self.builder.step)
        self.builder.use(
            usage_of(
                info.get("last_token_usage"),
                prompt=("input_tokens",),
                read="cached_input_tokens",
                write="cache_write_input_tokens",
                output="output_tokens",
            )
        )
        self._answering = False

    def _answer(self) -> None:
        if not self._answering:
            self.builder.answer()
            self._answering = True

    def _message(self, item: Mapping[str, JSON]) -> None:
        text = self.builder.text(item.get("content"))
        if item.get("role") == "assistant":
            self._answer()
            self.builder.said(text)
        else:
            self._answering = False
            self.builder.told(text)

    def _call(self, item: Mapping[str, JSON], kind: str) -> None:
        name = as_text(item.get("name")) or kind.removesuffix("_call")
        raw = item.get("arguments", item.get("input", item.get("action")))
        args = parsed(raw)
        call_id = as_text(item.get("call_id")) or as_text(item.get("id"))
        if not self.builder.knows(call_id):
            self._answer()
        if name == "apply_patch" and isinstance(raw, str) and not args:
            meaning = patch_meaning(raw, self.cwd)
        elif name == "write_stdin" and not args.get("chars"):
            meaning = self._sessions.get(str(args.get("session_id")), Meaning(ObsKind.TOOL))
        else:
            meaning = call_meaning(name, args, self.cwd)
        self._meanings[call_id] = meaning
        self.builder.call(call_id, name, raw, meaning)

    def _output(self, item: Mapping[str, JSON]) -> None:
        self._answering = False
        call_id = as_text(item.get("call_id"))
        text, code = _result(self.builder, item)
        session = _SESSION.search(text[:400])
        body = _HEADER.sub("", text, count=1)
        if session and call_id in self._meanings:
            meaning = self._meanings[call_id]
            piece = replace(meaning, exact=False)
            self._sessions[session[1]] = piece if body.strip() else meaning
            self.builder.adopt(call_id, piece if body.strip() else Meaning(ObsKind.TOOL))
        self.builder.result(call_id, body, exit_code=code)


def _result(builder: Builder, item: Mapping[str, JSON]) -> tuple[str, int]:
    """The text and the exit code; older rollouts hold both as JSON in the text."""
    text = builder.text(item.get("output", item.get("tools", item.get("result"))))
    nested = parsed(text) if text[:1] == "{" else {}
    metadata = nested.get("metadata")
    if isinstance(nested.get("output"), str) and isinstance(metadata, dict):
        code = metadata.get("exit_code")
        return as_text(nested.get("output")), code if isinstance(code, int) else 0
    found = _EXIT.search(text[:400])
    return text, int(found[1]) if found else 0
