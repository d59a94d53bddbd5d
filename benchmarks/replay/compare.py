"""Policies against `everything` over several runs: ratios of what is billed and what is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from io_harness.replay import Everything, Figures, Policy, Terms, Transcript
from io_harness.replay.measure import limit, measure


@dataclass(frozen=True, slots=True)
class Ratios:
    """One policy over all runs, each figure as a ratio to `everything`.

    `billed` is the ratio of sums, `without_longest` the same without the run that costs most,
    `geo_mean` the geometric mean over runs; `worst` names the run with the highest ratio.
    """

    billed: float
    without_longest: float
    geo_mean: float
    strict: float
    quoted: float
    echo: float
    sight: float
    breaks: int
    largest_request: float
    never_carried: int
    worst: tuple[str, float]


class Baseline:
    """The runs under one set of terms, with what `everything` bills and shows of each."""

    def __init__(self, runs: Sequence[Transcript], terms: Terms) -> None:
        self.runs = runs
        self.terms = terms
        self.everything = [measure(run, Everything(), terms) for run in runs]

    def ratios(self, policy: Policy) -> Ratios:
        """Measure a policy on every run."""
        return self.of(self.measured(policy), range(len(self.runs)))

    def measured(self, policy: Policy) -> list[Figures]:
        """The policy's figures of each run."""
        return [measure(run, policy, self.terms) for run in self.runs]

    def of(self, made: Sequence[Figures], which: Sequence[int]) -> Ratios:
        """The ratios over some of the runs."""
        base = self.everything
        each = {i: made[i].billed / base[i].billed for i in which}
        longest = max(which, key=lambda i: base[i].billed)
        worst = max(which, key=lambda i: each[i])
        return Ratios(
            billed=_billed(made, base, which),
            without_longest=_billed(made, base, [i for i in which if i != longest]),
            geo_mean=_geo_mean(list(each.values())),
            strict=_seen(made, base, which, "strict"),
            quoted=_seen(made, base, which, "quoted"),
            echo=_seen(made, base, which, "echo"),
            sight=_seen(made, base, which, "sight"),
            breaks=sum(made[i].breaks for i in which),
            largest_request=max(made[i].largest_request for i in which),
            never_carried=sum(made[i].never_carried for i in which),
            worst=(name_of(self.runs[worst]), each[worst]),
        )

    def limit(self) -> Mapping[str, float]:
        """What no policy goes below, as the ratios of sums, without the longest, and geo-mean."""
        least = [Figures(billed=limit(run, self.terms)) for run in self.runs]
        found = self.of(least, range(len(self.runs)))
        return {
            "billed": found.billed,
            "without_longest": found.without_longest,
            "geo_mean": found.geo_mean,
        }


def name_of(run: Transcript) -> str:
    """The run's folder and file."""
    return "/".join(run.path.split("/")[-2:])


def _billed(made: Sequence[Figures], base: Sequence[Figures], which: Sequence[int]) -> float:
    return sum(made[i].billed for i in which) / (sum(base[i].billed for i in which) or 1)


def _seen(
    made: Sequence[Figures], base: Sequence[Figures], which: Sequence[int], name: str
) -> float:
    seen: int = sum(getattr(made[i], name).seen for i in which)
    everything: int = sum(getattr(base[i], name).seen for i in which)
    return seen / max(1, everything)


def _geo_mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
