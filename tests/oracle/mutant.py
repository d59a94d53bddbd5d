"""Runs the oracle against an assembler with one deliberate mistake in it.

Run as `python -m tests.oracle.mutant NAME EXAMPLES`; a process of its own, since the mistake is
put into the source as it is imported. The pure kernel is used, so that it can be mistaken too.
Exits with 0 when the mistake was noticed, and says how.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections import deque
from collections.abc import Sequence
from types import ModuleType

from .mutations import MUTATIONS, Mutation

PACKAGE = "io_harness.context"


class Mistake(importlib.abc.MetaPathFinder):
    """Finds one module with a piece of its source replaced."""

    def __init__(self, mutation: Mutation) -> None:
        self.mutation = mutation

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of the module to change; nothing for any other."""
        del target
        if fullname != f"{PACKAGE}.{self.mutation.module}":
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert found is not None
        assert found.origin is not None
        loader = Mistaken(fullname, found.origin)
        loader.mutation = self.mutation
        return importlib.util.spec_from_file_location(fullname, found.origin, loader=loader)


class Mistaken(importlib.machinery.SourceFileLoader):
    """Loads a module's source with the mistake in it, and never from a cache."""

    mutation: Mutation

    def get_code(self, fullname: str) -> object:  # type: ignore[override]  # a code object
        """The compiled source, changed."""
        source, found = self.mutation.applied(self.get_data(self.path).decode())
        if found != 1:
            raise SystemExit(f"{self.mutation.name}: its place is there {found} times, not once")
        return compile(source, self.path, "exec")


def noticed(examples: int, *, priced: bool = False) -> str | None:
    """What the oracle says against the assembler that is installed; nothing if all is well."""
    from hypothesis import HealthCheck, Phase, given, settings

    from .events import Event
    from .play import frames, priced_frames
    from .strategies import narrow, stories
    from .test_ceilings import FORMS, check_edges

    tell = settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )

    def told(events: tuple[Event, ...]) -> None:
        deque((priced_frames if priced else frames)(events), maxlen=0)

    try:
        for form in FORMS.values():
            check_edges(form, (64, 67, 130, 333), ())
        for strategy in (narrow, stories):
            tell(given(strategy)(told))()
    except Exception as error:  # whatever a mistake leads to is noticed
        return f"{type(error).__name__}: {str(error)[:150]}"
    return None


def main() -> int:
    """0 where the mistake was noticed."""
    name, examples = sys.argv[1], int(sys.argv[2])
    os.environ["IO_HARNESS_NO_EXTENSIONS"] = "1"
    os.environ.pop("IO_HARNESS_REQUIRE_EXTENSIONS", None)
    priced = False
    if name != "none":
        mutation = next(mutation for mutation in MUTATIONS if mutation.name == name)
        priced = mutation.priced
        sys.meta_path.insert(0, Mistake(mutation))
    found = noticed(examples, priced=priced)
    sys.stdout.write(f"{name}: {found or 'not noticed'}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
