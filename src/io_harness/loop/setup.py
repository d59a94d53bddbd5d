"""Making a run ready to be driven: new, or as the store has it."""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from io_harness.context import Assembler, Ledger
from io_harness.contract import TaskContract, contract_to_json
from io_harness.contract.limits import of_kind
from io_harness.errors import ConfigError, PolicyNeedsApprover
from io_harness.events import Observer
from io_harness.loop.account import account_for, in_view
from io_harness.loop.approving import Granted, OneAtATime, policy_to_json, rules_of
from io_harness.loop.memory import RunMemory, RunTrace
from io_harness.loop.stall import StallTracker
from io_harness.loop.state import Run
from io_harness.policy import Approver, Policy
from io_harness.providers import Provider
from io_harness.store import Lease, Recorded, Store
from io_harness.store.damage import restoring
from io_harness.store.workspaces import workspace_name
from io_harness.tools import BUILTIN_TOOLS, Tool, Toolbox, ToolContext
from io_harness.tools.base import check_tool
from io_harness.types import Act, Completion, Effect, ToolCall
from io_harness.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Setting:
    """What a caller gives a run besides its contract."""

    provider: Provider
    store: Store
    policy: Policy
    approver: Approver | None
    tools: tuple[Tool, ...]
    observer: Observer | None

    def __post_init__(self) -> None:
        of_kind("store", self.store, Store)
        of_kind("policy", self.policy, Policy)
        _has("provider", self.provider, "name", "model", "cache_price", "complete")
        if self.approver is not None:
            _has("approver", self.approver, "decide")
        for tool in self.tools:
            check_tool(tool)
        if self.observer is not None and not callable(self.observer):
            raise ConfigError(f"observer must be a function of an event, got {self.observer!r}")
        if inspect.iscoroutinefunction(self.observer):
            raise ConfigError(f"observer must be no async function, got {self.observer!r}")


def _has(what: str, value: object, *names: str) -> None:
    """Raise `ConfigError` where something lacks what its Protocol has."""
    missing = [name for name in names if not hasattr(value, name)]
    if missing:
        raise ConfigError(f"{what} must have {', '.join(names)}; {value!r} lacks {missing[0]}")


def toolbox_of(contract: TaskContract, setting: Setting) -> Toolbox:
    """Return the tools that the run can use.

    Commands are not offered where nobody could ever allow one. Raises `PolicyNeedsApprover`
    where the policy would ask about something else and there is nobody to ask.
    """
    offered: Sequence[Tool] = (*BUILTIN_TOOLS, *setting.tools)
    if contract.memory_mode != "on":
        offered = [tool for tool in offered if tool.spec.name not in ("remember", "forget")]
    if setting.approver is not None:
        return Toolbox(offered)
    if _only_asks(setting.policy, Act.EXEC):
        offered = [tool for tool in offered if Act.EXEC not in tool.acts]
    toolbox = Toolbox(offered)
    asking = [act.value for act in sorted(toolbox.acts) if setting.policy.may_ask(act)]
    if asking:
        raise PolicyNeedsApprover(
            f"the policy would ask before some acts ({', '.join(asking)}) and nobody is there to "
            "ask: give an approver, or extend the policy with rules that allow or deny them "
            "(Policy.workspace() allows writing inside the root)"
        )
    return toolbox


def _only_asks(policy: Policy, act: Act) -> bool:
    """Whether a policy asks about an act by default and has no rule of its own that allows some."""
    ruled = any(r.act is act and r.effect is not Effect.DENY for r in rules_of(policy))
    return policy.defaults[act] is Effect.ASK and not ruled


async def new_run(contract: TaskContract, setting: Setting, workspace: Workspace) -> Run:
    """Record a new run and return it, ready for its first turn."""
    toolbox = toolbox_of(contract, setting)
    lease = await setting.store.journal.begin(
        goal=contract.goal,
        workspace=workspace_key(contract, workspace),
        contract=stored_form(contract, workspace),
        provider=setting.provider.name,
        model=setting.provider.model,
        policy=policy_to_json(setting.policy),
    )
    return _run(contract, setting, workspace, toolbox=toolbox, lease=lease, ledger=Ledger())


async def recorded_run(
    contract: TaskContract, setting: Setting, workspace: Workspace, lease: Lease
) -> tuple[Run, Recorded]:
    """Return a recorded run as it was, ready to go on, and what was recorded of it."""
    toolbox = toolbox_of(contract, setting)
    recorded = await setting.store.journal.load(lease.run_id)
    ledger = _ledger_of(recorded)
    run = _run(
        contract,
        setting,
        workspace,
        toolbox=toolbox,
        lease=lease,
        ledger=ledger,
        manifest=recorded.manifest,
    )
    for observation in ledger:
        run.account_for(observation)
    run.know_refreshes(recorded.refreshes)
    run.step, run.completion = recorded.last_step, recorded.last_completion
    run.is_open = recorded.unfinished is not None
    run.section = recorded.last_request.messages[1:] if recorded.last_request else ()
    run.attempts = recorded.attempts
    with restoring(f"the state of run {recorded.run.run_id!r}"):
        run.restore(recorded.state)
    run.in_view = await _in_view(run, setting.store)
    if not _is_same_model(recorded, setting):
        # Reasoning is signed for the model that thought it.
        run.completion = run.completion and replace(run.completion, reasoning=None)
    elif recorded.attempts:
        calls = await asyncio.to_thread(setting.store.provider_calls, lease.run_id)
        refused = [c for c in calls if c.step > run.step and c.kind == "context_overflow"]
        run.is_refused = bool(refused) and stored_form(contract, workspace) == recorded.run.contract
    for step, completion, estimate in answers_of(recorded):
        run.know_calls(step, completion)
        account_for(run, completion, estimate)
    return run, recorded


def _ledger_of(recorded: Recorded) -> Ledger:
    ledger = Ledger()
    unfinished = recorded.unfinished.step if recorded.unfinished else 0
    for observation in recorded.observations:
        if observation.step != unfinished:
            ledger.push(observation)
    return ledger


async def _in_view(run: Run, store: Store) -> frozenset[tuple[int, int]]:
    """Return what the request of a step that is still open showed."""
    if not run.is_open:
        return frozenset()
    events = await asyncio.to_thread(store.context_events, run.run_id)
    asked = [e.pieces for e in events if e.kind == "assembled" and e.step == run.step]
    return in_view(asked[-1]) if asked else frozenset()


def _is_same_model(recorded: Recorded, setting: Setting) -> bool:
    provider = setting.provider
    return (recorded.run.provider, recorded.run.model) == (provider.name, provider.model)


def answers_of(recorded: Recorded) -> Iterator[tuple[int, Completion, int]]:
    """Yield each step's answer, as far as counting and pairing need it, and its estimate."""
    said = {o.step: o.text for o in recorded.observations if o.call == -1}
    calls: dict[int, list[ToolCall]] = defaultdict(list)
    for step, _, call in recorded.calls:
        calls[step].append(call)
    costs = zip(recorded.usages, recorded.estimates, strict=True)
    for step, (usage, estimate) in enumerate(costs, 1):
        completion = Completion(said.get(step, ""), tuple(calls[step]), usage)
        if step == recorded.last_step and recorded.last_completion is not None:
            completion = recorded.last_completion
        yield step, completion, estimate or 0


def stored_form(contract: TaskContract, workspace: Workspace) -> str:
    """Return the contract as JSON text, its root as it really is, wherever resume starts."""
    return contract_to_json(replace(contract, root=str(workspace.root)))


def workspace_key(contract: TaskContract, workspace: Workspace) -> str:
    """Return the name that the workspace's notes are kept under."""
    if contract.workspace_id is None:
        return workspace_name(workspace)
    return workspace_name(f"id:{contract.workspace_id.removeprefix('id:')}")


def _run(
    contract: TaskContract,
    setting: Setting,
    workspace: Workspace,
    *,
    toolbox: Toolbox,
    lease: Lease,
    ledger: Ledger,
    manifest: str | None = None,
) -> Run:
    memory, trace, grants = RunMemory(), RunTrace(), set[tuple[Act, str]]()
    approver = None if setting.approver is None else OneAtATime(setting.approver)
    tools = ToolContext(
        workspace,
        setting.policy,
        approver,
        grants,
        command_env=dict(contract.command_env),
        trace=trace,
        memory=memory,
    )
    made = Run(
        contract=contract,
        provider=setting.provider,
        journal=setting.store.journal,
        lease=lease,
        workspace_key=workspace_key(contract, workspace),
        toolbox=toolbox,
        tools=tools,
        ledger=ledger,
        assembler=_assembler(ledger, tools, contract, setting, manifest),
        stall=StallTracker(contract.stall),
        observer=setting.observer,
    )
    memory.run = trace.run = made
    if approver is not None:
        approver.run = made
    return made


def _assembler(
    ledger: Ledger,
    tools: ToolContext,
    contract: TaskContract,
    setting: Setting,
    manifest: str | None,
) -> Assembler:
    return Assembler(
        ledger,
        workspace=tools.workspace,
        policy=Granted(tools.policy, tools.grants, ledger),
        price=contract.cache_price or setting.provider.cache_price,
        manifest=manifest,
    )
