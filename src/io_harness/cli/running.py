"""`run` and `resume`."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from io_harness.cli.endings import EXIT_OF
from io_harness.cli.exits import INTERRUPTED, READER_GONE
from io_harness.cli.options import Common
from io_harness.cli.output import complain, plain, print_json, say
from io_harness.cli.progress import Shown, as_json
from io_harness.cli.stores import find_run, open_store, store_path
from io_harness.contract import (
    TaskContract,
    Verification,
    contract_from_file,
)
from io_harness.errors import ConfigError, RunLeased
from io_harness.loop import FINAL, Outcome, RunResult, reported, resume_sync, run_sync
from io_harness.loop.starting import stored_contract, stored_policy
from io_harness.policy import load_policy
from io_harness.providers import Provider, provider_from
from io_harness.providers.named import MODEL_FORMS, NAMED_VENDORS
from io_harness.store import LEASE_SECONDS, RunRecord, Store
from io_harness.workspace import Workspace, counted


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
    contract = common.limits(_contract(goal, root, verify, config))
    if workspace_id is not None:
        contract = contract.with_workspace_id(workspace_id)
    policy = common.rules(load_policy(common.policy, root=contract.root))
    store_path(common.store)
    with Workspace(contract.root):
        pass  # what the user typed is looked at before what the model needs
    if common.model is None:
        raise ConfigError(f"name a model with --model: {MODEL_FORMS}")
    provider = provider_from(common.model)
    shown = common.observer()
    with open_store(common.store) as store:
        return _driven(
            common,
            contract,
            shown,
            {},
            lambda: run_sync(
                contract,
                provider,
                store,
                policy=policy,
                approver=common.approver(shown.pause),
                observer=shown,
            ),
        )


def go_on(common: Common, wanted: str) -> int:
    """Go on with a run and return the exit code; one that has finished is only reported."""
    with open_store(common.store, must_exist=True) as store:
        record = find_run(store, wanted)
        if record.outcome in FINAL:
            return _finished(common, store, record)
        asked, allowed = stored_contract(record), stored_policy(record)
        policy = common.rules(allowed if common.policy is None else load_policy(common.policy))
        contract = common.limits(asked)
        provider = _provider(common, record)
        shown = common.observer(record.run_id)
        return _driven(
            common,
            contract,
            shown,
            common.said_again(),
            lambda: _once_free(
                shown,
                lambda: resume_sync(
                    record.run_id,
                    provider,
                    store,
                    contract=None if contract == asked else contract,
                    policy=policy,
                    approver=common.approver(shown.pause),
                    observer=shown,
                ),
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
    contract = contract if verify is None else contract.with_verification(_command(verify))
    program = next(iter(contract.verification.argv), None)
    if program is not None and "/" not in program and shutil.which(program) is None:
        complain(f"io-harness: the check's program {program!r} is not on PATH yet")
    return contract


def _command(text: str) -> Verification:
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"--verify {text!r} is no command: {error}") from error
    if not argv:
        raise ConfigError("--verify is empty: give a command, or leave it out")
    shells = [word for word in argv if word in _SHELL_WORDS]
    shells += [word for word in argv[:1] if _ASSIGNMENT.match(word)]
    if shells:
        raise ConfigError(
            f"--verify runs no shell, to which alone {shells[0]} means something: "
            f"write --verify {shlex.quote(shlex.join(('sh', '-c', text)))}"
        )
    return Verification.command(*argv)


def _provider(common: Common, record: RunRecord) -> Provider:
    """The model that is named, else the run's own, where its name says all that is needed."""
    if common.model is None and record.provider not in NAMED_VENDORS:
        raise ConfigError(
            f"run {record.run_id} was driven by {plain(record.provider)}:{plain(record.model)}, "
            f"which is no name to reach it by: name a model with --model: {MODEL_FORMS}"
        )
    return provider_from(common.model or f"{record.provider}:{record.model}")


def _finished(common: Common, store: Store, record: RunRecord) -> int:
    """Report a run that has ended for good; no model is needed for that."""
    result = asyncio.run(reported(store, record.run_id))
    if not common.as_json:
        why = f": {plain(result.reason)}" if result.reason else ""
        steps = counted(result.steps, "step")
        say(f"run {record.run_id} has finished: {result.outcome} after {steps}{why}")
    return _report(common, result, {})


def _once_free(shown: Shown, drive: Callable[[], RunResult]) -> RunResult:
    """Drive a run once nobody else does, or give up when they must be alive.

    A driver that died where this cannot be seen, in another container say, has a lease that ends.
    """
    give_up: float | None = None
    while True:
        try:
            return drive()
        except RunLeased:
            now = time.monotonic()
            if shown.is_started or (give_up is not None and now > give_up):
                raise
            if give_up is None:
                give_up = now + LEASE_SECONDS + 1
                complain(
                    "another process drives this run, or died while it did: waiting up to "
                    f"{LEASE_SECONDS:.0f} s for its lease to end (Ctrl-C stops waiting)"
                )
            time.sleep(_LOOK_AGAIN_SECONDS)


def _driven(
    common: Common,
    contract: TaskContract,
    shown: Shown,
    again: Mapping[str, object],
    drive: Callable[[], RunResult],
) -> int:
    """Drive a run to its end and say what became of it, and how to go on.

    `again` are the options which that takes once more.
    """
    try:
        with _ended_like_interrupted(), _at_rest(shown):
            result = drive()
    except KeyboardInterrupt:
        complain(
            f"interrupted; go on with: {_resume_line(common, shown.run_id, again)}", whole=True
        )
        return READER_GONE if shown.is_unread else INTERRUPTED
    return _report(common, result, {**again, **_raised(contract, result.outcome)})


def _raised(contract: TaskContract, outcome: Outcome) -> dict[str, object]:
    """The option that gives a run twice the limit which ended it, if one did."""
    limits = {
        Outcome.STEP_CAP: ("--max-steps", contract.max_steps),
        Outcome.TOKEN_BUDGET: ("--budget", contract.token_budget),
        Outcome.TIME_BUDGET: ("--time-budget", contract.time_budget),
    }
    option, limit = limits.get(outcome, ("", None))
    return {} if limit is None else {option: f"{2 * limit:.12g}"}


def _report(common: Common, result: RunResult, again: Mapping[str, object]) -> int:
    if common.as_json:
        print_json({"event": "result", **as_json(result)})
    else:
        say(f"tokens: {result.spent.input or 0:,} in, {result.spent.output or 0:,} out")
        say(f"store: {store_path(common.store)}", whole=True)
        if result.outcome in _CAN_GO_ON:
            say(f"go on with: {_resume_line(common, result.run_id, again)}", whole=True)
    return EXIT_OF[result.outcome]


@contextmanager
def _at_rest(shown: Shown) -> Iterator[None]:
    """Let nothing move on the terminal any more, however the run ends."""
    try:
        yield
    finally:
        shown.pause()


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """Let SIGTERM, and a terminal that is closed, end a run as cleanly as Ctrl-C does.

    A shell's script starts what it puts in the background with SIGINT ignored, and would so
    have it ignore these too.
    """
    ends = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ends)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ends:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_CAN_GO_ON = frozenset(Outcome) - FINAL
_LOOK_AGAIN_SECONDS = 1.0
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELL_WORDS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1", "2>"})


def _resume_line(common: Common, run_id: str, again: Mapping[str, object]) -> str:
    options = {**again, "--store": common.store, "--model": common.model}
    words = [str(w) for pair in options.items() if pair[1] is not None for w in pair]
    return shlex.join(("io-harness", "resume", run_id, *words))
