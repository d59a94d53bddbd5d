"""Every format becomes the same records: a read, an edit of what was read, a search."""

from __future__ import annotations

from pathlib import Path

import pytest

from io_harness.replay.files import FileTexts
from io_harness.replay.importers import read_transcripts
from io_harness.replay.records import Record, Transcript
from io_harness.types import ObsKind

from .samples import AFTER, BEFORE, SAMPLES, write_sample


def sample(name: str, folder: Path) -> Transcript:
    return read_transcripts(write_sample(name, folder))[0]


def of_kind(run: Transcript, kind: ObsKind) -> list[Record]:
    return [record for record in run.records if record.kind is kind]


@pytest.mark.parametrize("name", SAMPLES)
def test_format_is_found_by_content(name: str, tmp_path: Path) -> None:
    assert sample(name, tmp_path).format == name.split(maxsplit=1)[0]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_read_holds_exactly_the_files_lines(name: str, tmp_path: Path) -> None:
    read = of_kind(sample(name, tmp_path), ObsKind.READ)[0]

    assert read.target == "area.py"
    assert read.text == BEFORE
    assert read.lines == (1, 2)
    assert read.exact
    assert not read.is_error


@pytest.mark.parametrize("name", SAMPLES)
def test_the_files_text_after_the_edit_is_known(name: str, tmp_path: Path) -> None:
    files = FileTexts.empty()
    for record in sample(name, tmp_path).records:
        files.take(record)

    assert files.lines("area.py", 1, 2) == AFTER
    assert files.unknown_writes == 0


@pytest.mark.parametrize("name", SAMPLES)
def test_a_search_names_its_pattern(name: str, tmp_path: Path) -> None:
    assert [r.target for r in of_kind(sample(name, tmp_path), ObsKind.GREP)] == ["radius"]


@pytest.mark.parametrize("name", SAMPLES)
def test_places_go_forward_and_are_taken_once(name: str, tmp_path: Path) -> None:
    run = sample(name, tmp_path)
    places = [(record.step, record.call) for record in run.records]

    assert places == sorted(set(places))
    assert run.records[0].text.startswith("Fix")
    assert (run.records[0].step, run.records[0].kind) == (0, ObsKind.MESSAGE)
    assert max(step for step, _ in places) <= run.steps


@pytest.mark.parametrize("name", ["claude_code", "mini_swe_agent", "openhands", "swe_agent"])
def test_a_failed_call_keeps_its_kind_and_changes_nothing(name: str, tmp_path: Path) -> None:
    failed = [record for record in sample(name, tmp_path).records if record.is_error]

    assert [record.kind in {ObsKind.READ, ObsKind.WRITE} for record in failed] == [True]
    assert not failed[0].changes
    assert not failed[0].exact


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("claude_code", 1105),
        ("codex_rollout", 900),
        ("mini_swe_agent", 700),
        ("openhands", 800),
        ("pi", 600),
        ("cline", 600),
    ],
)
def test_reported_usage_stands_once_on_its_step(name: str, prompt: int, tmp_path: Path) -> None:
    records = [r for r in sample(name, tmp_path).records if r.usage is not None]
    steps = [record.step for record in records]

    assert steps == sorted(set(steps))
    assert {record.usage.input for record in records if record.usage} == {prompt}


def test_one_answer_spread_over_lines_is_one_step(tmp_path: Path) -> None:
    run = sample("claude_code", tmp_path)

    assert run.steps == 4
    assert run.records[1].text == "I look at area.py."
    assert run.records[2].usage is None
    assert run.records[1].usage is not None
    assert run.records[1].usage.output == 5


def test_polls_of_a_running_command_carry_its_meaning(tmp_path: Path) -> None:
    run = sample("codex_rollout", tmp_path)
    poll = next(record for record in run.records if record.tool == "write_stdin")

    assert (poll.kind, poll.target, poll.text) == (ObsKind.READ, "area.py", BEFORE)
    assert [r.kind for r in run.records if r.tool == "exec_command"] == [ObsKind.TOOL, ObsKind.GREP]


def test_calls_without_result_are_counted_and_kept(tmp_path: Path) -> None:
    run = sample("pi", tmp_path)
    grep = of_kind(run, ObsKind.GREP)[0]

    assert run.report.notes["call without result"] == 1
    assert grep.is_error
    assert not grep.text


def test_a_resumed_session_is_not_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "run"
    text = SAMPLES["claude_code"]()
    path.write_text(text + text.replace('"uuid": "', '"uuid": "again'), encoding="utf-8")
    run = read_transcripts(str(path))[0]

    assert run.steps == 4
    assert len(run.records) == len(sample("claude_code", tmp_path).records) + 1  # the task's line
    assert run.report.notes["duplicate result"] == 4
    assert run.report.notes["answer line again, of a resumed session"] == 6


def test_unknown_types_are_counted_by_type(tmp_path: Path) -> None:
    path = tmp_path / "run"
    odd = '{"type": "hologram", "message": {}}\n'
    path.write_text(SAMPLES["claude_code"]() + odd, encoding="utf-8")
    report = read_transcripts(str(path))[0].report

    assert report.not_understood == 1
    assert report.unknown == {"line of type hologram": 1}
