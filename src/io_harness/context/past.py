"""A dictionary that still tells what it was at a moment, as long as somebody holds that moment."""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")


class Moment(Generic[V]):
    """The time up to the next change: of which item, and what that was before; `None` for none."""

    __slots__ = ("before", "key", "next")

    def __init__(self) -> None:
        """Nothing changed since."""
        self.next: Moment[V] | None = None
        self.key = 0
        self.before: V | None = None


class Remembering(dict[int, V]):
    """Changed by setting and deleting items only; `now` is the moment to be asked for later.

    A moment leads to the later ones and none to an earlier one, so that nothing is kept for those
    that nobody holds.
    """

    __slots__ = ("now",)

    def __init__(self) -> None:
        """Empty, at its first moment."""
        super().__init__()
        self.now: Moment[V] = Moment()

    def __setitem__(self, key: int, value: V) -> None:
        """Set an item; at an earlier moment it stays as it was."""
        self._pass(key)
        super().__setitem__(key, value)

    def __delitem__(self, key: int) -> None:
        """Delete an item; at an earlier moment it is still there."""
        self._pass(key)
        super().__delitem__(key)

    def _pass(self, key: int) -> None:
        then, self.now = self.now, Moment()
        then.key, then.before, then.next = key, self.get(key), self.now

    def at(self, moment: Moment[V]) -> dict[int, V]:
        """What it was at a moment."""
        before: dict[int, V | None] = {}
        while moment.next is not None:
            before.setdefault(moment.key, moment.before)
            moment = moment.next
        was = {key: value for key, value in self.items() if key not in before}
        was.update((key, value) for key, value in before.items() if value is not None)
        return was
