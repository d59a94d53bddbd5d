"""Counts by kind against the corpus's manifest; every difference has its reason here."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from io_harness.replay.importers import read_transcripts
from io_harness.types import ObsKind

from .corpus import corpus_files, corpus_root

COLUMNS = ("steps", "calls", "read", "grep", "find", "write", "tool", "errors")

# What we count otherwise than the manifest, by file and column: ours minus the manifest's.
DIFFERENCES: dict[str, tuple[str, dict[str, int]]] = {
    "claude_code/sessionshare-general.jsonl": (
        "a resumed session repeats 45 calls and their answers line by line under new uuids; the "
        "model saw them once, so we take them once",
        {
            "steps": -51,
            "calls": -45,
            "read": -4,
            "find": -3,
            "write": -9,
            "tool": -29,
            "errors": -1,
        },
    ),
    "claude_code/mclaude-abc757d1.jsonl": (
        "a call without a result is an error to us",
        {"errors": 1},
    ),
    "codex_rollout/rollout-2026-05-11T11-26-55.jsonl": (
        "3 web searches are calls to us, without a result in the log and so errors; a command "
        "polled twice with output both times gives two reads; a poll that sends keys is a tool",
        {"calls": 3, "read": 1, "tool": 2, "errors": 3},
    ),
    "mini_swe_agent/scikit-learn__scikit-learn-12682.traj.json": (
        "a read and a write that ended with an exit code have failed",
        {"errors": 2},
    ),
    "openhands/ponyc-4588.json": (
        "an error event without an action is a message to us, not a call",
        {"calls": -1, "errors": -1},
    ),
    "pi/before-compaction.jsonl": (
        "one search of two parts joined by a pipe is a search to us; 6 calls without a result "
        "are errors",
        {"grep": 1, "tool": -1, "errors": 6},
    ),
    "swe_agent/marshmallow-1867-function_calling.traj": (
        "the text of the result does not say that a call failed",
        {"errors": -1},
    ),
}


def manifest() -> dict[str, dict[str, int]]:
    rows: dict[str, dict[str, int]] = {}
    for line in (corpus_root().parent / "MANIFEST.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) > 20 and "/" in cells[0]:
            rows[cells[0]] = dict(zip(COLUMNS, map(int, cells[1:9]), strict=True))
    return rows


def counted(path: Path) -> dict[str, int]:
    run = read_transcripts(str(path))[0]
    calls = [record for record in run.records if record.kind is not ObsKind.MESSAGE]
    kinds = Counter(record.kind.value for record in calls)
    errors = sum(record.is_error for record in calls)
    return {
        "steps": run.steps,
        "calls": len(calls),
        **{kind: kinds[kind] for kind in COLUMNS[2:7]},
        "errors": errors,
    }


def test_counts_are_the_manifests_but_for_what_is_explained() -> None:
    rows = manifest()
    found: dict[str, dict[str, int]] = {}
    for path in corpus_files():
        name = "/".join(path.parts[-2:])
        ours = counted(path)
        differs = {c: ours[c] - rows[name][c] for c in COLUMNS if ours[c] != rows[name][c]}
        if differs:
            found[name] = differs

    assert found == {name: differences for name, (_, differences) in DIFFERENCES.items()}


PROGRAM = """
import resource, sys, time
from io_harness.replay import replay_files
replay_files([sys.argv[1]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
replay_files([sys.argv[2]])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time() - started, (peak - before) * 1024)
"""


def test_the_longest_run_takes_little_time_and_memory() -> None:
    files = corpus_files()
    smallest, longest = min(files, key=size_of), corpus_root() / "pi/before-compaction.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(smallest), str(longest)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, grown = map(float, done.stdout.split())

    assert seconds < 10
    assert grown < 10 * size_of(longest)


def size_of(path: Path) -> int:
    return path.stat().st_size


def test_nothing_of_the_corpus_is_not_understood() -> None:
    assert {str(p): read_transcripts(str(p))[0].report.unknown for p in corpus_files()} == {
        str(p): Counter() for p in corpus_files()
    }
