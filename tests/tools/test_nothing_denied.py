"""Whatever the policy and the names: nothing that is denied comes out of any tool or refresh."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest

from io_harness.context import Assembler, Ledger
from io_harness.policy import Policy
from io_harness.types import JSON, Act, Effect, Observation, ObsKind, Rule
from io_harness.workspace import Workspace
from tests.tools.conftest import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLICIES = 100
FILES = (
    "a",
    "b.key",
    "src/a",
    "src/b.key",
    "src/deep/a",
    "src/deep/.env",
    "lib/a",
    ".env",
    "lib/c",
)
LINKS = {
    "alias": "a",
    "src/up": "../b.key",
    "l": "src/deep",
    "lib/env": "../.env",
    "chain": "lib/env",
    "src/loop": "..",
}
PATTERNS = ("a", "*.key", "src/*", "*/a", "l*", "?", "*", ".env", "*deep*", "lib/c", "src", "alias")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content(name))
    for name, target in LINKS.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


@pytest.fixture(params=["kernel", "walk"])
def workspace(tree: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    way: Literal["kernel", "walk"] = request.param
    with Workspace(tree, containment=way) as opened:
        yield opened


def content(name: str) -> str:
    return f"token of <{name}>\n"


def policies(rng: random.Random) -> Iterator[Policy]:
    effects = [Effect.DENY, Effect.DENY, Effect.ASK, Effect.ALLOW]
    for _ in range(POLICIES):
        base = rng.choice([Policy.permissive(), Policy.workspace(), Policy.default()])
        rules = [
            Rule(Act.READ, rng.choice(effects), rng.choice(PATTERNS))
            for _ in range(rng.randint(1, 4))
        ]
        yield base.extended(*rules)


def spellings(rng: random.Random) -> list[str]:
    """Ways to name files, directories and links, some roundabout."""
    places = [*FILES, *LINKS, ".", "src", "lib", "src/deep", "src/loop/src", "src/loop/a"]
    places += [
        "l/a",
        "l/.env",
        "src/loop/l/.env",
        "lib/../.env",
        "lib/../src/up",
        "none",
        "src/.env",
    ]
    return [f"./{place}" if rng.random() < 0.2 else place for place in rng.sample(places, 12)]


def calls(place: str) -> list[tuple[str, dict[str, JSON]]]:
    return [
        ("read_file", {"path": place}),
        ("list_dir", {"path": place}),
        ("find", {"pattern": "*", "path": place}),
        ("grep", {"pattern": "token", "path": place, "context": 1}),
        ("edit_file", {"path": place, "old": "not there", "new": "x"}),
    ]


def test_no_tool_shows_what_is_denied(workspace: Workspace, call: Bench) -> None:
    rng = random.Random(3)
    shown = refused = 0
    for policy in policies(rng):
        forbidden = [
            name for name in FILES if policy.check(Act.READ, name).effect is not Effect.ALLOW
        ]
        denied = [name for name in FILES if policy.check(Act.READ, name).effect is Effect.DENY]
        bench = Bench(replace(call.context, workspace=workspace, policy=policy))
        for place in spellings(rng):
            for tool, arguments in calls(place):
                outcome = bench(tool, **arguments)
                refused += outcome.is_error
                for name in forbidden:
                    assert content(name).strip() not in outcome.text, (policy.layers, place)
                    if tool in ("grep", "find"):
                        assert name not in (*outcome.paths, *outcome.text.split("\n"))
                if tool == "list_dir" and not outcome.is_error:
                    listed = {line.split("  ")[0] for line in outcome.text.split("\n")[1:]}
                    here = workspace.canonical(place)
                    prefix = "" if here == "." else f"{here}/"
                    assert not listed & {
                        name.removeprefix(prefix) for name in denied if name.startswith(prefix)
                    }
                shown += "token of" in outcome.text
    assert shown > 300
    assert refused > 300


def test_no_link_to_what_is_denied_is_listed_or_found(workspace: Workspace, call: Bench) -> None:
    policy = Policy.permissive().extended(Rule(Act.READ, Effect.DENY, ".env"))
    bench = Bench(replace(call.context, workspace=workspace, policy=policy))
    found = bench("find", pattern="*").text.split("\n")
    assert not {"chain", "lib/env", ".env", "src/deep/.env"} & set(found)
    assert {"alias", "src/up"} <= set(found)
    assert "env" not in bench("list_dir", path="lib").text
    assert "chain" not in bench("list_dir").text


def test_no_refresh_shows_what_is_denied_now(workspace: Workspace) -> None:
    rng = random.Random(4)
    carried = stubbed = 0
    for policy in policies(rng):
        for name in rng.sample(FILES, 3):
            ledger = Ledger()
            ledger.push(Observation(1, ObsKind.READ, name, "as it was\n", lines=(1, 1)))
            ledger.push(Observation(2, ObsKind.WRITE, name, "changed"))
            assembler = Assembler(ledger, workspace=workspace, policy=policy)
            text = assembler.assemble(step=3, budget_tokens=4_000).text
            allowed = policy.check(Act.READ, name).effect is Effect.ALLOW
            assert (content(name) in text) == allowed
            assert "as it was" not in text
            carried, stubbed = carried + allowed, stubbed + (not allowed)
    assert min(carried, stubbed) > 30
