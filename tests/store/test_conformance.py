"""The suite that every engine must pass, on a file and in memory."""

from __future__ import annotations

from pathlib import Path

from io_harness.store import Store
from io_harness.testing import StoreConformance


class TestFile(StoreConformance):
    def open_store(self, place: Path) -> Store:
        return Store.open(place / "runs.db")


class TestMemory(StoreConformance):
    persistent = False

    def open_store(self, place: Path) -> Store:
        return Store.memory()
