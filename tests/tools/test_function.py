"""Tools of one's own."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import pytest

from io_harness.errors import ConfigError
from io_harness.policy import Policy
from io_harness.tools import ToolContext, ToolError, ToolOutcome, tool
from io_harness.types import Act, Effect, ObsKind, Rule
from tests.tools.conftest import Bench

if TYPE_CHECKING:
    from pathlib import Path


@tool
def shout(text: Annotated[str, "what to shout"], times: int = 1) -> str:
    """Say it louder."""
    return text.upper() * times


@tool(trusted=True, key="ticket")
async def ticket(ticket: str) -> dict[str, str]:
    """Look a ticket up."""
    await asyncio.sleep(0)
    return {"id": ticket, "thread": threading.current_thread().name}


@tool(kind=ObsKind.READ, target="path")
def head(here: ToolContext, path: str) -> str:
    """First line of a file."""
    return here.workspace.read(path, limit=1).text


@tool(kind=ObsKind.WRITE, target="path")
def touch(here: ToolContext, path: str) -> str:
    """Make an empty file."""
    return here.workspace.write(path, "").status


@tool(kind=ObsKind.GREP, target="pattern", scope=lambda arguments: f"index {arguments['index']}")
def lookup(pattern: str, index: int) -> ToolOutcome:
    """Ask an index."""
    return ToolOutcome(ObsKind.GREP, pattern, "hit", scope=f"index {index}", paths=("a",))


@tool(act=Act.NET, subject="url", effectful=False)
def fetch(url: str) -> str:
    """Fetch a page."""
    return f"page of {url}"


@tool(name="fails")
def failing(how: str) -> None:
    """Fail one way or the other."""
    raise ToolError("try it with less") if how == "told" else KeyError("x")


def bench(call: Bench, policy: Policy | None = None) -> Bench:
    context = replace(call.context, policy=policy or Policy.permissive())
    return Bench(context, shout, ticket, head, touch, lookup, fetch, failing)


def test_a_function_is_a_tool(call: Bench) -> None:
    assert shout.spec.description == "Say it louder."
    assert shout.spec.parameters["required"] == ["text"]
    got = bench(call)("shout", text="hey", times=2)
    assert (got.kind, got.target, got.text) == (ObsKind.TOOL, "shout", "HEYHEY")
    assert (shout.trusted, shout.effectful, shout.acts) == (False, True, frozenset())


def test_async_functions_run_on_the_loop_and_values_become_json(call: Bench) -> None:
    got = bench(call)("ticket", ticket="T-1")
    assert got.text == '{"id":"T-1","thread":"MainThread"}'
    assert (got.key, ticket.trusted) == ("T-1", True)


def test_a_read_of_ones_own_is_a_read(call: Bench, root: Path) -> None:
    (root / "link").symlink_to("notes.txt")
    got = bench(call)("head", path="./link")
    assert (got.kind, got.target, got.text) == (ObsKind.READ, "notes.txt", "one\n")
    assert (head.effectful, head.acts) == (False, frozenset({Act.READ}))
    strict = bench(call, Policy.workspace())
    assert "denied" in strict.fails("head", path=".env")
    assert "no path inside" in strict.fails("head", path="../secret")


def test_a_write_of_ones_own_is_a_write(call: Bench) -> None:
    got = bench(call)("touch", path="a/../b")
    assert (got.kind, got.target, got.changed) == (ObsKind.WRITE, "b", True)
    assert "nobody is there" in bench(call, Policy.default()).fails("touch", path="c")


def test_a_function_may_give_the_whole_outcome(call: Bench) -> None:
    got = bench(call)("lookup", pattern="p", index=3)
    assert (got.kind, got.target, got.scope, got.paths) == (ObsKind.GREP, "p", "index 3", ("a",))
    assert got.arguments == {"pattern": "p", "index": 3}


def test_any_call_can_be_put_under_the_policy(call: Bench) -> None:
    policy = Policy.permissive().extended(Rule(Act.NET, Effect.DENY, "*evil*"))
    assert bench(call, policy)("fetch", url="https://good").text == "page of https://good"
    assert "denied" in bench(call, policy).fails("fetch", url="https://evil")


def test_a_failure_is_an_error_and_the_run_goes_on(call: Bench) -> None:
    assert bench(call).fails("fails", how="told") == "try it with less"
    assert bench(call).fails("fails", how="other") == "the tool failed: KeyError: 'x'"


@pytest.mark.parametrize("name", ["", "a b", "<lambda>", "x" * 65, "a.b", "h\u00e9"])
def test_a_name_that_vendors_refuse_is_refused_here(name: str) -> None:
    def mine(x: str) -> str:
        return x

    with pytest.raises(ConfigError, match="1 to 64 letters"):
        tool(name=name)(mine)
    mine.__name__ = name
    with pytest.raises(ConfigError, match="give another name"):
        tool(mine)


def test_what_names_no_parameter_or_kind_is_refused() -> None:
    def mine(x: str) -> str:
        return x

    with pytest.raises(ConfigError, match="no parameter is named 'y'; there are x"):
        tool(key="y")(mine)
    with pytest.raises(ConfigError, match="'fly' is no kind; there are read, "):
        tool(kind="fly")(mine)  # type: ignore[call-overload]


def test_a_path_kind_needs_a_target() -> None:
    with pytest.raises(ConfigError, match="needs a target"):

        @tool(kind=ObsKind.READ)
        def look(path: str) -> str:
            """Look at a file."""
            return path
