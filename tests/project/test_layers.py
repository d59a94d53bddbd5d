"""Imports point down only, and packages of one layer do not know each other."""

from __future__ import annotations

import pytest

from tests.project.tree import PACKAGE, ROOT, imported, module_name, sources

LAYERS = (
    {"errors", "types"},
    {"jsontext", "memory", "tomlfile"},
    {"context", "workspace", "policy", "events"},
    {"store", "tools", "providers", "contract"},
    {"loop", "replay", "testing"},
    {"cli"},
    {""},  # the package itself: it re-exports, and nothing inside imports it
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}


def part(dotted: str) -> str:
    """The part of the library that a dotted name belongs to; "" for the package itself."""
    second = "".join(dotted.split(".")[1:2])
    exists = (PACKAGE / second).is_dir() or (PACKAGE / f"{second}.py").exists()
    return second if exists else ""


@pytest.mark.parametrize("name", sorted({part(module_name(path)) for path in sources()}))
def test_every_part_has_a_layer(name: str) -> None:
    assert name in HEIGHT, f"io_harness.{name} is new: give it a layer in {__file__}"


def violations() -> list[str]:
    """Imports inside the library that do not point to a lower layer."""
    found = []
    for path in sources():
        here = part(module_name(path))
        for line, target in imported(path):
            if target.split(".")[0] != "io_harness":
                continue
            there = part(target)
            if there != here and HEIGHT[there] >= HEIGHT[here]:
                found.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    return found


def test_imports_point_down() -> None:
    assert violations() == []
