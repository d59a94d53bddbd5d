"""A workspace of files in memory, for tests that change them behind the assembler's back."""

from __future__ import annotations

import hashlib

from io_harness.types import Act, Effect, ReadResult, Rule, Signature, Verdict


class MemoryFiles:
    """Files by path; each change gives a new signature, and every opening is counted."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.opened: list[str] = []
        self._stamps: dict[str, int] = {}
        self._clock = 0

    def put(self, path: str, text: str) -> None:
        self._clock += 1
        self.texts[path] = text
        self._stamps[path] = self._clock

    def remove(self, path: str) -> None:
        del self.texts[path]

    def canonical(self, path: str) -> str:
        return path.removeprefix("./")

    def signature(self, path: str) -> Signature:
        if path not in self.texts:
            raise FileNotFoundError(path)
        stamp = self._stamps[path]
        return Signature(1, 1, len(self.texts[path]), stamp, stamp, settled=True)

    def read(self, path: str, *, offset: int = 1, limit: int | None = None) -> ReadResult:
        self.opened.append(path)
        if path not in self.texts:
            raise FileNotFoundError(path)
        text = self.texts[path]
        lines = [f"{line}\n" for line in text.split("\n")]
        lines[-1] = lines[-1].removesuffix("\n")
        if lines[-1] == "":
            lines.pop()
        stop = len(lines) if limit is None else offset - 1 + limit
        shown = lines[offset - 1 : stop]
        return ReadResult(
            "".join(shown),
            (offset, offset + len(shown) - 1),
            len(lines),
            len(text),
            hashlib.blake2b(text.encode("utf-8", "surrogatepass")).hexdigest(),
            self.signature(path),
        )


class DenyList:
    """A policy that denies the named paths, or asks for them."""

    def __init__(self, *paths: str, effect: Effect = Effect.DENY) -> None:
        self.paths = set(paths)
        self._effect = effect

    def check(self, act: Act, subject: str) -> Verdict:
        if subject in self.paths:
            return Verdict(self._effect, Rule(act, self._effect, subject), "test")
        return Verdict(Effect.ALLOW, None, "default")
