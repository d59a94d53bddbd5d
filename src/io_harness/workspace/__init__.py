"""A root directory and everything that may be done beneath it."""

from io_harness.workspace.content import UTF_8, Encoding
from io_harness.workspace.lines import Hit
from io_harness.workspace.listing import Entry, Listing
from io_harness.workspace.pattern import PatternError
from io_harness.workspace.reading import digest_of, is_text
from io_harness.workspace.searching import FindResult, GrepResult
from io_harness.workspace.spelling import counted, has_bytes, shown
from io_harness.workspace.tree import Gate
from io_harness.workspace.whole import WholeText
from io_harness.workspace.workspace import Workspace
from io_harness.workspace.writing import WriteResult

__all__ = [
    "UTF_8",
    "Encoding",
    "Entry",
    "FindResult",
    "Gate",
    "GrepResult",
    "Hit",
    "Listing",
    "PatternError",
    "WholeText",
    "Workspace",
    "WriteResult",
    "counted",
    "digest_of",
    "has_bytes",
    "is_text",
    "shown",
]
