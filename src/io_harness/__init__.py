"""A bounded context for every model request, and a durable memory for every workspace.

Names are imported when they are first asked for, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .context import (
        COMPILED,
        Assembled,
        Assembler,
        CachePrice,
        ContextBudget,
        Ledger,
        Piece,
        PieceStatus,
        bound,
        entry_cap_chars,
        estimate_tokens,
    )
    from .contract import TaskContract, Verification
    from .errors import HarnessError
    from .providers import Provider, RecordedProvider, ScriptedProvider, provider_from
    from .types import (
        Act,
        Completion,
        CompletionRequest,
        Effect,
        MemoryEntry,
        MemoryWrite,
        Observation,
        ObsKind,
        Rule,
        ToolCall,
        Usage,
        Verdict,
    )

_HOMES = {
    "context": (
        "COMPILED",
        "Assembled",
        "Assembler",
        "CachePrice",
        "ContextBudget",
        "Ledger",
        "Piece",
        "PieceStatus",
        "bound",
        "entry_cap_chars",
        "estimate_tokens",
    ),
    "contract": ("TaskContract", "Verification"),
    "errors": ("HarnessError",),
    "providers": ("Provider", "RecordedProvider", "ScriptedProvider", "provider_from"),
    "types": (
        "Act",
        "Completion",
        "CompletionRequest",
        "Effect",
        "MemoryEntry",
        "MemoryWrite",
        "ObsKind",
        "Observation",
        "Rule",
        "ToolCall",
        "Usage",
        "Verdict",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "COMPILED",
    "Act",
    "Assembled",
    "Assembler",
    "CachePrice",
    "Completion",
    "CompletionRequest",
    "ContextBudget",
    "Effect",
    "HarnessError",
    "Ledger",
    "MemoryEntry",
    "MemoryWrite",
    "ObsKind",
    "Observation",
    "Piece",
    "PieceStatus",
    "Provider",
    "RecordedProvider",
    "Rule",
    "ScriptedProvider",
    "TaskContract",
    "ToolCall",
    "Usage",
    "Verdict",
    "Verification",
    "bound",
    "entry_cap_chars",
    "estimate_tokens",
    "provider_from",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
