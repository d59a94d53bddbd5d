"""The tools that read, search and write files."""

from __future__ import annotations

import os
import random
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import pytest

from io_harness.tools import nearest
from io_harness.types import ObsKind
from io_harness.workspace import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from io_harness.types import JSON
    from tests.tools.conftest import Bench


def test_a_read_is_exactly_the_lines(call: Bench, root: Path) -> None:
    got = call("read_file", path="./src//a.py")
    text = (root / "src/a.py").read_text()
    assert (got.kind, got.target, got.text) == (ObsKind.READ, "src/a.py", text)
    assert (got.lines, got.total_lines, got.digest) == ((1, 5), 5, digest_of(text.encode()))
    assert not got.changed
    part = call("read_file", path="notes.txt", offset=2, limit=1)
    assert (part.text, part.lines, part.total_lines) == ("two\n", (2, 2), 3)


@pytest.mark.parametrize(
    ("offset", "limit", "lines"),
    [(2, 2, (2, 3)), (2, 5, (2, 6)), (4, 1, (4, 4)), (9, 3, (9, 11)), (9, None, (9, 8))],
)
def test_lines_are_as_asked_where_the_file_ends(
    call: Bench, offset: int, limit: int | None, lines: tuple[int, int]
) -> None:
    assert call("read_file", path="notes.txt", offset=offset, limit=limit).lines == lines


def test_a_read_of_what_is_no_text_names_it(call: Bench, root: Path) -> None:
    (root / "bin").write_bytes(b"\x7fELF\0\0")
    got = call("read_file", path="bin", offset=5, limit=2)
    assert got.text == "ELF binary, 6 bytes: not shown as text"
    assert (got.lines, got.note) == ((1, 1), "ELF binary")


def test_failures_say_what_to_do_and_show_nothing_outside(call: Bench, root: Path) -> None:
    told = {
        "missing": "list_dir and find show what exists",
        "src": "list_dir shows what is in it",
        "../secret": "relative to its root",
        "notes.txt/x": "no directory",
    }
    for path, hint in told.items():
        text = call.fails("read_file", path=path)
        assert hint in text
        assert str(root.parent) not in text


def test_arguments_that_do_not_fit_are_told_by_name(call: Bench) -> None:
    assert "'path' is missing" in call.fails("read_file")
    assert "'path' must be string, not 3" in call.fails("read_file", path=3)
    assert "no argument is named 'file'" in call.fails("read_file", file="x")
    assert "lines count from 1" in call.fails("read_file", path="notes.txt", offset=0)


def test_null_for_what_may_be_left_out_is_leaving_it_out(call: Bench) -> None:
    whole = call("read_file", path="notes.txt")
    assert call("read_file", path="notes.txt", offset=None, limit=None).text == whole.text
    assert call("list_dir", path=None).text == call("list_dir").text
    assert "'path' must be string, not None" in call.fails("read_file", path=None)


def test_numbers_beyond_any_file_are_as_good_as_large_ones(call: Bench) -> None:
    whole = call("read_file", path="notes.txt")
    assert call("read_file", path="notes.txt", limit=10**30).text == whole.text
    assert call("read_file", path="notes.txt", offset=10**30).text == ""
    assert "'timeout' is too large" in call.fails("run_command", argv=["true"], timeout=10**400)


def test_a_file_is_no_directory_and_the_reason_says_what_reads_it(call: Bench) -> None:
    assert "read_file reads a file" in call.fails("list_dir", path="notes.txt")


def test_list_dir(call: Bench, root: Path) -> None:
    (root / "link").symlink_to("notes.txt")
    (root / "new\nline").write_text("")
    os.mkfifo(root / "pipe")
    got = call("list_dir")
    assert (got.kind, got.target, got.key) == (ObsKind.TOOL, "list_dir .", "list_dir:.")
    assert got.text.split("\n") == [
        "6 entries",
        ".env  15",
        "link  (link)",
        '"new\\nline"  0',
        "notes.txt  14",
        "pipe  (no regular file)",
        "src/",
    ]
    assert call("list_dir", path="src").text == "1 entry\na.py  37"
    assert "no directory" in call.fails("list_dir", path="notes.txt")


def test_find_and_grep(call: Bench) -> None:
    found = call("find", pattern="*.py")
    assert (found.kind, found.target, found.scope) == (ObsKind.FIND, "*.py", ".")
    assert found.text == "1 file\nsrc/a.py"
    got = call("grep", pattern="t(wo|hree)", path="./notes.txt", context=1)
    assert (got.kind, got.target, got.paths) == (ObsKind.GREP, "t(wo|hree)", ("notes.txt",))
    assert got.scope == "notes.txt, context 1"
    assert got.text.split("\n") == [
        "2 matching lines",
        "notes.txt-1-one",
        "notes.txt:2:two",
        "notes.txt:3:three",
    ]
    full = call("grep", pattern="MAIN|TWO", glob="*.py", ignore_case=True)
    assert full.scope == "., glob *.py, ignoring case"
    assert full.text == "1 matching line\nsrc/a.py:4:def main():"
    assert call("grep", pattern="nothing like it").text == "0 matching lines"
    assert "RE2" in call.fails("grep", pattern="(?<=x)y")
    assert "0 to 20" in call.fails("grep", pattern="x", context=21)


def test_grep_separates_what_does_not_adjoin(call: Bench, root: Path) -> None:
    (root / "l").write_text("".join(f"{n}\n" for n in range(1, 21)))
    got = call("grep", pattern="^(3|5|15)$", path="l", context=1)
    assert got.text.split("\n")[1:] == [
        *("l-2-2", "l:3:3", "l-4-4", "l:5:5", "l-6-6", "--", "l-14-14", "l:15:15", "l-16-16"),
    ]


def test_write_file_says_what_it_did(call: Bench, root: Path) -> None:
    made = call("write_file", path="new/dir/f", content="a\nb")
    assert (made.kind, made.target, made.changed) == (ObsKind.WRITE, "new/dir/f", True)
    assert made.text == "created new/dir/f: 2 lines, 3 bytes"
    assert made.digest == digest_of(b"a\nb")
    again = call("write_file", path="new/dir/f", content="a\nb")
    assert not again.changed
    assert "has this content already; nothing was written" in again.text
    changed = call("write_file", path="new/dir/f", content="")
    assert (changed.text, changed.changed) == ("changed new/dir/f: 0 lines, 0 bytes", True)
    assert (root / "new/dir/f").read_text() == ""
    assert "lone surrogate at character 1" in call.fails("write_file", path="x", content="a\ud83e")


def test_write_file_over_what_is_no_text(call: Bench, root: Path) -> None:
    (root / "bin").write_bytes(b"\0\1")
    got = call("write_file", path="bin", content="text\n")
    assert (got.text, got.changed) == ("changed bin: 1 line, 5 bytes", True)
    assert (root / "bin").read_bytes() == b"text\n"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_write_keeps_the_encoding_of_what_was_there(
    call: Bench, root: Path, codec: str, start: str
) -> None:
    (root / "wide").write_bytes("größe\r\n".encode(codec))
    assert not call("write_file", path="wide", content=start + "größe\r\n").changed
    got = call("write_file", path="wide", content=start + "neu\n")
    assert (root / "wide").read_bytes() == "neu\n".encode(codec)
    assert got.digest == digest_of((root / "wide").read_bytes())


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [
        ("aaa", "aa", "1, 1"),
        ("x\n}\n}\n}\n", "}\n}\n", "2, 3"),
        ("ab\nababa", "aba", "2, 2"),
    ],
)
def test_places_that_overlap_are_two_places(
    call: Bench, root: Path, text: str, old: str, lines: str
) -> None:
    (root / "f").write_text(text)
    told = call.fails("edit_file", path="f", old=old, new="new")
    assert f"`old` is 2 times in f, more than 1: at lines {lines}. " in told
    assert (root / "f").read_text() == text
    assert call("edit_file", path="f", old=old, new="new", count=2).changed
    assert (root / "f").read_text() == text.replace(old, "new")


@pytest.mark.parametrize(
    ("text", "old", "cause"),
    [
        ("cafe\u0301 au lait", "caf\u00e9 au", "different Unicode forms"),
        ("say \u201chi\u201d\u00a0now", 'say "hi" now', "special blanks, quotes or dashes"),
        ("one  \ntwo\t\nthree", "one\ntwo\nthree", "blanks at the ends of lines"),
        ("\tif x:\n\t\ty()", "    if x:\n        y()", "tabs and blanks"),
    ],
)
def test_what_cannot_be_seen_of_a_difference_is_said(
    call: Bench, root: Path, text: str, old: str, cause: str
) -> None:
    (root / "f").write_text(text)
    told = call.fails("edit_file", path="f", old=old, new="new")
    assert "`old` is not in f; nothing was written. It would be but for " in told
    assert cause in told
    assert "The nearest text is at line 1:" in told


@pytest.mark.parametrize("text", [" " * 4_000_000, "ab \t\n" * 400_000, "\t" * 4_000_000 + "x"])
def test_a_long_row_of_blanks_is_no_trap(call: Bench, root: Path, text: str) -> None:
    (root / "f").write_text(text)
    assert "`old` is not in f" in call.fails("edit_file", path="f", old="absent  text", new="new")


def test_edit_file_replaces_exactly(call: Bench, root: Path) -> None:
    got = call("edit_file", path="notes.txt", old="two\n", new="2\r\n")
    assert (got.kind, got.changed) == (ObsKind.WRITE, True)
    assert (root / "notes.txt").read_bytes() == b"one\n2\r\nthree\n"
    assert not call("edit_file", path="notes.txt", old="one", new="one").changed
    call("edit_file", path="notes.txt", old="e", new="E", count=3)
    assert (root / "notes.txt").read_bytes() == b"onE\n2\r\nthrEE\n"


@pytest.mark.parametrize(
    ("old", "count", "hint"),
    [
        ("absent text", 1, "Nothing in the file is like it"),
        ("    retrun 0", 1, "nearest text is at line 5:\n5:     return 0"),
        (
            "def main():\n  return 0",
            1,
            "nearest text is at line 4:\n4: def main():\n5:     return 0",
        ),
        ("n", 1, "is 2 times in src/a.py, more than 1: at lines 4, 5. "),
        ("", 1, "`old` is empty"),
        ("import os", 0, "`count` is 0"),
        ("import os\r\n", 1, "but for the line ends: the file's lines end in LF alone"),
    ],
)
def test_an_edit_that_is_not_plain_writes_nothing(
    call: Bench, root: Path, old: str, count: int, hint: str
) -> None:
    def written() -> tuple[int, int]:  # not its atime: reading it may move that
        status = (root / "src/a.py").stat()
        return status.st_ino, status.st_ctime_ns

    before = written()
    text = call.fails("edit_file", path="src/a.py", old=old, new="x", count=count)
    assert hint in text
    assert written() == before


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_an_edit_keeps_the_encoding(call: Bench, root: Path, codec: str) -> None:
    (root / "f").write_bytes("größe\nx\n".encode(codec))
    got = call("edit_file", path="f", old="x", new="y")
    assert (root / "f").read_bytes() == "größe\ny\n".encode(codec)
    assert got.digest == digest_of((root / "f").read_bytes())


def test_an_edit_of_what_is_no_text_or_too_big_is_an_error(call: Bench, root: Path) -> None:
    (root / "bin").write_bytes(b"\0x")
    (root / "big").write_bytes(b"x" * (8 * 2**20 + 1))
    assert "not text" in call.fails("edit_file", path="bin", old="x", new="y")
    assert "at most 8 MiB" in call.fails("edit_file", path="big", old="x", new="y")


def test_names_that_do_not_print_can_be_used_as_they_are_shown(call: Bench, root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("found\n")
    got = call("grep", pattern="found")
    assert got.text == '1 matching line\n"caf\\udce9":1:found'
    assert got.paths == ("caf\udce9",)
    assert call("read_file", path="caf\udce9").text == "found\n"


def test_no_place_reads_like_another_place_with_options(call: Bench, root: Path) -> None:
    (root / "src, ignoring case").mkdir()
    questions: list[dict[str, JSON]] = [
        {"path": "src, ignoring case"},
        {"path": "src", "ignore_case": True},
        {"path": "src", "glob": "*.py, ignoring case"},
        {"path": "src", "glob": "*.py", "ignore_case": True},
        {"path": "src", "glob": "*.py, context 2"},
        {"path": "src", "glob": "*.py", "context": 2},
    ]
    scopes = [call("grep", pattern="x", **question).scope for question in questions]
    assert len(set(scopes)) == len(questions)


def test_a_file_of_lines_all_alike_costs_an_edit_no_more_than_a_few_hundred_of_them(
    call: Bench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0

    class Counted(SequenceMatcher[str]):
        def ratio(self) -> float:
            nonlocal compared
            compared += 1
            return super().ratio()

    monkeypatch.setattr(nearest, "SequenceMatcher", Counted)
    chance = random.Random(1)
    lines = ["".join(chance.sample("abcdefghij" * 4, 40)) for _ in range(3_000)]
    (root / "alike.txt").write_text("\n".join(lines))
    wanted = "".join(chance.sample("abcdefghij" * 4, 40))
    assert "not in alike.txt" in call.fails("edit_file", path="alike.txt", old=wanted, new="")
    assert 0 < compared <= 500
