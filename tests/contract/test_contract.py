"""Contracts: what they refuse, what changing one gives, and their forms as JSON and TOML."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from io_harness import CachePrice, ContextBudget, TaskContract, Verification
from io_harness.contract import (
    Retries,
    StallLimits,
    contract_from_file,
    contract_from_json,
    contract_to_json,
)
from io_harness.errors import ConfigError
from io_harness.memory import MemoryLimits

PLAIN = TaskContract.workspace("Fix it.", "/w")
FULL = (
    TaskContract.workspace("Fix it.", Path("/w"), Verification.command("pytest", "-q"))
    .with_constraints("no new files", "é\ud83d")
    .with_token_budget(400_000)
    .with_time_budget(60)
    .with_max_steps(9)
    .with_context_budget(ContextBudget(max_tokens=1_500, share=0.29))
    .with_output_reserve(512)
    .with_cache_price(CachePrice(0.1, 1.25))
    .with_memory_limits(MemoryLimits(max_entries=3))
    .with_memory_mode("read-only")
    .with_workspace_id("mine")
    .with_retries(Retries(attempts=2))
    .with_stall(StallLimits(repeats=4))
    .with_command_env({"B": "2", "A": "1"})
    .with_calibration()
)


def test_a_contract_is_frozen_and_with_gives_another() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PLAIN.goal = "x"  # type: ignore[misc]  # that is the point
    assert PLAIN.with_max_steps(3) is not PLAIN
    assert PLAIN.max_steps == 50
    assert FULL.verification == Verification.command("pytest", "-q")
    assert FULL.command_env == (("A", "1"), ("B", "2"))


def test_every_field_has_its_with_method() -> None:
    renamed = {"goal", "root", "verification"}
    for field in dataclasses.fields(TaskContract):
        assert field.name in renamed or hasattr(TaskContract, f"with_{field.name}")
    assert hasattr(TaskContract, "with_verification")


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda c: c.with_token_budget(0), "token_budget"),
        (lambda c: c.with_token_budget(True), "token_budget"),
        (lambda c: c.with_time_budget(-1), "time_budget"),
        (lambda c: c.with_time_budget(float("inf")), "time_budget"),
        (lambda c: c.with_max_steps(0), "max_steps"),
        (lambda c: c.with_context_budget(ContextBudget(max_tokens=63)), "context_budget"),
        (lambda c: c.with_output_reserve(0), "output_reserve"),
        (lambda c: c.with_memory_mode("maybe"), "memory_mode"),
        (lambda c: c.with_workspace_id(" "), "workspace_id"),
        (lambda c: c.with_command_env({"A=B": "x"}), "command_env"),
        (lambda c: c.with_command_env({"A": "x\0"}), "command_env"),
        (lambda c: c.with_command_env({"A": "\ud800"}), "command_env"),
        (lambda c: c.with_workspace_id("id: "), "workspace_id"),
        (lambda c: c.with_command_env({"\ud800": "x"}), "command_env"),
        (lambda _: Retries(attempts=0), "attempts"),
        (lambda _: Retries(deadline=0), "deadline"),
        (lambda _: StallLimits(repeats=1), "repeats"),
        (lambda _: TaskContract.workspace(" ", "/w"), "goal"),
        (lambda _: Verification.command(), "command"),
        (lambda _: Verification.file_contains("/etc/passwd", "x"), "file"),
        (lambda _: Verification.all_of(), "all_of"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change: object, names: str) -> None:
    with pytest.raises(ConfigError, match=names):
        change(PLAIN)  # type: ignore[operator]  # each is a function of a contract


@pytest.mark.parametrize(
    "verify",
    [
        Verification.none(),
        Verification.command("a b", "é", expect_exit=3),
        Verification.file_contains("a.py", "x\ny"),
        Verification.file_equals("a.py", ""),
        Verification.all_of(Verification.command("x"), Verification.file_equals("b", "c")),
    ],
)
def test_what_is_stored_comes_back(verify: Verification) -> None:
    contract = FULL.with_verification(verify)
    assert contract_from_json(contract_to_json(contract)) == contract
    assert contract_from_json(contract_to_json(PLAIN)) == PLAIN


def test_a_callable_must_be_given_again() -> None:
    contract = PLAIN.with_verification(
        Verification.all_of(Verification.none(), Verification.callable(lambda root: True))
    )
    assert contract.verification.holds_callable
    with pytest.raises(ConfigError, match="with the contract given again"):
        contract_from_json(contract_to_json(contract))


def test_a_file_describes_a_contract(tmp_path: Path) -> None:
    file = tmp_path / "task.toml"
    file.write_text(
        'goal = "Fix it."\nroot = "code"\nmax_steps = 9\nconstraints = ["be brief"]\n'
        '[context_budget]\nmax_tokens = 1500\n[verification]\ncommand = ["pytest", "-q"]\n'
        '[command_env]\nA = "1"\n'
    )
    assert contract_from_file(file) == (
        TaskContract.workspace("Fix it.", tmp_path / "code", Verification.command("pytest", "-q"))
        .with_max_steps(9)
        .with_constraints("be brief")
        .with_context_budget(ContextBudget(max_tokens=1_500))
        .with_command_env({"A": "1"})
    )
    assert contract_from_file(file, goal="Other.").goal == "Other."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("goal = ", "no TOML"),
        ("max_steps = 3", "no goal"),
        ('goal = "x"\nmax_stepps = 3', "'max_stepps' is no setting"),
        ('goal = "x"\nmax_steps = "3"', "max_steps must be a whole number"),
        ('goal = "x"\ncontext_budget = 3', "context_budget is a table"),
        ('goal = "x"\n[context_budget]\nmax_tokenz = 3', "context_budget"),
        ('goal = "x"\nconstraints = "be brief"', "constraints is a list"),
        ('goal = "x"\nverification = "pytest"', "verification is a table"),
        ('goal = "x"\n[verification]\ncommand = "pytest"', "command is a list"),
        ('goal = "x"\ncommand_env = ["A"]', "command_env is a table"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "task.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=says) as caught:
        contract_from_file(file)
    assert str(file) in str(caught.value)
    with pytest.raises(ConfigError, match="No such file"):
        contract_from_file(tmp_path / "none.toml")


def test_each_verification_says_when_the_task_is_done() -> None:
    both = Verification.all_of(
        Verification.command("pytest", "-k", "a b"), Verification.file_contains("a", "x")
    )
    assert both.describe() == "the command `pytest -k 'a b'` exits with 0; and a contains 'x'"
    assert Verification.none().describe() == ""
