"""Which store a command works on."""

from __future__ import annotations

import os
from pathlib import Path

from io_harness.cli.output import complain, plain
from io_harness.errors import ConfigError, RunUnknown
from io_harness.store import RunRecord, Store
from io_harness.store.sqlite.filesystem import is_writable

_FEW = 3


def store_path(given: str | None) -> Path:
    """Return the store's path: the one given, `$IO_HARNESS_STORE`, or the user's own.

    Raises `ConfigError` for what can be no path of a store.
    """
    if given is not None and not given.strip():
        raise ConfigError("--store is empty: name a file, or leave it out")
    named = given or os.environ.get("IO_HARNESS_STORE", "").strip()
    if "://" in named:
        raise ConfigError(
            f"the store {named!r} is a URL, and this version keeps runs in SQLite files only: "
            "name a file"
        )
    try:
        path = Path(named).expanduser() if named else _users_own()
    except RuntimeError:
        raise ConfigError(
            "there is no home directory to keep a store in: name a file with --store or "
            "IO_HARNESS_STORE"
        ) from None
    if path.is_dir():
        raise ConfigError(f"the store {path} is a directory: name a file, as {path / 'runs.db'}")
    return path


def _users_own() -> Path:
    home = os.environ.get("XDG_STATE_HOME", "")
    base = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "state"
    return base / "io-harness" / "runs.db"


def open_store(given: str | None, *, must_exist: bool = False) -> Store:
    """Open the store, made with its directory where it is missing.

    Raises `ConfigError` where it must exist and does not.
    """
    path = _existing(given) if must_exist else store_path(given)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = "Not a directory" if isinstance(error, FileExistsError) else error.strerror
        raise ConfigError(
            f"the store {path} cannot be made: {error.filename}: {why}: name another with --store"
        ) from None
    return Store.open(path)


def look_at_store(given: str | None) -> Store:
    """Open the store to look at it; says so where more could not be done. `ConfigError`."""
    path = _existing(given)
    store = Store.open(path, read_only=True)
    if not is_writable(path):
        complain(f"the store {plain(str(path))} cannot be written here: this only looks at it")
    return store


def _existing(given: str | None) -> Path:
    path = store_path(given)
    if not path.exists():
        if given or os.environ.get("IO_HARNESS_STORE", "").strip():
            raise ConfigError(f"there is no store at {path}: name one that is there")
        raise ConfigError(
            f"there is no store at {path} yet: the first run makes it; name another with --store"
        )
    return path


def find_run(store: Store, wanted: str) -> RunRecord:
    """Return the run of that id, or the only one whose id starts so; "last" is the newest."""
    runs = store.runs()
    if not runs:
        raise RunUnknown("the store has no runs yet: start one with `io-harness run`")
    if wanted == "last":
        return runs[-1]
    found = [run for run in runs if run.run_id == wanted]
    found = found or [run for run in runs if wanted and run.run_id.startswith(wanted)]
    if not found:
        raise RunUnknown(
            f"no run has an id that starts with {wanted!r}: `io-harness runs` lists them"
        )
    if len(found) > 1:
        ids = ", ".join(plain(run.run_id) for run in found[-_FEW:])
        raise RunUnknown(
            f"{len(found):,} runs have an id that starts with {wanted!r}: name one, as {ids}"
        )
    return found[0]
