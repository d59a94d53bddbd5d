"""A contract as JSON text, for the store, and as a TOML file that a user names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import TypeVar, cast

from io_harness import jsontext
from io_harness.context.budget import CachePrice, ContextBudget
from io_harness.contract.limits import Retries, StallLimits
from io_harness.contract.task import TaskContract
from io_harness.contract.verification import Verification, VerificationKind
from io_harness.errors import ConfigError
from io_harness.memory import MemoryLimits
from io_harness.tomlfile import toml_table

Built = TypeVar("Built")

_PARTS: dict[str, Callable[..., object]] = {
    "context_budget": ContextBudget,
    "cache_price": CachePrice,
    "memory_limits": MemoryLimits,
    "retries": Retries,
    "stall": StallLimits,
}
_FIELDS = frozenset(field.name for field in fields(TaskContract))


def contract_to_json(contract: TaskContract) -> str:
    """Return the contract as JSON text; a callable in it is left out, its place kept."""
    values: dict[str, object] = {
        name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        for name in _FIELDS - {"verification"}
        for value in (getattr(contract, name),)
    }
    values["verification"] = _verification_values(contract.verification)
    values["command_env"] = dict(contract.command_env)
    return jsontext.dumps(values, sort_keys=True)


def contract_from_json(text: str) -> TaskContract:
    """Return the contract of a stored run.

    Raises `ConfigError` where it held a callable, which must be given again.
    """
    return _contract(cast("dict[str, object]", jsontext.loads(text)), "the stored contract")


def contract_from_file(path: str | PathLike[str], *, goal: str | None = None) -> TaskContract:
    """Return the contract that a TOML file describes; `goal` replaces the file's.

    Keys are the names of the `with_` methods without `with_`, besides `goal` and `root` (taken
    from the file's directory; without it that directory). Raises `ConfigError` naming the key.
    """
    file = Path(path)
    values = toml_table(file, "contract file")
    if goal is not None:
        values["goal"] = goal
    values["root"] = str(file.parent / str(values.get("root", ".")))
    return _contract(values, str(file))


def _contract(given: Mapping[str, object], where: str) -> TaskContract:
    values = dict(given)
    unknown = sorted(values.keys() - _FIELDS)
    if unknown:
        raise ConfigError(
            f"{where}: {unknown[0]!r} is no setting; there are {', '.join(sorted(_FIELDS))}"
        )
    if "goal" not in values:
        raise ConfigError(f"{where}: there is no goal")
    for name, build in _PARTS.items():
        if values.get(name) is not None:
            values[name] = _built(build, values[name], f"{where}: {name}")
    values["verification"] = _verification(values.get("verification"), where)
    values["constraints"] = tuple(_texts(values.get("constraints", []), f"{where}: constraints"))
    env = values.get("command_env", {})
    if not isinstance(env, dict):
        raise ConfigError(f"{where}: command_env is a table of texts, got {env!r}")
    values["command_env"] = tuple(sorted((str(name), str(env[name])) for name in env))
    return _built(TaskContract, values, where)


def _built(build: Callable[..., Built], values: object, where: str) -> Built:
    if not isinstance(values, dict):
        raise ConfigError(f"{where} is a table, got {values!r}")
    try:
        return build(**values)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error


def _texts(values: object, where: str) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ConfigError(f"{where} is a list of texts, got {values!r}")
    return values


def _verification_values(verify: Verification) -> dict[str, object]:
    match verify.kind:
        case VerificationKind.COMMAND:
            return {"command": list(verify.argv), "expect_exit": verify.expect_exit}
        case VerificationKind.FILE_CONTAINS | VerificationKind.FILE_EQUALS:
            return {verify.kind.value: verify.file, "text": verify.text}
        case VerificationKind.ALL_OF:
            return {"all_of": [_verification_values(part) for part in verify.parts]}
        case VerificationKind.CALLABLE:
            return {"callable": True}
        case VerificationKind.NONE:
            return {}


def _verification(given: object, where: str) -> Verification:
    match given:
        case None | {} if not given:
            return Verification.none()
        case {"command": argv, "expect_exit": int(expect_exit)}:
            argv = _texts(argv, f"{where}: verification.command")
            return Verification.command(*argv, expect_exit=expect_exit)
        case {"command": argv}:
            return Verification.command(*_texts(argv, f"{where}: verification.command"))
        case {"file_contains": str(file), "text": str(text)}:
            return Verification.file_contains(file, text)
        case {"file_equals": str(file), "text": str(text)}:
            return Verification.file_equals(file, text)
        case {"all_of": list(parts)}:
            return Verification.all_of(*(_verification(part, where) for part in parts))
        case {"callable": _}:
            raise ConfigError(
                f"{where} holds a callable, which cannot be stored: resume from Python, with the "
                "contract given again"
            )
    raise ConfigError(
        f"{where}: verification is a table with command, file_contains, file_equals or all_of, "
        f"got {given!r}"
    )
