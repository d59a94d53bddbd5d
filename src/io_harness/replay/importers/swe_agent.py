"""SWE-agent trajectories: one entry a step, one call a step, the state after each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from io_harness.replay import shell
from io_harness.replay.commands import command_meaning
from io_harness.replay.importers.build import Builder
from io_harness.replay.importers.values import as_dict, as_list, as_text, parsed
from io_harness.replay.paths import canonical
from io_harness.replay.readtext import read_text
from io_harness.replay.records import Meaning, Splice, Unknown, Whole
from io_harness.replay.vocabulary import call_meaning
from io_harness.types import JSON, ObsKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.records import Transcript
    from io_harness.replay.source import Source

FORMAT = "swe_agent"
_EDIT = re.compile(r"\Aedit (\d{1,9}):(\d{1,9})\n(.*)\Z", re.DOTALL)
_REFUSED = (
    "Your proposed edit has introduced new syntax error",
    "Your edit was not applied",
    "No replacement was performed",
    "ERROR:",
)
_NUMBER = re.compile(r"-?\d{1,9}")
_VIEWS = frozenset({"open", "goto", "scroll_up", "scroll_down"})
_WRITES = frozenset({"edit", "insert", "create"})
_WINDOW_FILE = re.compile(r"\A\[File: (.+) \(\d+ lines total\)\]")


def claims(source: Source) -> bool:
    """One object with a `trajectory` of actions and observations."""
    top = as_dict(source.values[0])
    entries = as_list(top.get("trajectory"))
    return any("action" in as_dict(e) and "observation" in as_dict(e) for e in entries)


def build(source: Source) -> Transcript:
    """The trajectory as records; the task is the first user message of the history."""
    top = as_dict(source.values[0])
    builder = Builder()
    entries = [as_dict(entry) for entry in as_list(top.get("trajectory"))]
    for told in (top.get("history"), *(entry.get("query") for entry in entries[:1])):
        if _task(builder, as_list(told)):
            break
    file, cwd, root = "", "", ""
    for entry in entries:
        state = _state(entry)
        root = root or as_text(state.get("working_dir"))
        cwd = cwd or root
        _entry(builder, entry, _Open(file, cwd, root))
        file = as_text(state.get("open_file")) or file
        cwd = as_text(state.get("working_dir")) or cwd
    return builder.transcript(source.path, FORMAT)


class _Open:
    """The file and the directory a step starts with."""

    def __init__(self, file: str, cwd: str, root: str) -> None:
        self.file = "" if file == "n/a" else canonical(file, root)
        self.cwd = cwd
        self.root = root


def _task(builder: Builder, history: list[JSON]) -> bool:
    """Whether a list of messages told the task."""
    for message in map(as_dict, history):
        if message.get("role") == "user" and not message.get("is_demo"):
            builder.told(builder.text(message.get("content")))
            return True
    return False


def _state(entry: Mapping[str, JSON]) -> Mapping[str, JSON]:
    return parsed(entry.get("state"))


def _entry(builder: Builder, entry: Mapping[str, JSON], opened: _Open) -> None:
    builder.answer()
    builder.said(as_text(entry.get("thought")) or builder.text(entry.get("response")))
    action = as_text(entry.get("action")).strip()
    observation = builder.text(entry.get("observation"))
    if not action:
        builder.told(observation)
        return
    name = action.split(None, 1)[0]
    meaning = _meaning(name, action, observation, opened)
    call_id = builder.call("", name, {"command": action}, meaning)
    refused = meaning.kind is ObsKind.WRITE and any(mark in observation for mark in _REFUSED)
    read = read_text(observation, None) if name in _VIEWS else None
    builder.result(call_id, observation, is_error=refused, read=read)


def _meaning(name: str, action: str, observation: str, opened: _Open) -> Meaning:
    words = _words(action)
    if name in _VIEWS:
        window = _WINDOW_FILE.match(observation)
        told = window[1] if window else (words[1] if name == "open" and words[1:] else opened.file)
        path = canonical(told, opened.root)
        return Meaning(ObsKind.READ, path, targets=(path,))
    if name in {"search_dir", "search_file"}:
        scope = " ".join(words[2:]) or (opened.file if name == "search_file" else opened.cwd)
        return Meaning(ObsKind.GREP, words[1] if words[1:] else "", scope=f"{name} {scope}")
    if name == "find_file":
        return Meaning(ObsKind.FIND, words[1] if words[1:] else "", scope=" ".join(words[2:]))
    if name in _WRITES:
        return _write(name, action, words, opened)
    if name == "str_replace_editor":
        return call_meaning(name, _flags(words), opened.root)
    if name in {"submit", "exit_cost", "exit_context", "exit_forfeit"}:
        return Meaning(ObsKind.TOOL)
    return command_meaning(action, opened.cwd, opened.root)


def _words(action: str) -> tuple[str, ...]:
    parts = shell.parse(action)
    return parts[0].commands[0].words if parts and parts[0].commands[0].words else ("",)


def _flags(words: tuple[str, ...]) -> Mapping[str, JSON]:
    """`str_replace_editor view PATH --view_range 1 20 --old_str '…'` as named arguments."""
    args: dict[str, JSON] = dict(zip(("command", "path"), words[1:3], strict=False))
    name, values = "", list[str]()
    for word in (*words[3:], "--"):
        if not word.startswith("--"):
            values.append(word)
            continue
        if name == "view_range":
            args[name] = [int(v) for v in values if _NUMBER.fullmatch(v)]
        elif name:
            args[name] = " ".join(values)
        name, values = word[2:], []
    return args


def _write(name: str, action: str, words: tuple[str, ...], opened: _Open) -> Meaning:
    path = canonical(words[1], opened.root) if name == "create" and words[1:] else opened.file
    if not path:
        return Meaning(ObsKind.WRITE)
    edit = _EDIT.match(action)
    if name == "create":
        change: Whole | Splice | Unknown = Whole(path, "\n")
    elif edit:
        change = Splice(path, int(edit[1]), int(edit[2]), _edited(edit[3]))
    else:
        change = Unknown(path)
    return Meaning(ObsKind.WRITE, path, targets=(path,), changes=(change,))


def _edited(text: str) -> str:
    return text.rstrip().removesuffix("\nend_of_edit") + "\n"
