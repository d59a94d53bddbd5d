"""The heart: what one request carries, under a ceiling. Knows no store, provider or CLI."""

from .assemble import Assembler
from .assembled import Assembled
from .bound import bound
from .budget import CachePrice, ContextBudget, entry_cap_chars
from .estimate import estimate_tokens
from .kernel import COMPILED
from .ledger import Ledger
from .pieces import Piece, PieceStatus

__all__ = [
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
]
