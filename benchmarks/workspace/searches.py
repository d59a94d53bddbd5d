"""A search of 20,000 files, against ripgrep on one thread with the same pattern and rules.

python -m benchmarks.workspace.searches [rounds]
"""

from __future__ import annotations

import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from io_harness.policy import Policy
from io_harness.types import Act, Effect
from io_harness.workspace import Workspace

FILES, DIRECTORIES = 20_000, 400
IGNORED = "*.log\nbuild/\n__pycache__/\n*.pyc\n/dist/\nnode_modules/\n!keep.log\n"
PATTERNS = {"expression": r"def \w+_handler", "literal": "needle_handler"}


@contextmanager
def place() -> Iterator[Path]:
    """A tree like a large repository's: 400 directories of 50 files, one in 100 with a match."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz_"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 10))) for _ in range(3_000)]
    root = Path(tempfile.mkdtemp())
    (root / ".gitignore").write_text(IGNORED)
    for number in range(DIRECTORIES):
        directory = root / f"pkg{number % 20}" / f"mod{number // 20}"
        directory.mkdir(parents=True)
        for name in range(FILES // DIRECTORIES):
            count = rng.randint(5, 120)
            lines = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(count)]
            if rng.random() < 0.01:
                lines.insert(3, "def needle_handler(x):")
            (directory / f"file{name}.py").write_text("\n".join(lines) + "\n")
    yield root
    shutil.rmtree(root)


def ours(workspace: Workspace, pattern: str) -> Callable[[], int]:
    """The workspace's search under a policy; the number of matching lines."""
    policy = Policy.workspace()

    def gate(path: str) -> Effect:
        return policy.check(Act.READ, path).effect

    return lambda: workspace.grep(pattern, gate=gate).matches


def ripgrep(root: Path, pattern: str) -> Callable[[], int]:
    """Ripgrep's, hidden files included and `.gitignore` respected, as ours."""
    arguments = ["rg", "-j1", "-n", "--hidden", "--no-require-git", "-e", pattern, "."]

    def search() -> int:
        done = subprocess.run(arguments, cwd=root, capture_output=True, check=True)
        return done.stdout.count(b"\n")

    return search


def measure(rounds: int = 7) -> dict[str, float]:
    """Seconds of each search (the median), and ours as a multiple of ripgrep's."""
    found: dict[str, float] = {}
    with place() as root, Workspace(root) as workspace:
        for name, pattern in PATTERNS.items():
            ways = {"ours": ours(workspace, pattern)}
            if shutil.which("rg"):
                ways["rg"] = ripgrep(root, pattern)
            taken: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(rounds):
                matches = set()
                for way, search in ways.items():
                    began = time.perf_counter()
                    matches.add(search())
                    taken[way].append(time.perf_counter() - began)
                if len(matches) > 1:
                    raise RuntimeError(f"the searches disagree on {pattern!r}: {matches}")
            for way, times in taken.items():
                found[f"{name}_{way}_s"] = statistics.median(times)
            if "rg" in ways:
                found[f"{name}_ratio"] = found[f"{name}_ours_s"] / found[f"{name}_rg_s"]
    return found


if __name__ == "__main__":
    for name, value in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 7).items():
        print(f"{name:24} {value:8.3f}")
    if not shutil.which("rg"):
        print("no ratio: ripgrep (rg) is not installed here; Debian has it as `ripgrep`")
