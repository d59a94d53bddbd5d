"""How context is managed elsewhere: our own writing of documented rules, for comparison only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.clear import ClearToolResults
from benchmarks.peers.last_n import LastObservations
from benchmarks.peers.prune import PruneOldOutput
from benchmarks.peers.trim import TrimMessages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_harness.replay.policy import Policy

PEERS: Mapping[str, Policy] = {
    "last 5": LastObservations(keep=5, every=1),
    "last 5, moved every 10": LastObservations(keep=5, every=10),
    "clear above 100k, keep 3": ClearToolResults(above_tokens=100_000, keep=3),
    "prune 40k": PruneOldOutput(keep_tokens=40_000, gain_tokens=20_000),
    "trim": TrimMessages(),
}
