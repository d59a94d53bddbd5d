"""What a newcomer writes first, word for word, with a local server for the vendor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.providers.shapes import anthropic_answer
from tests.vendor import Reply, vendor

IMPORTS = """
from io_harness import (
    ContextBudget, Policy, Store, TaskContract, Verification, provider_from, run_sync,
)
"""
LINES = """
contract = (
    TaskContract.workspace("Refactor the parser.", root, Verification.command("pytest", "-q"))
    .with_token_budget(400_000)
    .with_context_budget(ContextBudget(max_tokens=24_000, share=0.5))
)
with Store.open("runs.db") as store:
    result = run_sync(contract, provider_from("anthropic:claude-sonnet-4-5"), store, policy=Policy.workspace())
    for note in store.memory_list(root):
        print(f"{note.key}: {note.value}  (run {note.run_id}, step {note.step})")
"""  # noqa: E501  (as they stand in the documents)


# The SDK warns of the model that these lines name.
@pytest.mark.filterwarnings("ignore:The model 'claude-sonnet-4-5' is deprecated")
def test_the_newcomers_lines_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "parser.py").write_text("def parse(text):\n    return text.split(' ')\n")
    (root / "test_parser.py").write_text(
        "from parser import parse\n\ndef test_parse():\n    assert parse('a  b') == ['a', 'b']\n"
    )
    edit = {"path": "parser.py", "old": "split(' ')", "new": "split()"}
    note = {"key": "parser", "value": "parse() splits on any white space"}
    answers = [
        {"type": "tool_use", "id": "t1", "name": "edit_file", "input": edit},
        {"type": "tool_use", "id": "t2", "name": "remember", "input": note},
        {"type": "text", "text": "Done."},
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with vendor([Reply(anthropic_answer(answer)) for answer in answers]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        names: dict[str, object] = {"root": root}
        exec(compile(IMPORTS + LINES, "newcomer", "exec"), names)
        sent = server.seen[-1].body
    assert str(names["result"]).count("Outcome.SUCCESS")
    printed = capsys.readouterr().out
    assert printed.startswith("parser: parse() splits on any white space  (run ")
    assert printed.rstrip().endswith("step 2)")
    assert "cache_control" in str(sent)
    assert (tmp_path / "runs.db").exists()
