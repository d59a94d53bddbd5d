"""`memory`: a workspace's notes, as their operator sees and rules them."""

from __future__ import annotations

import sys

from io_harness.cli.output import plain, print_json, say
from io_harness.cli.progress import as_json
from io_harness.cli.stores import look_at_store, open_store
from io_harness.cli.table import Column, print_table
from io_harness.errors import ConfigError
from io_harness.workspace import counted

_SAY_YES = ": say --yes to delete without being asked"


def show(root: str, store_name: str | None, *, json: bool) -> None:
    """List the notes of a workspace, oldest write first."""
    with look_at_store(store_name) as store:
        notes = store.memory_list(root)
    if json:
        print_json({"notes": [as_json(note) for note in notes]})
    elif not notes:
        say(f"no notes about {plain(root)}")
    else:
        print_table(
            (
                Column("key", fold=16),
                Column("value", fold=24),
                Column("after", fold=16, drop=4),
                Column("first written", drop=5),
                Column("written", drop=2),
                Column("by run", drop=1),
                Column("step", drop=1),
                Column("rewrites", drop=3),
                Column("pinned"),
            ),
            (
                (
                    plain(note.key),
                    plain(note.value),
                    plain(note.source),
                    note.first_written[:19],
                    note.written[:19],
                    plain(note.run_id),
                    str(note.step),
                    str(note.rewrites),
                    "yes" if note.pinned else "",
                )
                for note in notes
            ),
        )


def delete(root: str, key: str, store_name: str | None) -> None:
    """Delete one note."""
    with open_store(store_name, must_exist=True) as store:
        if not store.memory_delete(root, key):
            raise ConfigError(f"there is no note {key!r} about {root}: list them first")
    say(f"deleted {plain(key)}")


def clear(root: str, store_name: str | None, *, yes: bool) -> None:
    """Delete every note of a workspace, once that is confirmed."""
    with open_store(store_name, must_exist=True) as store:
        count = len(store.memory_list(root))
        if count and not yes and not _confirmed(f"delete {counted(count, 'note')} about {root}?"):
            raise ConfigError("nothing was deleted" + ("" if sys.stdin.isatty() else _SAY_YES))
        say(f"deleted {counted(store.memory_clear(root), 'note')}")


def pin(root: str, key: str, store_name: str | None, *, pinned: bool) -> None:
    """Pin a note, or let it go."""
    with open_store(store_name, must_exist=True) as store:
        if not store.memory_pin(root, key, pinned=pinned):
            raise ConfigError(f"there is no note {key!r} about {root}: list them first")
    say(f"{'pinned' if pinned else 'no longer pinned'}: {plain(key)}")


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    print(f"{plain(question)} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
