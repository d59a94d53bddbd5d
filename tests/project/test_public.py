"""The public names, and which kernel they run on."""

from __future__ import annotations

import importlib.util
import os

import pytest

import io_harness
from tests.project.tree import PACKAGE, fresh_python, imported, module_name, sources

PUBLIC = {
    *("TaskContract", "Verification", "ContextBudget", "CachePrice", "MemoryLimits"),
    *("Workspace", "Policy", "Rule", "Act", "Effect", "Verdict", "Approver", "Decision"),
    *("Provider", "CompletionRequest", "Completion", "ToolCall", "Usage"),
    *("ScriptedProvider", "RecordedProvider", "provider_from"),
    *("run", "run_sync", "resume", "RunResult", "Outcome"),
    *("Store", "MemoryEntry", "MemoryWrite"),
    *("MEMORY_MAX_ENTRIES", "MEMORY_MAX_CHARS", "MEMORY_MAX_ENTRY_CHARS"),
    *("Ledger", "Observation", "ObsKind", "Assembler", "Assembled", "Piece", "PieceStatus"),
    *("estimate_tokens", "entry_cap_chars", "bound"),
    *("HarnessError", "COMPILED"),
}

EXPORTED: list[str] = vars(io_harness)["__all__"]


def test_the_public_names_are_exported_and_nothing_else() -> None:
    assert set(EXPORTED) == PUBLIC


def test_type_checkers_see_the_names_that_are_there() -> None:
    targets = [target for _, target in imported(PACKAGE / "__init__.pyi")]
    ours = [target.split(".")[1:] for target in targets if target.startswith("io_harness.")]
    assert {name: home for home, name in ours} == vars(io_harness)["_HOME"]


@pytest.mark.parametrize("name", EXPORTED)
def test_every_exported_name_is_there(name: str) -> None:
    assert getattr(io_harness, name) is not None


EVERYTHING = """
import importlib, sys, types
import io_harness
for module in sys.argv[1:]:
    importlib.import_module(module)
print(*[n for n in io_harness.__all__ if isinstance(getattr(io_harness, n), types.ModuleType)])
"""


def test_no_module_takes_the_place_of_a_public_name() -> None:
    names = [name for name in map(module_name, sources()) if not name.endswith("__main__")]
    assert fresh_python(EVERYTHING, *names).split() == []


def asked_for(variable: str) -> bool:
    """Whether the environment switches something on, by the words that the build takes too."""
    return os.environ.get(variable, "").strip().lower() in {"1", "true", "yes", "on"}


def test_the_kernel_that_was_asked_for_runs() -> None:
    built = importlib.util.find_spec("io_harness.context._kernel") is not None
    if asked_for("IO_HARNESS_REQUIRE_EXTENSIONS"):
        assert io_harness.COMPILED, "the suite runs on the fallback"
    expected = built and not asked_for("IO_HARNESS_NO_EXTENSIONS")
    assert io_harness.COMPILED is expected
