"""Figures as inline SVG: lines that grow, bars of a total, a strip of what each request held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from io_harness.replay.measure import Request
from io_harness.replay.policy import Shown

WIDTH, HEIGHT = 720, 260
_LEFT, _BOTTOM, _TOP = 52, 24, 10
STRIP_HEIGHT = 72
BANDS: Mapping[str, tuple[Shown, ...]] = {
    "carried": (Shown.CARRIED, Shown.BOUNDED),
    "refreshed": (Shown.REFRESHED,),
    "appended": (Shown.APPENDED, Shown.VOIDED),
    "stubbed": (Shown.STUB, Shown.COLLAPSED),
}


def growth(lines: Mapping[str, Sequence[float]], ceiling: float) -> str:
    """One line a policy: estimated tokens of each request; the ceiling as a dashed one."""
    steps = max((len(line) for line in lines.values()), default=1)
    top = max([ceiling, *(max(line, default=0) for line in lines.values())]) * 1.05
    parts = [*_axes(steps, top)]
    y = _y(ceiling, top)
    parts.append(f'<path class="ceiling" d="M{_LEFT} {y}H{WIDTH}"/>')
    for index, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{_x(n, steps)},{_y(v, top)}" for n, v in enumerate(line))
        title = f"<title>{escape(name)}</title>"
        parts.append(f'<polyline class="curve p{index}" points="{points}">{title}</polyline>')
    return _svg(HEIGHT, "growth", "Estimated tokens of each request", parts)


def _x(step: int, steps: int) -> int:
    return round(_LEFT + step * (WIDTH - _LEFT - 4) / max(steps - 1, 1))


def _y(value: float, top: float) -> int:
    return round(HEIGHT - _BOTTOM - value / top * (HEIGHT - _BOTTOM - _TOP))


def _axes(steps: int, top: float) -> Iterator[str]:
    for tick in _ticks(top):
        y = _y(tick, top)
        yield f'<path class="grid" d="M{_LEFT} {y}H{WIDTH}"/>'
        yield f'<text class="axis end" x="{_LEFT - 6}" y="{y + 4}">{short(tick)}</text>'
    for tick in _ticks(steps):
        if 0 < tick <= steps:
            place = f'x="{_x(round(tick) - 1, steps)}" y="{HEIGHT - 6}"'
            yield f'<text class="axis mid" {place}>{round(tick)}</text>'


def _ticks(top: float) -> list[float]:
    """About four round numbers from 0 to the top."""
    unit = 10.0 ** max(len(str(int(top))) - 1, 0)
    step = next(s * unit for s in (0.1, 0.2, 0.5, 1, 2, 5) if top / (s * unit) <= 5)
    return [step * n for n in range(int(top / step) + 1)]


def short(value: float) -> str:
    """A number of tokens in a few letters: 950, 24k, 1.2M."""
    if value >= 999_500:
        return f"{value / 1e6:.1f}M"
    return f"{value / 1000:.0f}k" if value >= 1000 else f"{value:.0f}"


def bars(totals: Mapping[str, float]) -> str:
    """Billed tokens of each policy as a bar with its number, and its ratio to the first."""
    top = max(totals.values(), default=1) or 1
    first = next(iter(totals.values()), 1) or 1
    parts: list[str] = []
    for index, (name, value) in enumerate(totals.items()):
        y = index * 30
        width = max(round(value / top * (WIDTH - 260)), 1)
        kind = f"p{index}" if name != "limit" else "limit"
        parts.append(f'<text class="axis" x="0" y="{y + 18}">{escape(name)}</text>')
        parts.append(f'<rect class="bar {kind}" x="110" y="{y + 4}" width="{width}" height="20"/>')
        place = f'x="{118 + width}" y="{y + 18}"'
        parts.append(f'<text class="axis" {place}>{short(value)} ({value / first:.2f})</text>')
    return _svg(max(len(totals) * 30, 1), "bars", "Billed tokens", parts)


def strip(requests: Sequence[Request]) -> str:
    """A column a request, split by how its parts were shown; a tick below where it was rewritten.

    One path a band keeps the longest runs small.
    """
    top = max((request.tokens for request in requests), default=1) or 1
    floors = [0.0] * len(requests)
    parts: list[str] = []
    for name, kinds in BANDS.items():
        values = [sum(request.shown[kind] for kind in kinds) / 4 for request in requests]
        path = _columns(floors, values, top)
        if path:
            title = f"<title>{name}</title>"
            parts.append(f'<path class="band {name}" d="{path}">{title}</path>')
        floors = [floor + value for floor, value in zip(floors, values, strict=True)]
    wide = WIDTH / max(len(requests), 1)
    ticks = "".join(
        f"M{n * wide:.1f} {STRIP_HEIGHT + 2}v6" for n, r in enumerate(requests) if r.rewritten
    )
    parts.append(f'<path class="rewrite" d="{ticks}"/>' if ticks else "")
    return _svg(STRIP_HEIGHT + 10, "strip", "What each request held", parts)


def _columns(floors: Sequence[float], values: Sequence[float], top: float) -> str:
    wide = WIDTH / max(len(values), 1)
    drawn: list[str] = []
    for n, (floor, value) in enumerate(zip(floors, values, strict=True)):
        low, high = floor / top * STRIP_HEIGHT, (floor + value) / top * STRIP_HEIGHT
        if high - low >= 0.2:
            x, y, gap = n * wide, STRIP_HEIGHT - high, max(wide - 0.4, 0.6)
            drawn.append(f"M{x:.1f} {y:.1f}h{gap:.1f}v{high - low:.1f}h-{gap:.1f}z")
    return "".join(drawn)


def _svg(height: int, kind: str, label: str, parts: Sequence[str]) -> str:
    box = f'viewBox="0 0 {WIDTH} {height}"'
    return f'<svg class="{kind}" {box} role="img" aria-label="{label}">{"".join(parts)}</svg>'
