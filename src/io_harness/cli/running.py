"""`run` and `resume`."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from io_harness.cli.asking import Deferring, TerminalApprover
from io_harness.cli.exits import EXIT_OF, INTERRUPTED
from io_harness.cli.output import complain, print_json, say
from io_harness.cli.progress import JsonLines, Progress, as_json, is_interactive
from io_harness.cli.stores import find_run, open_store, store_path
from io_harness.contract import TaskContract, Verification, contract_from_file, contract_from_json
from io_harness.errors import ConfigError
from io_harness.loop import Outcome, RunResult, resume_sync, run_sync
from io_harness.loop.approving import policy_from_json
from io_harness.policy import Approver, Policy, load_policy
from io_harness.providers import provider_from
from io_harness.types import Act, Effect, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What `run` and `resume` have in common."""

    model: str | None
    store: str | None
    policy: Path | None
    allow: str | None
    budget: int | None
    max_steps: int | None
    as_json: bool

    def approver(self, pause: Callable[[], None]) -> Approver:
        """Return who is asked."""
        return TerminalApprover(pause) if is_interactive() and not self.as_json else Deferring()

    def rules(self, base: Policy) -> Policy:
        """Return the policy with what the command line allows."""
        acts = [act.strip() for act in (self.allow or "").split(",") if act.strip()]
        unknown = sorted(set(acts) - {act.value for act in Act})
        if unknown:
            known = ", ".join(act.value for act in Act)
            raise ConfigError(f"--allow {unknown[0]!r} is no act; there are {known}")
        if not acts:
            return base
        rules = (Rule(Act(act), Effect.ALLOW, "*") for act in acts)
        return base.extended(*rules, name="command line")

    def limits(self, contract: TaskContract) -> TaskContract:
        """Return the contract with the limits of the command line."""
        if self.budget is not None:
            contract = contract.with_token_budget(self.budget)
        if self.max_steps is not None:
            contract = contract.with_max_steps(self.max_steps)
        return contract

    def changed(self, stored: str) -> TaskContract | None:
        """Return a stored contract with the limits of the command line, if there are any."""
        if self.budget is None and self.max_steps is None:
            return None
        return self.limits(contract_from_json(stored))


def start(
    common: Common,
    *,
    goal: str | None,
    root: Path | None,
    verify: str | None,
    workspace_id: str | None,
    config: Path | None,
) -> int:
    """Start a run and return the exit code."""
    contract = _contract(goal, root, verify, config)
    if workspace_id is not None:
        contract = contract.with_workspace_id(workspace_id)
    if common.model is None:
        raise ConfigError("name a model with --model, as anthropic:claude-sonnet-4-5")
    provider = provider_from(common.model)
    policy = common.rules(load_policy(common.policy))
    shown = JsonLines() if common.as_json else Progress()
    with open_store(common.store) as store:
        return _report(
            common,
            shown,
            lambda: run_sync(
                common.limits(contract),
                provider,
                store,
                policy=policy,
                approver=common.approver(shown.pause),
                observer=shown,
            ),
        )


def go_on(common: Common, wanted: str) -> int:
    """Go on with a run and return the exit code."""
    with open_store(common.store, must_exist=True) as store:
        record = find_run(store, wanted)
        provider = provider_from(common.model or f"{record.provider}:{record.model}")
        shown = JsonLines() if common.as_json else Progress()
        shown.run_id = record.run_id
        stored = policy_from_json(record.policy)
        policy = common.rules(stored if common.policy is None else load_policy(common.policy))
        return _report(
            common,
            shown,
            lambda: resume_sync(
                record.run_id,
                provider,
                store,
                contract=common.changed(record.contract),
                policy=policy,
                approver=common.approver(shown.pause),
                observer=shown,
            ),
        )


def _contract(
    goal: str | None, root: Path | None, verify: str | None, config: Path | None
) -> TaskContract:
    if config is not None:
        contract = contract_from_file(config, goal=goal)
        if root is not None:
            raise ConfigError("--root and --config exclude each other: the file says where")
    elif goal is None:
        raise ConfigError("say what is to be done: io-harness run GOAL, or name a --config file")
    else:
        contract = TaskContract.workspace(goal, (root or Path()).resolve())
    return contract if verify is None else contract.with_verification(_command(verify))


def _command(text: str) -> Verification:
    try:
        return Verification.command(*shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"--verify {text!r} is no command: {error}") from error


def _report(common: Common, shown: Progress | JsonLines, drive: Callable[[], RunResult]) -> int:
    """Drive a run to its end and say what became of it, and how to go on."""
    try:
        with _terminated_like_interrupted():
            result = drive()
    except KeyboardInterrupt:
        shown.pause()
        complain(f"interrupted; go on with: {_resume_line(common, shown.run_id)}")
        return INTERRUPTED
    shown.pause()
    if common.as_json:
        print_json({"event": "result", **as_json(result)})
    else:
        say(f"tokens: {result.spent.input or 0:,} in, {result.spent.output or 0:,} out")
        say(f"store: {store_path(common.store)}")
        if result.outcome in _CAN_GO_ON:
            say(f"go on with: {_resume_line(common, result.run_id)}")
    return EXIT_OF[result.outcome]


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM end a run as cleanly as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_CAN_GO_ON = frozenset(
    {
        Outcome.AWAITING_APPROVAL,
        Outcome.PROVIDER_FAILED,
        Outcome.STEP_CAP,
        Outcome.TIME_BUDGET,
        Outcome.TOKEN_BUDGET,
        Outcome.CONTEXT_OVERFLOW,
    }
)


def _resume_line(common: Common, run_id: str) -> str:
    words = ["io-harness", "resume", run_id]
    if common.store is not None:
        words += ["--store", common.store]
    if common.model is not None:
        words += ["--model", common.model]
    return shlex.join(words)
