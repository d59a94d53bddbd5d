r"""The lines a section may hold besides content, read by this test's own hand.

Also content matched against what it was made from: one backslash more at a line's start is an
escape, a lone surrogate is `\u{d83d}`, and nothing else may differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
QUOTED = r'"(?:[^"\\]|\\.)*"'
TARGET = rf"(?:{QUOTED}|[^\s\",:\[\]]+)"
DETAIL = rf"(?:lines \d+-\d+|no lines from \d+ on)(?: of \d+)?|scope {TARGET}"
WHY = "(?:re-read|written since: |superseded by |invalidated by |[\\d,]+ characters, older than )"
HEAD = re.compile(
    rf"\[step (\d+)(?: call (-?\d+))?, (mcp tool|[a-z]+)(?: ({TARGET}))?"
    rf"(?:, ({DETAIL}))?(?:: ({WHY}[^{BREAKS}]*))?\]"
)
MARKER = re.compile(r"\[elided: ([\d,]+) of ([\d,]+) characters truncated(?:; (.*))?\]")
SHORT_MARKER = "[elided: truncated]"
SEAM = "[elided: cut here]"
HUNK = re.compile(rf"\[changed {TARGET}, [^{BREAKS}]*\]")
COLLAPSED = re.compile(r"\[collapsed: ([\d,]+) earlier observations\]")
NOTES = re.compile(r"\[notes: [^\n]*?(?:; (\d+) more left out)?\]")
NOTE = re.compile(rf"- ({QUOTED}): ({QUOTED}) \(step (\d+)(?: after {QUOTED})?\)")
LINES = re.compile(r"lines (\d+)-(\d+)(?: of (\d+))?")
NO_LINES = re.compile(r"no lines from (\d+) on(?: of (\d+))?")
PLACE = re.compile(r"step (\d+)(?: call (-?\d+))?")
SUPERSEDED = re.compile(r"superseded by (.*?)(?: and (\d+) more)?")
INVALIDATED = re.compile(r"invalidated by (.*?) and could not be refreshed because (.+)")
OLDER = re.compile(
    r"([\d,]+) characters, older than the current context window; show\(step=(\d+), call=(-?\d+)\)"
)
SHOWN_LINES = re.compile(r"lines (\d+)-(\d+)(?: of [\d,]+)? shown, go on from line (\d+)")
SHOW = re.compile(r"show\(step=(\d+), call=(-?\d+), start=(\d+)\)")
WORDS = {
    "read": "read",
    "grep": "grep",
    "find": "find",
    "write": "wrote",
    "skill": "skill",
    "tool": "tool",
    "mcp": "mcp tool",
    "child": "child",
    "message": "note",
    "error": "error",
}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}


@dataclass(frozen=True, slots=True)
class Head:
    """A header or a stub, taken apart."""

    step: int
    call: int | None
    word: str
    target: str | None
    detail: str
    why: str


def head_of(line: str) -> Head | None:
    """A line as a header or stub; none where it is content."""
    found = HEAD.fullmatch(line)
    if found is None or found[3] not in WORDS.values():
        return None
    call = int(found[2]) if found[2] else None
    return Head(int(found[1]), call, found[3], found[4], found[5] or "", found[6] or "")


def is_ours(line: str) -> bool:
    """Whether a line would be taken for one that the harness wrote, wherever it stands."""
    return bool(
        head_of(line)
        or line in {SHORT_MARKER, SEAM}
        or any(form.fullmatch(line) for form in (MARKER, COLLAPSED, NOTES, HUNK))
    )


def number(text: str) -> int:
    """A grouped number."""
    return int(text.replace(",", ""))


def places(text: str) -> list[tuple[int, int | None]]:
    """All the steps and calls that a reason names."""
    return [(int(step), int(call) if call else None) for step, call in PLACE.findall(text)]


def visible_lines(text: str) -> list[str]:
    """What anything may take for a line of its own."""
    return re.split(f"[{BREAKS}]", text)


def clean(text: str) -> str:
    """Surrogate pairs as the character they are, lone surrogates spelled out."""
    joined = _PAIR.sub(
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
    )
    return _LONE.sub(lambda lone: f"\\u{{{ord(lone[0]):x}}}", joined)


def consumed(original: str, shown: str) -> int | None:
    """How much of a (clean) text was used up by what is shown; none where they differ.

    All of `shown` must be explained, and it may only have a backslash too many at line starts.
    """
    at = 0
    for part in re.split(f"(?<=[{BREAKS}])", shown):
        here = part
        if not original.startswith(here, at):
            here = part.removeprefix("\\")
            line = here.rstrip(BREAKS).lstrip("\\")
            forged = is_ours(line) or NOTE.fullmatch(line)
            if here == part or not forged or not original.startswith(here, at):
                return None
        at += len(here)
    return at


def same(original: str, shown: str) -> bool:
    """Whether the whole of a text is shown, but for escapes."""
    text = clean(original)
    return consumed(text, shown) == len(text)


def unquote(token: str) -> str:
    """A quoted key, value or target as it was."""
    return re.sub(
        r"\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(.))",
        lambda found: (
            _SIMPLE.get(found[4], found[4])
            if found[4]
            else chr(int(found[1] or found[2] or found[3], 16))
        ),
        token[1:-1],
    )
