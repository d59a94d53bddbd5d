"""`read_file` and `list_dir`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from io_harness.context.ledger import MAX_NUMBER
from io_harness.tools.base import Plan, ToolContext
from io_harness.tools.builtin import blocking, builtin, path_need, reading_gate
from io_harness.tools.outcome import ToolOutcome
from io_harness.types import Act, ObsKind
from io_harness.workspace import counted, shown

if TYPE_CHECKING:
    from io_harness.types import ReadResult
    from io_harness.workspace import Entry


@builtin(Act.READ)
def read_file(
    here: ToolContext,
    path: Annotated[str, "relative to the workspace root"],
    offset: Annotated[int, "first line, counted from 1"] = 1,
    limit: Annotated[int | None, "number of lines; all that follow if left out"] = None,
) -> Plan:
    """Read a text file, or lines of it. The text is given exactly as it is in the file."""
    need = path_need(here, Act.READ, path)
    offset = min(offset, MAX_NUMBER)  # no file has as many lines

    def work() -> ToolOutcome:
        canonical = need.names[0]
        got = here.workspace.read(canonical, offset=offset, limit=limit, exact=True)
        return ToolOutcome(
            ObsKind.READ,
            canonical,
            got.text,
            lines=_asked(got, offset, limit),
            total_lines=got.total_lines,
            digest=got.digest,
            note=got.note,
        )

    return blocking((need,), work)


def _asked(got: ReadResult, offset: int, limit: int | None) -> tuple[int, int]:
    """The lines asked for where the file has fewer, so that its end shows; else those shown."""
    ended = got.total_lines is not None and got.lines[1] >= got.total_lines
    past = got.lines[1] < got.lines[0]
    if limit is not None and got.lines[0] == offset and (ended or past):
        return offset, min(offset + limit - 1, MAX_NUMBER)
    return got.lines


@builtin(Act.READ)
def list_dir(
    here: ToolContext,
    path: Annotated[str, "relative to the workspace root; . is the root"] = ".",
) -> Plan:
    """List what a directory holds: names, a slash after directories, sizes in bytes of files."""
    need = path_need(here, Act.READ, path)

    def work() -> ToolOutcome:
        canonical = need.names[0]
        listing = here.workspace.list(canonical, gate=reading_gate(here, need), exact=True)
        head = counted(len(listing.entries), "entry", "entries")
        lines = [f"{head}; {listing.left_out}" if listing.left_out else head]
        lines += map(_line, listing.entries)
        return ToolOutcome(
            ObsKind.TOOL,
            f"list_dir {shown(canonical)}",
            "\n".join(lines),
            key=f"list_dir:{canonical}",
        )

    return blocking((need,), work)


def _line(entry: Entry) -> str:
    if entry.kind == "directory":
        return f"{shown(entry.name)}/"
    if entry.kind == "file":
        return shown(entry.name) if entry.size is None else f"{shown(entry.name)}  {entry.size:,}"
    return f"{shown(entry.name)}  ({'link' if entry.kind == 'link' else 'no regular file'})"
