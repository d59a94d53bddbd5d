"""What importing does and does not do."""

from __future__ import annotations

import json
import sys

import pytest

from tests.project.tree import fresh_python, module_name, sources

# Third-party libraries that only the part which needs them may load.
HEAVY = {"anthropic", "click", "hypothesis", "httpx", "openai", "pytest", "rich", "typer"}

# Others' libraries are loaded once, before each child loads one module of ours. What a package
# loads of itself needs no child of its own: importing that starts with importing the package.
ALONE = """
import os, sys, traceback
import apsw, asyncio, orjson, pathspec, re2, tree_sitter, typer, xxhash
covered = set()
for name in sys.argv[1:]:
    if name in covered:
        continue
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            __import__(name)
            os.write(writing, "\\n".join(m for m in sys.modules if m.startswith(name)).encode())
        except BaseException:
            print(name, traceback.format_exc(), sep="\\n", flush=True)
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        covered.update(pipe.read().split())
    os.wait()
"""

QUIET = """
import json, sys, threading
seen = []
def watch(event, args):
    if event == "open" and not str(args[0]).endswith((".py", ".pyc", ".so")):
        seen.append(f"{event} {args[0]}")
    elif event.split(".")[0] in {"socket", "subprocess", "sqlite3", "os"}:
        if event not in {"os.listdir", "os.putenv", "os.scandir"}:
            seen.append(f"{event} {args}")
sys.addaudithook(watch)
import io_harness
print(json.dumps({
    "seen": seen, "threads": threading.active_count(), "modules": sorted(sys.modules)
}))
"""

TIMED = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"


@pytest.mark.skipif(sys.platform == "win32", reason="forks: there is no fork on Windows")
def test_every_module_imports_alone() -> None:
    names = [name for name in map(module_name, sources()) if not name.endswith("__main__")]
    assert fresh_python(ALONE, *names) == ""


def test_importing_is_quiet() -> None:
    told = json.loads(fresh_python(QUIET))
    assert told["seen"] == [], "importing io_harness opens or starts something"
    assert told["threads"] == 1
    loaded = {name.split(".")[0] for name in told["modules"]}
    assert not loaded & HEAVY


def test_importing_costs_no_more_than_half_as_much_again_as_three_standard_modules() -> None:
    def seconds(modules: str) -> float:
        return float(fresh_python(TIMED.format(modules)))

    rounds = [(seconds("io_harness"), seconds("json, sqlite3, asyncio")) for _ in range(7)]
    ours, theirs = (min(column) for column in zip(*rounds, strict=True))
    assert ours <= 1.5 * theirs, f"{ours * 1e3:.1f} ms against {theirs * 1e3:.1f} ms"
