"""Runs one script many times, killed at a different point each, and goes on with it each time.

A program of its own: it forks, which a test process with threads must not. Prints one JSON line
for each point.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace

from io_harness import (
    CachePrice,
    Completion,
    CompletionRequest,
    ContextBudget,
    ScriptedProvider,
    Verification,
)
from io_harness.loop import resume, run_sync
from io_harness.policy import Policy
from io_harness.providers import Turn
from io_harness.store import Store, leases
from io_harness.tools import tool
from tests.run.worlds import call, contract, files, read, write

WATCHED = ("io_harness/loop/", "io_harness/store/", "io_harness/workspace/writing")
CEILING = 150
DONE = "x = 2\nz = 3\n"


def script() -> list[Turn]:
    """Reads, writes, an effect that nothing can settle, notes, parallel calls, the end."""
    return [
        [read("a.py"), read("b.py")],
        [write("a.py", "x = 2\n"), call("bump", by=1), read("a.py")],
        call("remember", key="k", value="v"),
        [call("bump", by=2), call("edit_file", path="a.py", old="x = 2\n", new=DONE)],
        [read("a.py"), call("show", step=1, call=1)],
        "Done.",
    ]


def price() -> CachePrice | None:
    """The price that makes sections append-only, where that is asked for."""
    return CachePrice(0.1, 1.25) if "PRICED" in os.environ else None


@tool
def bump(by: int) -> str:
    """Leave a mark outside the workspace that a second call would double."""
    with Path(os.environ["MARKS"]).open("a") as marks:
        marks.write(f"{by}\n")
    return f"bumped by {by}"


class Asked(ScriptedProvider):
    """Leaves a mark for each request that reaches it."""

    async def complete(self, request: CompletionRequest) -> Completion:
        completion = await super().complete(request)
        with Path(os.environ["ASKS"]).open("a") as asks:
            asks.write(f"{len(request.messages)}\n")
        return completion


class Counter:
    """Counts the calls and returns of the code between the commits, and kills at one of them."""

    def __init__(self, at: int | None) -> None:
        self.at, self.count = at, 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if any(part in frame.f_code.co_filename for part in WATCHED):
            self.count += 1
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def started(place: Path, at: int | None) -> int:
    """Run the script from its start, killed at point `at`; return how many points there were."""
    root = files(place / "w", a_py="x = 1\n", b_py="y = 2\n")
    with Store.open(place / "runs.db") as store:
        counter = Counter(at)
        threading.setprofile(counter)
        sys.setprofile(counter)
        wanted = contract(root, Verification.file_equals("a.py", DONE))
        wanted = wanted.with_context_budget(ContextBudget(max_tokens=CEILING))
        provider = Asked(script(), cache_price=price())
        run_sync(wanted, provider, store, policy=Policy.permissive(), tools=[bump])
        sys.setprofile(None)
        threading.setprofile(None)
        return counter.count


def gone_on(place: Path) -> None:
    """Go on with what the kill left, as another process would once the lease ran out."""
    vars(leases)["time"] = SimpleNamespace(time=lambda: time.time() + 60)
    with Store.open(place / "runs.db") as store:
        runs = store.runs()
        if runs:
            recorded = asyncio.run(store.journal.load(runs[0].run_id))
            answered, open_step = recorded.last_step, recorded.unfinished
            given = Asked(script(), start=answered, cache_price=price())
            result = asyncio.run(resume(runs[0].run_id, given, store, tools=[bump]))
            report = {
                "outcome": result.outcome.value,
                "answered": answered,
                "started": [] if open_step is None else [c.name for c in open_step.started],
                "spent": [result.spent.input, result.spent.output],
                "prompts": [step.prompt for step in store.steps(result.run_id)],
                "notes": [[n.key, n.value, n.step] for n in store.memory_list(str(place / "w"))],
            }
            (place / "report.json").write_text(json.dumps(report))


def forked(work: Callable[[], object]) -> None:
    """Do something in a process of its own, which may be killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) > 0:
        raise SystemExit(f"a child failed with {status}")


def one_point(base: Path, at: int | None) -> dict[str, object]:
    place = base / f"at-{at}"
    place.mkdir()
    os.environ["MARKS"], os.environ["ASKS"] = str(place / "marks"), str(place / "asks")
    forked(lambda: started(place, at))
    if at is not None:
        before = lines(place / "asks")
        forked(lambda: gone_on(place))
        report = place / "report.json"
        found = json.loads(report.read_text()) if report.exists() else {}
        return {**found, "at": at, "asked_before": before, **marks(place)}
    with Store.open(place / "runs.db") as store:
        prompts = [step.prompt for step in store.steps(store.runs()[0].run_id)]
    return {"at": None, "prompts": prompts, **marks(place)}


def marks(place: Path) -> dict[str, object]:
    text = (place / "w" / "a.py").read_text()
    return {
        "marks": sorted(lines(place / "marks")),
        "asks": len(lines(place / "asks")),
        "file": text,
    }


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def main(base: Path, points: int) -> None:
    place = base / "count"
    place.mkdir()
    os.environ["MARKS"], os.environ["ASKS"] = str(place / "marks"), str(place / "asks")
    read_end, write_end = os.pipe()
    forked(lambda: os.write(write_end, str(started(place, None)).encode()))
    total = int(os.read(read_end, 32))
    print(json.dumps(one_point(base, None)))
    for number in range(points):
        print(json.dumps(one_point(base, 1 + number * total // points)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
