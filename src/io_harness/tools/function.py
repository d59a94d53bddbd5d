"""`@tool`: a typed function as a tool of one's own."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, overload

from io_harness.errors import ConfigError
from io_harness.jsontext import dumps
from io_harness.tools import foreign
from io_harness.tools.base import Need, Plan, ToolContext, checked_name
from io_harness.tools.outcome import ToolOutcome
from io_harness.tools.schema import Parameters, parameters_of
from io_harness.types import Act, ObsKind, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from io_harness.types import JSON

Named: TypeAlias = "str | Callable[[Mapping[str, JSON]], str] | None"
"""Which argument says it, or a function of all of them."""

_PATH_KINDS = {ObsKind.READ: Act.READ, ObsKind.WRITE: Act.WRITE}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """What the assembler and the policy must know of a function."""

    name: str | None
    kind: ObsKind
    target: Named
    scope: Named
    key: Named
    act: Act | None
    subject: Named
    trusted: bool
    effectful: bool | None

    def tool(self, function: Callable[..., object]) -> FunctionTool:
        """The function as a tool."""
        name = checked_name(function.__name__ if self.name is None else self.name)
        if self.kind not in tuple(ObsKind):
            kinds = ", ".join(ObsKind)
            raise ConfigError(f"{name}: {self.kind!r} is no kind; there are {kinds}")
        path_act = _PATH_KINDS.get(self.kind)
        if path_act and self.target is None:
            raise ConfigError(f"{name}: kind {self.kind} needs a target: the path's argument")
        parameters = parameters_of(function, given=ToolContext)
        for word in (self.target, self.scope, self.key, self.subject):
            if isinstance(word, str) and word not in parameters.names:
                there = ", ".join(parameters.names) or "none"
                raise ConfigError(f"{name}: no parameter is named {word!r}; there are {there}")
        spec = ToolSpec(name, inspect.getdoc(function) or "", parameters.schema)
        looks = self.kind in (ObsKind.READ, ObsKind.GREP, ObsKind.FIND)
        known = replace(
            self,
            act=path_act or self.act,
            subject=self.target if path_act else self.subject,
            effectful=not looks if self.effectful is None else self.effectful,
        )
        return FunctionTool(function, parameters, spec, known)


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function as a tool, made by `@tool`."""

    function: Callable[..., object]
    parameters: Parameters
    spec: ToolSpec
    declared: _Declared

    @property
    def acts(self) -> frozenset[Act]:
        """The act of every call, where there is one."""
        return frozenset() if self.declared.act is None else frozenset({self.declared.act})

    @property
    def effectful(self) -> bool:
        """Whether a call can change anything outside this process."""
        return bool(self.declared.effectful)

    @property
    def trusted(self) -> bool:
        """Whether the text comes from inside."""
        return self.declared.trusted

    def plan(self, arguments: Mapping[str, JSON], context: ToolContext) -> Plan:
        """Bind the arguments; a path kind's target must be allowed as any path must."""
        bound, declared = self.parameters.bind(arguments, context), self.declared
        subject, canonical = _said(declared.subject, arguments), None
        if declared.kind in _PATH_KINDS and subject is not None:
            canonical = context.workspace.canonical(subject)
        needs = () if declared.act is None else (Need(declared.act, subject or "", canonical),)
        outcome = ToolOutcome(
            declared.kind,
            canonical or _said(declared.target, arguments) or self.spec.name,
            "",
            scope=_said(declared.scope, arguments),
            key=_said(declared.key, arguments),
            changed=declared.kind is ObsKind.WRITE,
        )

        async def perform() -> ToolOutcome:
            return _filled(outcome, await foreign.call(self.function, **bound))

        return Plan(needs, perform)


def _said(named: Named, arguments: Mapping[str, JSON]) -> str | None:
    """What a declaration says of a call."""
    if named is None:
        return None
    if callable(named):
        return named(arguments)
    value = arguments.get(named)
    return value if value is None or isinstance(value, str) else dumps(value)


def _filled(outcome: ToolOutcome, result: object) -> ToolOutcome:
    """The outcome with what a function returned: an outcome of its own, text, or a value."""
    if isinstance(result, ToolOutcome):
        return result
    text = result if isinstance(result, str) else "" if result is None else dumps(result)
    return replace(outcome, text=text)


@overload
def tool(function: Callable[..., object], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    kind: ObsKind = ObsKind.TOOL,
    target: Named = None,
    scope: Named = None,
    key: Named = None,
    act: Act | None = None,
    subject: Named = None,
    trusted: bool = False,
    effectful: bool | None = None,
) -> Callable[[Callable[..., object]], FunctionTool]: ...
def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str | None = None,
    kind: ObsKind = ObsKind.TOOL,
    target: Named = None,
    scope: Named = None,
    key: Named = None,
    act: Act | None = None,
    subject: Named = None,
    trusted: bool = False,
    effectful: bool | None = None,
) -> FunctionTool | Callable[[Callable[..., object]], FunctionTool]:
    """Make a tool of a typed function; its docstring is what the model is told.

    A parameter of type ToolContext is given the run's. `target`, `scope`, `key` and `subject`
    each name an argument or are functions of all arguments. With kind read or write the target
    is a workspace path: it is made canonical, and the policy is asked; `act` and `subject` put
    any other call under the policy. `trusted` says that the text comes from inside. `effectful`
    is True unless the kind only looks. Raises ConfigError for a signature JSON cannot say.
    """
    declared = _Declared(
        name=name,
        kind=kind,
        target=target,
        scope=scope,
        key=key,
        act=act,
        subject=subject,
        trusted=trusted,
        effectful=effectful,
    )
    return declared.tool if function is None else declared.tool(function)
