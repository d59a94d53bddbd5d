"""Write the figures of docs/replay.md: `python -m benchmarks.replay.figures`.

Reads the runs below IO_HARNESS_CORPUS, writes docs/replay.json and docs/replay.svg, and puts
the tables into docs/replay.md between their markers. Takes a few minutes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.peers import PEERS
from benchmarks.replay.compare import Baseline, Ratios
from benchmarks.replay.corpus import recorded_runs
from benchmarks.replay.curve import curve_svg, tuning_curve
from io_harness.context import CachePrice
from io_harness.replay import Terms, Transcript
from io_harness.replay.assembled import AssemblerPolicy

DOCS = Path(__file__).parents[2] / "docs"
PRICES = ((0.1, 1.25), (0.25, 1.0), (0.5, 1.0), (0.1, 2.0))
CEILINGS = (8_000, 24_000, 64_000, 150_000)
EVERY_TURN, PRICED = AssemblerPolicy(CachePrice()), AssemblerPolicy()


def policies(runs: Sequence[Transcript]) -> dict[str, object]:
    """Every policy under the terms of the measure."""
    baseline = Baseline(runs, Terms())
    ours = {"every-turn": EVERY_TURN, "priced": PRICED}
    made = {name: baseline.ratios(policy) for name, policy in {**PEERS, **ours}.items()}
    priced = baseline.measured(PRICED)
    left_out = [
        asdict(baseline.of(priced, [i for i in range(len(runs)) if i != out]))
        for out in range(len(runs))
    ]
    return {
        "runs": len(runs),
        "leave_one_out": {
            name: [min(r[name] for r in left_out), max(r[name] for r in left_out)]
            for name in ("billed", "geo_mean", "strict", "quoted", "echo")
        },
        "limit": baseline.limit(),
        "policies": {name: asdict(ratios) for name, ratios in made.items()},
    }


def terms_matrix(runs: Sequence[Transcript]) -> Iterator[dict[str, object]]:
    """Priced against everything and every-turn at other prices and ceilings."""
    for ceiling in CEILINGS:
        for read, write in PRICES:
            baseline = Baseline(runs, Terms(ceiling=ceiling, read=read, write=write))
            priced, every = baseline.ratios(PRICED), baseline.ratios(EVERY_TURN)
            yield {
                "ceiling": ceiling,
                "price": [read, write],
                "priced": priced.billed,
                "every_turn": every.billed,
                "worst": list(priced.worst),
            }


def main() -> None:
    """Measure, and write the three files."""
    runs = recorded_runs()
    found = policies(runs)
    matrix = list(terms_matrix(runs))
    curve = tuning_curve(runs)
    whole = {**found, "matrix": matrix, "curve": curve}
    (DOCS / "replay.json").write_text(json.dumps(rounded(whole), indent=1) + "\n", "utf-8")
    (DOCS / "replay.svg").write_text(curve_svg(curve), "utf-8")
    page = DOCS / "replay.md"
    text = page.read_text("utf-8")
    tables = (
        ("policies", policy_table(found)),
        ("left-out", left_out_table(found)),
        ("terms", matrix_table(matrix)),
    )
    for name, table in tables:
        block = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = block.sub(rf"\g<1>{table}\g<2>", text)
    page.write_text(text, "utf-8")


def rounded(value: object) -> object:
    """Numbers with as many digits as they are worth."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, Mapping):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list | tuple) else value


def policy_table(found: Mapping[str, object]) -> str:
    """The policies as a Markdown table."""
    head = "| policy | billed | without the longest | geo-mean | strict | quoted | echo | breaks |"
    lines = [head, "|---" * 8 + "|"]
    least = found["limit"]
    assert isinstance(least, dict)
    shares = " | ".join(f"{least[n]:.3f}" for n in ("billed", "without_longest", "geo_mean"))
    lines.append(f"| limit | {shares} | | | | |")
    made = found["policies"]
    assert isinstance(made, dict)
    for name, values in made.items():
        ratios = Ratios(**values)
        cells = (
            f"{ratios.billed:.3f}",
            f"{ratios.without_longest:.3f}",
            f"{ratios.geo_mean:.3f}",
            f"{ratios.strict:.3f}",
            f"{ratios.quoted:.3f}",
            f"{ratios.echo:.3f}",
            str(ratios.breaks),
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def left_out_table(found: Mapping[str, object]) -> str:
    """The priced policy with each run left out in turn, as the lowest and highest ratio."""
    ranges = found["leave_one_out"]
    assert isinstance(ranges, dict)
    lines = ["| figure | lowest | highest |", "|---" * 3 + "|"]
    lines += [f"| {name} | {low:.3f} | {high:.3f} |" for name, (low, high) in ranges.items()]
    return "\n".join(lines) + "\n"


def matrix_table(matrix: Sequence[Mapping[str, object]]) -> str:
    """Prices and ceilings as a Markdown table."""
    lines = [
        "| ceiling | price | priced | every-turn | run with the highest ratio |",
        "|---" * 5 + "|",
    ]
    for row in matrix:
        price, worst = row["price"], row["worst"]
        assert isinstance(price, list)
        assert isinstance(worst, list)
        lines.append(
            f"| {row['ceiling']:,} | {price[0]:g}, {price[1]:g} | {row['priced']:.3f} "
            f"| {row['every_turn']:.3f} | {worst[0]} {worst[1]:.2f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
