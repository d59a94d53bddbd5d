"""Policies from files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from io_harness.errors import ConfigError
from io_harness.policy import Policy, load_policy
from io_harness.types import Act, Effect

GOOD = """
preset = "workspace"
[defaults]
exec = "deny"
[[rules]]
act = "exec"
effect = "allow"
pattern = "pytest*"
[[rules]]
act = "read"
effect = "deny"
pattern = "private/*"
"""


def test_a_named_file_adds_a_layer_to_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(GOOD)
    policy = load_policy(file)
    assert policy.check(Act.EXEC, "pytest -q").effect is Effect.ALLOW
    assert policy.check(Act.EXEC, "rm x").effect is Effect.DENY
    assert policy.check(Act.WRITE, "a.py").effect is Effect.ALLOW
    verdict = policy.check(Act.READ, "private/a")
    assert (verdict.effect, verdict.layer) == (Effect.DENY, str(file))
    assert policy.check(Act.READ, ".env").layer == "secrets"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prest = 'default'", "prest"),
        ("preset = 'open'", "open"),
        ("defaults = 1", "defaults"),
        ("[defaults]\nreed = 'allow'", "in defaults: 'reed' is no act; there are read, write, "),
        ("[defaults]\nread = ['allow']", "is no effect; there are allow, ask, deny"),
        ("rules = 1", "rules are"),
        ("rules = [1]", "rules are"),
        ("[[rules]]\nact = 'read'\neffect = 'deny'", "rule 1 has act, effect; a rule has act, "),
        ("[[rules]]\nact = 'read'\neffect = 'no'\npattern = 'x'", "rule 1: 'no' is no effect"),
        ("[[rules]]\nact = 'fly'\neffect = 'deny'\npattern = 'x'", "rule 1: 'fly' is no act"),
        ("[[rules]]\nact = ['a']\neffect = 'deny'\npattern = 'x'", "is no act"),
        ("[[rules]]\nact = 'read'\neffect = 'deny'\npattern = 3", "rule 1: pattern is a text"),
        ("not toml", "is no TOML: "),
    ],
)
def test_what_cannot_be_understood_is_an_error_that_names_it(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_policy(file)


def test_a_missing_named_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_policy(tmp_path / "nowhere.toml")


def test_without_a_name_the_users_own_file_counts_and_never_the_workspaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "root"
    root.mkdir()
    (root / "io-harness.toml").write_text("preset = 'permissive'")
    (root / "policy.toml").write_text("preset = 'permissive'")
    monkeypatch.chdir(root)
    assert load_policy().check(Act.WRITE, "a").effect is Effect.ASK
    own = tmp_path / "config" / "io-harness" / "policy.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[defaults]\nwrite = 'deny'")
    assert load_policy().check(Act.WRITE, "a").effect is Effect.DENY


def test_a_policy_of_ones_own_beneath_the_root_counts_only_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / ".config" / "io-harness" / "policy.toml"
    own.parent.mkdir(parents=True)
    own.write_text("preset = 'permissive'")
    (tmp_path / "link").symlink_to(tmp_path / ".config")
    (tmp_path / "sub").mkdir()
    for place in (".config", "link"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / place))
        with pytest.raises(ConfigError, match="lies in the workspace"):
            load_policy(root=tmp_path)
        assert load_policy(own, root=tmp_path).check(Act.NET, "a").effect is Effect.ALLOW
        assert load_policy(root=tmp_path / "sub").check(Act.NET, "a").effect is Effect.ALLOW


def test_an_agent_writes_no_policy_of_its_user() -> None:
    for path in ("io-harness/policy.toml", ".config/io-harness/policy.toml"):
        assert Policy.workspace().check(Act.WRITE, path).effect is Effect.DENY


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "#" * (9 * 2**20)])
def test_what_is_too_deep_or_too_long_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"policy\.toml is (no TOML|over 8 MiB)"):
        load_policy(file)


def test_a_policy_may_come_through_a_pipe(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"preset = 'permissive'")
    os.close(writer)
    try:
        policy = load_policy(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
    assert policy.check(Act.NET, "a").effect is Effect.ALLOW
