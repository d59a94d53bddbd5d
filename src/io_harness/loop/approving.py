"""Asking an approver, one thing at a time; and a policy as text, for the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import cast

from io_harness import jsontext
from io_harness.context import Ledger
from io_harness.contract.limits import of_kind
from io_harness.events import ApprovalAsked
from io_harness.loop.state import Run
from io_harness.policy import ApprovalRequest, Approver, Decision, Layer, Policy
from io_harness.types import JSON, Act, Effect, ObsKind, Rule, Verdict


class OneAtATime:
    """An approver that is asked one thing at a time, and whose answers are told."""

    run: Run

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._lock = asyncio.Lock()

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Ask, once the question before is answered."""
        async with self._lock:
            decision = await self._approver.decide(request)
        of_kind("what the approver's decide returns", decision, Decision)
        self.run.tell(
            ApprovalAsked(
                step=self.run.step,
                act=request.act,
                subject=request.subject,
                decision=decision.choice.value,
            )
        )
        return decision


class Granted:
    """A policy as the assembler sees it: what was approved is allowed.

    An approval for the run holds for all of it. A read approved once is in the ledger of the
    newest step, and may be looked at for the request that first shows it.
    """

    def __init__(
        self, policy: Policy, grants: AbstractSet[tuple[Act, str]], ledger: Ledger
    ) -> None:
        self._policy, self._grants, self._ledger = policy, grants, ledger

    def check(self, act: Act, subject: str) -> Verdict:
        """Return the verdict on an act."""
        verdict = self._policy.check(act, subject)
        if verdict.effect is not Effect.ASK:
            return verdict
        if (act, subject) in self._grants or (act is Act.READ and self._was_just_read(subject)):
            return replace(verdict, effect=Effect.ALLOW)
        return verdict

    def _was_just_read(self, path: str) -> bool:
        at = len(self._ledger) - 1
        step = self._ledger[at].step if at >= 0 else 0
        while at >= 0 and (seen := self._ledger[at]).step == step:
            if seen.kind is ObsKind.READ and seen.target == path:
                return True
            at -= 1
        return False


def rules_of(policy: Policy) -> Iterator[Rule]:
    """Yield every rule of a policy."""
    for layer in policy.layers:
        yield from layer.rules


def policy_to_json(policy: Policy) -> str:
    """Return a policy as JSON text."""
    return jsontext.dumps(
        {
            "defaults": {act.value: policy.defaults[act].value for act in Act},
            "layers": [
                {
                    "name": layer.name,
                    "folds_case": layer.folds_case,
                    "rules": [[r.act.value, r.effect.value, r.pattern] for r in layer.rules],
                }
                for layer in policy.layers
            ],
        }
    )


def policy_from_json(text: str) -> Policy:
    """Return the policy of a stored run."""
    value = cast("dict[str, dict[str, str]]", jsontext.loads(text))
    defaults = {Act(act): Effect(effect) for act, effect in value["defaults"].items()}
    return Policy(map(_layer, cast("list[dict[str, JSON]]", value["layers"])), defaults)


def _layer(value: dict[str, JSON]) -> Layer:
    rules = cast("list[tuple[str, str, str]]", value["rules"])
    return Layer(
        str(value["name"]),
        tuple(Rule(Act(act), Effect(effect), pattern) for act, effect, pattern in rules),
        folds_case=bool(value["folds_case"]),
    )
