"""Layers of rules of which the strictest wins, and the presets."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from io_harness.errors import ConfigError
from io_harness.policy.wildcard import Wildcard, WildcardSet
from io_harness.types import Act, Effect, Rule, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ACTS, _EFFECTS = tuple(Act), tuple(Effect)
_PATH_ACTS = frozenset({Act.READ, Act.WRITE})


@dataclass(frozen=True, slots=True)
class Layer:
    """Named rules of one origin; a folding layer compares without regard to case.

    Raises ConfigError for a rule that can mean nothing.
    """

    name: str
    rules: tuple[Rule, ...]
    folds_case: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check every rule and take its act and effect as enum members."""
        object.__setattr__(self, "rules", tuple(_checked(rule, self.name) for rule in self.rules))


def _checked(rule: Rule, layer: str) -> Rule:
    """The rule with its act and effect as enum members."""
    where = f"in layer {layer!r}: {rule!r}"
    if not isinstance(rule, Rule):
        raise ConfigError(f"no Rule(act, effect, pattern) {where}")
    if rule.act not in _ACTS or rule.effect not in _EFFECTS:
        known = f"acts are {', '.join(Act)}; effects are {', '.join(Effect)}"
        raise ConfigError(f"no such act or effect {where}; {known}")
    act, effect, pattern = Act(rule.act), Effect(rule.effect), rule.pattern
    if not isinstance(pattern, str) or not pattern or "\0" in pattern:
        raise ConfigError(f"a rule needs a pattern, a non-empty text without NUL, {where}")
    if act in _PATH_ACTS and pattern.startswith(("/", "~", "./", "../")):
        raise ConfigError(
            f"a pattern that matches no path {where}; write it relative to the workspace root"
        )
    if act in _PATH_ACTS and pattern.endswith("/"):
        name = pattern.rstrip("/")
        raise ConfigError(
            f"a pattern that ends in / matches nothing that is in a directory {where}; write "
            f"{name!r} for the directory and {f'{name}/*'!r} for what lies in it"
        )
    return Rule(act, effect, pattern)


class _Group:
    """The rules of one layer for one act and one effect."""

    __slots__ = ("_any", "_by_base_name", "_folds", "_rules", "effect", "layer")

    def __init__(self, layer: Layer, act: Act, effect: Effect, rules: list[Rule]) -> None:
        self.layer, self.effect = layer.name, effect
        self._folds = layer.folds_case
        self._by_base_name = act in _PATH_ACTS and effect is not Effect.ALLOW
        patterns = [self._compared(rule.pattern) for rule in rules]
        self._any = WildcardSet(patterns)
        self._rules = tuple(zip(map(Wildcard, patterns), rules, strict=True))

    def match(self, subject: str) -> Rule | None:
        """The first rule that matches the subject, or None."""
        whole = self._compared(subject)
        if self._any.matches(whole):
            return self._first(whole)
        base = whole.rpartition("/")[2]
        if self._by_base_name and base != whole and self._any.matches(base):
            return self._first(base)
        return None

    def _compared(self, text: str) -> str:
        """A text as it is compared: accents in one form, and without case where that is folded."""
        folded = text.casefold() if self._folds else text
        return folded if folded.isascii() else unicodedata.normalize("NFC", folded)

    def _first(self, name: str) -> Rule | None:
        return next((rule for pattern, rule in self._rules if pattern.matches(name)), None)


class Policy:
    """Layers of rules and a default effect for each act.

    Any deny in any layer wins, then any ask, then any allow, then the act's default: neither
    order nor specificity matters, so what is denied stays denied.
    """

    __slots__ = ("_groups", "defaults", "layers")

    def __init__(self, layers: Iterable[Layer], defaults: Mapping[Act, Effect]) -> None:
        self.layers = tuple(layers)
        missing = [act for act in Act if act not in defaults]
        if missing:
            raise ConfigError(f"a policy needs a default for {', '.join(missing)}")
        self.defaults = MappingProxyType({act: Effect(defaults[act]) for act in Act})
        self._groups = {act: self._strictest_first(act) for act in Act}

    def _strictest_first(self, act: Act) -> tuple[_Group, ...]:
        groups = []
        for effect in (Effect.DENY, Effect.ASK, Effect.ALLOW):
            for layer in self.layers:
                rules = [r for r in layer.rules if r.act is act and r.effect is effect]
                if rules:
                    groups.append(_Group(layer, act, effect, rules))
        return tuple(groups)

    @classmethod
    def default(cls) -> Policy:
        """Reads allowed, writes and commands asked about, no network, secrets kept."""
        return cls((SECRETS,), _defaults(Effect.ALLOW, Effect.ASK, Effect.ASK, Effect.DENY))

    @classmethod
    def workspace(cls) -> Policy:
        """Reads and writes allowed, commands asked about, no network, secrets kept."""
        return cls((SECRETS,), _defaults(Effect.ALLOW, Effect.ALLOW, Effect.ASK, Effect.DENY))

    @classmethod
    def permissive(cls) -> Policy:
        """Everything allowed, secrets included."""
        return cls((), _defaults(*[Effect.ALLOW] * 4))

    def extended(self, *rules: Rule, name: str = "extended") -> Policy:
        """A policy with one more layer, which may loosen a default, never a rule.

        Raises ConfigError for a malformed rule.
        """
        return Policy((*self.layers, Layer(name, rules)), self.defaults)

    def check(self, act: Act, subject: str, *aliases: str) -> Verdict:
        """The strictest answer for an act on a subject, under each name it has.

        For read and write the names are workspace-relative paths, as given and as they really
        are; for exec the subject is `shlex.join(argv)`.
        """
        names = (subject, *(alias for alias in aliases if alias != subject))
        for group in self._groups[act]:
            for name in names:
                rule = group.match(name)
                if rule is not None:
                    return Verdict(group.effect, rule, group.layer)
        return Verdict(self.defaults[act], None, "default")

    def may_ask(self, act: Act) -> bool:
        """Whether some subject of this act would need an approver."""
        rules = [rule for layer in self.layers for rule in layer.rules if rule.act is act]
        everything = {rule.effect for rule in rules if not rule.pattern.strip("*")}
        if Effect.DENY in everything:
            return False
        if any(rule.effect is Effect.ASK for rule in rules):
            return True
        return self.defaults[act] is Effect.ASK and Effect.ALLOW not in everything


def _defaults(read: Effect, write: Effect, execute: Effect, net: Effect) -> dict[Act, Effect]:
    return {Act.READ: read, Act.WRITE: write, Act.EXEC: execute, Act.NET: net}


def _denied(act: Act, *patterns: str) -> tuple[Rule, ...]:
    return tuple(Rule(act, Effect.DENY, pattern) for pattern in patterns)


_SECRET_NAMES = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx"),
    *("id_rsa", "id_ed25519", "id_ecdsa", ".netrc", ".npmrc", ".pypirc"),
    *(".ssh/*", "*/.ssh/*", ".aws/*", "*/.aws/*"),
)
SECRETS = Layer(
    "secrets",
    (
        *_denied(Act.READ, *_SECRET_NAMES),
        # `.git` as a file names the directory whose hooks git runs.
        *_denied(Act.WRITE, *_SECRET_NAMES, ".git", ".git/*", "*/.git/*", "io-harness.toml"),
        # The user's own policy, where the root is a home directory.
        *_denied(Act.WRITE, "io-harness/policy.toml", "*/io-harness/policy.toml"),
    ),
    folds_case=True,
)
"""What every preset but `permissive` keeps from an agent."""
