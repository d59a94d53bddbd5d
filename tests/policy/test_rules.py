"""Policies against a naive reading of their rules, and what the presets say."""

from __future__ import annotations

import random
import time

import pytest

from io_harness.errors import ConfigError
from io_harness.policy import SECRETS, Layer, Policy
from io_harness.types import Act, Effect, Rule

STRENGTH = [Effect.ALLOW, Effect.ASK, Effect.DENY]
SEED = 20_260


def naive_match(pattern: str, subject: str) -> bool:
    """A textbook table over every prefix of both: slow, and plainly right."""
    table = [[False] * (len(subject) + 1) for _ in range(len(pattern) + 1)]
    table[0][0] = True
    for i, char in enumerate(pattern, 1):
        table[i][0] = char == "*" and table[i - 1][0]
        for j, other in enumerate(subject, 1):
            if char == "*":
                table[i][j] = table[i - 1][j] or table[i][j - 1]
            else:
                table[i][j] = char in ("?", other) and table[i - 1][j - 1]
    return table[-1][-1]


def naive_check(policy: Policy, act: Act, names: tuple[str, ...]) -> Effect:
    """Every rule against every name; the strongest effect that any gives, else the default."""
    effects = []
    for layer in policy.layers:
        for rule in layer.rules:
            if rule.act != act:
                continue
            for name in names:
                fold = str.casefold if layer.folds_case else str
                tried = {name}
                if act in (Act.READ, Act.WRITE) and rule.effect is not Effect.ALLOW:
                    tried.add(name.split("/")[-1])
                if any(naive_match(fold(rule.pattern), fold(text)) for text in tried):
                    effects.append(rule.effect)
    return max(effects, key=STRENGTH.index) if effects else policy.defaults[act]


def random_text(rng: random.Random, alphabet: str, longest: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, longest)))


def random_policy(rng: random.Random) -> Policy:
    layers = []
    for number in range(rng.randint(0, 3)):
        rules = [
            Rule(
                rng.choice(list(Act)),
                rng.choice(STRENGTH),
                "x" * rng.randint(0, 1)
                + random_text(rng, "aB.*?", 2)
                + random_text(rng, "a/*?", 4),
            )
            for _ in range(rng.randint(0, 6))
        ]
        usable = tuple(
            rule
            for rule in rules
            if not rule.pattern.startswith(("./", "../"))
            and not (rule.pattern.endswith("/") and rule.act in {Act.READ, Act.WRITE})
        )
        layers.append(Layer(f"l{number}", usable, folds_case=rng.random() < 0.3))
    if rng.random() < 0.3:
        layers.append(SECRETS)
    return Policy(layers, {act: rng.choice(STRENGTH) for act in Act})


def test_ten_thousand_random_policies_agree_with_the_naive_reading() -> None:
    rng = random.Random(SEED)
    seen = set()
    for _ in range(10_000):
        policy = random_policy(rng)
        names = tuple(random_text(rng, "aAbB./x", 7) for _ in range(rng.randint(1, 2)))
        act = rng.choice(list(Act))
        verdict = policy.check(act, *names)
        assert verdict.effect == naive_check(policy, act, names), (policy.layers, act, names)
        assert (verdict.rule is None) == (verdict.layer == "default")
        if verdict.rule is not None:
            assert verdict.rule.effect is verdict.effect
            assert verdict.rule.act is act
            assert verdict.rule in next(
                layer.rules for layer in policy.layers if layer.name == verdict.layer
            )
        seen.add((verdict.effect, verdict.rule is None))
    assert len(seen) == 6, "the test no longer reaches every kind of verdict"


@pytest.mark.parametrize(
    "subject",
    [
        *(".env", "a/.env", ".env.local", "deep/er/.env.prod", "cert.pem", "a/b.key", "k.p12"),
        *("k.pfx", "id_rsa", "x/id_ed25519", "id_ecdsa", ".netrc", ".npmrc", ".pypirc"),
        *(
            ".ssh/config",
            "a/.ssh/config",
            ".aws/credentials",
            "a/b/.aws/credentials",
            ".ENV",
            "a/Cert.PEM",
            ".SSH/x",
            "a/ID_RSA",
        ),
    ],
)
@pytest.mark.parametrize("preset", [Policy.default, Policy.workspace])
def test_presets_keep_secrets_in_any_case(preset: object, subject: str) -> None:
    policy = Policy.default() if preset is Policy.default else Policy.workspace()
    for act in (Act.READ, Act.WRITE):
        verdict = policy.check(act, subject)
        assert (verdict.effect, verdict.layer) == (Effect.DENY, "secrets")


def test_presets_say_what_they_promise() -> None:
    allow, ask, deny = Effect.ALLOW, Effect.ASK, Effect.DENY
    expected = {
        Policy.default(): [allow, ask, ask, deny],
        Policy.workspace(): [allow, allow, ask, deny],
        Policy.permissive(): [allow] * 4,
    }
    for policy, effects in expected.items():
        assert [policy.check(act, "src/a.py").effect for act in Act] == effects
    for subject in (".git/config", "sub/.git/hooks/x", ".git", "sub/.GIT", "io-harness.toml"):
        assert Policy.workspace().check(Act.WRITE, subject).effect is deny
        assert Policy.workspace().check(Act.READ, subject).effect is allow
    assert Policy.permissive().check(Act.READ, ".env").effect is allow


def test_a_layer_loosens_a_default_but_never_a_rule() -> None:
    rules = [Rule(act, Effect.ALLOW, "*") for act in Act]
    policy = Policy.default().extended(*rules, name="mine")
    assert policy.check(Act.WRITE, "a.py").effect is Effect.ALLOW
    assert policy.check(Act.WRITE, "a.py").layer == "mine"
    assert policy.check(Act.NET, "example.org").effect is Effect.ALLOW
    assert policy.check(Act.READ, ".env").effect is Effect.DENY
    assert Policy.default().check(Act.WRITE, "a.py").effect is Effect.ASK


def test_the_strictest_name_of_a_subject_decides() -> None:
    policy = Policy.workspace()
    assert policy.check(Act.READ, "notes.txt", ".env").effect is Effect.DENY
    assert policy.check(Act.READ, ".env", "notes.txt").effect is Effect.DENY


def test_allow_rules_are_not_tried_on_the_base_name() -> None:
    policy = Policy((), dict.fromkeys(Act, Effect.DENY)).extended(
        Rule(Act.READ, Effect.ALLOW, "a.txt")
    )
    assert policy.check(Act.READ, "a.txt").effect is Effect.ALLOW
    assert policy.check(Act.READ, "elsewhere/a.txt").effect is Effect.DENY


@pytest.mark.parametrize(
    ("act", "effect", "pattern"),
    [
        *(("raed", "deny", "x"), ("read", "forbid", "x"), ("read", "deny", "")),
        *(("read", "deny", "a\0b"), ("read", "deny", "/etc/*"), ("write", "allow", "~/x")),
        *(("read", "deny", "./x"), ("read", "deny", "../x")),
        *(("read", "deny", "secrets/"), ("write", "ask", "*/")),
    ],
)
def test_a_malformed_rule_is_an_error_when_the_policy_is_built(
    act: Act, effect: Effect, pattern: str
) -> None:
    with pytest.raises(ConfigError, match="mine"):
        Policy.default().extended(Rule(act, effect, pattern), name="mine")


def test_text_acts_and_effects_are_understood() -> None:
    rule = Rule("exec", "allow", "git status*")  # type: ignore[arg-type] # text, as from JSON
    policy = Policy.default().extended(rule)
    assert policy.check(Act.EXEC, "git status -s").effect is Effect.ALLOW
    assert policy.check(Act.EXEC, "git push").effect is Effect.ASK


def test_a_policy_needs_every_default() -> None:
    with pytest.raises(ConfigError, match="net"):
        Policy((), {Act.READ: Effect.ALLOW, Act.WRITE: Effect.ALLOW, Act.EXEC: Effect.ALLOW})


def test_a_check_is_linear_in_hostile_subjects() -> None:
    policy = Policy.default().extended(Rule(Act.EXEC, Effect.DENY, "*a" * 60 + "*b"))
    began = time.perf_counter()
    assert policy.check(Act.EXEC, "a" * 100_000).effect is Effect.ASK
    assert time.perf_counter() - began < 60, "backtracking would take for ever"


def test_may_ask_tells_whether_somebody_must_be_there() -> None:
    assert [act for act in Act if Policy.default().may_ask(act)] == [Act.WRITE, Act.EXEC]
    assert [act for act in Act if Policy.workspace().may_ask(act)] == [Act.EXEC]
    assert not any(Policy.permissive().may_ask(act) for act in Act)
    answered = Policy.workspace().extended(Rule(Act.EXEC, Effect.ALLOW, "*"))
    assert not answered.may_ask(Act.EXEC)
    assert answered.extended(Rule(Act.EXEC, Effect.ASK, "rm *")).may_ask(Act.EXEC)
    refused = Policy.default().extended(Rule(Act.WRITE, Effect.DENY, "*"))
    assert not refused.may_ask(Act.WRITE)


@pytest.mark.parametrize("written", ["caf\u00e9/*", "cafe\u0301/*", "CAF\u00c9/*"])
@pytest.mark.parametrize("asked", ["caf\u00e9/menu", "cafe\u0301/menu"])
def test_a_rule_holds_however_accents_are_stored(written: str, asked: str) -> None:
    rule = Rule(Act.READ, Effect.DENY, written)
    folding = Policy([Layer("folding", (rule,), folds_case=True)], Policy.permissive().defaults)
    assert folding.check(Act.READ, asked).effect is Effect.DENY
    exact = Policy.permissive().extended(rule).check(Act.READ, asked).effect
    assert (exact is Effect.DENY) == written.islower()
