"""What a shell script reads, searches or writes: the rules of corpus/FORMATS.md, section 3."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from io_harness.replay import shell
from io_harness.replay.command_lines import narrow, reader_lines
from io_harness.replay.patches import diff_files, patch_changes
from io_harness.replay.paths import canonical, resolve
from io_harness.replay.records import (
    Append,
    Change,
    Gone,
    Meaning,
    Moved,
    Restored,
    Sed,
    Unknown,
    Whole,
)
from io_harness.types import ObsKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from io_harness.replay.shell import Command, Pipeline

_SILENT = frozenset({"cd", "export", "true", "set", "source", ".", ":", "unset", "pushd", "popd"})
_PREFIXES = frozenset({"sudo", "time", "command", "nohup", "stdbuf", "env", "exec"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack"})
_LISTINGS = frozenset({"find", "ls", "fd", "fdfind", "tree"})
_READERS = frozenset({"cat", "bat", "head", "tail", "nl", "less", "more", "sed", "awk"})
_SEARCH_VALUES = frozenset(
    ["-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "--include", "--exclude", "--glob", "--type"]
)
_WRITES_FILE = re.compile(r"^--?(?:i|in-place|pi|i\S+|pi\S*)$")


def command_meaning(script: str, cwd: str, root: str) -> Meaning:
    """What a script run in `cwd` does as one call, paths relative to `root` where inside.

    Any write wins; it is a read or a search only if every part is one.
    """
    parts = [m for m in _meanings(script, cwd, root) if m is not None]
    writes = [m for m in parts if m.kind is ObsKind.WRITE]
    if writes:
        targets = _unique(t for m in writes for t in m.targets)
        changes = tuple(c for m in writes for c in m.changes)
        return Meaning(
            ObsKind.WRITE, targets[0], targets=targets, changes=changes, exact=len(parts) == 1
        )
    if not parts or any(m.kind is ObsKind.TOOL for m in parts):
        return Meaning(ObsKind.TOOL)
    kinds = {m.kind for m in parts}
    targets = _unique(t for m in parts for t in m.targets)
    if len(kinds) > 1:
        kind = next(k for k in (ObsKind.READ, ObsKind.GREP, ObsKind.FIND) if k in kinds)
        first = next(m for m in parts if m.kind is kind)
        return replace(first, lines=None, scope=script, targets=targets, exact=False)
    if len(parts) == 1:
        return parts[0]
    return replace(parts[0], lines=None, scope=script, targets=targets, exact=False)


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _meanings(script: str, cwd: str, root: str) -> Iterator[Meaning | None]:
    """One meaning for each pipeline; `None` for one that shows and changes nothing."""
    here = cwd
    for pipeline in shell.parse(script):
        first = _unprefixed(pipeline.commands[0])
        inner = _inner_script(first)
        if inner is not None and inner != script:
            yield from _meanings(inner, here, root)
        elif first.words[:1] in {("cd",), ("pushd",)} and len(first.words) > 1:
            here = resolve(first.words[1], here)
        else:
            yield _pipeline_meaning(pipeline, first, partial(_seen_from, directory=here, root=root))


def _seen_from(path: str, directory: str, root: str) -> str:
    return canonical(resolve(path, directory), root)


def _unprefixed(command: Command) -> Command:
    words = list(command.words)
    while words and (words[0] in _PREFIXES or re.match(r"^\w+=", words[0])):
        words.pop(0)
    if words[:1] == ["timeout"]:
        words = words[1:]
        while words and (words[0].startswith("-") or re.match(r"^[\d.]+[smhd]?$", words[0])):
            words.pop(0)
    if words:
        words[0] = words[0].rpartition("/")[2]
    return replace(command, words=tuple(words))


def _inner_script(command: Command) -> str | None:
    """The script of `bash -lc '…'`."""
    words = command.words
    if len(words) >= 3 and words[0] in _SHELLS and re.match(r"^-[a-z]*c$", words[1]):
        return words[2]
    return None


def _pipeline_meaning(
    pipeline: Pipeline, first: Command, at: Callable[[str], str]
) -> Meaning | None:
    changes = tuple(c for command in pipeline.commands for c in _changes(command, at))
    if changes:
        targets = _unique(t for c in changes for t in _paths_of(c))
        return Meaning(ObsKind.WRITE, targets[0], targets=targets, changes=changes)
    rest = tuple(_unprefixed(c) for c in pipeline.commands[1:])
    name = first.words[0] if first.words else ""
    if name in _SILENT or (name == "echo" and not rest):
        return None
    if name == "git":
        return _git(first.words, pipeline.source, at)
    if name in _SEARCHES:
        return _search(first.words, pipeline.source, at)
    if name in _LISTINGS:
        return _listing(first.words, pipeline.source, at)
    if name in _READERS:
        return _read(first, rest, pipeline.source, at)
    return Meaning(ObsKind.TOOL)


def _paths_of(change: Change) -> tuple[str, ...]:
    return (change.path, change.to) if isinstance(change, Moved) else (change.path,)


def _git(words: Sequence[str], source: str, at: Callable[[str], str]) -> Meaning:
    if words[1:2] == ("grep",):
        return _search(words[1:], source, at)
    if words[1:2] == ("ls-files",):
        return _listing(words[1:], source, at)
    return Meaning(ObsKind.TOOL)


def _search(words: Sequence[str], source: str, at: Callable[[str], str]) -> Meaning:
    if "--files" in words:
        return _listing([w for w in words if w != "--files"], source, at)
    patterns, places = _operands(words[1:])
    pattern = patterns[0] if patterns else (places.pop(0) if places else "")
    return Meaning(
        ObsKind.GREP, pattern, scope=source, targets=tuple(at(place) for place in places)
    )


def _operands(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The patterns given by -e, and what stands outside options."""
    patterns: list[str] = []
    places: list[str] = []
    skip = ""
    for word in words:
        if skip:
            if skip == "-e":
                patterns.append(word)
            skip = ""
        elif word in {"-e", "--regexp"}:
            skip = "-e"
        elif word in _SEARCH_VALUES:
            skip = word
        elif not word.startswith("-") or word == "-":
            places.append(word)
    return patterns, places


def _listing(words: Sequence[str], source: str, at: Callable[[str], str]) -> Meaning:
    place = next((w for w in words[1:] if not w.startswith(("-", "(", "!"))), ".")
    return Meaning(ObsKind.FIND, source, scope=at(place), targets=(at(place),))


def _read(
    first: Command, rest: Sequence[Command], source: str, at: Callable[[str], str]
) -> Meaning:
    if rest and rest[0].words[:1] and rest[0].words[0] in _SEARCHES:
        found = _search(rest[0].words, source, at)
        files = [w for w in first.words[1:] if not w.startswith("-")]
        return replace(found, targets=tuple(at(f) for f in files))
    lines, files, exact = reader_lines(first.words)
    for command in rest:
        lines, exact = narrow(lines, exact, command)
    if not files:
        return Meaning(ObsKind.TOOL)
    targets = tuple(at(f) for f in files)
    if first.dynamic or any("*" in f for f in files):
        exact = False
    exact = exact and len(targets) == 1
    scope = None if exact else source
    return Meaning(ObsKind.READ, targets[0], lines=lines, scope=scope, targets=targets, exact=exact)


def _changes(command: Command, at: Callable[[str], str]) -> Iterator[Change]:
    """What one command of a pipeline changes."""
    words = _unprefixed(command).words
    name = words[0] if words else ""
    text = _printed(name, words, command)
    for redirect in command.redirects:
        path = at(redirect.path)
        if text is None:
            yield Unknown(path)
        else:
            yield Append(path, text) if redirect.append else Whole(path, text)
    operands = [w for w in words[1:] if not w.startswith("-")]
    if name == "tee":
        yield from (Unknown(at(w)) for w in operands if not w.startswith("/dev/"))
    elif name in {"sed", "perl"}:
        yield from _in_place(words, at)
    elif name == "mv" and len(operands) == 2:
        yield Moved(at(operands[0]), at(operands[1]))
    elif name in {"cp", "mv"} and operands:
        yield Unknown(at(operands[-1]))
    elif name == "rm":
        yield from (Gone(at(w)) for w in operands)
    elif name == "git":
        yield from _git_changes(words, at)
    elif name in {"apply_patch", "applypatch", "patch"}:
        yield from _patched(command.heredoc or " ".join(words[1:]), at)


def _printed(name: str, words: Sequence[str], command: Command) -> str | None:
    """The text a command prints, where the script itself tells."""
    if name == "cat" and command.heredoc is not None and len(words) == 1:
        return command.heredoc
    if command.dynamic or name not in {"echo", "printf"}:
        return "" if name in {":", "true"} else None
    if name == "printf":
        return None if len(words) != 2 or re.search(r"[%\\]", words[1]) else words[1]
    flags = words[1:2] == ("-n",)
    if words[1:2] in {("-e",), ("-ne",), ("-en",)}:
        return None
    return " ".join(words[2 if flags else 1 :]) + ("" if flags else "\n")


def _in_place(words: Sequence[str], at: Callable[[str], str]) -> Iterator[Change]:
    if not any(_WRITES_FILE.match(w) for w in words[1:]):
        return
    scripts = [b for a, b in pairwise(words) if a in {"-e", "--expression"}]
    operands = [w for w in words[1:] if not w.startswith("-") and w not in scripts]
    if operands[:1] == [""]:
        operands.pop(0)  # BSD's sed: the suffix of a backup file, here none
    if not scripts and operands:
        scripts = [operands.pop(0)]
    extended = any(w in {"-E", "-r", "--regexp-extended", "-Ei", "-ri"} for w in words)
    for path in operands:
        if words[0] == "sed":
            yield Sed(at(path), "\n".join(scripts), extended)
        else:
            yield Unknown(at(path))


def _git_changes(words: Sequence[str], at: Callable[[str], str]) -> Iterator[Change]:
    if words[1:2] not in {("checkout",), ("restore",)}:
        return
    after = list(words[2:])
    operands = after[after.index("--") + 1 :] if "--" in after else after
    if any(w in {"-b", "-B", "--orphan"} for w in after):
        return
    for word in operands:
        looks_like_path = "--" in after or words[1] == "restore" or "." in word or "/" in word
        if not word.startswith("-") and looks_like_path:
            yield Restored(at(word))


def _patched(patch: str, at: Callable[[str], str]) -> Iterator[Change]:
    for change in patch_changes(patch) or tuple(Unknown(p) for p in diff_files(patch)):
        yield relocated(change, at)


def relocated(change: Change, at: Callable[[str], str]) -> Change:
    """The same change with its paths put through `at`."""
    if isinstance(change, Moved):
        return Moved(at(change.path), at(change.to))
    return replace(change, path=at(change.path))
