"""The report on a terminal: what was read of each file, and the policies beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from io_harness.replay.figures import Figures, Seen
from io_harness.replay.legend import legend
from io_harness.replay.report import BASELINE
from io_harness.replay.source import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from io_harness.replay.report import ReplayReport, RunReport

COLUMNS = ("billed", "of all", "sent", "cached", "breaks", "largest", "strict", "quoted", "echo")


_LEAST_NEEDED = ("breaks", "cached", "largest", "quoted", "strict", "echo", "sent", "geo")
"""The columns that a narrow terminal does without, in the order in which it does."""


def render(report: ReplayReport, *, width: int, broken: bool = False) -> RenderableType:
    """Tables for `rich` to print: one a run, then the total where there are several; a legend.

    They have the columns that fit so many cells: no figure is cut. Lines between the tables are
    `broken` between words, or left whole.
    """
    parts: list[RenderableType] = []
    for run in report.runs:
        lines = [_headline(run), *_notes(run)]
        if broken:
            lines = [_broken(line, width) for line in lines]
        parts.extend([Text(), Text(lines[0], style="bold"), *map(Text, lines[1:])])
        parts.append(_table(run.policies, run.limit, width))
    if len(report.runs) > 1:
        parts.append(Text(_total_headline(report), style="bold"))
        names = report.runs[0].policies
        geo = {name: report.geo_mean(name) for name in names}
        parts.append(_table({name: report.total(name) for name in names}, report.limit, width, geo))
    words = Table.grid(padding=(0, 2, 0, 0))
    for word, meaning in legend(report.terms):
        words.add_row(Text(word), Text(meaning), style="dim")
    return Group(*parts, Text(), words)


def _headline(run: RunReport) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(run.records.items()))
    return f"{printable(run.file)}: {run.format}, {run.steps} requests; {kinds}"


def _broken(line: str, width: int) -> str:
    """A line broken between words; a word that is wider, such as a path, stays whole."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    wrapped = wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapped)


def _notes(run: RunReport) -> Iterator[str]:
    for word, counts in (("not understood", run.unknown), ("met", run.notes)):
        if counts:
            told = ", ".join(f"{printable(what)} {n}" for what, n in sorted(counts.items()))
            yield f"  {word}: {told}"
    if run.reported:
        ratio = run.reported / run.estimated if run.estimated else 0
        yield (
            f"  prompt tokens reported {run.reported:,}, estimated {run.estimated:,.0f} "
            f"(fixed part assumed): {ratio:.2f} times the estimate"
        )


def _total_headline(report: ReplayReport) -> str:
    counted, every = len(report.counted), len(report.runs)
    left_out = f" (of {every}: the others have fewer than {report.min_steps} requests)"
    return f"\nTotal of {counted} runs{left_out if counted < every else ''}"


def _table(
    policies: Mapping[str, Figures],
    limit: float,
    width: int,
    geo: Mapping[str, float] | None = None,
) -> Table:
    # One blank between columns: eleven of them fit the usual 80.
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 1), header_style="dim")
    base = policies[BASELINE]
    head = ["policy", *COLUMNS, *(["geo"] if geo else [])]
    rows = [
        [name, *_row(figures, base), *([f"{geo[name]:.3f}"] if geo else [])]
        for name, figures in policies.items()
    ]
    share = limit / base.billed if base.billed else 0
    rows.append(["limit", thousands(limit), f"{share:.3f}", *[""] * (len(head) - 3)])
    shown = _fitting(head, rows, width)
    for place in shown:
        table.add_column(head[place], justify="right" if place else "left", no_wrap=True)
    for row in rows:
        cells = (Text(row[place]) for place in shown)
        table.add_row(*cells, style="dim" if row is rows[-1] else None)
    return table


def _fitting(head: list[str], rows: list[list[str]], width: int) -> list[int]:
    """The places of the columns that fit, a blank between them."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    shown = list(range(len(head)))
    for name in _LEAST_NEEDED:
        if sum(widths[place] + 1 for place in shown) - 1 > width and name in head:
            shown.remove(head.index(name))
    return shown


def _row(figures: Figures, base: Figures) -> list[str]:
    of_all = figures.billed / base.billed if base.billed else 1.0
    cached = figures.stable / figures.sent if figures.sent else 0.0
    return [
        thousands(figures.billed),
        f"{of_all:.3f}",
        thousands(figures.sent),
        f"{cached:.0%}",
        f"{figures.breaks:,}",
        thousands(figures.largest_request),
        relative(figures.strict, base.strict),
        relative(figures.quoted, base.quoted),
        relative(figures.echo, base.echo),
    ]


def thousands(tokens: float) -> str:
    """Tokens in thousands or millions, so that a table fits a narrow terminal."""
    return f"{tokens / 1000:.1f}k" if tokens < 999_950 else f"{tokens / 1_000_000:.2f}M"


def relative(seen: Seen, base: Seen) -> str:
    """What was visible as a share of what `everything` showed; a dash where that is nothing."""
    return f"{seen.seen / base.seen:.3f}" if base.seen else "-"
