"""`write_file` and `edit_file`."""

from __future__ import annotations

import asyncio
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from io_harness.tools.base import Draft, ToolContext, ToolError, WritePlan
from io_harness.tools.builtin import builtin, path_need
from io_harness.tools.nearest import nearest_lines
from io_harness.tools.outcome import ToolOutcome
from io_harness.types import Act, Effect, ObsKind
from io_harness.workspace import UTF_8, Encoding, WholeText, counted, digest_of, shown

if TYPE_CHECKING:
    from io_harness.workspace import Workspace

_DIFF_MAX_LINES = 4_000
_PLACES_SHOWN = 10
_COUNTED = 1_000  # places, those that overlap too


@builtin(Act.WRITE, effectful=True)
def write_file(
    here: ToolContext,
    path: Annotated[str, "relative to the workspace root"],
    content: Annotated[str, "all of the file"],
) -> WritePlan:
    """Write a whole file, making it and its directories where they are missing."""
    need = path_need(here, Act.WRITE, path)
    canonical = need.names[0]

    def draft() -> Draft:
        readable = here.policy.check(Act.READ, *need.names).effect is not Effect.DENY
        old = _current(here.workspace, canonical) if readable else None
        encoding = UTF_8 if old is None else old.encoding
        text = content.removeprefix("\ufeff") if encoding.mark else content
        return _Write(here.workspace, canonical, old, text, encoding).draft()

    return WritePlan((need,), draft)


@builtin(Act.READ, Act.WRITE, effectful=True)
def edit_file(
    here: ToolContext,
    path: Annotated[str, "relative to the workspace root"],
    old: Annotated[str, "text to replace, exactly as it is in the file"],
    new: Annotated[str, "text to put in its place"],
    count: Annotated[int, "how often `old` may be there; each is replaced"] = 1,
) -> WritePlan:
    """Replace text in a file. Fails, and writes nothing, where `old` is not there or too often."""
    needs = path_need(here, Act.READ, path), path_need(here, Act.WRITE, path)
    canonical = needs[0].names[0]

    def draft() -> Draft:
        whole = here.workspace.whole(canonical, exact=True)
        _check_edit(canonical, whole.text, old, count)
        text = whole.text.replace(old, new)
        return _Write(here.workspace, canonical, whole, text, whole.encoding).draft()

    return WritePlan(needs, draft)


def _check_edit(path: str, text: str, old: str, count: int) -> None:
    """Raise ToolError where the edit is not plainly what was meant."""
    if not old:
        raise ToolError("`old` is empty; give the text to replace, or use write_file")
    if count < 1:
        raise ToolError(f"`count` is {count}; it is 1 or more")
    starts = _starts(text, old, max(count, _COUNTED))
    found = max(text.count(old), len(starts))
    if found > count:
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts[:_PLACES_SHOWN])
        more = ", …" if len(starts) > _PLACES_SHOWN else ""
        raise ToolError(
            f"`old` is {found} times in {shown(path)}, more than {count}: at lines {lines}{more}. "
            f"Give more of the text around the one you mean, or count={found}; nothing was written"
        )
    if found == 0:
        raise ToolError(
            f"`old` is not in {shown(path)}; nothing was written. {nearest_lines(text, old)}"
        )


def _starts(text: str, old: str, most: int) -> list[int]:
    """Where a text is found, places that overlap too; at most one more than `most`."""
    starts, place = list[int](), text.find(old)
    while place >= 0 and len(starts) <= most:
        starts.append(place)
        place = text.find(old, place + 1)
    return starts


def _current(workspace: Workspace, path: str) -> WholeText | None:
    """The text that is there; None for no file, or one that is no text to show."""
    try:
        return workspace.whole(path, exact=True)
    except (FileNotFoundError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class _Write:
    """A write of a whole file in the place of what was there."""

    workspace: Workspace
    path: str
    old: WholeText | None
    text: str
    encoding: Encoding

    def draft(self) -> Draft:
        """All that can be said of the write before it happens."""
        digest = digest_of(self._data())
        base: str | None
        if self.old is not None:
            base, status = self.old.digest, "changed" if self.old.digest != digest else "unchanged"
        elif self.workspace.exists(self.path):
            base, status = None, "changed"  # what cannot be read as text cannot be compared
        else:
            base, status = "", "created"

        async def perform() -> ToolOutcome:
            return self._outcome(await asyncio.to_thread(self._apply, base), digest)

        return Draft(self.path, digest, self._diff, self._outcome(status, digest), perform)

    def _data(self) -> bytes:
        try:
            return self.encoding.encode(self.text)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"the text has a lone surrogate at character {error.start}, which no file can "
                "hold; nothing was written"
            ) from None

    def _apply(self, base: str | None) -> str:
        return self.workspace.write(
            self.path, self.text, encoding=self.encoding, exact=True, base=base
        ).status

    def _outcome(self, status: str, digest: str) -> ToolOutcome:
        size = len(self._data())
        lines = self.text.count("\n") + bool(self.text and not self.text.endswith("\n"))
        told = {
            "created": f"created {shown(self.path)}",
            "changed": f"changed {shown(self.path)}",
            "unchanged": f"{shown(self.path)} has this content already; nothing was written",
        }[status]
        return ToolOutcome(
            ObsKind.WRITE,
            self.path,
            f"{told}: {counted(lines, 'line')}, {counted(size, 'byte')}",
            total_lines=lines,
            digest=digest,
            changed=status != "unchanged",
        )

    def _diff(self) -> str:
        """The difference as a person reads it, for whoever is asked."""
        old = _lines(self.old.text) if self.old else []
        new, path = _lines(self.text), shown(self.path)
        before = path if self.old else "/dev/null"
        unseen = self.old is None and self.workspace.exists(self.path)
        if unseen:
            before = f"{path} (it is there, and no text that can be compared)"
        if len(old) + len(new) > _DIFF_MAX_LINES:
            if unseen:
                return f"{before}: {len(new):,} lines take its place"
            return f"{path}: {len(old):,} lines become {len(new):,}"
        diff = difflib.unified_diff(old, new, before, path, lineterm="")
        return "\n".join(diff) or f"{path}: only the end of the last line changes"


def _lines(text: str) -> list[str]:
    """Lines without their ends."""
    return text.removesuffix("\n").split("\n") if text else []
