"""Which store a command works on."""

from __future__ import annotations

import os
from pathlib import Path

from io_harness.errors import ConfigError, RunUnknown
from io_harness.store import RunRecord, Store


def store_path(given: str | None) -> Path:
    """Return the store's path: the one given, `$IO_HARNESS_STORE`, or the user's own."""
    named = given or os.environ.get("IO_HARNESS_STORE", "").strip()
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_STATE_HOME", "")
    base = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "state"
    return base / "io-harness" / "runs.db"


def open_store(given: str | None, *, must_exist: bool = False) -> Store:
    """Open the store, made with its directory where it is missing.

    Raises `ConfigError` where it must exist and does not.
    """
    path = store_path(given)
    if must_exist and not path.exists():
        raise ConfigError(f"there is no store at {path}: name one with --store")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Store.open(path)


def find_run(store: Store, wanted: str) -> RunRecord:
    """Return the run of that id, or the only one whose id starts so; "last" is the newest."""
    runs = store.runs()
    if wanted == "last" and runs:
        return runs[-1]
    found = [run for run in runs if run.run_id == wanted]
    found = found or [run for run in runs if run.run_id.startswith(wanted)]
    if len(found) != 1:
        what = "no run has" if not found else f"{len(found)} runs have"
        raise RunUnknown(f"{what} an id that starts with {wanted!r}: `io-harness runs` lists them")
    return found[0]
