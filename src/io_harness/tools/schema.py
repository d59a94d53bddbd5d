"""JSON schemas from typed signatures, and the arguments of a call held against them."""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from enum import Enum
from typing import (
    TYPE_CHECKING,
    Annotated,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from io_harness.errors import ConfigError
from io_harness.tools.base import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from io_harness.types import JSON

Schema: TypeAlias = "dict[str, JSON]"

_SCALARS: dict[object, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


class _Misfit(Exception):
    """A value that is not what the schema says."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A type as a schema, and how a value of JSON becomes one of the type."""

    schema: Schema
    fit: Callable[[JSON], object]


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes from a call: a schema of type object, and its checking."""

    schema: Schema
    _shapes: Mapping[str, _Shape]
    _required: tuple[str, ...]
    _given: tuple[str, ...]

    def bind(self, arguments: Mapping[str, JSON], given: object) -> dict[str, object]:
        """The keyword arguments of a call, and what is given besides.

        Raises ToolError that names what does not fit.
        """
        unknown = sorted(set(arguments) - set(self._shapes))
        if unknown:
            raise ToolError(f"no argument is named {unknown[0]!r}; there are {self._names()}")
        missing = [name for name in self._required if name not in arguments]
        if missing:
            raise ToolError(f"the argument {missing[0]!r} is missing; there are {self._names()}")
        bound = dict.fromkeys(self._given, given)
        for name, value in arguments.items():
            try:
                bound[name] = self._shapes[name].fit(value)
            except _Misfit as misfit:
                if value is None and name not in self._required:
                    continue  # many models send null for what they leave out
                raise ToolError(f"the argument {name!r} {misfit}") from None
        return bound

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(self._shapes)

    def _names(self) -> str:
        return ", ".join(self._shapes) or "none"


def parameters_of(function: Callable[..., object], *, given: type) -> Parameters:
    """The parameters of a typed function; one of the type `given` is not the model's to fill.

    `Annotated[T, "text"]` describes a parameter. Raises ConfigError for what JSON cannot say.
    """
    name = getattr(function, "__name__", repr(function))
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(f"the types of {name} cannot be found: {error}") from None
    shapes, required, besides = dict[str, _Shape](), list[str](), list[str]()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in hints:
            raise ConfigError(f"{name}: the parameter {parameter.name!r} has no type")
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ConfigError(f"{name}: a tool takes no *{parameter.name}")
        if hints[parameter.name] is given:
            besides.append(parameter.name)
            continue
        try:
            shape = _shape(hints[parameter.name])
        except _Misfit as misfit:
            raise ConfigError(f"{name}: the parameter {parameter.name!r} {misfit}") from None
        shapes[parameter.name] = shape
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return Parameters(_object(shapes, required), shapes, tuple(required), tuple(besides))


def _object(shapes: Mapping[str, _Shape], required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": {name: dict(shape.schema) for name, shape in shapes.items()},
        "required": [*required],
        "additionalProperties": False,
    }


def _shape(hint: object) -> _Shape:
    """The shape of a type. Raises _Misfit for one that JSON cannot say."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        inner = _shape(arguments[0])
        texts = [text for text in arguments[1:] if isinstance(text, str)]
        schema: Schema = {**inner.schema, "description": texts[0]} if texts else inner.schema
        return _Shape(schema, inner.fit)
    if isinstance(hint, type) and hint in _SCALARS:
        return _scalar(hint)
    if origin is Literal:
        return _choice(list(arguments), list(arguments))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice([member.value for member in hint], list(hint))
    if origin in (Union, types.UnionType):
        return _union([_shape(argument) for argument in arguments])
    if (origin or hint) in (list, tuple) and (len(arguments) == 1 or arguments[1:] == (...,)):
        return _sequence(_shape(arguments[0]), list if origin is list else tuple)
    if origin is dict and arguments and arguments[0] is str:
        return _mapping(_shape(arguments[1]))
    raise _Misfit(f"has a type that JSON cannot say: {hint!r}")


def _scalar(kind: type) -> _Shape:
    word = _SCALARS[kind]

    def fit(value: JSON) -> object:
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            try:
                return float(value)
            except OverflowError:
                raise _Misfit("is too large") from None
        if kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _Misfit(f"must be {word}, not {_said(value)}")
        return value

    return _Shape({"type": word}, fit)


def _choice(values: list[JSON], members: list[object]) -> _Shape:
    def fit(value: JSON) -> object:
        for known, member in zip(values, members, strict=True):
            if known == value and type(known) is type(value):
                return member
        raise _Misfit(f"must be one of {', '.join(map(repr, values))}, not {_said(value)}")

    return _Shape({"enum": values}, fit)


def _union(shapes: list[_Shape]) -> _Shape:
    def fit(value: JSON) -> object:
        misfits = []
        for shape in shapes:
            try:
                return shape.fit(value)
            except _Misfit as misfit:
                misfits.append(str(misfit))
        raise _Misfit(" or ".join(misfits))

    return _Shape({"anyOf": [dict(shape.schema) for shape in shapes]}, fit)


def _sequence(inner: _Shape, make: type[list[object]] | type[tuple[object, ...]]) -> _Shape:
    def fit(value: JSON) -> object:
        if not isinstance(value, list):
            raise _Misfit(f"must be an array, not {_said(value)}")
        return make(inner.fit(item) for item in value)

    return _Shape({"type": "array", "items": dict(inner.schema)}, fit)


def _mapping(inner: _Shape) -> _Shape:
    def fit(value: JSON) -> object:
        if not isinstance(value, dict):
            raise _Misfit(f"must be an object, not {_said(value)}")
        return {key: inner.fit(item) for key, item in value.items()}

    return _Shape({"type": "object", "additionalProperties": dict(inner.schema)}, fit)


def _said(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
