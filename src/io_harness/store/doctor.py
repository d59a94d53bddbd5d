"""Looks at a store and says what is wrong with it; changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from io_harness.errors import HarnessError
from io_harness.store import notes, reading
from io_harness.store.base import Transaction
from io_harness.store.codec import as_int, as_text, digest, encoded
from io_harness.store.schema import VERSION
from io_harness.store.sqlite.connection import SAFE_SQLITE
from io_harness.store.sqlite.filesystem import NETWORK, is_writable, kind_of, size_of
from io_harness.store.sqlite.looking import LookingBackend
from io_harness.store.texts import get_text
from io_harness.store.workspaces import SHARED_ROOTS

_LARGE_LOG: Final = 64 * 1024 * 1024
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: whether it is well, and what to do where it is not."""

    subject: str
    well: bool
    message: str


def examine(path: Path) -> tuple[Finding, ...]:
    """Return what is found on looking at the store at `path`, the whole content included.

    Nothing is changed: not the tables of an older store either.
    """
    findings = [_library(), _place(path)]
    if not path.exists():
        findings.append(Finding("file", True, f"{path} is not there yet"))
        return tuple(findings)
    findings += (_permissions(path), _writing(path), _log(path))
    try:
        backend = LookingBackend(path, timeout=10.0)
    except HarnessError as error:
        findings.append(Finding("schema", False, str(error)))
        return tuple(findings)
    try:
        findings.append(_schema(backend.version))
        for check in (_pages, _references, _texts, _runs, _notes, _roots):
            findings.append(backend.read(check))
    except HarnessError as error:
        findings.append(Finding("content", False, str(error)))
    finally:
        backend.close()
    return tuple(findings)


def _library() -> Finding:
    version = apsw.sqlite_lib_version()
    well = tuple(map(int, version.split("."))) >= SAFE_SQLITE
    advice = "" if well else ": its checkpoints can corrupt a database, upgrade apsw"
    return Finding("SQLite", well, f"version {version}{advice}")


def _place(path: Path) -> Finding:
    kind = kind_of(Path(os.path.realpath(path)))
    well = kind not in NETWORK
    advice = "" if well else ": a store must be on a local disk, move it"
    return Finding("file system", well, f"{kind or 'unknown'}{advice}")


def _permissions(path: Path) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    well = os.name == "nt" or mode & 0o077 == 0
    advice = "" if well else f": other users can read what agents read, chmod 600 {path}"
    return Finding("permissions", well, f"{mode:04o}{advice}")


def _writing(path: Path) -> Finding:
    well = is_writable(path)
    message = "the file and its directory can be written"
    advice = "the file or its directory cannot be written here: it can be looked at, not run on"
    return Finding("writing", well, message if well else advice)


def _schema(version: int) -> Finding:
    message = "the tables are those of this version"
    older = f"the tables are of schema {version}: the next run brings them up to {VERSION}"
    return Finding("schema", True, message if version == VERSION else older)


def _log(path: Path) -> Finding:
    size = size_of(Path(f"{path}-wal"))
    well = size <= _LARGE_LOG
    advice = "" if well else ": some process has held a read open, find and end it"
    return Finding("log", well, f"{size:,} bytes{advice}")


def _pages(tx: Transaction) -> Finding:
    rows = [as_text(row[0]) for row in tx.execute("PRAGMA integrity_check(20)")]
    well = rows == ["ok"]
    message = "whole" if well else "; ".join(rows[:_SHOWN]) + ": restore a backup"
    return Finding("pages", well, message)


def _references(tx: Transaction) -> Finding:
    rows = tx.execute("PRAGMA foreign_key_check")
    tables = sorted({as_text(row[0]) for row in rows})
    message = f"rows of {', '.join(tables)} refer to nothing: restore a backup"
    return Finding("references", not rows, message if rows else "whole")


def _texts(tx: Transaction) -> Finding:
    def broken() -> Iterator[str]:
        for number, known in tx.execute("SELECT id, digest FROM texts"):
            try:
                whole = digest(encoded(get_text(tx, number))) == known
            except HarnessError:
                whole = False
            if not whole:
                yield f"text {as_int(number)}"

    return _content("texts", broken)


def _runs(tx: Transaction) -> Finding:
    parts: tuple[Callable[[Transaction, str], object], ...] = (
        reading.run,
        lambda tx, run_id: [step.request is None for step in reading.steps(tx, run_id)],
        lambda tx, run_id: [None for _ in reading.context_events(tx, run_id)],
        *(reading.provider_calls, reading.recalls, reading.drift, reading.load),
    )

    def broken() -> Iterator[str]:
        for (run_id,) in tx.execute("SELECT run_id FROM runs ORDER BY run"):
            for part in parts:
                try:
                    part(tx, as_text(run_id))
                except HarnessError as error:
                    yield str(error)

    return _content("runs", broken)


def _notes(tx: Transaction) -> Finding:
    def broken() -> Iterator[str]:
        for (name,) in tx.execute("SELECT name FROM workspaces ORDER BY workspace"):
            try:
                notes.listed(tx, as_text(name))
            except HarnessError as error:
                yield str(error)

    return _content("notes", broken)


def _content(subject: str, broken: Callable[[], Iterator[str]]) -> Finding:
    found = list(broken())
    shown = ", ".join(found[:_SHOWN])
    message = f"{len(found)} cannot be read back ({shown}): restore a backup"
    return Finding(subject, not found, message if found else "all read back as they were written")


def _roots(tx: Transaction) -> Finding:
    names = [as_text(row[0]) for row in tx.execute("SELECT name FROM workspaces")]
    shared = sorted(SHARED_ROOTS.intersection(names))
    message = (
        f"notes are kept under {', '.join(shared)}, which is every project's path in a container: "
        "give the contract a workspace id"
    )
    return Finding("workspaces", not shared, message if shared else f"{len(names)} known")
