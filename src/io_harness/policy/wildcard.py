"""Patterns of a policy: `*` is any run of characters, `?` is one, `/` is nothing special."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WILD = re.compile(r"[*?]")


class Wildcard:
    """One anchored pattern.

    The runs between stars are sought from left to right, each at its first place: nothing is
    tried twice, so that no pattern and no long command line can make a check slow.
    """

    __slots__ = ("_head", "_middle", "_starred", "_tail", "_tail_length")

    def __init__(self, pattern: str) -> None:
        runs = [re.compile(re.escape(run).replace(r"\?", "."), re.S) for run in pattern.split("*")]
        self._head, self._tail, self._middle = runs[0], runs[-1], runs[1:-1]
        self._starred = len(runs) > 1
        self._tail_length = len(pattern) - pattern.rfind("*") - 1

    def matches(self, subject: str) -> bool:
        """Whether the whole subject matches."""
        if not self._starred:
            return self._head.fullmatch(subject) is not None
        found = self._head.match(subject)
        for run in self._middle:
            if found is None:
                return False
            found = run.search(subject, found.end())
        if found is None:
            return False
        start = len(subject) - self._tail_length
        return start >= found.end() and self._tail.match(subject, start) is not None


class WildcardSet:
    """Many patterns at once: the common shapes are looked up, only the rest is matched."""

    __slots__ = ("_exact", "_prefixes", "_rest", "_suffixes")

    def __init__(self, patterns: Iterable[str]) -> None:
        exact, prefixes, suffixes, rest = [], [], [], []
        for pattern in patterns:
            if not _WILD.search(pattern):
                exact.append(pattern)
            elif pattern[-1] == "*" and not _WILD.search(pattern[:-1]):
                prefixes.append(pattern[:-1])
            elif pattern[0] == "*" and not _WILD.search(pattern[1:]):
                suffixes.append(pattern[1:])
            else:
                rest.append(Wildcard(pattern))
        self._exact, self._rest = frozenset(exact), tuple(rest)
        self._prefixes, self._suffixes = tuple(prefixes), tuple(suffixes)

    def matches(self, subject: str) -> bool:
        """Whether any of the patterns matches the whole subject."""
        if (
            subject in self._exact
            or subject.endswith(self._suffixes)
            or subject.startswith(self._prefixes)
        ):
            return True
        return bool(self._rest) and any(pattern.matches(subject) for pattern in self._rest)
