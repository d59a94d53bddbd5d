"""The same bytes: in two processes with different hash seeds, with either kernel, and resumed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from io_harness import COMPILED

from .events import Event, Shut
from .fingerprint import fingerprint
from .play import EXAMPLES, priced, with_files
from .scenario import Maker
from .strategies import stories
from .wire import dumped, loaded

COUNT = max(20, EXAMPLES // 10)
plain = settings(
    max_examples=COUNT,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def told() -> list[tuple[Event, ...]]:
    """A few hundred stories."""
    found: list[tuple[Event, ...]] = []

    @plain
    @given(stories)
    def collect(events: tuple[Event, ...]) -> None:
        found.append(events)

    collect()
    return found


def elsewhere(text: str, seed: str, *, pure: bool) -> list[str]:
    """What another process makes of the stories."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    if pure:
        environment["IO_HARNESS_NO_EXTENSIONS"] = "1"
        environment.pop("IO_HARNESS_REQUIRE_EXTENSIONS", None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.oracle.fingerprint"],
        input=text,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    kernel, *digests = done.stdout.splitlines()
    assert kernel == f"compiled {COMPILED and not pure}"
    return digests


@pytest.fixture(scope="module")
def known() -> list[tuple[Event, ...]]:
    """The stories all tests here share, sent through JSON and back."""
    found = told()
    assert loaded(dumped(found)) == found
    return found


def test_processes_hash_seeds_and_kernels_agree(known: list[tuple[Event, ...]]) -> None:
    """Two hash seeds with the kernel in use, and the pure one beside it."""
    text = dumped(known)
    here = [fingerprint(events) + fingerprint(events, make=priced) for events in known]
    assert elsewhere(text, "1", pure=False) == here
    assert elsewhere(text, "4242", pure=True) == here


@pytest.mark.parametrize("make", [with_files, priced], ids=["base", "priced"])
@plain
@given(stories)
def test_resumed_at_every_turn_gives_the_same_bytes(make: Maker, events: tuple[Event, ...]) -> None:
    """A new ledger and assembler from each turn's manifest go on as if nothing had happened."""
    # A new assembler must look at every file once, and asks first: a policy that has grown
    # stricter is seen by it and not by one that has looked already.
    events = tuple(event for event in events if not isinstance(event, Shut))
    straight = fingerprint(events, make=make, manifests=False)
    assert fingerprint(events, make=make, resumed=True, manifests=False) == straight
