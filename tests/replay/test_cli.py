"""`io-harness replay` in a process of its own, as a shell sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from io_harness.replay import replay_files
from io_harness.replay.table import render

from .samples import write_sample


def io_harness(*args: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from io_harness.cli.main import main; sys.argv[0] = 'io-harness'; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, check=False
    )


def test_replay_prints_json_and_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = io_harness("replay", write_sample("pi", tmp_path), "--json", "--html", str(page))

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"][0]["format"] == "pi"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_replaces_a_page_and_nothing_else(tmp_path: Path) -> None:
    run, page = write_sample("pi", tmp_path), tmp_path / "page.html"
    before = Path(run).read_bytes()
    done = io_harness("replay", run, "--html", run)
    assert (done.returncode, Path(run).read_bytes()) == (2, before)
    assert "it is there and no page" in done.stderr
    for _ in range(2):
        assert io_harness("replay", run, "--html", str(page)).returncode == 0


def test_a_file_without_a_run_does_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    bad = tmp_path / "summary.jsonl"
    bad.write_text('{"type": "summary", "summary": "x"}\n', encoding="utf-8")
    done = io_harness("replay", str(bad), write_sample("pi", tmp_path), "--json", str(bad))

    assert done.returncode == 2
    assert [run["format"] for run in json.loads(done.stdout)["files"]] == ["pi"]
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == [str(bad)] * 2


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b'{"a": 1}', b"\0" * 9_999])
def test_no_transcript_is_one_line_and_exit_code_2(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    done = io_harness("replay", str(path))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"io-harness: {path}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("columns", "has"), [(40, False), (60, False), (80, True)])
def test_no_figure_is_cut_however_narrow_a_terminal_is(
    columns: int, has: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = io_harness("replay", write_sample("pi", tmp_path))
    rows = done.stdout.split("\npolicy")[1].split("\n\n")[0].splitlines()
    assert "…" not in "".join(rows)
    assert max(map(len, rows)) <= columns
    assert ("breaks" in rows[0]) is has
    assert "of all" in rows[0]


def test_lines_between_the_tables_are_broken_between_words_on_a_terminal(tmp_path: Path) -> None:
    path = Path(write_sample("pi", tmp_path))
    report = replay_files([path])
    shown = {}
    for broken in (False, True):
        console = Console(width=40, soft_wrap=True, file=StringIO())
        console.print(render(report, width=40, broken=broken))
        assert isinstance(console.file, StringIO)
        shown[broken] = console.file.getvalue().partition("policy")[0].strip().splitlines()
    whole, *_ = shown[False]
    assert whole.startswith(f"{path}: pi, ")
    first, *rest = shown[True]
    assert first == f"{path}: pi,"[: len(first)]
    assert rest
    assert max(map(len, rest)) <= 40
    words = [" ".join(shown[broken]).split() for broken in (False, True)]
    assert words[0] == words[1]
