"""The embedded engine: SQLite through APSW, whose wheel carries its own current SQLite."""

from __future__ import annotations
