"""What `.gitignore` files leave out of a search."""

from __future__ import annotations

from dataclasses import dataclass

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
_MAX_LINES = 5_000
_MAX_CHARS = 500  # of one line
_TOGETHER = 128  # lines matched at once: more may not compile


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules of one directory, over those of the directories above: the nearest decides."""

    spec: GitIgnoreSpec
    directory: str
    above: Ignore | None

    def ignores(self, path: str) -> bool:
        """Whether a path from the root is left out; a directory's ends with a slash."""
        rules: Ignore | None = self
        while rules is not None:
            verdict = rules.spec.check_file(path[len(rules.directory) :]).include
            if verdict is not None:
                return verdict
            rules = rules.above
        return False


def parsed(data: bytes, directory: str, above: Ignore | None) -> Ignore | None:
    """The rules of a file's bytes; lines that make no sense, or are too long, are passed over."""
    lines = data.decode(errors="replace").split("\n")[:_MAX_LINES]
    usable = [line.rstrip("\r") for line in lines if line and len(line) <= _MAX_CHARS]
    for first in range(0, len(usable), _TOGETHER):
        for spec in _specs(usable[first : first + _TOGETHER]):
            # Of the lines of one file the last that matches decides: it stands nearest.
            above = Ignore(spec, directory, above)
    return above


def _specs(lines: list[str]) -> list[GitIgnoreSpec]:
    """The lines as specs, in order, one where they compile together."""
    try:
        spec = GitIgnoreSpec.from_lines(lines, backend="re2")  # linear: the lines may be hostile
    except Exception:  # each of the libraries beneath has errors of its own
        if len(lines) == 1:
            return []
        middle = len(lines) // 2
        return [*_specs(lines[:middle]), *_specs(lines[middle:])]
    return [spec] if len(spec) else []
