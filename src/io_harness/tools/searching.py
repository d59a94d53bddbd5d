"""`find` and `grep`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from io_harness.tools.base import Plan, ToolContext
from io_harness.tools.builtin import blocking, builtin, path_need, reading_gate
from io_harness.tools.outcome import ToolOutcome
from io_harness.types import Act, ObsKind
from io_harness.workspace import counted, shown

if TYPE_CHECKING:
    from io_harness.workspace import GrepResult, Hit


@builtin(Act.READ)
def find(
    here: ToolContext,
    pattern: Annotated[str, "glob such as *.py, src/**/test_*.py or *.{js,ts}"],
    path: Annotated[str, "directory to look beneath; . is the root"] = ".",
) -> Plan:
    """Find files by name. What .gitignore names is left out."""
    need = path_need(here, Act.READ, path)

    def work() -> ToolOutcome:
        place = need.names[0]
        found = here.workspace.find(pattern, place, gate=reading_gate(here, need), exact=True)
        count = counted(len(found.paths), "file")
        lines = [_head(count, found.left_out), *map(shown, found.paths)]
        return ToolOutcome(ObsKind.FIND, pattern, "\n".join(lines), scope=place)

    return blocking((need,), work)


@builtin(Act.READ)
def grep(  # noqa: PLR0917 - the model passes each by its name
    here: ToolContext,
    pattern: Annotated[str, "regular expression (RE2: no lookaround, no back-references)"],
    path: Annotated[str, "directory or file to search; . is the root"] = ".",
    glob: Annotated[str | None, "only files whose name or path matches, such as *.py"] = None,
    ignore_case: bool = False,
    context: Annotated[int, "lines to show before and after each match"] = 0,
) -> Plan:
    """Search files for lines that match a pattern. What .gitignore names is left out."""
    need = path_need(here, Act.READ, path)

    def work() -> ToolOutcome:
        place = need.names[0]
        result = here.workspace.grep(
            pattern,
            place,
            glob=glob,
            ignore_case=ignore_case,
            context=context,
            gate=reading_gate(here, need),
            exact=True,
        )
        scope = [_told(place), *([f"glob {_told(glob)}"] if glob else [])]
        scope += ["ignoring case"] if ignore_case else []
        scope += [f"context {context}"] if context else []
        return ToolOutcome(
            ObsKind.GREP, pattern, _text(result), scope=", ".join(scope), paths=result.paths
        )

    return blocking((need,), work)


def _told(text: str) -> str:
    """A part of a scope such that no other parts, joined by commas, read the same."""
    return json.dumps(text) if "," in text or text.startswith('"') else text


def _head(count: str, left_out: str) -> str:
    """The first line: what is seldom read to the end tells first what is missing."""
    return f"{count}; {left_out}" if left_out else count


def _text(result: GrepResult) -> str:
    files = f" in {counted(len(result.paths), 'file')}" if len(result.paths) > 1 else ""
    lines = [_head(f"{counted(result.matches, 'matching line')}{files}", result.left_out)]
    previous: Hit | None = None
    gaps = any(not hit.matched for hit in result.hits)
    for hit in result.hits:
        if gaps and previous and (previous.path, previous.line + 1) != (hit.path, hit.line):
            lines.append("--")
        mark = ":" if hit.matched else "-"
        lines.append(f"{shown(hit.path)}{mark}{hit.line}{mark}{hit.text}")
        previous = hit
    return "\n".join(lines)
