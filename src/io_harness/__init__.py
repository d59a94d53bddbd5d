"""A bounded context for every model request, and a durable memory for every workspace.

Names are imported when they are first asked for, so that importing the package costs nothing.
`__init__.pyi` says the same to type checkers; a test compares the two.
"""

from importlib import import_module

_HOME = {
    "COMPILED": "context",
    "Assembled": "context",
    "Assembler": "context",
    "CachePrice": "context",
    "ContextBudget": "context",
    "Ledger": "context",
    "Piece": "context",
    "PieceStatus": "context",
    "bound": "context",
    "entry_cap_chars": "context",
    "estimate_tokens": "context",
    "TaskContract": "contract",
    "Verification": "contract",
    "HarnessError": "errors",
    "Outcome": "loop",
    "RunResult": "loop",
    "resume": "loop",
    "run": "loop",
    "run_sync": "loop",
    "MEMORY_MAX_CHARS": "memory",
    "MEMORY_MAX_ENTRIES": "memory",
    "MEMORY_MAX_ENTRY_CHARS": "memory",
    "MemoryLimits": "memory",
    "Approver": "policy",
    "Decision": "policy",
    "Policy": "policy",
    "Provider": "providers",
    "RecordedProvider": "providers",
    "ScriptedProvider": "providers",
    "provider_from": "providers",
    "Store": "store",
    "Act": "types",
    "Completion": "types",
    "CompletionRequest": "types",
    "Effect": "types",
    "MemoryEntry": "types",
    "MemoryWrite": "types",
    "Observation": "types",
    "ObsKind": "types",
    "Rule": "types",
    "ToolCall": "types",
    "Usage": "types",
    "Verdict": "types",
    "Workspace": "workspace",
}

__all__ = [*_HOME]  # noqa: PLE0604  # its keys are strings


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
