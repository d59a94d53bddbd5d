"""The demo: a scripted agent mends a small shop, through the real loop, tools, policy and store."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from io_harness.cli.demo_task import CHECK, PRIVATE, first_run, make_workspace, second_run
from io_harness.cli.endings import EXIT_OF
from io_harness.cli.output import call_in_short, out, say
from io_harness.cli.plot import plot
from io_harness.cli.table import Column, print_table, terminal_width
from io_harness.context import ContextBudget
from io_harness.contract import TaskContract, Verification
from io_harness.errors import ConfigError
from io_harness.events import Completed, Event, RequestAssembled, ToolCalled
from io_harness.loop import RunResult, run_sync
from io_harness.policy import ApprovalRequest, Decision, Policy
from io_harness.providers import ScriptedProvider, Turn
from io_harness.store import Store
from io_harness.types import Act, Effect, Rule

CEILING = 1_500


def show(place: Path | None) -> int:
    """Run the demo in a new directory and return the exit code."""
    base = _new_directory(place)
    root, store_file = base / "shop", base / "runs.db"
    make_workspace(root)
    say(f"A scripted agent mends three bugs in {root}.")
    say(f"What a request carries of earlier results is held to {CEILING:,} estimated tokens.")
    say()
    with Store.open(store_file) as store:
        first = _Watcher()
        result = _run(store, root, first_run(), first)
        _show_growth(first)
        _show_facts(store, result)
        say()
        second = _Watcher()
        later = _run(store, root, second_run(), second)
        say(f"A second run recalled {second.requests[0].recalled} notes of the first: "
            f"{_ended(later)}")  # fmt: skip
    _show_ways_on(store_file, root, result)
    return max(EXIT_OF[result.outcome], EXIT_OF[later.outcome])


class _Watcher:
    """Keeps what the observer is told, for the table."""

    def __init__(self) -> None:
        self.requests: list[RequestAssembled] = []
        self.did: dict[int, dict[int, str]] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case RequestAssembled():
                self.requests.append(event)
            case Completed() if not event.calls:
                self.did[event.step] = {0: "says it is done"}
            case ToolCalled():
                did = self.did.setdefault(event.step, {})
                did[event.call] = _brief(event.name, event.target or "")
            case _:
                pass

    def what(self, step: int) -> str:
        """What the agent did in a step, in the order of its calls: reads may end in another."""
        return ", ".join(text for _, text in sorted(self.did.get(step, {}).items()))


class _Nods:
    """An approver that says yes; a real one would ask you."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        return Decision.approve()


def _run(store: Store, root: Path, turns: Sequence[Turn], watcher: _Watcher) -> RunResult:
    policy = Policy.workspace().extended(
        Rule(Act.EXEC, Effect.ALLOW, shlex.join(CHECK)),
        Rule(Act.READ, Effect.ASK, PRIVATE),
        Rule(Act.WRITE, Effect.ASK, PRIVATE),
        name="demo",
    )
    contract = TaskContract.workspace(
        "Mend the shop until its check passes.", root, Verification.command(*CHECK)
    ).with_context_budget(ContextBudget(max_tokens=CEILING))
    provider = ScriptedProvider(turns)
    return run_sync(contract, provider, store, policy=policy, approver=_Nods(), observer=watcher)


def _show_growth(watcher: _Watcher) -> None:
    everything = [_everything(request) for request in watcher.requests]
    sent = [request.est_section for request in watcher.requests]
    say("Estimated tokens of results in each request, against sending everything always:")
    print_table(
        (
            Column("step"),
            Column("everything"),
            Column("sent"),
            Column("shown", drop=2),
            Column("stubs", drop=1),
            Column("re-read", drop=3),
            Column("what the agent did", fold=16),
        ),
        (
            (
                str(request.step),
                f"{whole:,}",
                f"{request.est_section:,}",
                str(request.carried),
                str(request.stubbed),
                str(request.reread),
                watcher.what(request.step),
            )
            for request, whole in zip(watcher.requests, everything, strict=True)
        ),
    )
    say()
    for line in plot({"everything": everything, "sent": sent}, width=terminal_width()):
        out.print(line)
    say()
    say(f"In all, everything would have sent {sum(everything):,} tokens; {sum(sent):,} were sent, "
        f"at most {max(sent):,} at once.")  # fmt: skip


def _show_facts(store: Store, result: RunResult) -> None:
    events = store.context_events(result.run_id)
    refused = [event for event in events if event.kind == "reread_refused"]
    because = refused[0].detail["because"] if refused else "none was"
    say(f"{sum(event.kind == 'reread' for event in events)} reads that a write made wrong were "
        f"read again; {len(refused)} could not be: {because}.")  # fmt: skip
    say(f"{_ended(result)} after {result.steps} steps")


def _show_ways_on(store_file: Path, root: Path, result: RunResult) -> None:
    say()
    say(f"The store is {store_file}. Look at it with:")
    for words in (
        ("show", result.run_id),
        ("show", result.run_id, "--step", "17", "--request"),
        ("memory", "list", str(root)),
    ):
        say(f"  {shlex.join(('io-harness', *words, '--store', str(store_file)))}", whole=True)


def _everything(request: RequestAssembled) -> int:
    return -(-request.everything_chars // 4)


def _ended(result: RunResult) -> str:
    reason = result.reason.replace(shlex.join(CHECK), "python check.py")
    return f"{result.outcome} ({reason})"


def _brief(name: str, target: str) -> str:
    """Return a call in a few words, without this machine's paths."""
    return call_in_short(name, target.replace(shlex.join(CHECK), "python check.py"))


def _new_directory(place: Path | None) -> Path:
    if place is None:
        return Path(tempfile.mkdtemp(prefix="io-harness-demo-"))
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        raise ConfigError(f"--dir {place}: it is there already; name a new directory") from None
    except OSError as error:
        raise ConfigError(f"--dir {place}: {error.strerror}") from error
    return place.resolve()
