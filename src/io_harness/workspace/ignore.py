"""What `.gitignore` files leave out of a search."""

from __future__ import annotations

from dataclasses import dataclass

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
_MAX_LINES = 10_000


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
    """The rules of a file's bytes; lines that make no sense to git are passed over."""
    lines = data.decode(errors="replace").splitlines()[:_MAX_LINES]
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        spec = GitIgnoreSpec.from_lines(line for line in lines if _is_valid(line))
    return Ignore(spec, directory, above) if len(spec) else above


def _is_valid(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
