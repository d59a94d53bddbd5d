"""The library's own policies on recorded runs, and the ones written for comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.peers import PEERS

from io_harness.context import CachePrice
from io_harness.replay import Everything, Policy, Shown, Terms, Transcript
from io_harness.replay.assembled import AssemblerPolicy
from io_harness.replay.importers import read_transcripts
from io_harness.replay.measure import measure

from .corpus import corpus_files
from .samples import AFTER, SAMPLES, write_sample

OURS = {"every-turn": AssemblerPolicy(CachePrice()), "priced": AssemblerPolicy()}
ALL: dict[str, Policy] = {"everything": Everything(), **OURS, **PEERS}


def sample(name: str, folder: Path) -> Transcript:
    return read_transcripts(write_sample(name, folder))[0]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("policy", ALL)
def test_every_request_is_made(policy: str, name: str, tmp_path: Path) -> None:
    run = sample(name, tmp_path)

    assert len(list(ALL[policy].requests(run, Terms()))) == run.steps


@pytest.mark.parametrize("name", SAMPLES)
def test_the_edited_lines_are_shown_after_the_edit(name: str, tmp_path: Path) -> None:
    run = sample(name, tmp_path)
    last = list(AssemblerPolicy(CachePrice()).requests(run, Terms()))[-1]
    texts = [part.text for part in last if part.shown is Shown.REFRESHED]

    assert [AFTER in text for text in texts] == [True]


def shown(run: Transcript) -> list[Shown]:
    return [part.shown for part in list(AssemblerPolicy().requests(run, Terms()))[-1]]


def shell_run(folder: Path, *turns: tuple[str, str]) -> Transcript:
    messages = [{"role": "user", "content": "Fix the area."}]
    for command, output in turns:
        messages.append({"role": "assistant", "content": f"```bash\n{command}\n```"})
        result = f"<returncode>0</returncode>\n<output>\n{output}</output>"
        messages.append({"role": "user", "content": result})
    messages.append({"role": "assistant", "content": "Done."})
    path = folder / "run"
    run = {"trajectory_format": "mini-swe-agent-1", "messages": messages}
    path.write_text(json.dumps(run), encoding="utf-8")
    return read_transcripts(str(path))[0]


def test_changed_lines_are_appended_and_known_as_such(tmp_path: Path) -> None:
    run = shell_run(tmp_path, ("cat f", "one\ntwo\nthree\n"), ("sed -i s/two/2/ f", ""))

    assert Shown.APPENDED in shown(run)
    assert Shown.VOIDED not in shown(run)
    assert measure(run, AssemblerPolicy(), Terms()).strict.seen == 1


def test_a_change_that_the_recording_does_not_tell_voids_what_was_shown(tmp_path: Path) -> None:
    run = shell_run(
        tmp_path,
        ("cat f", "one\ntwo\n"),
        ("perl -pi -e s/two/2/ f", ""),
        ("sed -i 1d f", ""),
    )
    figures = measure(run, AssemblerPolicy(), Terms())

    assert Shown.VOIDED in shown(run)
    assert (figures.strict.seen, figures.strict.of) == (1, 2)


@pytest.mark.parametrize("policy", OURS)
def test_sections_stay_under_the_ceiling_on_recorded_runs(policy: str) -> None:
    terms = Terms(ceiling=8_000)
    for path in corpus_files():
        for run in read_transcripts(str(path)):
            assert measure(run, OURS[policy], terms).largest_request <= terms.ceiling, path


def test_priced_costs_less_than_everything_and_than_every_turn() -> None:
    runs = [run for path in corpus_files() for run in read_transcripts(str(path))]
    runs = [run for run in runs if run.steps >= 30]
    billed = {
        name: sum(measure(run, ALL[name], Terms()).billed for run in runs)
        for name in ("everything", *OURS)
    }

    assert len(runs) >= 13
    assert billed["priced"] < 0.32 * billed["everything"]
    assert billed["everything"] < billed["every-turn"]
