"""The command as a shell sees it: output, exit codes, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from io_harness.cli.endings import EXIT_OF
from io_harness.store import Store


def io_harness(*args: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    program = "import sys; from io_harness.cli.main import main; sys.argv[0] = 'io-harness'; main()"
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, check=False, env=env
    )


def test_version_is_the_installed_one() -> None:
    done = io_harness("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "io-harness")
    assert done.stdout.split()[1][0].isdigit()


def test_doctor_tells_what_is_there_as_text_and_as_json() -> None:
    assert "python: 3." in io_harness("doctor").stdout
    told = json.loads(io_harness("doctor", "--json").stdout)
    assert {"python", "anthropic", "openai"} <= {finding["name"] for finding in told["findings"]}


def test_help_tells_the_exit_codes_and_an_example() -> None:
    told = " ".join(io_harness("--help").stdout.split())
    assert all(f" {code} " in told for code in EXIT_OF.values())
    example = " ".join(io_harness("run", "--help").stdout.split())
    assert 'io-harness run "Make the tests pass." --verify "pytest -q"' in example


@pytest.mark.parametrize("args", [("nonsense",), ("--nonsense",), ("doctor", "--nonsense")])
def test_wrong_use_exits_2_without_a_traceback(args: tuple[str, ...]) -> None:
    done = io_harness(*args)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_shows_what_it_promises(tmp_path: Path) -> None:
    since = time.monotonic()
    done = io_harness("demo", "--dir", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - since < 60
    rows = [line.split() for line in done.stdout.splitlines()]
    steps = [row for row in rows if len(row) > 6 and row[0].isdigit() and row[1][0].isdigit()]
    whole = [int(row[1].replace(",", "")) for row in steps]
    sent = [int(row[2].replace(",", "")) for row in steps]
    assert len(steps) >= 20
    assert whole == sorted(whole)
    assert max(sent) <= 1_500 < max(whole) / 4
    assert "* everything, o sent" in done.stdout
    assert "1 could not be: the policy would ask" in done.stdout
    assert "A second run recalled 2 notes of the first: success" in done.stdout
    with Store.open(tmp_path / "demo" / "runs.db") as store:
        first, second = store.runs()
        kinds = {event.kind for event in store.context_events(first.run_id)}
        shown = [step for step in store.steps(first.run_id) for c in step.calls if c.name == "show"]
        recalled = {recall.key for recall in store.memory_recalls(second.run_id)}
    assert {"reread", "reread_refused", "memory_write"} <= kinds
    assert recalled == {"how to check", "layout"}
    assert "def orders_1(" in shown[0].result
    assert io_harness("demo", "--dir", str(tmp_path / "demo")).returncode == 2
