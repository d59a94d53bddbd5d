"""Policies from a TOML file that the user names, or from the user's configuration directory."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from io_harness.errors import ConfigError
from io_harness.policy.rules import Layer, Policy
from io_harness.tomlfile import toml_table
from io_harness.types import Act, Effect, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PRESETS: Mapping[str, Callable[[], Policy]] = {
    "default": Policy.default,
    "workspace": Policy.workspace,
    "permissive": Policy.permissive,
}
_KEYS = ("preset", "defaults", "rules")
Named = TypeVar("Named", bound=StrEnum)


def user_policy_file() -> Path | None:
    """Where the user's own policy lies: `io-harness/policy.toml` in the configuration directory.

    `None` for a user without a home directory.
    """
    home = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        base = Path(home) if os.path.isabs(home) else Path.home() / ".config"
    except RuntimeError:
        return None
    return base / "io-harness" / "policy.toml"


def load_policy(
    path: str | os.PathLike[str] | None = None, *, root: str | os.PathLike[str] | None = None
) -> Policy:
    """The policy of a named file; without one the user's own, or `Policy.default()`.

    Raises ConfigError for what cannot be read, parsed or understood, and for a policy of the
    user's own that lies beneath `root`, a workspace, which an agent may write.
    """
    source = Path(path) if path is not None else user_policy_file()
    if source is None or (path is None and not source.exists()):
        return Policy.default()
    if path is None and root is not None and source.resolve().is_relative_to(Path(root).resolve()):
        raise ConfigError(
            f"your own policy {source} lies in the workspace {root}, which an agent may write: "
            "name a policy, or take another workspace"
        )
    return _policy(toml_table(source, "policy file"), str(source))


def _policy(table: dict[str, object], source: str) -> Policy:
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise ConfigError(f"{source}: unknown key {unknown[0]!r}; the keys are {', '.join(_KEYS)}")
    preset = table.get("preset", "default")
    if not isinstance(preset, str) or preset not in _PRESETS:
        raise ConfigError(f"{source}: preset is {preset!r}; it is one of {', '.join(_PRESETS)}")
    base = _PRESETS[preset]()
    layer = Layer(source, _rules(table.get("rules", []), source))
    return Policy((*base.layers, layer), {**base.defaults, **_defaults(table, source)})


def _defaults(table: dict[str, object], source: str) -> dict[Act, Effect]:
    defaults = table.get("defaults", {})
    if not isinstance(defaults, dict):
        raise ConfigError(f"{source}: defaults is a table of act = effect, got {defaults!r}")
    where = f"{source}: in defaults"
    return {
        _member(Act, act, where): _member(Effect, effect, where) for act, effect in defaults.items()
    }


def _rules(rules: object, source: str) -> tuple[Rule, ...]:
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ConfigError(f"{source}: rules are [[rules]] tables, got {rules!r}")
    return tuple(_rule(rule, f"{source}: rule {number}") for number, rule in enumerate(rules, 1))


def _rule(rule: dict[str, object], where: str) -> Rule:
    if set(rule) != {"act", "effect", "pattern"}:
        raise ConfigError(f"{where} has {', '.join(rule)}; a rule has act, effect and pattern")
    pattern = rule["pattern"]
    if not isinstance(pattern, str):
        raise ConfigError(f"{where}: pattern is a text, got {pattern!r}")
    return Rule(_member(Act, rule["act"], where), _member(Effect, rule["effect"], where), pattern)


def _member(known: type[Named], value: object, where: str) -> Named:
    for member in known:
        if member == value:
            return member
    what, names = known.__name__.lower(), ", ".join(known)
    raise ConfigError(f"{where}: {value!r} is no {what}; there are {names}")
