"""Recorded runs under several policies: the figures, run by run and in total."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike, fspath

from io_harness.context import CachePrice, checks
from io_harness.context.budget import MIN_CEILING_TOKENS
from io_harness.errors import ConfigError
from io_harness.replay.assembled import AssemblerPolicy
from io_harness.replay.figures import Figures, Seen
from io_harness.replay.importers import read_transcripts
from io_harness.replay.measure import Request, limit, measure
from io_harness.replay.policy import Everything, Policy, Terms
from io_harness.replay.records import Transcript
from io_harness.types import JSON

BASELINE = "everything"
POLICIES: Mapping[str, Policy] = {
    BASELINE: Everything(),
    "every-turn": AssemblerPolicy(CachePrice()),
    "priced": AssemblerPolicy(),
}
DEFAULT_PRICE = CachePrice(read=0.1, write=1.25)


@dataclass(frozen=True, slots=True)
class RunReport:
    """One recorded run: what was read of it, and its figures under each policy.

    `limit` is in tokens: each observation sent once with the fixed part cached. `notes` counts
    what the importer met. `reported` and `estimated` are tokens of the requests whose prompt the
    provider reported: its number, and the estimate of the same requests.
    """

    file: str
    format: str
    steps: int
    records: Mapping[str, int]
    notes: Mapping[str, int]
    unknown: Mapping[str, int]
    limit: float
    policies: Mapping[str, Figures]
    requests: Mapping[str, Sequence[Request]]
    reported: int
    estimated: float

    @property
    def not_understood(self) -> int:
        """How many parts of the file gave no record though they may have been in the context."""
        return sum(self.unknown.values())


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What `replay_files` found; `runs` in the order of the files, the terms they were billed by.

    Runs of fewer than `min_steps` requests are listed and stay out of the totals.
    """

    runs: tuple[RunReport, ...]
    terms: Terms
    min_steps: int

    @property
    def counted(self) -> tuple[RunReport, ...]:
        """The runs the totals are made of."""
        return tuple(run for run in self.runs if run.steps >= self.min_steps)

    @property
    def limit(self) -> float:
        """Tokens below which no policy can bill the counted runs."""
        return sum(run.limit for run in self.counted)

    def total(self, policy: str) -> Figures:
        """The sum of the counted runs' figures; of the largest request the largest."""
        return _sum([run.policies[policy] for run in self.counted])

    def geo_mean(self, policy: str) -> float:
        """The geometric mean over runs of billed tokens as a ratio to `everything`."""
        ratios = [
            run.policies[policy].billed / run.policies[BASELINE].billed for run in self.counted
        ]
        if not ratios or not all(ratios):
            return 1.0
        return math.exp(sum(map(math.log, ratios)) / len(ratios))

    def to_json(self) -> dict[str, JSON]:
        """The report as one object of plain values; tokens are whole numbers."""
        names = list(self.runs[0].policies) if self.runs else []
        total: dict[str, JSON] = {
            name: {
                **_figures_json(self.total(name), self.limit),
                "geo_mean": round(self.geo_mean(name), 4),
            }
            for name in names
        }
        return {"files": [_run_json(run) for run in self.runs], "total": {"policies": total}}


def replay_files(
    paths: Sequence[str | PathLike[str]],
    *,
    min_steps: int = 1,
    ceiling: int = 24_000,
    price: CachePrice = DEFAULT_PRICE,
    fixed: int = 4_000,
    policies: Mapping[str, Policy] = POLICIES,
) -> ReplayReport:
    """Run recorded transcripts through policies and measure every request they would have made.

    `ceiling` is each section's most estimated tokens, `fixed` the tokens of system text and tool
    schemas before it, `price` what a cached and a new token cost. Needs no key and no network.
    Raises `ConfigError` for a file that holds no transcript, naming what was found instead, and
    for an argument that cannot be, naming it.
    """
    checks.whole("ceiling", ceiling, MIN_CEILING_TOKENS, unit="tokens")
    checks.whole("fixed", fixed, 0, unit="tokens")
    checks.whole("min_steps", min_steps, 0)
    if not isinstance(price, CachePrice):
        raise ConfigError(f"price must be a CachePrice, got {checks.shown(price)}")
    terms = Terms(ceiling, price.read, price.write, fixed)
    runs = tuple(
        _replay(run, policies, terms) for path in _paths(paths) for run in read_transcripts(path)
    )
    return ReplayReport(runs, terms, min_steps)


def _paths(paths: Sequence[str | PathLike[str]]) -> Iterator[str]:
    if isinstance(paths, str | bytes | PathLike) or not isinstance(paths, Iterable):
        raise ConfigError(f"paths must be a list of paths, got {checks.shown(paths)}")
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise ConfigError(f"paths must be a list of paths, there is {checks.shown(path)} in it")
        yield fspath(path)


def _replay(run: Transcript, policies: Mapping[str, Policy], terms: Terms) -> RunReport:
    figures: dict[str, Figures] = {}
    requests: dict[str, list[Request]] = {}
    for name, policy in policies.items():
        requests[name] = []
        figures[name] = measure(run, policy, terms, requests[name])
    usage = {r.step: r.usage.input for r in run.records if r.usage is not None and r.usage.input}
    told = {step: tokens for step, tokens in usage.items() if 0 < step <= run.steps}
    sent = requests.get(BASELINE, [])
    return RunReport(
        file=run.path,
        format=run.format,
        steps=run.steps,
        records=dict(run.kinds()),
        notes=dict(run.report.notes),
        unknown=dict(run.report.unknown),
        limit=limit(run, terms),
        policies=figures,
        requests=requests,
        reported=sum(told.values()),
        estimated=sum(sent[step - 1].tokens + terms.fixed for step in told if sent),
    )


def _sum(parts: Sequence[Figures]) -> Figures:
    total = Figures()
    for part in parts:
        for name in (f.name for f in fields(Figures)):
            mine, other = getattr(total, name), getattr(part, name)
            if isinstance(mine, Seen):
                mine.seen += other.seen
                mine.of += other.of
            elif name == "largest_request":
                total.largest_request = max(mine, other)
            else:
                setattr(total, name, mine + other)
    return total


def _run_json(run: RunReport) -> dict[str, JSON]:
    return {
        "file": run.file,
        "format": run.format,
        "steps": run.steps,
        "records": dict(run.records),
        "not_understood": run.not_understood,
        "policies": {n: _figures_json(f, run.limit) for n, f in run.policies.items()},
    }


def _figures_json(figures: Figures, limit_tokens: float) -> dict[str, JSON]:
    return {
        "sent": round(figures.sent),
        "billed": round(figures.billed),
        "limit": round(limit_tokens),
        "stable": round(figures.stable),
        "breaks": figures.breaks,
        "largest_request": round(figures.largest_request),
        "strict": [figures.strict.seen, figures.strict.of],
        "quoted": [figures.quoted.seen, figures.quoted.of],
        "echo": [figures.echo.seen, figures.echo.of],
        "sight": [figures.sight.seen, figures.sight.of],
    }
