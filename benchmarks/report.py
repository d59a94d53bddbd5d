"""Measures the context layer and writes what README and docs show of it.

`python -m benchmarks.report` writes docs/benchmarks.json, docs/benchmarks.md and the table of
README.md: the compiled kernel and the pure one, joining the same pieces, a deliberately linear
assembler, and, where langchain-core is installed, its `trim_messages`. `--longest N` leaves out
longer ledgers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from .context.measure import ROUNDS, Row
from .context.peers import trim_ns
from .context.rig import LinearRig, fastest_turns
from .context.shapes import LONG_SHAPE, SHAPES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
BEGIN, END = "<!-- growth: written by python -m benchmarks.report -->", "<!-- /growth -->"
LINEAR_LENGTHS = (100, 1_000, 10_000, 100_000)
TRIM_LENGTHS = (100, 1_000, 10_000)
COMMAND = "python -m benchmarks.report"


class Report(TypedDict):
    """All figures; times in nanoseconds, each the least of many."""

    command: str
    machine: str
    rounds: int
    compiled: list[Row]
    pure: list[Row]
    linear: dict[str, int]
    trim_messages: dict[str, int]
    langchain_core: str | None


def measure(longest: int, *, pure: bool) -> list[Row]:
    """The rows of one kernel, from a process of its own."""
    environment = {**os.environ, "IO_HARNESS_NO_EXTENSIONS": "1" if pure else "0"}
    if pure:
        environment.pop("IO_HARNESS_REQUIRE_EXTENSIONS", None)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.context.measure", str(longest)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    if found["compiled"] is pure:
        raise SystemExit("the compiled kernel is not built here: pip install . with a C compiler")
    rows: list[Row] = found["rows"]
    return rows


def linear(longest: int) -> dict[str, int]:
    """The negative control, which walks the ledger each turn."""
    return {
        str(length): fastest_turns([LinearRig(SHAPES[LONG_SHAPE], length)], 20)[0]
        for length in LINEAR_LENGTHS
        if length <= longest
    }


def trimmed(longest: int) -> tuple[dict[str, int], str | None]:
    """What langchain-core's way of the same takes, and its version; nothing where it is not."""
    try:
        version = metadata.version("langchain-core")
    except metadata.PackageNotFoundError:
        return {}, None
    return {str(length): trim_ns(length) for length in TRIM_LENGTHS if length <= longest}, version


def micro(nanoseconds: int | None) -> str:
    """Microseconds, for a table."""
    return "" if nanoseconds is None else f"{nanoseconds / 1_000:,.1f}"


def growth_table(report: Report) -> list[str]:
    """One assembly after one push, by the length of the run."""
    pure = {row["length"]: row for row in report["pure"] if row["shape"] == LONG_SHAPE}
    lines = [
        "| observations | compiled | pure | join of pieces | linear | trim_messages | visited |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in report["compiled"]:
        if row["shape"] != LONG_SHAPE:
            continue
        length = row["length"]
        other = pure.get(length)
        cells = (
            f"{length:,}",
            micro(row["assemble"]),
            micro(other["assemble"] if other else None),
            micro(row["join"]),
            micro(report["linear"].get(str(length))),
            micro(report["trim_messages"].get(str(length))),
            f"{row['work']:,}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def shape_table(report: Report) -> list[str]:
    """Every shape at its shortest and longest, with the compiled kernel."""
    lines = [
        "| shape | observations | push | assemble | turn | join | pieces |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for shape in dict.fromkeys(row["shape"] for row in report["compiled"]):
        rows = [row for row in report["compiled"] if row["shape"] == shape]
        for row in (rows[0], rows[-1]):
            times = (micro(row["push"]), micro(row["assemble"]), micro(row["turn"]))
            cells = (shape, f"{row['length']:,}", *times, micro(row["join"]), str(row["pieces"]))
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def page(report: Report) -> str:
    """The document of all tables."""
    peer = report["langchain_core"]
    trim = f"`trim_messages` is langchain-core {peer}'s." if peer else ""
    return "\n".join(
        [
            "# What one assembly costs",
            "",
            f"Written by `{report['command']}` from what it measured on {report['machine']};",
            f"do not edit. Microseconds, each the least of {report['rounds']}, 24,000 tokens.",
            "",
            f"One assembly after one push, shape `{LONG_SHAPE}` (three in ten ask again what was",
            f"asked before), the same tail at every length. {trim}".rstrip(),
            "",
            *growth_table(report),
            "",
            "Every shape, compiled kernel; `turn` is a push and an assembly.",
            "",
            *shape_table(report),
            "",
        ]
    )


def with_table(readme: str, report: Report) -> str:
    """The README with the growth table between its marks."""
    before, _, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"README.md has no lines {BEGIN} and {END} to write between")
    return "\n".join([before + BEGIN, *growth_table(report), end + after])


def recorded() -> Report:
    """The figures of the last measurement."""
    report: Report = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    return report


def main() -> None:
    """Measure, then write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--longest", type=int, default=1_000_000, help="observations")
    longest = parser.parse_args().longest
    trim, version = trimmed(longest)
    report = Report(
        command=COMMAND,
        machine=f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        rounds=ROUNDS,
        compiled=measure(longest, pure=False),
        pure=measure(longest, pure=True),
        linear=linear(longest),
        trim_messages=trim,
        langchain_core=version,
    )
    (DOCS / "benchmarks.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (DOCS / "benchmarks.md").write_text(page(report), encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
