"""Plays stories from standard input and prints a line for each: a digest of all it was shown.

Run as `python -m tests.oracle.fingerprint`, under whatever hash seed and kernel.
"""

from __future__ import annotations

import hashlib
import sys

from io_harness import COMPILED

from .events import Event
from .play import filed, priced, with_files
from .scenario import Maker, Story
from .wire import loaded


def fingerprint(
    events: tuple[Event, ...],
    *,
    make: Maker = with_files,
    resumed: bool = False,
    manifests: bool = True,
) -> str:
    """A digest of every section of a story, each made by a new assembler where `resumed`.

    Manifests are in it where nothing was resumed: what no section will show again need not be
    carried over.
    """
    digest = hashlib.sha256()
    for frame in filed(Story(make, resuming=resumed)).play(events):
        made = frame.assembled
        for piece in made.pieces:
            digest.update(repr(piece).encode())
        digest.update(made.text.encode())
        if manifests:
            digest.update(made.manifest.encode())
    return digest.hexdigest()


def main() -> None:
    """One digest a story, after a line that tells which kernel ran."""
    sys.stdout.write(f"compiled {COMPILED}\n")
    for events in loaded(sys.stdin.read()):
        sys.stdout.write(fingerprint(events) + fingerprint(events, make=priced) + "\n")


if __name__ == "__main__":
    main()
