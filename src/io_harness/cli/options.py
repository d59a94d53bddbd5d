"""The options of commands, each said once, and those that `run` and `resume` share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer

from io_harness.cli.asking import Deferring, TerminalApprover
from io_harness.cli.progress import JsonLines, Progress, Shown, is_interactive
from io_harness.contract import TaskContract
from io_harness.errors import ConfigError
from io_harness.policy import Approver, Policy
from io_harness.types import Act, Effect, Rule


def _path(text: str) -> Path:
    """A path that an option names; an empty one, as of a variable that is not set, is none."""
    if not text.strip():
        raise typer.BadParameter("it is empty: name a path, or leave the option out")
    return Path(text)


StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="PATH", help="The store; else $IO_HARNESS_STORE or your own."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON, for machines.")]
RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="DIR", parser=_path, help="The workspace; else the current directory."
    ),
]
DirOption = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", parser=_path, help="A new directory to work in."),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", parser=_path, help="The whole contract, as TOML."),
]
RootArgument = Annotated[str, typer.Argument(metavar="ROOT", help="The workspace, or its id.")]
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="The note's key.")]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help='Its id, the start of it, or "last".')
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What `run` and `resume` have in common."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="P:M",
            help="anthropic:M, openai:M, openrouter:M or openai-compatible:M@URL.",
        ),
    ] = None
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="N", help="Most tokens of all requests together."),
    ] = None
    max_steps: Annotated[
        int | None,
        typer.Option("--max-steps", metavar="N", help="Most steps in all; 50 for a new run."),
    ] = None
    time_budget: Annotated[
        float | None,
        typer.Option(
            "--time-budget", metavar="S", help="Most seconds in all; no limit for a new run."
        ),
    ] = None
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            parser=_path,
            help="A policy, as TOML; your own for a new run.",
        ),
    ] = None
    allow: Annotated[
        str | None,
        typer.Option(
            "--allow", metavar="ACTS", help="Acts allowed without asking, as read,write,exec."
        ),
    ] = None
    store: StoreOption = None
    as_json: JsonOption = False

    def observer(self, run_id: str = "") -> Shown:
        """Return what shows the run."""
        return JsonLines(run_id) if self.as_json else Progress(run_id)

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
        if self.time_budget is not None:
            contract = contract.with_time_budget(self.time_budget)
        return contract

    def said_again(self) -> dict[str, object]:
        """Return the options that a resumed run does not keep, by name: limits and permissions."""
        return {
            "--budget": self.budget,
            "--max-steps": self.max_steps,
            "--time-budget": self.time_budget,
            "--policy": self.policy,
            "--allow": self.allow,
        }


def with_common(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Common`, which it takes as one value, `common`."""
    hints = get_type_hints(Common, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(Common)
    ]
    signature = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "common"]

    def called(**given: object) -> None:
        taken = cast("dict[str, Any]", {one.name: given.pop(one.name) for one in shared})
        command(Common(**taken), **given)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + shared
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called
