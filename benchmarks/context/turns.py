"""A thousand turns and nothing else, for counting instructions (docs/limits.md)."""

from __future__ import annotations

from .rig import rig_of
from .shapes import LONG_SHAPE

TURNS = 1_000


def main() -> None:
    """One push and one assembly a turn, at a length where every window is full."""
    rig = rig_of(LONG_SHAPE, 1_000)
    for _ in range(TURNS):
        rig.push()
        rig.assemble()


if __name__ == "__main__":
    main()
