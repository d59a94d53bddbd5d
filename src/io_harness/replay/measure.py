"""What a policy's requests cost and what the model could see in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.replay.figures import Figures
from io_harness.replay.policy import Part, Shown, Terms
from io_harness.replay.sight import Uses, View, shows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from io_harness.replay.policy import Policy
    from io_harness.replay.records import Transcript


@dataclass(frozen=True, slots=True)
class Request:
    """One request as measured: its section's tokens, and code points by how parts are shown.

    `rewritten` tells that the section before is no prefix of this one.
    """

    tokens: float
    shown: Mapping[Shown, int]
    rewritten: bool


def limit(run: Transcript, terms: Terms) -> float:
    """What no policy can go below: each observation sent once, the fixed part always cached."""
    cap = terms.entry_cap_chars
    once = sum(min(r.chars, cap) for r in run.records if r.step < run.steps) / 4
    return terms.read * terms.fixed * run.steps + terms.write * once


def measure(
    run: Transcript, policy: Policy, terms: Terms, strip: list[Request] | None = None
) -> Figures:
    """Drive the policy through the run; `strip` takes what the page draws of each request."""
    figures = Figures()
    view = View()
    uses = Uses(run, terms.entry_cap_chars)
    carried: set[int] = set()
    before: list[Part] = []
    chars = 0
    for step, parts in enumerate(policy.requests(run, terms), 1):
        kept = _shared(before, parts)
        view.drop(before[kept:])
        view.add(parts[kept:])
        stable = sum(p.chars for p in before[:kept]) + _inner_prefix(before, parts, kept)
        breaks = stable < chars
        chars = sum(p.chars for p in parts)
        _bill(figures, terms, first=step == 1, chars=chars, stable=stable, breaks=breaks)
        carried.update(p.record for p in parts[kept:] if p.record is not None and shows(p))
        uses.judge(step, view, figures)
        if strip is not None:
            strip.append(Request(chars / 4, _by_shown(parts), breaks))
        before = list(parts)
    figures.never_carried = sum(
        1 for i, r in enumerate(run.records) if r.step < run.steps and i not in carried
    )
    return figures


def _by_shown(parts: Sequence[Part]) -> Mapping[Shown, int]:
    found = dict.fromkeys(Shown, 0)
    for part in parts:
        found[part.shown] += part.chars
    return found


def _shared(before: Sequence[Part], parts: Sequence[Part]) -> int:
    """How many parts both requests start with."""
    most = min(len(before), len(parts))
    if before[:most] == parts[:most]:
        return most
    return next(i for i in range(most) if before[i] is not parts[i])


def _inner_prefix(before: Sequence[Part], parts: Sequence[Part], kept: int) -> int:
    """Code points shared beyond the shared parts, compared as text."""
    if kept == len(before) or kept == len(parts):
        return 0
    old, new = before[kept], parts[kept]
    pairs = zip(old.args + old.text, new.args + new.text, strict=False)
    differs = (at for at, (one, other) in enumerate(pairs) if one != other)
    return next(differs, min(old.chars, new.chars))


def _bill(
    figures: Figures, terms: Terms, *, first: bool, chars: int, stable: int, breaks: bool
) -> None:
    tokens, cached = chars / 4 + terms.fixed, stable / 4 + terms.fixed
    figures.sent += tokens
    figures.stable += cached
    figures.billed += terms.read * cached + terms.write * (tokens - cached)
    figures.breaks += breaks
    figures.largest_request = max(figures.largest_request, chars / 4)
