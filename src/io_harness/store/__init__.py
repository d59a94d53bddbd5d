"""What happened, kept; what was learned, remembered."""

from __future__ import annotations

from io_harness.store.assembled import assembly_of, refresh_events, refreshes_of
from io_harness.store.journal import Journal
from io_harness.store.leases import LEASE_SECONDS
from io_harness.store.records import (
    Assembly,
    ContextEvent,
    Drift,
    Event,
    Lease,
    MemoryRecall,
    PieceTrace,
    ProviderCall,
    Recorded,
    Refresh,
    RunRecord,
    StartedCall,
    StepRecord,
    Unfinished,
)
from io_harness.store.store import Store
from io_harness.store.workspaces import WorkspaceLike

__all__ = [
    "LEASE_SECONDS",
    "Assembly",
    "ContextEvent",
    "Drift",
    "Event",
    "Journal",
    "Lease",
    "MemoryRecall",
    "PieceTrace",
    "ProviderCall",
    "Recorded",
    "Refresh",
    "RunRecord",
    "StartedCall",
    "StepRecord",
    "Store",
    "Unfinished",
    "WorkspaceLike",
    "assembly_of",
    "refresh_events",
    "refreshes_of",
]
