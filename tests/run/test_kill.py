"""kill -9 anywhere in a run, then resume: nothing is asked, done or counted twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TypedDict, cast

import pytest

POINTS = {"every-turn": 54, "priced": 26}
ROOT = Path(__file__).parents[2]


class Point(TypedDict, total=False):
    """What one kill and its resume came to; a run killed before it was recorded has less."""

    at: int | None
    outcome: str
    answered: int
    started: list[str]
    asked_before: list[str]
    asks: int
    marks: list[str]
    spent: list[int]
    prompts: list[str]
    notes: list[list[object]]
    file: str


@pytest.fixture(scope="module", params=list(POINTS))
def points(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """What every kill came to, where each turn is assembled anew and where prefixes are kept."""
    place, count = str(tmp_path_factory.mktemp("kill")), POINTS[request.param]
    priced = {"PRICED": "1"} if request.param == "priced" else {}
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.killing", place, str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        env={**os.environ, **priced},
    )
    assert done.returncode == 0, done.stderr
    found = [cast("Point", json.loads(line)) for line in done.stdout.splitlines()]
    assert len(found) == count + 1
    return found


@pytest.fixture(scope="module")
def whole(points: list[Point]) -> Point:
    """The run that nobody killed."""
    assert points[0]["at"] is None
    return points[0]


@pytest.fixture(scope="module")
def killed(points: list[Point]) -> list[Point]:
    """Those that were killed once they were recorded: the others left nothing at all."""
    recorded = [point for point in points[1:] if "outcome" in point]
    assert len(recorded) >= len(points) - 6
    for point in points[1:]:
        if point not in recorded:
            assert (point["asks"], point["marks"]) == (0, [])
    return recorded


def is_told(point: Point) -> bool:
    """Whether the model was told of a call of which nobody knows whether it happened."""
    return any("interrupted: " in prompt for prompt in point["prompts"])


def test_kills_fall_before_between_and_inside_the_commits(killed: list[Point]) -> None:
    assert {point["answered"] for point in killed} >= {0, 1, 2, 3, 4, 5}
    assert any(point["started"] for point in killed)


def test_what_was_answered_is_not_asked_again(killed: list[Point], whole: Point) -> None:
    for point in killed:
        asked_in_vain = len(point["asked_before"]) - point["answered"]
        assert asked_in_vain in (0, 1)
        if not is_told(point):
            assert point["asks"] == whole["asks"] + asked_in_vain


def test_no_effect_is_repeated(killed: list[Point]) -> None:
    for point in killed:
        assert sorted(set(point["marks"])) == point["marks"]
        assert point["marks"] == ["1", "2"] or "bump" in point["started"]
        assert [note[:2] for note in point["notes"]] == [["k", "v"]]
        assert [note[2] for note in point["notes"]] == [3]


def test_without_an_open_effect_every_request_is_the_same_to_the_byte(
    killed: list[Point], whole: Point
) -> None:
    settled = [point for point in killed if not is_told(point)]
    assert len(settled) >= len(killed) * 2 // 3
    for point in settled:
        assert point["outcome"] == "success"
        assert point["prompts"] == whole["prompts"]
        assert point["spent"] == settled[0]["spent"]
        assert point["file"] == whole["file"]


def test_an_open_effect_is_told_and_nothing_else_differs(killed: list[Point], whole: Point) -> None:
    for point in killed:
        if is_told(point):
            step = point["answered"]
            assert set(point["started"]) - {"remember"}
            assert point["prompts"][:step] == whole["prompts"][:step]
            assert "interrupted: " in point["prompts"][step]
