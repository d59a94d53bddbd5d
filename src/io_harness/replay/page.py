"""The report as one page that needs nothing else: no script, no network, dark and light."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from io_harness.replay import charts
from io_harness.replay.figures import Figures
from io_harness.replay.legend import legend
from io_harness.replay.policy import Terms
from io_harness.replay.report import BASELINE, ReplayReport, RunReport
from io_harness.replay.source import printable
from io_harness.replay.table import relative

_STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1d2430;--soft:#667085;--line:#e3e7ee;
--p0:#8a93a6;--p1:#d9822b;--p2:#2563c9;--carried:#7aa2e3;--refreshed:#3aa675;
--appended:#e0b03a;--stubbed:#b9bfca}
@media (prefers-color-scheme:dark){:root{--back:#12161d;--text:#e6e9ef;--soft:#98a2b3;
--line:#2a313c;--p0:#8a93a6;--p1:#f0a35a;--p2:#6aa0ff;--carried:#4a76c4;--refreshed:#43b584;
--appended:#d9a83a;--stubbed:#596273}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px 20px 60px;max-width:860px;background:var(--back);
color:var(--text);font:15px/1.5 system-ui,sans-serif}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:36px 0 4px;overflow-wrap:anywhere}
h3{font-size:13px;margin:18px 0 4px;color:var(--soft);font-weight:600}
p{margin:4px 0;color:var(--soft)}svg{display:block;width:100%;height:auto;overflow:visible}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:4px 8px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:500}th:first-child,td:first-child{text-align:left;padding-left:0}
.axis{fill:var(--soft);font-size:12px}.end{text-anchor:end}.mid{text-anchor:middle}
.grid{stroke:var(--line);fill:none}.ceiling{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.curve{fill:none;stroke-width:2;stroke-linejoin:round}
.curve.p0{stroke:var(--p0)}.curve.p1{stroke:var(--p1)}.curve.p2{stroke:var(--p2)}
.curve{stroke:var(--text)}.bar{fill:var(--text)}
.bar.p0{fill:var(--p0)}.bar.p1{fill:var(--p1)}.bar.p2{fill:var(--p2)}.bar.limit{fill:var(--line)}
.band.carried{fill:var(--carried)}.band.refreshed{fill:var(--refreshed)}
.band.appended{fill:var(--appended)}.band.stubbed{fill:var(--stubbed)}
.rewrite{stroke:var(--text);stroke-width:1;fill:none}
details{margin:8px 0;font-size:14px}summary{cursor:pointer}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:8px 0}
dd{margin:0;color:var(--soft)}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;margin:4px 0 8px;color:var(--soft);font-size:13px}
.key i{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:6px;
vertical-align:-1px;background:var(--c)}
@media (max-width:480px){body{padding:16px 12px 40px}.axis{font-size:20px}
dl{grid-template-columns:1fr}dd{margin-bottom:6px}}
"""
_COLUMNS = ("policy", "billed", "of all", "cached", "breaks", "largest", "strict", "quoted", "echo")


def html_page(report: ReplayReport) -> str:
    """The whole page as text; every name from a file is escaped."""
    body = "".join([_head(report), *(part for run in report.runs for part in _run(run, report))])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Replay</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def _head(report: ReplayReport) -> str:
    terms = report.terms
    said = (
        f"Ceiling {terms.ceiling:,} tokens a request, fixed part {terms.fixed:,}; a cached token "
        f"costs {terms.read:g}, a new one {terms.write:g}. Tokens are estimates: four characters "
        "each."
    )
    count = len(report.runs)
    title = (
        f"<h1>Replay of {count} recorded run{'s' * (count != 1)}</h1><p>{said}</p>{_words(terms)}"
    )
    if len(report.runs) < 2 or not report.counted:
        return title
    names = report.runs[0].policies
    totals = {name: report.total(name) for name in names}
    return f"{title}<h2>Total of {len(report.counted)} runs</h2>{_totals(totals, report.limit)}"


def _words(terms: Terms) -> str:
    """The legend, and what the pictures show."""
    told = (
        *legend(terms),
        ("tokens of each request", "one curve a policy; the dashed line is the ceiling"),
        ("carried, stubbed", "results in the request, and those of which one line is left"),
        ("refreshed, appended", "files read again since they changed, in place or at the end"),
    )
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in told)
    return f"<details><summary>How to read this</summary><dl>{rows}</dl></details>"


def _totals(figures: Mapping[str, Figures], limit: float) -> str:
    billed = {name: f.billed for name, f in figures.items()} | {"limit": limit}
    return f"<h3>Billed tokens</h3>{charts.bars(billed)}{_table(figures)}"


def _run(run: RunReport, report: ReplayReport) -> Iterator[str]:
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(run.records.items()))
    unread = f" Not understood: {run.not_understood}." if run.not_understood else ""
    yield f"<h2>{_safe(run.file)}</h2><p>{_safe(run.format)}, {run.steps} requests; {kinds}."
    notes = ", ".join(f"{_safe(what)} {n}" for what, n in sorted(run.notes.items()))
    met = f" Met: {notes}." if notes else ""
    yield f"{unread}{met}</p><h3>Tokens of each request</h3>{_policy_key(run)}"
    lines = {name: [r.tokens for r in made] for name, made in run.requests.items()}
    yield charts.growth(lines, report.terms.ceiling)
    yield _totals(run.policies, run.limit)
    yield f"<h3>What each request held</h3>{_band_key()}"
    for name, made in run.requests.items():
        yield f"<p>{_safe(name)}</p>{charts.strip(made)}"


def _policy_key(run: RunReport) -> str:
    names = enumerate(run.requests)
    return _key([(f"p{index}", name) for index, name in names])


def _band_key() -> str:
    marks = _key([(name, name) for name in charts.BANDS])
    return marks.replace("</div>", "<span>a tick below: the prefix was rewritten</span></div>")


def _key(marks: list[tuple[str, str]]) -> str:
    items = (f'<span><i style="--c:var(--{c})"></i>{_safe(name)}</span>' for c, name in marks)
    return f'<div class="key">{"".join(items)}</div>'


def _table(policies: Mapping[str, Figures]) -> str:
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    base = policies[BASELINE]
    rows = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in _cells(name, f, base)) + "</tr>"
        for name, f in policies.items()
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _cells(name: str, figures: Figures, base: Figures) -> list[str]:
    return [
        _safe(name),
        f"{figures.billed:,.0f}",
        f"{figures.billed / base.billed:.3f}" if base.billed else "1.000",
        f"{figures.stable / figures.sent:.0%}" if figures.sent else "0%",
        f"{figures.breaks:,}",
        f"{figures.largest_request:,.0f}",
        relative(figures.strict, base.strict),
        relative(figures.quoted, base.quoted),
        relative(figures.echo, base.echo),
    ]


def _safe(text: str) -> str:
    return escape(printable(text))
