"""The command as a shell sees it: output, exit codes, and no traceback."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def io_harness(*args: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    program = "import sys; from io_harness.cli.main import main; sys.argv[0] = 'io-harness'; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, check=False
    )


def test_version_is_the_installed_one() -> None:
    done = io_harness("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "io-harness")
    assert done.stdout.split()[1][0].isdigit()


def test_doctor_tells_what_is_there_as_text_and_as_json() -> None:
    assert "python: 3." in io_harness("doctor").stdout
    told = json.loads(io_harness("doctor", "--json").stdout)
    assert {"python", "anthropic", "openai"} <= {finding["name"] for finding in told["findings"]}


@pytest.mark.parametrize("args", [("nonsense",), ("--nonsense",), ("doctor", "--nonsense")])
def test_wrong_use_exits_2_without_a_traceback(args: tuple[str, ...]) -> None:
    done = io_harness(*args)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_demo_shows_at_least_twenty_turns_growing() -> None:
    done = io_harness("demo")
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[:1] != []]
    chars = [int(row[1].replace(",", "")) for row in rows if row[0].isdigit()]
    assert done.returncode == 0
    assert len(chars) >= 20
    assert chars == sorted(chars)
