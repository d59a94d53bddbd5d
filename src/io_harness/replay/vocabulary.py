"""What a named tool call means: the tool names of all formats in one table.

A chat-form list may hold any agent's tools, so the table is shared by the importers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from io_harness.replay.commands import command_meaning, relocated
from io_harness.replay.patches import patch_changes
from io_harness.replay.paths import canonical, resolve
from io_harness.replay.records import Append, Change, Gone, Meaning, Splice, Swap, Unknown, Whole
from io_harness.types import JSON, ObsKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_READ = frozenset(
    {"read", "read_file", "read_files", "readfile", "view", "view_file", "view_image", "cat"}
    | {"open_file", "notebookread", "fs_read", "file_read", "read_many_files"}
)
_WRITE = frozenset(
    {"write", "write_file", "edit", "edit_file", "multiedit", "notebookedit", "create_file"}
    | {"replace", "replace_in_file", "write_to_file", "editor", "search_replace", "file_write"}
    | {"insert_content", "fs_write", "edit_block", "str_replace", "create", "insert", "undo_edit"}
    | {"multi_edit", "file_edit", "overwrite_file", "save_file", "create_new_file"}
    | {"replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file"}
    | {"append_file", "append_to_file"}
)
_DELETE = frozenset({"delete_file", "remove_file", "delete", "rm"})
_PATCH = frozenset({"apply_patch", "applypatch", "apply_diff", "patch"})
_GREP = frozenset(
    {"grep", "search_codebase", "search_files", "grep_search", "search_file_content", "ripgrep"}
    | {"search_dir", "search_file", "codebase_search", "search"}
)
_FIND = frozenset(
    {"glob", "ls", "find", "list_files", "list_dir", "find_file", "list_directory"}
    | {"file_search", "glob_file_search"}
)
_SHELL = frozenset(
    {"bash", "execute_bash", "exec_command", "shell", "run_commands", "run_command", "local_shell"}
    | {"run_terminal_cmd", "execute_command", "run_shell_command", "terminal", "run", "cmd"}
    | {"shell_command", "exec", "run_in_terminal", "execute_shell", "bash_tool"}
)
_EDITOR = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "text_editor"})

_PATH = (
    *("file_path", "path", "filepath", "file", "filename", "notebook_path", "target_file"),
    *("filePath", "absolute_path"),
)
_OLD = ("old_string", "oldString", "oldText", "old_str", "old_text", "old", "search")
_NEW = (
    "new_string",
    "newString",
    "newText",
    "new_str",
    "new_text",
    "new",
    "replace",
    "replacement",
)
_FIRST = ("start_line", "offset", "line_start", "start", "startLine", "start_line_one_indexed")
_LAST = ("end_line", "line_end", "end", "endLine", "end_line_one_indexed_inclusive")
_CONTENT = ("content", "file_text", "contents", "text", "code_content")
_COMMAND = ("command", "cmd", "commands", "script", "input")


def call_meaning(name: str, args: Mapping[str, JSON], cwd: str, here: str = "") -> Meaning:
    """What the call does; a tool that is in no table is a tool.

    Paths are relative to `cwd` where they lie inside; `here` is where a shell is by now.
    """
    word = name.rpartition("__")[2].rpartition(".")[2].lower().replace("-", "_")
    if name.startswith("mcp__"):
        return Meaning(ObsKind.TOOL)
    if word in _EDITOR:
        command = _text(args, ("command",))
        word = command if command in {"view", "create", "insert", "undo_edit"} else "edit"
    if word in _SHELL:
        return shell_meaning(args, cwd, here or cwd)
    if word in _READ:
        return _read(args, cwd)
    if word in _PATCH:
        meaning = patch_meaning(_text(args, ("input", "patch", "diff", "content")), cwd)
        return meaning if meaning.targets else _write(word, args, cwd)
    if word in _WRITE or word in _DELETE:
        return _write(word, args, cwd)
    if word in _GREP:
        return _grep(args, cwd)
    if word in _FIND:
        return _find(args, cwd)
    return Meaning(ObsKind.TOOL)


def _text(args: Mapping[str, JSON], names: tuple[str, ...]) -> str:
    """The first of these arguments that is text; a list of texts is joined by lines."""
    for name in names:
        value = args.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return "\n".join(str(v) for v in value)
    return ""


def _number(args: Mapping[str, JSON], names: tuple[str, ...]) -> int | None:
    found = (_whole(args.get(name)) for name in names)
    return next((number for number in found if number is not None), None)


def _whole(value: JSON) -> int | None:
    """A whole number from 0 up, written as one or as text; `None` for anything else."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        return int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int) and 0 <= value < 10**9 else None


def shell_meaning(args: Mapping[str, JSON], cwd: str, here: str) -> Meaning:
    """By the command; `["bash", "-lc", script]` is the script."""
    asked = _text(args, ("workdir", "cwd", "working_directory"))
    directory = resolve(asked, here) if asked else here
    command = next((args[name] for name in _COMMAND if args.get(name)), None)
    if isinstance(command, list) and len(command) == 3 and str(command[1]).endswith("c"):
        script = str(command[2])
    elif isinstance(command, list) and all(isinstance(c, str) for c in command):
        if command[:1] == ["apply_patch"] and len(command) > 1:
            return patch_meaning(str(command[1]), cwd)
        script = " ".join(str(c) for c in command)
    else:
        script = _text(args, _COMMAND)
    return command_meaning(script, directory, cwd or directory)


def _read(args: Mapping[str, JSON], cwd: str) -> Meaning:
    files = args.get("files") or args.get("paths") or args.get("file_paths")
    if isinstance(files, list) and files:
        return _read_many(files, cwd)
    path = canonical(_text(args, _PATH), cwd)
    return Meaning(ObsKind.READ, path or None, lines=_range(args), targets=(path,) if path else ())


def _read_many(files: list[JSON], cwd: str) -> Meaning:
    each = [f if isinstance(f, dict) else {"path": f} for f in files]
    paths = tuple(canonical(_text(f, _PATH), cwd) for f in each)
    one = len(paths) == 1
    lines = _range(each[0]) if one else None
    return Meaning(ObsKind.READ, paths[0], lines=lines, targets=paths, exact=one)


def _range(args: Mapping[str, JSON]) -> tuple[int, int] | None:
    pair = args.get("view_range")
    if isinstance(pair, str):
        pair = [int(number) for number in re.findall(r"-?\d{1,9}", pair)]
    if isinstance(pair, list) and len(pair) == 2:
        low, high = _whole(pair[0]), _whole(pair[1])
        return None if low is None else (max(low, 1), high or 0)
    first = _number(args, _FIRST)
    last = _number(args, _LAST)
    limit = _number(args, ("limit", "line_count", "num_lines"))
    if first is None and last is None and limit is None:
        return None
    start = max(first or 1, 1)
    if last is not None:
        return start, last
    return start, start + limit - 1 if limit else 0


def patch_meaning(patch: str, cwd: str) -> Meaning:
    """A patch writes every file it names."""

    def at(path: str) -> str:
        return canonical(path, cwd)

    changes = tuple(relocated(c, at) for c in patch_changes(patch))
    targets = tuple(dict.fromkeys(c.path for c in changes))
    return Meaning(ObsKind.WRITE, targets[0] if targets else None, targets=targets, changes=changes)


def _write(word: str, args: Mapping[str, JSON], cwd: str) -> Meaning:
    path = canonical(_text(args, _PATH), cwd)
    if not path:
        return Meaning(ObsKind.WRITE)
    changes: tuple[Change, ...] = ()
    if word in _DELETE:
        changes = (Gone(path),)
    elif word.startswith("append"):
        changes = (Append(path, _text(args, _CONTENT)),)
    elif word not in {"undo_edit", *_PATCH}:
        changes = tuple(_edits(args, path))
    changes = changes or (Unknown(path),)
    return Meaning(ObsKind.WRITE, path, targets=(path,), changes=changes)


def _edits(args: Mapping[str, JSON], path: str) -> Iterator[Change]:
    """What the arguments of one edit say: line insertions, old and new text, or the whole."""
    line = _number(args, ("insert_line",))
    edits = args.get("edits")
    if line is not None:
        yield Splice(path, line + 1, line, _lines(_text(args, ("insert_text", *_NEW, *_CONTENT))))
    elif isinstance(edits, list) and edits:
        for edit in edits:
            if isinstance(edit, dict):
                yield from _edits(edit, path)
    elif any(isinstance(args.get(name), str) for name in _OLD):
        old, new = _text(args, _OLD), _text(args, _NEW)
        every = bool(args.get("replace_all", args.get("replaceAll", False)))
        yield Swap(path, ((old, new),), every) if old else Whole(path, new)
    elif any(isinstance(args.get(name), str) for name in (*_CONTENT, "new_text")):
        yield Whole(path, _text(args, (*_CONTENT, "new_text")))


def _lines(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def _grep(args: Mapping[str, JSON], cwd: str) -> Meaning:
    names = ("pattern", "query", "queries", "regex", "search_term", "search")
    place = canonical(_text(args, ("path", "directory", "dir_path", "file")), cwd)
    flags = {k: v for k, v in args.items() if k not in (*names, "path")}
    scope = " ".join([place, *(f"{k}={v}" for k, v in sorted(flags.items()))])
    return Meaning(ObsKind.GREP, _text(args, names), scope=scope, targets=(place,) if place else ())


def _find(args: Mapping[str, JSON], cwd: str) -> Meaning:
    place = canonical(_text(args, ("path", "directory", "target_directory", "dir_path")), cwd)
    pattern = _text(args, ("pattern", "glob", "file_name", "query")) or "*"
    return Meaning(ObsKind.FIND, pattern, scope=place or ".", targets=(place,) if place else ())
