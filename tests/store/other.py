"""Work in another process, where another SQLite library may look at the file too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def python(script: str, *arguments: str | Path) -> str:
    """Run a script to its end and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def can_mount() -> bool:
    """Whether a test can have a mount of its own."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    return ends_well([unshare, "-m", "true"])


def ends_well(command: list[str]) -> bool:
    """Whether a command ends without a failure, and soon."""
    try:
        return not subprocess.run(command, check=False, capture_output=True, timeout=30).returncode
    except subprocess.TimeoutExpired:
        return False


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    """Let no process outlive what is done with it, however that ends."""
    try:
        yield
    finally:
        process.kill()
        process.wait(60)


@contextmanager
def holding(script: str, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a script that prints a line once it holds something, and lets go at a line on stdin."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with stopped(process), process.stdin, process.stdout:
        assert process.stdout.readline().strip() == "held"
        try:
            yield process
        finally:
            if process.poll() is None:
                process.communicate("\n", timeout=60)


READER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN")
db.execute("SELECT count(*) FROM memory").fetchall()
print("held", flush=True)
sys.stdin.readline()
"""
WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""
GATE = """
import sys, time
from pathlib import Path
from io_harness.store.sqlite.gate import Gate
gate = Gate(Path(sys.argv[1] + ".gate"))
assert gate.acquire(time.monotonic() + 10)
print("held", flush=True)
sys.stdin.readline()
"""
