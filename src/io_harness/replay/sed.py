"""In-place sed scripts on text, for the commands that recordings are full of.

Substitutions, deletions, insertions, appends and changes at line numbers, ranges and patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

_ADDRESS = re.compile(r"\s*(?:(\d+|\$)|/((?:[^/\\\n]|\\.)*)/)")
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
    pattern: re.Pattern[str] | None = None

    def hits(self, line: _Line) -> bool:
        """Whether the address names this line."""
        if self.pattern is not None:
            return bool(self.pattern.search(line.text))
        return line.last if self.end else line.number == self.number


@dataclass(frozen=True, slots=True)
class _Command:
    addresses: tuple[_Address, ...]
    verb: str
    text: str = ""
    pattern: re.Pattern[str] | None = None
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
    out: list[str] = []
    for number, raw in enumerate(lines, 1):
        end = "\n" if raw.endswith("\n") else ""
        line = _Line(number, number == len(lines), raw[: len(raw) - len(end)])
        out.extend(_apply(commands, inside, line, end))
    return "".join(out)


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
            text = command.pattern.sub(command.text, text, count=command.count)
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
        ends_here = last.number is not None and last.number <= line.number
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
    if not commands:
        raise NotComputable("an empty script")
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
    return (
        _Command(
            addresses,
            "s",
            _replacement(found[2]),
            _regex(pattern, extended, flags),
            count,
        ),
        at + found.end(),
    )


_BASIC = re.compile(r"\\([(){}|+?])|([(){}|+?])")


def _regex(pattern: str, extended: bool, flags: str) -> re.Pattern[str]:
    """A POSIX pattern as one of ours; brackets' inside is left alone."""
    parts = re.split(r"(\[\^?\]?[^\]]*\])", pattern)
    if not extended:
        parts = [p if i % 2 else _BASIC.sub(_swap_escape, p) for i, p in enumerate(parts)]
    if any("[:" in p for p in parts):
        raise NotComputable("a character class")
    try:
        return re.compile(
            "".join(_bracket(p) if i % 2 else p for i, p in enumerate(parts)),
            re.IGNORECASE if "I" in flags else 0,
        )
    except (re.error, OverflowError):
        raise NotComputable("a pattern that cannot be read") from None


def _bracket(part: str) -> str:
    """Inside brackets POSIX has no escapes."""
    if part.startswith(("[]", "[^]")):
        return part
    return "[" + part[1:-1].replace("\\", "\\\\") + "]"


def _swap_escape(found: re.Match[str]) -> str:
    return found[1] if found[1] is not None else "\\" + found[2]


def _replacement(text: str) -> str:
    """The replacement in our spelling, for the match, its groups and line ends."""
    out: list[str] = []
    for found in re.finditer(r"\\([\s\S])|(&)|([^\\&]+)", text):
        escaped, whole, plain = found[1], found[2], found[3]
        if whole:
            out.append("\\g<0>")
        elif plain is not None:
            out.append(plain)
        elif escaped.isdigit():
            out.append(f"\\g<{escaped}>")
        elif escaped in {"n", "t"}:
            out.append("\\" + escaped)
        else:
            out.append("\\\\" if escaped == "\\" else escaped)
    return "".join(out)
