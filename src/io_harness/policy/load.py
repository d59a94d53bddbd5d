"""Policies from a TOML file that the user names, or from the user's configuration directory."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from io_harness.errors import ConfigError
from io_harness.policy.rules import Layer, Policy
from io_harness.types import Act, Effect, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PRESETS: Mapping[str, Callable[[], Policy]] = {
    "default": Policy.default,
    "workspace": Policy.workspace,
    "permissive": Policy.permissive,
}
_KEYS = ("preset", "defaults", "rules")


def user_policy_file() -> Path:
    """Where the user's own policy lies: `io-harness/policy.toml` in the configuration directory."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(home) if os.path.isabs(home) else Path.home() / ".config"
    return base / "io-harness" / "policy.toml"


def load_policy(path: str | os.PathLike[str] | None = None) -> Policy:
    """The policy of a named file; without one the user's own, or `Policy.default()`.

    The file never lies implicitly in a workspace, which the agent may write. Raises ConfigError
    for what cannot be read, parsed or understood.
    """
    source = Path(path) if path is not None else user_policy_file()
    if path is None and not source.exists():
        return Policy.default()
    try:
        table = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the policy file {source} cannot be used: {error}") from None
    return _policy(table, str(source))


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
        raise ConfigError(f"{source}: defaults is a table of act = effect")
    try:
        return {Act(act): Effect(effect) for act, effect in defaults.items()}
    except ValueError as error:
        raise ConfigError(f"{source}: in defaults: {error}") from None


def _rules(rules: object, source: str) -> tuple[Rule, ...]:
    fields = {"act", "effect", "pattern"}
    if not isinstance(rules, list) or not all(
        isinstance(rule, dict) and set(rule) == fields for rule in rules
    ):
        raise ConfigError(f"{source}: each [[rules]] has exactly act, effect and pattern")
    return tuple(Rule(rule["act"], rule["effect"], rule["pattern"]) for rule in rules)
