"""How a built-in tool is made: a typed planner with a name and a description."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.tools.base import Need, Plan, ToolContext, WritePlan
from io_harness.tools.foreign import in_thread
from io_harness.tools.schema import Parameters, parameters_of
from io_harness.types import Act, Effect, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from io_harness.tools.outcome import ToolOutcome
    from io_harness.types import JSON
    from io_harness.workspace import Gate


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """A planner as a tool: it is given the context and the arguments of a call."""

    spec: ToolSpec
    planner: Callable[..., Plan | WritePlan]
    parameters: Parameters
    acts: frozenset[Act]
    effectful: bool
    trusted: bool

    def plan(self, arguments: Mapping[str, JSON], context: ToolContext) -> Plan | WritePlan:
        """Bind the arguments and plan."""
        return self.planner(**self.parameters.bind(arguments, context))


def builtin(
    *acts: Act, effectful: bool = False, trusted: bool = False
) -> Callable[[Callable[..., Plan | WritePlan]], BuiltinTool]:
    """Make a built-in tool of a planner; its docstring is what the model is told."""

    def decorate(planner: Callable[..., Plan | WritePlan]) -> BuiltinTool:
        parameters = parameters_of(planner, given=ToolContext)
        spec = ToolSpec(planner.__name__, inspect.getdoc(planner) or "", parameters.schema)
        return BuiltinTool(spec, planner, parameters, frozenset(acts), effectful, trusted)

    return decorate


def path_need(context: ToolContext, act: Act, path: str) -> Need:
    """The need of an act on a path. Raises PathOutside."""
    return Need(act, path, context.workspace.canonical(path))


def reading_gate(context: ToolContext, need: Need) -> Gate:
    """What a search may open: what the policy allows, or an approval does.

    Its need was ruled on, and asked about where need be, before the search began.
    """

    def gate(path: str) -> Effect:
        effect = context.policy.check(Act.READ, path).effect
        granted = (Act.READ, path) == need.grant or (Act.READ, path) in context.grants
        return Effect.ALLOW if effect is Effect.ASK and granted else effect

    return gate


def blocking(needs: tuple[Need, ...], work: Callable[[], ToolOutcome]) -> Plan:
    """A plan whose work blocks and changes nothing: a run that ends does not wait for it."""

    async def perform() -> ToolOutcome:
        return await in_thread(work)

    return Plan(needs, perform)
