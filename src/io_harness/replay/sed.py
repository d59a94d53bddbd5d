"""In-place sed scripts on text, for the commands that recordings are full of.

Substitutions, deletions, insertions, appends and changes at line numbers, ranges and patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from io_harness.workspace.pattern import PatternError, PosixPattern

MAX_COMMANDS = 1_000
MAX_CHARS = 16_000_000
MAX_LINES = 200_000
MAX_MATCHES = 100_000
MAX_PATTERN_CHARS = 2_000
_ADDRESS = re.compile(r"\s*(?:(\d{1,9}|\$)|/((?:[^/\\\n]|\\.)*)/)")
_DELIMITED = r"((?:[^{0}\\\n]|\\[\s\S])*)"


class NotComputable(ValueError):
    """The script asks for more than these rules know."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    last: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Address:
    number: int | None = None
    end: bool = False
    pattern: PosixPattern | None = None

    def hits(self, line: _Line) -> bool:
        """Whether the address names this line."""
        if self.pattern is not None:
            return self.pattern.matches(line.text)
        return line.last if self.end else line.number == self.number


@dataclass(frozen=True, slots=True)
class _Command:
    addresses: tuple[_Address, ...]
    verb: str
    text: str = ""
    new: tuple[str | int, ...] = ()
    pattern: PosixPattern | None = None
    count: int = 1


def sed(
    text: str,
    script: str,
    *,
    extended: bool,
    to_end: bool = True,
    read: Callable[[str], str | None] = lambda _: None,
) -> str:
    """The text after the script; `to_end` tells that the file ends where the text does.

    `read` gives the text of a file that the script names. `NotComputable`: nothing is known of
    the result.
    """
    commands = [_with_file(command, read) for command in _parse(script, extended)]
    if not to_end and any(a.end for command in commands for a in command.addresses):
        raise NotComputable("the last line of a text whose end is not known")
    lines = text.splitlines(keepends=True) if "\r" not in text else text.split("\n")
    if "\r" in text:
        lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    inside = [False] * len(commands)
    if len(lines) > MAX_LINES:
        raise NotComputable(f"a text of {len(lines):,} lines")
    out: list[str] = []
    chars = 0
    for number, raw in enumerate(lines, 1):
        end = "\n" if raw.endswith("\n") else ""
        line = _Line(number, number == len(lines), raw[: len(raw) - len(end)])
        made = _apply(commands, inside, line, end)
        chars += sum(map(len, made))
        _check_size(chars)
        out.extend(made)
    return "".join(out)


def _check_size(chars: int) -> None:
    if chars > MAX_CHARS:
        raise NotComputable(f"a result of more than {MAX_CHARS:,} characters")


def _with_file(command: _Command, read: Callable[[str], str | None]) -> _Command:
    """`r FILE` as the appending of the file's text."""
    if command.verb != "r":
        return command
    text = read(command.text)
    if text is None:
        raise NotComputable(f"the text of {command.text}")
    return replace(command, verb="a", text=text.removesuffix("\n"))


def _apply(commands: list[_Command], inside: list[bool], line: _Line, end: str) -> list[str]:
    before: list[str] = []
    after: list[str] = []
    text: str | None = line.text
    for index, command in enumerate(commands):
        selected = _selected(command, inside, index, _Line(line.number, line.last, text or ""))
        if text is None or not selected:
            continue
        if command.verb == "s" and command.pattern is not None:
            text = _substituted(command.pattern, command.new, text, command.count)
        elif command.verb == "d":
            text = None
        elif command.verb == "i":
            before.append(command.text + "\n")
        elif command.verb == "a":
            after.append(command.text + "\n")
        elif command.verb == "c":
            if not inside[index]:  # of a range only its end gives the text
                after.append(command.text + "\n")
            text = None
    middle = [] if text is None else [text + (end or ("\n" if after else ""))]
    return [*before, *middle, *after]


def _substituted(pattern: PosixPattern, new: tuple[str | int, ...], line: str, count: int) -> str:
    chars = matches = 0

    def replaced(group: Callable[[int], str]) -> str:
        nonlocal chars, matches
        text = "".join(group(part) if isinstance(part, int) else part for part in new)
        chars, matches = chars + len(text), matches + 1
        _check_size(chars)
        if matches > MAX_MATCHES:
            raise NotComputable(f"more than {MAX_MATCHES:,} matches in one line")
        return text

    return pattern.sub(replaced, line, count)


def _selected(command: _Command, inside: list[bool], index: int, line: _Line) -> bool:
    addresses = command.addresses
    if not addresses:
        return True
    if len(addresses) == 1:
        return addresses[0].hits(line)
    first, last = addresses
    if inside[index]:
        inside[index] = not last.hits(line)
        return True
    if first.hits(line):
        ends_here = last.end and line.last
        ends_here = ends_here or (last.number is not None and last.number <= line.number)
        inside[index] = not ends_here
        return True
    return False


def _parse(script: str, extended: bool) -> list[_Command]:
    commands: list[_Command] = []
    at = 0
    while at < len(script):
        if script[at] in " \t\n;":
            at += 1
            continue
        command, at = _one(script, at, extended)
        commands.append(command)
    if not 0 < len(commands) <= MAX_COMMANDS:
        raise NotComputable(f"a script of {len(commands)} commands")
    return commands


def _one(script: str, at: int, extended: bool) -> tuple[_Command, int]:
    addresses: list[_Address] = []
    while len(addresses) < 2:
        found = _ADDRESS.match(script, at)
        if not found:
            break
        addresses.append(_address(found, extended))
        at = found.end()
        if script[at : at + 1] != ",":
            break
        at += 1
    while script[at : at + 1] == " ":
        at += 1
    verb = script[at : at + 1]
    if verb == "s":
        return _substitution(script, at + 1, tuple(addresses), extended)
    if verb == "d":
        return _Command(tuple(addresses), "d"), at + 1
    if verb in {"i", "a", "c"} and (verb == "c" or len(addresses) < 2):
        text, at = _inserted(script, at + 1)
        return _Command(tuple(addresses), verb, text), at
    if verb == "r" and len(addresses) < 2:
        name, _, _ = script[at + 1 :].partition("\n")
        return _Command(tuple(addresses), "r", name.strip()), at + 1 + len(name)
    raise NotComputable(f"the command {verb!r}")


def _address(found: re.Match[str], extended: bool) -> _Address:
    if found[1] == "$":
        return _Address(end=True)
    if found[1] is not None:
        return _Address(number=int(found[1]))
    return _Address(pattern=_regex(found[2], extended, ""))


def _inserted(script: str, at: int) -> tuple[str, int]:
    """One-line text of i, a and c; a backslash before a line end continues it."""
    rest = re.match(r"[ \t]*\\?\n?((?:[^\n\\]|\\[\s\S])*)", script[at:])
    if rest is None:
        raise NotComputable("text of an insertion")
    text = re.sub(r"\\([\s\S])", lambda m: {"t": "\t", "n": "\n"}.get(m[1], m[1]), rest[1])
    return text, at + rest.end()


def _substitution(
    script: str, at: int, addresses: tuple[_Address, ...], extended: bool
) -> tuple[_Command, int]:
    mark = re.escape(script[at : at + 1])
    part = _DELIMITED.format(mark)
    found = re.match(rf"{mark}{part}{mark}{part}{mark}([gI0-9]*)", script[at:])
    if not mark or not found:
        raise NotComputable("an unreadable substitution")
    flags = found[3]
    if re.search(r"[0-9]", flags):
        raise NotComputable("a numbered substitution")
    delimiter = script[at]
    pattern = found[1]
    if delimiter not in "|(){}+?":
        pattern = pattern.replace("\\" + delimiter, delimiter)
    count = 0 if "g" in flags else 1
    regex = _regex(pattern, extended, flags)
    new = _replacement(found[2])
    if any(isinstance(part, int) and part > regex.groups for part in new):
        raise NotComputable("a group that the pattern does not have")
    return _Command(addresses, "s", new=new, pattern=regex, count=count), at + found.end()


_EDGE = re.compile(r"(?<!\\)\\[<>]")
_BASIC = re.compile(r"\\([(){}|+?])|([(){}|+?])")


def _regex(pattern: str, extended: bool, flags: str) -> PosixPattern:
    """A POSIX pattern as RE2 reads it; brackets' inside is left alone."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise NotComputable(f"a pattern of {len(pattern):,} characters")
    parts = re.split(r"(\[\^?\]?[^\]]*\])", pattern)
    if not extended:
        parts = [p if i % 2 else _BASIC.sub(_swap_escape, p) for i, p in enumerate(parts)]
    if any("[:" in p or (_EDGE.search(p) and not i % 2) for i, p in enumerate(parts)):
        raise NotComputable("a character class or a word's edge")
    try:
        return PosixPattern(
            "".join(_bracket(p) if i % 2 else p for i, p in enumerate(parts)),
            ignore_case="I" in flags,
        )
    except PatternError:
        raise NotComputable("a pattern that cannot be read") from None


def _bracket(part: str) -> str:
    """Inside brackets POSIX has no escapes."""
    if part.startswith(("[]", "[^]")):
        return part
    return "[" + part[1:-1].replace("\\", "\\\\") + "]"


def _swap_escape(found: re.Match[str]) -> str:
    return found[1] if found[1] is not None else "\\" + found[2]


def _replacement(text: str) -> tuple[str | int, ...]:
    """The replacement as texts and the numbers of groups, 0 for the whole match."""
    out: list[str | int] = []
    for found in re.finditer(r"\\([\s\S])|(&)|([^\\&]+)", text):
        escaped, whole, plain = found[1], found[2], found[3]
        if whole:
            out.append(0)
        elif plain is not None:
            out.append(plain)
        elif escaped.isdecimal():
            out.append(int(escaped))
        elif escaped in _CONTROL or not escaped.isalpha():
            out.append(_CONTROL.get(escaped, escaped))
        else:
            raise NotComputable(f"\\{escaped} in a replacement")
    return tuple(out)


_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}
