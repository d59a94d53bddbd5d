"""The report as JSON, as a table and as a page."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from io_harness.cli.replaying import replay
from io_harness.errors import ConfigError
from io_harness.replay import replay_files, table
from io_harness.replay.legend import legend
from io_harness.replay.page import html_page
from tests.browser import CHROMIUM, NO_CHROMIUM, png_colors, screenshot

from .corpus import corpus_root
from .samples import SAMPLES, write_sample

FIGURES = {
    "sent",
    "billed",
    "limit",
    "stable",
    "breaks",
    "largest_request",
    "strict",
    "quoted",
    "echo",
    "sight",
}


def command(*arguments: str) -> tuple[int, str, BaseException | None]:
    app = typer.Typer()
    app.command()(replay)
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.exception


def test_json_is_one_object_of_the_documented_shape(tmp_path: Path) -> None:
    path = write_sample("claude_code", tmp_path)
    code, out, _ = command(path, "--json")
    found = json.loads(out)

    assert code == 0
    assert set(found) == {"files", "total"}
    (run,) = found["files"]
    assert set(run) == {"file", "format", "steps", "records", "not_understood", "policies"}
    assert (run["file"], run["format"], run["steps"]) == (path, "claude_code", 4)
    assert run["records"] == {"grep": 1, "message": 2, "read": 2, "write": 1}
    assert set(run["policies"]) == {"everything", "every-turn", "priced"}
    assert all(set(figures) == FIGURES for figures in run["policies"].values())
    total = found["total"]["policies"]
    assert all(set(figures) == FIGURES | {"geo_mean"} for figures in total.values())
    assert total["everything"]["geo_mean"] == 1.0


def test_short_runs_stay_out_of_the_total(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    five, four = write_sample("mini_swe_agent", tmp_path / "a"), write_sample("pi", tmp_path / "b")
    report = replay_files([five, four], min_steps=4)

    assert [run.steps for run in report.runs] == [5, 3]
    assert report.total("everything").billed == report.runs[0].policies["everything"].billed
    assert replay_files([four], min_steps=4).geo_mean("priced") == 1.0


def test_a_file_of_several_runs_gives_each_its_own(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    one = json.dumps(json.loads(SAMPLES["openhands"]()))
    path.write_text(f"{one}\n{one}\n", encoding="utf-8")

    assert [run.file for run in replay_files([str(path)]).runs] == [f"{path}#1", f"{path}#2"]


def test_the_table_fits_a_narrow_terminal_and_tells_what_was_met(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text(SAMPLES["claude_code"]() + '{"type": "odd\x1b[31m"}\n', encoding="utf-8")
    code, out, _ = command(str(path))

    assert code == 0
    assert "not understood: line of type odd\\u{1b}[31m 1" in out
    assert "prompt tokens reported 4,420" in out
    told = out.splitlines()
    rows = [line for line in told if line.startswith(("policy", "every", "priced", "limit"))]
    assert len(rows) == 9  # four of them in the legend
    assert all(len(row.rstrip()) <= 80 for row in rows)
    assert "\x1b[31m" not in out


def test_every_word_of_a_report_is_explained_in_it(tmp_path: Path) -> None:
    report = replay_files([write_sample("pi", tmp_path)])
    explained = {word for words, _ in legend(report.terms) for word in words.split(", ")}
    page = html_page(report)

    assert {*table.COLUMNS, *report.runs[0].policies, "limit", "geo"} <= explained
    assert all(escape(meaning) in page for _, meaning in legend(report.terms))


@pytest.mark.parametrize("text", ["", "1", "a,b", "-1,1", "0.1;1", "nan,1"])
def test_a_price_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    _, _, error = command(write_sample("pi", tmp_path), "--price", text)

    assert isinstance(error, ConfigError)


def test_no_transcript_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    _, _, error = command(str(path))

    assert isinstance(error, ConfigError)
    assert str(error) == f"{path}: a PNG image, no transcript"


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    page = html_page(replay_files([write_sample("pi", tmp_path)]))

    assert not re.search(r"<script|https?://|url\(|@import|<link|<img", page)
    assert page.count('class="curve') == 3
    assert page.count('class="strip"') == 3
    assert "prefers-color-scheme:dark" in page


def test_names_from_files_are_escaped_in_the_page(tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    page = html_page(replay_files([write_sample("pi", folder)]))

    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_the_page_of_the_longest_run_is_small() -> None:
    path = corpus_root() / "pi/before-compaction.jsonl"

    assert len(html_page(replay_files([str(path)])).encode()) < 2_000_000


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_curves_are_drawn(width: int, dark: bool, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html_page(replay_files([write_sample("pi", tmp_path)])), encoding="utf-8")
    shot = screenshot(page, width=width, dark=dark)
    colors = png_colors(shot)
    curve = (0x6A, 0xA0, 0xFF) if dark else (0x25, 0x63, 0xC9)

    assert colors.get(curve, 0) > 50
    assert colors.most_common(1)[0][0] == ((0x12, 0x16, 0x1D) if dark else (0xFF, 0xFF, 0xFF))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ceiling", {"ceiling": 63}),
        ("ceiling", {"ceiling": "24000"}),
        ("fixed", {"fixed": -1}),
        ("fixed", {"fixed": None}),
        ("min_steps", {"min_steps": 1.5}),
        ("price", {"price": (0.1, 1.25)}),
        ("paths", {"paths": "run.jsonl"}),
        ("paths", {"paths": b"run.jsonl"}),
        ("paths", {"paths": Path("run.jsonl")}),
        ("paths", {"paths": None}),
        ("paths", {"paths": [None]}),
        ("no path", {"paths": ["a\0b"]}),
    ],
)
def test_a_wrong_argument_is_named(name: str, options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=name):
        replay_files(**{"paths": [], **options})  # type: ignore[arg-type]  # wrong on purpose


def test_a_path_may_be_a_path(tmp_path: Path) -> None:
    report = replay_files([Path(write_sample("pi", tmp_path))])
    assert json.dumps(report.to_json())
