"""A model's patterns, matched in linear time by RE2: the only module that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import re2  # type: ignore[import-untyped] # the wheel has no types; they are given here

from io_harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

PATTERN_MAX_CHARS = 1_000


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...
    def group(self, number: int) -> bytes | None: ...


class _Regexp(Protocol):
    groups: int

    def sub(self, repl: Callable[[_Match], bytes], text: bytes, count: int) -> bytes: ...
    def search(self, text: bytes, pos: int) -> _Match | None: ...
    def fullmatch(self, text: bytes) -> _Match | None: ...


class PatternError(HarnessError, ValueError):
    """A pattern that cannot be used; the message names the construct."""


class LinePattern:
    """A pattern that is sought line by line in UTF-8 text; `^` and `$` are a line's ends."""

    __slots__ = ("_literal", "_regexp")

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        _check(pattern)
        if "\n" in pattern:
            raise PatternError("the pattern has a line end; a match lies within one line")
        options = _options(ignore_case=ignore_case)
        options.never_capture = options.never_nl = True
        self._regexp = _made(f"(?m:{pattern})", pattern, options)
        plain = not ignore_case and pattern.replace("_", "").replace(" ", "").isalnum()
        self._literal = pattern.encode() if plain else None

    def search(self, data: bytes, start: int) -> tuple[int, int] | None:
        """The first match at or after a place, or None."""
        if self._literal is not None:
            found = data.find(self._literal, start)
            return None if found < 0 else (found, found + len(self._literal))
        match = self._regexp.search(data, start)
        return None if match is None else match.span()


class PosixPattern:
    """A pattern as sed has it: of all matches in one line the leftmost, of those the longest."""

    __slots__ = ("_regexp", "groups")

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        options = _options(ignore_case=ignore_case)
        options.longest_match = True
        self._regexp = _made(pattern, pattern, options)
        self.groups = self._regexp.groups

    def matches(self, line: str) -> bool:
        """Whether the line has a match."""
        return self._regexp.search(line.encode(errors="surrogatepass"), 0) is not None

    def sub(self, new: Callable[[Callable[[int], str]], str], line: str, count: int) -> str:
        """The line with its first `count` matches replaced, all for 0; `new` gets the groups."""
        reached = -1

        def replaced(match: _Match) -> bytes:
            nonlocal reached
            start, end = match.span()
            # No empty match inside a character, nor, as sed has it, where another match ended.
            if start == end and (start == reached or b"\x80" <= data[start : start + 1] < b"\xc0"):
                return b""
            reached = end

            def group(number: int) -> str:
                return (match.group(number) or b"").decode(errors="surrogatepass")

            return new(group).encode(errors="surrogatepass")

        data = line.encode(errors="surrogatepass")
        return self._regexp.sub(replaced, data, count).decode(errors="surrogatepass")


class PathPattern:
    """A glob: without `/` it is tried on the base name, with one on the whole path.

    `*` and `?` stop at `/`, `**` does not; `[…]` is a set, `{a,b}` a choice.
    """

    __slots__ = ("_by_base_name", "_regexp", "_suffix")

    def __init__(self, glob: str) -> None:
        _check(glob)
        text = glob.removeprefix("./").strip("/")
        self._by_base_name = "/" not in text
        self._suffix = text[1:] if text[:1] == "*" and _is_plain(text[1:]) else None
        options = _options(ignore_case=False)
        options.never_capture = True
        self._regexp = _made(f"(?s:{_translated(text)})", glob, options)

    def matches(self, path: str) -> bool:
        """Whether a path, relative to where the search begins, is meant."""
        if self._by_base_name:
            if self._suffix is not None:
                return path.endswith(self._suffix)
            path = path.rpartition("/")[2]
        return self._regexp.fullmatch(path.encode(errors="replace")) is not None


def _check(pattern: str) -> None:
    """Raise PatternError for what is no text, empty or too long."""
    if not isinstance(pattern, str):
        raise PatternError(f"a pattern is text, not {pattern!r:.80}")
    if not pattern:
        raise PatternError("the pattern is empty; everything would match")
    if len(pattern) > PATTERN_MAX_CHARS:
        raise PatternError(
            f"the pattern has {len(pattern):,} characters; at most {PATTERN_MAX_CHARS:,} will do"
        )


class _Options(Protocol):
    log_errors: bool
    never_capture: bool
    never_nl: bool
    longest_match: bool
    case_sensitive: bool


def _options(*, ignore_case: bool) -> _Options:
    options = cast("_Options", re2.Options())
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return options


def _made(expression: str, pattern: str, options: _Options) -> _Regexp:
    try:
        return cast("_Regexp", re2.compile(expression.encode(), options))
    except UnicodeEncodeError:
        raise PatternError("the pattern has a lone surrogate, which no text holds") from None
    except re2.error as error:
        reason = error.args[0]
        told = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        told = told.replace(expression, pattern)
        raise PatternError(
            f"the pattern cannot be used: {told[:200]}. This is RE2 syntax: no lookaround, no "
            "back-references, no possessive quantifiers; escape ( [ { . * + ? to mean themselves"
        ) from None


def _is_plain(text: str) -> bool:
    return not set(text) & set("*?[]{}\\")


_TOKENS = {"?": "[^/]", "{": "(?:", "}": ")", ",": "|"}


def _translated(glob: str) -> str:
    """The glob as an expression; brackets that do not close mean themselves."""
    out: list[str] = []
    braces = glob.count("{") if glob.count("{") == glob.count("}") else 0
    depth, place = 0, 0
    while place < len(glob):
        char, rest = glob[place], glob[place:]
        step = 1
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            step = 3
        elif rest.startswith("**"):
            out.append(".*")
            step = 2
        elif char == "*":
            out.append("[^/]*")
        elif char == "[" and "]" in rest[2:]:
            step = rest.index("]", 2) + 1
            out.append(_set(rest[1 : step - 1]))
        elif char == "?" or (braces and (char in "{}" or (char == "," and depth))):
            depth += (char == "{") - (char == "}")
            out.append(_TOKENS[char])
        else:
            out.append(_literal(char))
        place += step
    return "".join(out)


def _set(inside: str) -> str:
    negated = inside[0] in "!^"
    chars = inside[1:] if negated else inside
    escaped = chars.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"[{'^/' if negated else ''}{escaped.replace('^', chr(92) + '^')}]"


def _literal(char: str) -> str:
    return f"\\{char}" if char.isascii() and not char.isalnum() and char.isprintable() else char
