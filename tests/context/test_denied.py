"""A refresh reads nothing that the policy denies, whatever a path has become."""

from __future__ import annotations

from pathlib import Path

from io_harness import Assembler, Ledger, Observation, ObsKind, Policy, Workspace


def test_a_file_that_became_a_link_to_a_secret_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    (tmp_path / ".env").write_text("KEY=secret\n")
    ledger = Ledger()
    with Workspace(tmp_path) as workspace:
        assembler = Assembler(ledger, workspace=workspace, policy=Policy.workspace())
        ledger.push(Observation(1, ObsKind.READ, "a.txt", "old\n"))
        assert "old\n" in assembler.assemble(step=2, budget_tokens=500).text
        (tmp_path / "a.txt").unlink()
        (tmp_path / "a.txt").symlink_to(".env")
        text = assembler.assemble(step=3, budget_tokens=500).text
    assert "secret" not in text
    assert "old\n" not in text
    assert "because the policy denies reading it" in text


def test_a_file_that_became_a_link_out_is_not_shown(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("old\n")
    (tmp_path / "outside").write_text("secret\n")
    ledger = Ledger()
    with Workspace(root) as workspace:
        assembler = Assembler(ledger, workspace=workspace)
        ledger.push(Observation(1, ObsKind.READ, "a.txt", "old\n"))
        assembler.assemble(step=2, budget_tokens=500)
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to("../outside")
        text = assembler.assemble(step=3, budget_tokens=500).text
    assert "secret" not in text
    assert "could not be refreshed because it is outside the workspace now" in text
