"""The guarantees over the real workspace: the same stories on a disk."""

from __future__ import annotations

import re
import sys
import tempfile
from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from .disk import DiskWorld
from .events import Ask, Change, Event, Happen, Read, Say, Shut
from .play import disk_frames
from .strategies import stories
from .test_guarantees import brief


def on_disk(event: Event) -> Event | None:
    """An event that can happen there: plain names, and times that nobody sets."""
    match event:
        case Happen(fate="settle" | "unsettle"):
            return None
        case Read() | Change() | Happen() | Shut():
            return replace(event, path=plain(event.path))
        case Say():
            return replace(event, paths=tuple(map(plain, event.paths)))
        case Ask():
            return event


def plain(path: str) -> str:
    """A name without what a workspace refuses in one."""
    return re.sub(r"[\n\u202e\\]", "", path)


@pytest.mark.skipif(sys.platform == "win32", reason="Workspace does not work on Windows")
@settings(brief)
@given(stories)
def test_four_guarantees_on_a_disk(events: tuple[Event, ...]) -> None:
    """Real signatures are too fresh to be trusted here: what was read is looked at each turn."""
    with tempfile.TemporaryDirectory() as root:
        world = DiskWorld(Path(root))
        told = tuple(event for event in map(on_disk, events) if event is not None)
        with world.real:
            deque(disk_frames(world, told), maxlen=0)
