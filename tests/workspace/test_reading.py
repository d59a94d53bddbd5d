"""What a read gives: the lines asked for, exactly, at a bounded cost."""

from __future__ import annotations

import os
import random
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from io_harness.workspace import reading

if TYPE_CHECKING:
    from pathlib import Path

    from io_harness.workspace import Workspace

TEXT = "one\ntwo\r\nthree\x0c\x85\u2028\rstill three\nfour"


def naive(text: str, offset: int, limit: int | None) -> tuple[str, tuple[int, int], int]:
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    shown = lines[offset - 1 :][: len(lines) if limit is None else limit]
    return "".join(shown), (offset, offset + len(shown) - 1), len(lines)


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nb", "\n", "\n\n", TEXT, TEXT + "\n"])
def test_every_range_is_exactly_the_lines(workspace: Workspace, root: Path, text: str) -> None:
    (root / "f").write_bytes(text.encode())
    for offset in range(1, 8):
        for limit in (None, 0, 1, 2, 3, 100):
            got = workspace.read("f", offset=offset, limit=limit)
            assert (got.text, got.lines, got.total_lines) == naive(text, offset, limit)
            assert got.size == len(text.encode())
            assert got.digest == reading.digest_of(text.encode())
            assert got.note is None


def test_ranges_agree_with_the_naive_reading_across_chunks(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_CHUNK", 7)
    rng = random.Random(5)
    for _ in range(300):
        text = "".join(rng.choice("ab\né€😀\r") for _ in range(rng.randint(0, 60)))
        (root / "f").write_bytes(text.encode())
        offset, limit = rng.randint(1, 12), rng.choice([None, 0, 1, 2, 5])
        got = workspace.read("f", offset=offset, limit=limit)
        assert (got.text, got.lines, got.total_lines) == naive(text, offset, limit), text
        (root / "g").write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
        wide = workspace.read("g", offset=offset, limit=limit)
        assert (wide.text, wide.lines, wide.total_lines) == naive(text, offset, limit), text


@pytest.mark.parametrize(("offset", "limit"), [(0, None), (-1, None), (1, -1)])
def test_a_range_that_makes_no_sense_is_an_error(
    workspace: Workspace, root: Path, offset: int, limit: int | None
) -> None:
    (root / "f").write_text("x")
    with pytest.raises(ValueError, match="lines count from 1"):
        workspace.read("f", offset=offset, limit=limit)


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"\xef\xbb\xbfa\nb\n", "UTF-8 with a byte order mark"),
        ("\ufeffa\nb\n".encode("utf-16-le"), "UTF-16 LE with a byte order mark"),
        ("\ufeffa\nb\n".encode("utf-16-be"), "UTF-16 BE with a byte order mark"),
    ],
)
def test_marked_encodings_are_read_and_named(
    workspace: Workspace, root: Path, data: bytes, note: str
) -> None:
    (root / "f").write_bytes(data)
    got = workspace.read("f")
    assert (got.text, got.lines, got.total_lines, got.note) == ("a\nb\n", (1, 2), 2, note)
    assert got.digest == reading.digest_of(data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\x02\x01\0\0", "ELF binary"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "PNG image"),
        (b"\xff\xd8\xff\xe0JFIF", "JPEG image"),
        (b"\x1f\x8b\x08\0", "gzip archive"),
        (b"text with a \0 in it", "binary file"),
        ("grün\n".encode("latin-1"), "file that is not UTF-8 text"),
        (b"ok\n" * 200_000 + b"\xff", "file that is not UTF-8 text"),
        (b"cut short \xe2\x82", "file that is not UTF-8 text"),
        (b"\xff\xfea\0b", "binary file"),
        (b"\xff\xfe\0\0a\0\0\0", "binary file"),
        (random.Random(1).randbytes(65_536), "binary file"),
    ],
)
def test_what_is_no_text_is_one_line_that_names_kind_and_size(
    workspace: Workspace, root: Path, data: bytes, kind: str
) -> None:
    (root / "f").write_bytes(data)
    for offset, limit in ((1, None), (7, 3)):
        got = workspace.read("f", offset=offset, limit=limit)
        assert got.text == f"{kind}, {len(data):,} bytes: not shown as text"
        assert (got.lines, got.total_lines, got.note) == ((1, 1), 1, kind)
        assert got.digest == reading.digest_of(data)


def test_a_read_takes_whole_lines_up_to_its_bound(workspace: Workspace, root: Path) -> None:
    line = "x" * 99 + "\n"
    count = reading.READ_MAX_BYTES // 100 + 500
    (root / "f").write_text(line * count)
    got = workspace.read("f")
    shown = reading.READ_MAX_BYTES // 100
    assert (got.text, got.lines) == (line * shown, (1, shown))
    assert got.total_lines == count
    rest = workspace.read("f", offset=shown + 1)
    assert (rest.text, rest.lines) == (line * 500, (shown + 1, count))


@pytest.mark.parametrize("char", ["x", "é", "€", "😀"])
def test_one_long_line_is_cut_inside_at_a_whole_character(
    workspace: Workspace, root: Path, char: str
) -> None:
    (root / "f").write_text("a" + char * (50 * 2**20 // len(char.encode())), encoding="utf-8")
    got = workspace.read("f")
    assert got.lines == (1, 1)
    assert got.total_lines == 1
    assert reading.READ_MAX_BYTES - 4 < len(got.text.encode()) <= reading.READ_MAX_BYTES
    assert got.text == "a" + char * (len(got.text) - 1)


def test_a_huge_file_costs_no_more(workspace: Workspace, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.write(b"line\n" * 3_000_000)
        file.truncate(10 * 2**30)
    with (root / "sparse").open("wb") as file:
        file.truncate(2**40)
    tracemalloc.start()
    began = time.perf_counter()
    first = workspace.read("huge", limit=2)
    assert (first.text, first.lines) == ("line\nline\n", (1, 2))
    assert (first.total_lines, first.digest, first.size) == (None, None, 10 * 2**30)
    whole = workspace.read("huge")
    assert len(whole.text) <= reading.READ_MAX_BYTES
    with pytest.raises(OSError, match="beyond the first 64 MiB"):
        workspace.read("huge", offset=4_000_000)
    sparse = workspace.read("sparse")
    assert sparse.text == "binary file, 1,099,511,627,776 bytes: not shown as text"
    assert (sparse.digest, sparse.size) == (None, 2**40)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3.25 * reading.READ_MAX_BYTES, "bytes, text and the text kept from before"
    assert time.perf_counter() - began < 60


def test_a_file_that_is_cut_or_grows_while_it_is_read(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = root / "f"
    monkeypatch.setattr(reading, "_CHUNK", 4)
    real = os.read
    for size, expected in ((4, "abcd"), (12, "abcdefgh\0\0\0\0")):
        file.write_text("abcdefgh")

        def read(descriptor: int, count: int, size: int = size) -> bytes:
            data = real(descriptor, count)
            os.truncate(file, size)
            return data

        monkeypatch.setattr(os, "read", read)
        got = workspace.read("f")
        assert got.text == expected
        assert got.note == "changed while it was read"


def test_a_file_that_grows_for_ever_is_left_at_64_mib(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("x\n")
    monkeypatch.setattr(os, "read", lambda _descriptor, count: b"x" * (count - 1) + b"\n")
    got = workspace.read("f", limit=1)
    assert got.lines == (1, 1)
    assert (got.total_lines, got.digest) == (None, None)


def test_names_that_are_no_utf_8_work(workspace: Workspace, root: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (root / name).write_text("x")
    (root / "new\nline").write_text("y")
    assert workspace.read(name).text == "x"
    assert workspace.canonical(f"./{name}") == name
    assert workspace.read("new\nline").text == "y"
    assert workspace.write(name, "z").changed


def test_a_signature_settles_50_ms_after_the_last_change(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("x")
    assert not workspace.signature("f").settled
    time.sleep(0.06)
    settled = workspace.signature("f")
    assert settled.settled
    assert settled == workspace.read("f").signature
    ahead = time.time() + 3_600
    os.utime(root / "f", (ahead, ahead))
    time.sleep(0.06)
    touched = workspace.signature("f")
    assert touched != settled
    assert touched.settled, "a wish for the future does not unsettle a file for ever"
    (root / "f").write_text("y")
    assert workspace.signature("f") != touched
