"""The tuning curve: what is billed against what of the names used was still there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from html import escape

from benchmarks.peers import PEERS
from benchmarks.replay.compare import Baseline
from io_harness.context import rewrite
from io_harness.replay import Terms, Transcript
from io_harness.replay.assembled import AssemblerPolicy

SCALES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2), Fraction(2))
PATIENCE = (1, 2, 3, 5, 8)
WIDTH, HEIGHT, MARGIN = 640, 400, 56


@contextmanager
def tuned(terms: rewrite.Terms) -> Iterator[None]:
    """Assemblers made meanwhile rewrite under these terms."""
    before = rewrite.TERMS
    rewrite.TERMS = terms
    try:
        yield
    finally:
        rewrite.TERMS = before


def tuning_curve(runs: Sequence[Transcript]) -> dict[str, list[list[float]]]:
    """Points of (billed, echo) for what a rewrite keeps, for its patience, and for the peers."""
    baseline = Baseline(runs, Terms())
    chosen = rewrite.TERMS
    curve: dict[str, list[list[float]]] = {"kept": [], "patience": []}
    for scale in SCALES:
        kept = replace(
            chosen,
            tail=chosen.tail * scale,
            written_files=min(chosen.written_files * scale, Fraction(2, 3)),
            read_files=chosen.read_files * scale,
        )
        curve["kept"].append(_point(baseline, kept))
    for patience in PATIENCE:
        patient = replace(chosen, patience=Fraction(patience))
        curve["patience"].append(_point(baseline, patient))
    for name, policy in PEERS.items():
        ratios = baseline.ratios(policy)
        curve[name] = [[ratios.billed, ratios.echo]]
    return curve


def _point(baseline: Baseline, terms: rewrite.Terms) -> list[float]:
    with tuned(terms):
        ratios = baseline.ratios(AssemblerPolicy())
    return [ratios.billed, ratios.echo]


def curve_svg(curve: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """The curve as a picture that reads on light and on dark pages."""
    points = [point for line in curve.values() for point in line]
    right = max(1.0, *(x for x, _ in points)) * 1.05
    bottom = min(y for _, y in points) - 0.02
    parts = [_STYLE, *_frame(right, bottom)]
    for index, (name, line) in enumerate(curve.items()):
        places = [_place(x, y, right, bottom) for x, y in line]
        if len(places) > 1:
            joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in sorted(places))
            parts.append(f'<polyline class="l{index}" points="{joined}"/>')
        parts.extend(
            f'<circle class="c{min(index, 2)}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places
        )
        x, y = max(places)
        # Every other label stands above its point, so that neighbours do not cover each other.
        beside = y - 8 if index % 2 else y + 16
        parts.append(f'<text x="{x + 8:.1f}" y="{beside:.1f}">{escape(name)}</text>')
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>\n'


_STYLE = (
    "<style>text{font:12px system-ui,sans-serif;fill:#667085}polyline{fill:none;stroke-width:2}"
    ".l0{stroke:#2563c9}.l1{stroke:#3aa675}.c0{fill:#2563c9}.c1{fill:#3aa675}.c2{fill:#d9822b}"
    "path{stroke:#98a2b3;fill:none}</style>"
)


def _place(x: float, y: float, right: float, bottom: float) -> tuple[float, float]:
    across = MARGIN + x / right * (WIDTH - MARGIN - 130)
    return across, HEIGHT - MARGIN - (y - bottom) / (1.01 - bottom) * (HEIGHT - MARGIN - 16)


def _frame(right: float, bottom: float) -> Iterator[str]:
    left, low = _place(0, bottom, right, bottom)
    yield f'<path d="M{left} 16V{low}H{WIDTH - 120}"/>'
    for tick in (0.25, 0.5, 0.75, 1.0):
        x, _ = _place(tick, bottom, right, bottom)
        yield f'<text x="{x - 10:.1f}" y="{low + 18:.1f}">{tick:.2f}</text>'
    for tick in (0.7, 0.8, 0.9, 1.0):
        if tick > bottom:
            _, y = _place(0, tick, right, bottom)
            yield f'<text x="{left - 34:.1f}" y="{y + 4:.1f}">{tick:.1f}</text>'
    yield f'<text x="{WIDTH // 2 - 120}" y="{HEIGHT - 14}">billed, of sending everything</text>'
    yield f'<text x="{left + 6:.1f}" y="14">names used that were still in the request</text>'
