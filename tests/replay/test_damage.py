"""Damage never ends an import of a run, and what is no run gets one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_harness.errors import ConfigError
from io_harness.replay.files import FileTexts
from io_harness.replay.importers import read_transcripts
from io_harness.replay.records import Transcript
from io_harness.replay.sed import MAX_CHARS
from io_harness.types import ObsKind

from .samples import SAMPLES, Json

LINED = ["claude_code", "codex_rollout", "pi"]
WHOLE = [name for name in SAMPLES if name not in LINED]


def read(text: str | bytes, folder: Path) -> Transcript:
    path = folder / "run"
    path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return read_transcripts(str(path))[0]


@pytest.mark.parametrize("name", LINED)
def test_a_truncated_last_line_is_counted(name: str, tmp_path: Path) -> None:
    text = SAMPLES[name]()
    run = read(text[:-20], tmp_path)

    assert run.report.notes["truncated last line"] == 1
    assert run.records


@pytest.mark.parametrize("name", LINED)
def test_a_broken_line_inside_is_counted(name: str, tmp_path: Path) -> None:
    lines = SAMPLES[name]().splitlines(keepends=True)
    run = read("".join([*lines[:3], '{"type": "assist\n', *lines[3:]]), tmp_path)

    assert run.report.notes["broken line"] == 1
    assert len(run.records) == len(read("".join(lines), tmp_path).records)


def test_control_characters_inside_strings_are_read(tmp_path: Path) -> None:
    text = SAMPLES["pi"]().replace("I look.", "I \x01 look.")

    assert any("\x01" in record.text for record in read(text, tmp_path).records)


def test_lone_surrogates_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    assert read("\ufeff" + SAMPLES["pi"](), tmp_path).records
    assert read(SAMPLES["pi"]().replace("I look.", "I \\ud83d look."), tmp_path).records


@pytest.mark.parametrize("name", LINED)
def test_windows_line_ends_are_read(name: str, tmp_path: Path) -> None:
    text = SAMPLES[name]()

    assert len(read(text.replace("\n", "\r\n"), tmp_path).records) == len(
        read(text, tmp_path).records
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_zeros_where_the_power_went_are_counted(name: str, tmp_path: Path) -> None:
    text = SAMPLES[name]()
    run = read(text.encode() + bytes(100_000), tmp_path)

    assert (
        run.report.notes["truncated last line" if name in LINED else "zero bytes at the end"] == 1
    )
    assert run.records == read(text, tmp_path).records


@pytest.mark.parametrize("name", WHOLE)
def test_a_cut_object_says_that_it_is_no_json(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="JSON"):
        read(SAMPLES[name]()[:-30], tmp_path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "empty file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "PNG"),
        (bytes(100_000), "zero bytes"),
        (b"SQLite format 3\0" + bytes(200), "SQLite"),
        (b"\x7fELF" + bytes(range(256)) * 20 + bytes(500) + b"\1", "binary"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "gzip; decompress it"),
        (b"(\xb5/\xfd\0", "zstd; decompress it"),
        (b"\xfd7zXZ\0\0", "xz; decompress it"),
        (b"BZh91AY&SY", "bzip2; decompress it"),
        (b"PK\x03\x04\x14\0", "ZIP archive"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        (b"Dear diary,\ntoday\n", "neither JSON nor JSON lines"),
        (b'{"name": "io-harness", "version": 1}', "JSON object with name, version"),
        (b'{"a": 1}\n{"b": 2}\n', "JSON lines with a"),
        (b"[1, 2, 3]", "JSON list of 3 items"),
        (b"42", "JSON int"),
        (b"null", "JSON"),
        (b'"text"', "JSON str"),
        (b"[]", "JSON list of 0 items"),
        (b"{}", "no fields"),
        (b'{"a\\nb": 1, "\\u001b[2J": 2, "\\u200f": 3}', r"JSON object with \u{1b}[2J, a\u{a}b"),
        (b"[" * 100_000, "JSON"),
    ],
)
def test_what_is_no_transcript_gets_one_clear_line(
    content: bytes, found: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(content, tmp_path)

    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_directory_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a directory"):
        read_transcripts(str(tmp_path))[0]
    with pytest.raises(ConfigError, match="no such file"):
        read_transcripts(str(tmp_path / "gone"))[0]


def test_a_gigabyte_of_zeros_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    with path.open("wb") as file:
        file.truncate(1 << 30)

    with pytest.raises(ConfigError, match="zero bytes"):
        read_transcripts(str(path))[0]


def spots(value: Json) -> int:
    """How many places of a JSON value can be damaged."""
    if isinstance(value, dict):
        return 1 + sum(spots(inner) for inner in value.values())
    return 1 + (sum(spots(inner) for inner in value) if isinstance(value, list) else 0)


def damaged(value: Json, at: list[int], odd: Json) -> Json:
    """The value with the place that `at` counts down to replaced."""
    at[0] -= 1
    if at[0] < 0:
        at[0] = 1 << 30
        return odd
    if isinstance(value, dict):
        return {key: damaged(inner, at, odd) for key, inner in value.items()}
    return [damaged(inner, at, odd) for inner in value] if isinstance(value, list) else value


VALUES: list[Json] = [None, True, -1, 1 << 80, 1.5, "", "x", [], {}, [None], [[]], {"type": 3}]
ODD: st.SearchStrategy[Json] = st.sampled_from(VALUES)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=40)
@given(data=st.data())
def test_any_value_in_any_place_is_survived(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = SAMPLES[name]()
    values: list[Json] = [json.loads(line) for line in text.splitlines()]
    which = data.draw(st.integers(0, len(values) - 1))
    place = data.draw(st.integers(0, spots(values[which]) - 1))
    values[which] = damaged(values[which], [place], data.draw(ODD))
    folder = tmp_path_factory.mktemp("odd")
    records, steps = survived("".join(json.dumps(v) + "\n" for v in values), folder)

    assert all(0 <= step <= steps for step in records)


def survived(text: str, folder: Path) -> tuple[list[int], int]:
    """The steps of the records read; none where one clear line refused the file."""
    try:
        run = read(text, folder)
    except ConfigError:
        return [], 0
    return [record.step for record in run.records], run.steps


def asked(call: str, name: str, args: Json, result: str) -> list[Json]:
    function: Json = {"name": name, "arguments": json.dumps(args)}
    return [
        {"role": "assistant", "tool_calls": [{"id": call, "function": function}]},
        {"role": "tool", "tool_call_id": call, "content": result},
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>" * 40_000,
        "<system-reminder>x</system-reminder> " * 40_000,
        "[Current working directory: x]\n" * 40_000 + "y",
        "[Current working directory: x]\n" * 40_000,
        "(Open file: " * 40_000,
        "result of running `cat -n` on " * 40_000,
        "\n\n[1 more lines in file" * 40_000,
        "1\t" * 200_000,
    ],
)
def test_no_text_of_a_read_is_slow_to_take(text: str, tmp_path: Path) -> None:
    for around in (text, "[File: a (2 lines total)]\n" + text):
        run = read(json.dumps(asked("c", "view", {"path": "a"}, around)), tmp_path)
        assert [record.kind for record in run.records] == [ObsKind.READ]


LONG = "9" * 5_000
"""More digits than Python reads as a number."""


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("cat a", f"{LONG}: x\n"),
        ("cat a", f"[File: a ({LONG} lines total)]\n1:x\n"),
        ("cat a", f"x\n\n[{LONG} more lines in file]"),
        ("cat a", f"x\n[exit code {LONG}]"),
        *((f"{shown} a", "x\n") for shown in (
            f"sed -n {LONG}p", f"sed -n 1,{LONG}p", f"head -n {LONG}", f"tail -n +{LONG}",
            f"awk 'NR=={LONG}'", f"awk 'NR>1 && NR<{LONG}'", f"sed -i {LONG}d",
        )),
        (f"cat $(({'(' * 5_000}1{')' * 5_000}))", "x\n"),
        (f"sed -n '1{' ' * 190_000}x' a", "x\n"),
        (f"sed -n '1p{' ' * 190_000}x' a", "x\n"),
        (f"apply_patch '*** Begin Patch\n*** Add File: a{' ' * 190_000}b'", "Done."),
    ],
    ids=lambda text: text.replace(LONG, "9…")[:40],
)  # fmt: skip
def test_no_number_and_no_command_is_slow_or_fatal(
    command: str, result: str, tmp_path: Path
) -> None:
    run = read(json.dumps(asked("c", "bash", {"command": command}, result)), tmp_path)
    assert [record.tool for record in run.records] == ["bash"]


@pytest.mark.parametrize(
    "recorded",
    [
        {
            "trajectory_format": "mini-swe-agent",
            "messages": [
                {"role": "assistant", "content": "```bash\nls\n```"},
                {"role": "user", "content": f"<returncode>{LONG}</returncode><output>x</output>"},
            ],
        },
        {
            "trajectory_format": "mini-swe-agent",
            "messages": [{"role": "assistant", "content": "```bash" + "\n" * 400_000 + "x"}],
        },
        {
            "trajectory": [
                {"action": "open a", "observation": "x", "state": '{"open_file": "/a"}'},
                {"action": f"edit {LONG}:{LONG}\nx\nend_of_edit", "observation": "x"},
                {"action": "str_replace_editor view /a --view_range ² 3", "observation": "x"},
            ]
        },
    ],
    ids=["exit code", "blank lines", "line numbers"],
)
def test_no_trajectory_is_slow_or_fatal(recorded: Json, tmp_path: Path) -> None:
    assert read(json.dumps(recorded), tmp_path).records


@pytest.mark.parametrize(
    ("before", "script"),
    [
        ("a", "s/" + "[" * 190_000 + "/x/"),
        ("a" * 64, "s/(a+)+$b/x/"),
        ("a" * 64, "s/a/aa/g;" * 40),
        ("a\n" * 64, r"s/a/a\na/g;" * 40),
        ("a" * 1000, "s/a/" + "b" * 100_000 + "/g"),
        ("a\n", "s/b/c/;" * 20_000),
        ("a", r"s/a/\1/"),
        ("a", r"s/a/\U&/"),
        ("a", "/" + "(" * 5_000),
    ],
)
def test_no_sed_script_is_slow_or_fatal(before: str, script: str, tmp_path: Path) -> None:
    calls = asked("c0", "write_file", {"path": "a", "content": before}, "Done.")
    for number in range(1, 30):
        command: Json = {"command": f"sed -i -E '{script}' a"}
        calls += asked(f"c{number}", "bash", command, "")
    run = read(json.dumps(calls), tmp_path)
    files = FileTexts.empty()
    for record in run.records:
        files.take(record)

    assert run.records[1].kind is ObsKind.WRITE
    state = files.state("a")
    assert state is not None
    assert len(state.text) <= MAX_CHARS


def test_edits_that_multiply_a_text_leave_it_unknown(tmp_path: Path) -> None:
    calls = asked("c0", "write_file", {"path": "a", "content": "ab" * 5_000}, "Done.")
    for number in range(1, 40):
        edit: Json = {
            "path": "a",
            "old_string": "a",
            "new_string": "a" * 200_000,
            "replace_all": True,
        }
        calls += asked(f"c{number}", "edit", edit, "Done.")
    files = FileTexts.empty()
    for record in read(json.dumps(calls), tmp_path).records:
        files.take(record)

    assert files.lines("a", 1, None) is None
