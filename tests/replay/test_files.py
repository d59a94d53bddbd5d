"""What a file holds after each write, as far as a recording tells."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from io_harness.replay.files import FileTexts
from io_harness.replay.records import (
    Append,
    Gone,
    Moved,
    Restored,
    Sed,
    Splice,
    Swap,
    Unknown,
    Whole,
)
from io_harness.replay.sed import NotComputable, sed

TEXT = "one\ntwo\nthree\nfour\n"


def known(text: str = TEXT) -> FileTexts:
    files = FileTexts.empty()
    files.write(Whole("f", text))
    return files


def test_an_edit_inside_shown_lines_gives_the_new_lines() -> None:
    files = FileTexts.empty()
    files.show("f", 40, "alpha\nbeta\ngamma\n", None)
    files.write(Swap("f", (("beta\n", "b1\nb2\n"),)))

    assert files.lines("f", 40, 43) == "alpha\nb1\nb2\ngamma\n"
    assert files.lines("f", 39, 40) is None
    assert files.unknown_writes == 0


def test_an_edit_among_lines_never_shown_loses_the_place_of_those_after() -> None:
    files = FileTexts.empty()
    files.show("f", 1, "first\n", None)
    files.show("f", 40, "alpha\n", None)
    files.write(Swap("f", (("x\n", "y\nz\n"),)))

    assert files.lines("f", 1, 1) == "first\n"
    assert files.lines("f", 40, 40) is None


def test_an_edit_beyond_the_lines_shown_leaves_them() -> None:
    files = FileTexts.empty()
    files.show("f", 1, "first\n", None)
    files.write(Swap("f", (("x\n", "y\nz\n"),)))

    assert files.lines("f", 1, 1) == "first\n"


def test_old_text_that_a_whole_file_does_not_have_makes_it_unknown() -> None:
    files = known()
    files.write(Swap("f", (("never there\n", "x\n"),)))

    assert files.lines("f", 1, 1) is None
    assert files.unknown_writes == 1


def test_an_edit_that_moves_no_line_keeps_what_is_known() -> None:
    files = FileTexts.empty()
    files.show("f", 40, "alpha\n", None)
    files.write(Swap("f", (("x\n", "y\n"),)))

    assert files.lines("f", 40, 40) == "alpha\n"


def test_a_read_that_contradicts_replaces_what_was_known() -> None:
    files = known()
    files.show("f", 2, "TWO\n", None)

    assert files.lines("f", 2, 2) == "TWO\n"
    assert files.lines("f", 1, 1) is None


def test_the_end_is_known_only_once_it_was_shown() -> None:
    files = FileTexts.empty()
    files.show("f", 1, "a\nb\n", 3)
    assert files.lines("f", 1, None) is None
    files.show("f", 3, "c", 3)
    assert files.lines("f", 1, None) == "a\nb\nc"


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (Splice("f", 2, 3, "x\n"), "one\nx\nfour\n"),
        (Splice("f", 2, 1, "x\n"), "one\nx\ntwo\nthree\nfour\n"),
        (Append("f", "five\n"), TEXT + "five\n"),
        (Swap("f", (("o", "0"),), every=True), "0ne\ntw0\nthree\nf0ur\n"),
        (Sed("f", "2d"), "one\nthree\nfour\n"),
    ],
)
def test_changes(change: Splice | Append | Swap | Sed, after: str) -> None:
    files = known()
    files.write(change)

    assert files.lines("f", 1, None) == after


def test_a_moved_file_takes_its_text_along() -> None:
    files = known()
    files.write(Moved("f", "g"))

    assert files.lines("g", 1, None) == TEXT
    assert files.lines("f", 1, None) is None


def test_a_restored_file_has_the_text_it_had_before_the_run_changed_it() -> None:
    files = FileTexts.empty()
    files.show("f", 1, TEXT, 4)
    files.write(Sed("f", "2d"))
    files.write(Restored("f"))
    assert files.lines("f", 1, None) == TEXT

    files.write(Restored("never shown"))
    assert files.lines("never shown", 1, 1) is None
    assert files.unknown_writes == 0


@pytest.mark.parametrize("change", [Unknown("f"), Gone("f")])
def test_what_cannot_be_known_is_forgotten(change: Unknown | Gone) -> None:
    files = known()
    files.write(change)

    assert files.lines("f", 1, 1) is None


SCRIPTS = [
    "s/o/0/",
    "s/o/0/g",
    "2s/w/W/",
    "2,3s/e/E/g",
    "/two/d",
    "/two/,/three/d",
    "$d",
    "2i\\new",
    "2a\\new",
    "2c\\new",
    "3,4d;1d",
    "2,3c\\new",
    "/two/,/three/c\\new",
    r"s/\(t\)\(w\)/\2\1/",
    "s/t*/&&/",
    "s|one|a/b|",
    r"s/^/\t/",
    r"s/[a-z]\+$/<&>/",
    "s/f.*r/x\\ny/",
    "2,2d",
    "4,2d",
    "s/O/x/I",
    "s/o*/-/g",
    "s/o*$/-/g",
    "s/[^n]*n*/<&>/g",
    r"s/t\|two/X/",
    "4,$c\\new",
    r"s/o/[\&\\]\n/g",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_sed_does_what_sed_does(script: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(TEXT, encoding="utf-8")
    real = subprocess.run(["sed", script, str(path)], capture_output=True, text=True, check=True)

    assert sed(TEXT, script, extended=False) == real.stdout


@pytest.mark.parametrize("script", ["s/(t)(w)/\\2\\1/", "s/o+|e/_/g", "s/e{2}/EE/"])
def test_extended_sed_does_what_sed_does(script: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(TEXT, encoding="utf-8")
    real = subprocess.run(
        ["sed", "-E", script, str(path)], capture_output=True, text=True, check=True
    )

    assert sed(TEXT, script, extended=True) == real.stdout


def test_sed_reads_a_file_whose_text_is_known() -> None:
    files = known()
    files.write(Sed("f", "1r g"))
    assert files.lines("f", 1, None) is None

    files = known()
    files.write(Whole("g", "new\nlines\n"))
    files.write(Sed("f", "1r g"))
    assert files.lines("f", 1, None) == "one\nnew\nlines\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    "script",
    [
        "",
        "y/a/b/",
        "s/a/b/2",
        "N;P;D",
        "s/[[:space:]]//",
        "s/(/x/2",
        r"s/o/\1/",
        r"s/o/\U&/",
        r"s/\<t/x/",
        r"s/\(o\)\1/x/",
    ],
)
def test_sed_says_where_it_cannot_tell(script: str) -> None:
    with pytest.raises(NotComputable):
        sed(TEXT, script, extended=False)
