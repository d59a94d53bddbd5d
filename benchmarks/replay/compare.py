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
        self.longest = max(range(len(runs)), key=lambda i: self.everything[i].billed)

    def ratios(self, policy: Policy) -> Ratios:
        """Measure a policy on every run."""
        return self.of([measure(run, policy, self.terms) for run in self.runs])

    def of(self, made: Sequence[Figures]) -> Ratios:
        """The ratios of figures that were measured on these runs."""
        each = [f.billed / b.billed for f, b in zip(made, self.everything, strict=True)]
        others = [i for i in range(len(each)) if i != self.longest]
        worst = max(range(len(each)), key=lambda i: each[i])
        return Ratios(
            billed=_ratio([f.billed for f in made], [b.billed for b in self.everything]),
            without_longest=_ratio(
                [made[i].billed for i in others], [self.everything[i].billed for i in others]
            ),
            geo_mean=_geo_mean(each),
            strict=self._seen(made, "strict"),
            quoted=self._seen(made, "quoted"),
            echo=self._seen(made, "echo"),
            sight=self._seen(made, "sight"),
            breaks=sum(f.breaks for f in made),
            largest_request=max(f.largest_request for f in made),
            never_carried=sum(f.never_carried for f in made),
            worst=(name_of(self.runs[worst]), each[worst]),
        )

    def limit(self) -> Mapping[str, float]:
        """What no policy goes below, as the ratios of sums, without the longest, and geo-mean."""
        least = [limit(run, self.terms) for run in self.runs]
        billed = [b.billed for b in self.everything]
        others = [i for i in range(len(least)) if i != self.longest]
        return {
            "billed": _ratio(least, billed),
            "without_longest": _ratio([least[i] for i in others], [billed[i] for i in others]),
            "geo_mean": _geo_mean([one / all_ for one, all_ in zip(least, billed, strict=True)]),
        }

    def _seen(self, made: Sequence[Figures], name: str) -> float:
        seen: int = sum(getattr(f, name).seen for f in made)
        everything: int = sum(getattr(b, name).seen for b in self.everything)
        return seen / max(1, everything)


def name_of(run: Transcript) -> str:
    """The run's folder and file."""
    return "/".join(run.path.split("/")[-2:])


def _ratio(made: Sequence[float], base: Sequence[float]) -> float:
    return sum(made) / sum(base)


def _geo_mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
