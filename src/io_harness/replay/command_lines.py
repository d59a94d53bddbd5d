"""Which lines of which files a printing command shows: cat, head, tail, nl, sed -n, awk NR."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from io_harness.replay.shell import Command

Lines: TypeAlias = "tuple[int, int] | None"

# "+" after a quantifier: what it took is not given back, so that blanks cost their number only.
_SED_RANGE = re.compile(r"^\s*+(\d{1,9})\s*+(?:,\s*+(\+?)(\d{1,9}|\$)\s*+)?p\s*+;?\s*+$")
_AWK_RANGE = re.compile(
    r"^\s*NR\s*(>=|>|==)\s*(\d{1,9})\s*(?:&&\s*NR\s*(<=|<)\s*(\d{1,9})\s*)?(?:\{\s*print.*)?$"
)


def narrow(lines: Lines, exact: bool, command: Command) -> tuple[Lines, bool]:
    """The lines left after one more command of the pipeline."""
    if command.words[:1] in {("nl",), ("cat",)}:
        return lines, exact
    inner, files, inner_exact = reader_lines(command.words)
    if files or not inner_exact or inner is None:
        return lines, False
    if lines is None:
        return inner, exact
    first = lines[0] + inner[0] - 1
    last = lines[0] + inner[1] - 1 if inner[1] else lines[1]
    return (first, min(last, lines[1]) if lines[1] else last), exact


def reader_lines(words: Sequence[str]) -> tuple[Lines, list[str], bool]:
    """Lines shown, files read, and whether the lines say all; a last line of 0 is the end."""
    name = words[0] if words else ""
    if name in {"head", "tail"}:
        return _head_or_tail(name, words[1:])
    operands = [w for w in words[1:] if not w.startswith("-")]
    if name == "nl":
        return None, [w for w in operands if w not in {"a", "ln", "1"}], "-ba" in words
    if name == "sed":
        script, *files = operands or [""]
        found = _SED_RANGE.match(script)
        if not found or "-n" not in words:
            return None, files, False
        first = int(found[1])
        if found[3] is None:
            return (first, first), files, True
        last = 0 if found[3] == "$" else int(found[3]) + (first if found[2] else 0)
        return (first, last), files, True
    if name == "awk":
        script, *files = operands or [""]
        ranged = _AWK_RANGE.match(script)
        return _awk(ranged), files, ranged is not None
    plain = not any(re.match(r"^-\w*[AETbensv]|^--show", w) for w in words[1:]) or name == "less"
    return None, operands, plain or "-n" in words[1:]


def _awk(found: re.Match[str] | None) -> Lines:
    if found is None:
        return None
    first = int(found[2]) + (found[1] == ">")
    if found[4] is None:
        return first, first if found[1] == "==" else 0
    return first, int(found[4]) - (found[3] == "<")


def _head_or_tail(name: str, words: Sequence[str]) -> tuple[Lines, list[str], bool]:
    count, files, skip = "10", list[str](), False
    exact = True
    for word in words:
        if skip:
            count, skip = word, False
        elif word in {"-n", "--lines", "-c", "--bytes"}:
            skip, exact = True, exact and word in {"-n", "--lines"}
        elif re.match(r"^-n?[+-]?\d+$", word):
            count = word.lstrip("-n")
        elif word.startswith("--lines="):
            count = word[8:]
        elif word.startswith("-"):
            exact = exact and word in {"-q", "-v"}
        else:
            files.append(word)
    if not re.fullmatch(r"\+?\d{1,9}", count):
        return None, files, False
    if name == "head":
        return (1, int(count)), files, exact and not count.startswith("+")
    return ((int(count), 0) if count.startswith("+") else None), files, count.startswith("+")
