"""An agent in a real directory: what it reads, writes and runs goes into a ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from io_harness import (
    Assembled,
    Assembler,
    CachePrice,
    Ledger,
    MemoryEntry,
    Observation,
    ObsKind,
    Policy,
    Workspace,
)
from io_harness.testing import Parsed, parse

BASE = CachePrice()
CACHED = CachePrice(read=0.1, write=1.25)


class Agent:
    """One run: a workspace, a ledger, and an assembler over both."""

    def __init__(
        self,
        root: Path,
        workspace: Workspace,
        *,
        price: CachePrice = BASE,
        policy: Policy | None = None,
    ) -> None:
        self.root = root
        self.workspace = workspace
        self.ledger = Ledger()
        self.assembler = Assembler(self.ledger, workspace=workspace, policy=policy, price=price)
        self.step = 0

    def made(self, kind: ObsKind, target: str | None, text: str, args: str = "") -> None:
        """Any other result, in a step of its own."""
        self.step += 1
        self.ledger.push(Observation(self.step, kind, target, text, args=args))

    def read(self, path: str, first: int = 1, count: int | None = None) -> None:
        self.step += 1
        got = self.workspace.read(path, offset=first, limit=count)
        self.ledger.push(
            Observation(
                self.step,
                ObsKind.READ,
                path,
                got.text,
                args=json.dumps({"path": path}),
                lines=None if count is None else (first, first + count - 1),
                total_lines=got.total_lines,
                digest=got.digest,
            )
        )

    def write(self, path: str, text: str) -> None:
        self.workspace.write(path, text)
        self.made(ObsKind.WRITE, path, "written", json.dumps({"path": path, "text": text}))

    def grep(self, pattern: str) -> None:
        self.step += 1
        found = self.workspace.grep(pattern)
        text = "".join(f"{path}: {pattern}\n" for path in found.paths)
        self.ledger.push(Observation(self.step, ObsKind.GREP, pattern, text, paths=found.paths))

    def by_others(self, path: str, text: str) -> None:
        """Somebody else changes a file."""
        (self.root / path).write_text(text, newline="")

    def ask(self, ceiling: int = 24_000, notes: Sequence[MemoryEntry] = ()) -> Assembled:
        request = self.assembler.assemble(step=self.step + 1, budget_tokens=ceiling, notes=notes)
        assert request.est_tokens <= ceiling
        assert request.carried + request.stubbed == len(self.ledger)
        return request

    def sees(self, ceiling: int = 24_000) -> list[Parsed]:
        return parse(self.ask(ceiling).text)


@contextmanager
def agent(
    root: Path, *, price: CachePrice = BASE, policy: Policy | None = None, **files: str
) -> Iterator[Agent]:
    """An agent in a directory with these files; `a_py` is `a.py`."""
    for name, text in files.items():
        (root / name.replace("_", ".")).write_text(text, newline="")
    with Workspace(root) as workspace:
        yield Agent(root, workspace, price=price, policy=policy)
