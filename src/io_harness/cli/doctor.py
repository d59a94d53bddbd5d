"""What this installation has and lacks, each with what to do about it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from io_harness.cli.exits import ENDED_WITHOUT_SUCCESS, SUCCESS
from io_harness.cli.output import plain, print_json, say
from io_harness.cli.stores import store_path
from io_harness.context import COMPILED
from io_harness.errors import HarnessError
from io_harness.store import Store
from io_harness.store.doctor import examine
from io_harness.store.sqlite.connection import SAFE_SQLITE
from io_harness.store.workspaces import SHARED_ROOTS
from io_harness.workspace import Workspace, counted
from io_harness.workspace.openat2 import is_available

_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")
_WORTH_KNOWING = frozenset({"permissions", "writing", "log", "workspaces"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `ok` is `None` where it is optional or only worth knowing."""

    name: str
    ok: bool | None
    says: str


def version() -> str:
    """Return the installed version of this library."""
    return importlib.metadata.version("io-harness")


def findings(store: str | None, root: Path) -> Iterator[Finding]:
    """Look at the installation, the store and the workspace; nothing is sent anywhere."""
    yield _python()
    yield Finding("kernel", COMPILED or None, "compiled" if COMPILED else
                  "pure Python: five times slower, the same results")  # fmt: skip
    yield _sqlite()
    yield _store(store)
    yield from _workspace(root)
    for name in ("anthropic", "openai"):
        yield _extra(name)
    for name in _KEYS:
        there = bool(os.environ.get(name, "").strip())
        yield Finding(name, there or None, "set" if there else "not set: its models cannot be used")


def show(store: str | None, root: Path, *, as_json: bool) -> int:
    """Print the findings; return the exit code."""
    found = list(findings(store, root))
    if as_json:
        rows = [{"name": f.name, "ok": f.ok, "says": f.says} for f in found]
        print_json({"version": version(), "findings": rows})
    else:
        say(f"io-harness {version()}")
        for finding in found:
            mark = {True: "ok", None: "--", False: "NO"}[finding.ok]
            say(f"  {mark}  {finding.name}: {plain(finding.says)}")
    return ENDED_WITHOUT_SUCCESS if any(f.ok is False for f in found) else SUCCESS


def _python() -> Finding:
    tested = (3, 11) <= sys.version_info[:2] <= (3, 13)
    says = f"{platform.python_version()} on {platform.system()}"
    return Finding("python", True, says if tested else f"{says}; tested are 3.11 to 3.13")


def _sqlite() -> Finding:
    has = apsw.sqlitelibversion()
    if tuple(map(int, has.split("."))) >= SAFE_SQLITE:
        return Finding("sqlite", True, f"{has}, in apsw {apsw.apswversion()}")
    return Finding("sqlite", False, f"{has} can corrupt a store: pip install --upgrade apsw")


def _store(given: str | None) -> Finding:
    try:
        path = store_path(given)
        if not path.exists():
            return _store_to_be(path)
    except OSError as error:
        return Finding("store", False, f"{error.filename}: {error.strerror}")
    except HarnessError as error:
        return Finding("store", False, str(error))
    wrong = [found for found in examine(path) if not found.well]
    if wrong:
        only_worth_knowing = all(found.subject in _WORTH_KNOWING for found in wrong)
        says = "; ".join(f"{found.subject}: {found.message}" for found in wrong)
        return Finding("store", None if only_worth_knowing else False, f"{path}: {says}")
    try:
        with Store.open(path, timeout=2.0, read_only=True) as store:
            count = len(store.runs())
    except HarnessError as error:
        return Finding("store", False, str(error))
    return Finding("store", True, f"{path}: whole, {counted(count, 'run')}")


def _store_to_be(path: Path) -> Finding:
    """Say of a store that is not there whether a run could make it."""
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        return Finding("store", False, f"{path} cannot be made: {above} is no directory")
    if not os.access(above, os.W_OK | os.X_OK):
        return Finding("store", False, f"{path} cannot be made: {above} cannot be written")
    return Finding("store", None, f"{path}: not there yet, made by the first run")


def _workspace(root: Path) -> Iterator[Finding]:
    try:
        with Workspace(root) as workspace:
            real = str(workspace.root)
    except HarnessError as error:
        yield Finding("workspace", False, str(error))
        return
    if real in SHARED_ROOTS:
        yield Finding(
            "notes", None, f"every project may be at {real}: give this one a --workspace-id"
        )
    try:
        descriptor = os.open(real, os.O_RDONLY)
    except OSError as error:
        yield Finding("workspace", False, f"{real}: {error.strerror}")
        return
    try:
        by_kernel = sys.platform == "linux" and is_available(descriptor)
    finally:
        os.close(descriptor)
    yield Finding("workspace", True, real)
    says = "by the kernel (openat2)" if by_kernel else "by walking each path: openat2 is missing"
    yield Finding("containment", True, says)


def _extra(name: str) -> Finding:
    if importlib.util.find_spec(name) is None:
        return Finding(name, None, f"not installed; add it by pip install 'io-harness[{name}]'")
    return Finding(name, True, f"{importlib.metadata.version(name)}")
