"""A dictionary that still tells what it was at a moment, as long as somebody holds that moment."""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")


class Moment(Generic[V]):
    """What changed after a moment and before the next, by the values of before; `None` for none."""

    __slots__ = ("before", "next")

    def __init__(self) -> None:
        """Nothing changed yet, and no later moment."""
        self.before: dict[int, V | None] = {}
        self.next: Moment[V] | None = None


class Remembering(dict[int, V]):
    """Changed by setting and deleting items only.

    A moment leads to the later ones and none to an earlier one, so that nothing is kept for those
    that nobody holds.
    """

    __slots__ = ("_moment",)

    def __init__(self) -> None:
        """Empty, at its first moment."""
        super().__init__()
        self._moment: Moment[V] = Moment()

    def __setitem__(self, key: int, value: V) -> None:
        """Set an item; at an earlier moment it stays as it was."""
        self._moment.before.setdefault(key, self.get(key))
        super().__setitem__(key, value)

    def __delitem__(self, key: int) -> None:
        """Delete an item; at an earlier moment it is still there."""
        self._moment.before.setdefault(key, self.get(key))
        super().__delitem__(key)

    def moment(self) -> Moment[V]:
        """Now, to be asked for later."""
        if self._moment.before:
            self._moment.next = self._moment = Moment()
        return self._moment

    def at(self, moment: Moment[V]) -> dict[int, V]:
        """What it was at a moment."""
        changed: dict[int, V | None] = {}
        later: Moment[V] | None = moment
        while later is not None:
            changed = later.before | changed
            later = later.next
        was = {key: value for key, value in self.items() if key not in changed}
        was.update((key, value) for key, value in changed.items() if value is not None)
        return was
