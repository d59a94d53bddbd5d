"""What a run knows of files: `show` says what changed since, the trace what was unusual."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from io_harness import CompletionRequest, ObsKind, ScriptedProvider, Store, ToolCall
from io_harness.loop import resume_sync
from io_harness.providers import Turn
from tests.run.worlds import call, contract, files, ran, read, write

SHOW = call("show", step=1, call=0)


def shown(tmp_path: Path, *turns: Turn, outside: str | None = None) -> list[str]:
    """The targets of `show` in a run over a.py, whose file may change after step 1."""
    root = files(tmp_path / "w", a_py="one\n")
    left = [*turns, "Done."]

    def script(request: CompletionRequest) -> Turn:
        if len(left) == len(turns) and outside is not None:
            (root / "a.py").write_text(outside)
        return left.pop(0)

    with Store.open(tmp_path / "runs.db") as store:
        run_id = ran(contract(root), script, store).run_id
        seen = [o for step in store.steps(run_id) for o in step.observations]
    return [o.target or "" for o in seen if o.kind is ObsKind.TOOL]


PAST = "show a.py as it was at step 1"


@pytest.mark.parametrize(
    ("turns", "outside", "said"),
    [
        ([read("a.py"), read("b.py"), SHOW], None, PAST),
        ([read("a.py"), write("a.py", "two\n"), SHOW], None, f"{PAST}, changed since"),
        ([read("a.py"), write("a.py", "one\n"), SHOW], None, PAST),
        ([read("a.py"), write("a.py", "2\n"), write("a.py", "one\n"), SHOW], None, PAST),
        ([write("a.py", "2\n"), write("a.py", "3\n"), SHOW], None, f"{PAST}, changed since"),
        ([read("a.py"), read("b.py"), SHOW], "two\n", f"{PAST}, changed since"),
        ([call("grep", pattern="one"), write("a.py", "2\n"), SHOW], None, "changed since"),
    ],
)
def test_show_says_what_is_known_to_have_changed(
    tmp_path: Path, turns: list[ToolCall], outside: str | None, said: str
) -> None:
    (target,) = shown(tmp_path, *turns, outside=outside)
    assert target.endswith(said)


def test_a_resumed_run_knows_it_too(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="one\n")
    turns: list[Turn] = [read("a.py"), write("a.py", "two\n"), SHOW, "Done."]
    with Store.open(tmp_path / "runs.db") as store:
        run_id = ran(contract(root).with_max_steps(2), turns, store).run_id
        rest = ScriptedProvider(turns, start=2)
        assert resume_sync(run_id, rest, store, contract=contract(root)).ok
        (observation,) = store.steps(run_id, step=3)[0].observations
    assert observation.target == f"{PAST}, changed since"


def test_the_trace_has_what_is_unusual_about_a_file(tmp_path: Path) -> None:
    root = files(tmp_path / "w", a_py="one\n")
    os.link(root / "a.py", root / "b.py")
    (root / "c.py").write_bytes("three\n".encode("utf-16"))
    with Store.memory() as store:
        run_id = ran(contract(root), [[read("a.py"), read("c.py")], "Done."], store).run_id
        notes = [e.detail for e in store.context_events(run_id) if e.kind == "file_note"]
    assert sorted(note["call"] for note in notes if isinstance(note["call"], int)) == [0, 1]
    assert {str(note["note"]) for note in notes} == {
        "one of 2 hard links",
        "UTF-16 LE with a byte order mark",
    }
