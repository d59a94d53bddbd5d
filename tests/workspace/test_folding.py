"""A file system that does not tell case apart, as far as it can be played on one that does.

Linux has none without a kernel option that few have, so the calls that look a name up in a
directory are made to find it in another case too.
"""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

import pytest

from io_harness.errors import PathOutside
from io_harness.policy import Policy
from io_harness.types import Act, Effect, Rule
from io_harness.workspace import Workspace
from io_harness.workspace.folding import folds_case

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@pytest.fixture
def workspace(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    real_open, real_readlink, real_stat = os.open, os.readlink, os.stat

    def found(name: str, directory: int | None) -> str:
        if directory is None or name in (".", ""):
            return name
        descriptor = real_open(".", os.O_RDONLY, dir_fd=directory)
        names = os.listdir(descriptor)
        os.close(descriptor)
        return next((other for other in names if folded(other) == folded(name)), name)

    def folding_open(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        return real_open(found(path, dir_fd), flags, mode, dir_fd=dir_fd)

    def folding_readlink(path: str, *, dir_fd: int | None = None) -> str:
        return real_readlink(found(path, dir_fd), dir_fd=dir_fd)

    def folding_stat(
        path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True
    ) -> os.stat_result:
        name = found(path, dir_fd) if isinstance(path, str) else path
        return real_stat(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    with Workspace(root, containment="walk") as opened:
        opened._root.folds = True
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", folding_open)
            patch.setattr(os, "readlink", folding_readlink)
            patch.setattr(os, "stat", folding_stat)
            yield opened


def test_every_case_of_a_name_is_one_file(workspace: Workspace, root: Path) -> None:
    (root / "Src").mkdir()
    (root / "Src" / "ReadMe").write_text("text")
    (root / "Link").symlink_to("sRC/readME")
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    (root / decomposed).write_text("coffee")
    for path in ("Src/ReadMe", "src/README", "SRC/readme", "./sRc//rEADmE", "link", "LINK"):
        assert workspace.canonical(path) == "Src/ReadMe"
        assert workspace.read(path).text == "text"
    assert workspace.canonical(composed) == decomposed
    assert workspace.canonical("src/New") == "Src/New"
    assert workspace.write("SRC/README", "new").path == "Src/ReadMe"
    assert os.listdir(root / "Src") == ["ReadMe"]
    assert workspace.read("Src/ReadMe", exact=True).text == "new"
    with pytest.raises(PathOutside):
        workspace.read("src/readme", exact=True)


def test_a_rule_holds_in_every_case(workspace: Workspace, root: Path) -> None:
    (root / "Private.txt").write_text("SECRET")
    policy = Policy.permissive().extended(Rule(Act.READ, Effect.DENY, "Private.txt"))
    for path in ("Private.txt", "private.TXT", "PRIVATE.TXT"):
        verdict = policy.check(Act.READ, path, workspace.canonical(path))
        assert verdict.effect is Effect.DENY


def test_a_file_system_that_folds_is_noticed(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert not folds_case(workspace._root.descriptor)  # nothing there that could tell
    (root / "123").write_text("")
    assert not folds_case(workspace._root.descriptor)
    (root / "Name").write_text("")
    assert folds_case(workspace._root.descriptor)


def test_a_file_system_that_tells_case_apart_is_none_that_folds(root: Path) -> None:
    (root / "Name").write_text("")
    (root / "both").write_text("")
    (root / "BOTH").write_text("")
    with Workspace(root) as workspace:
        assert not workspace._root.folds


def test_names_that_differ_in_case_only_stay_two_where_they_are(root: Path) -> None:
    (root / "a").write_text("small")
    (root / "A").write_text("large")
    with Workspace(root) as workspace:
        assert (workspace.read("a").text, workspace.read("A").text) == ("small", "large")
        assert not workspace._root.folds
