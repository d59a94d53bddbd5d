"""The examples, run as a reader would run them: no key, from another directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from io_harness.store import Store
from tests.providers.shapes import openai_answer
from tests.vendor import Reply, vendor

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = (
    "context_growth",
    "context_growth_bounded",
    "memory_across_runs",
    "own_loop",
    "custom_tool",
)


def example(name: str, *args: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *args],
        capture_output=True, text=True, cwd=cwd, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(printed: str) -> list[list[int]]:
    """The numbers of each row: step, chars, estimate, reported."""
    rows = [line.replace(",", "").split() for line in printed.splitlines()]
    return [[int(cell) for cell in row[:4]] for row in rows if row[0].isdigit()]


def test_a_plain_loop_only_grows(tmp_path: Path) -> None:
    rows = table(example("context_growth", cwd=tmp_path))
    estimates = [row[2] for row in rows]
    assert len(rows) == 23
    assert estimates == sorted(estimates)
    assert estimates[-1] > 5_000
    assert [row[3] for row in rows] == sorted(row[3] for row in rows)


def test_the_bounded_run_stays_within_its_ceiling_from_first_to_last(tmp_path: Path) -> None:
    store_file = str(tmp_path / "runs.db")
    rows = table(example("context_growth_bounded", "--store", store_file, cwd=tmp_path))
    assert len(rows) == 23
    assert max(row[2] for row in rows) <= 1_500
    with Store.open(store_file) as store:
        (run,) = store.runs()
        assembled = [e for e in store.context_events(run.run_id) if e.kind == "assembled"]
        steps = store.steps(run.run_id)
    assert (run.outcome, len(assembled)) == ("success", 23)
    for event, step in zip(assembled, steps, strict=True):
        assert event.est_section is not None
        assert event.est_section <= 1_500
        assert step.request is not None
        section = step.request.messages[1:]
        chars = sum(len(m.text) + sum(len(r.text) for r in m.results) for m in section)
        assert chars <= 4 * 1_500


def test_a_later_run_is_told_what_an_earlier_one_noted(tmp_path: Path) -> None:
    printed = example("memory_across_runs", cwd=tmp_path)
    assert printed.count("success:") == 2
    assert "recalled 'limits'" in printed
    assert "limits: LIMIT stands at the top of each module." in printed


def test_somebody_elses_loop_is_bounded_too(tmp_path: Path) -> None:
    printed = example("own_loop", cwd=tmp_path)
    tokens = [int(line.split()[1]) for line in printed.splitlines()]
    assert (len(tokens), max(tokens) <= 1_500) == (21, True)


def test_the_newest_answer_to_a_question_is_the_live_one(tmp_path: Path) -> None:
    printed = example("custom_tool", cwd=tmp_path)
    assert "superseded by step 2" in printed
    assert "19.0 °C in the kitchen" in printed


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_with_a_model(name: str, tmp_path: Path) -> None:
    said = "DONE, LIMIT = 200"
    with vendor([Reply(openai_answer({"content": said}))]) as server:
        model = f"openai-compatible:m@{server.url}/v1"
        assert said in example(name, "--model", model, cwd=tmp_path) or name.endswith("bounded")
        assert server.seen


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_model_that_cannot_be_is_one_sentence(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", "--model", "foo"],
        capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "'foo' names no vendor and model" in done.stderr
