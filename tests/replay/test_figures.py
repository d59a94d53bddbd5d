"""The figures of docs/replay.md: ratios, tables and the picture."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.replay.compare import Baseline
from benchmarks.replay.curve import curve_svg, tuned
from benchmarks.replay.figures import DOCS, matrix_table, policies, policy_table

from io_harness.context import rewrite
from io_harness.replay import Everything, Terms
from io_harness.replay.importers import read_transcripts

from .samples import write_sample


def test_everything_against_itself_is_one(tmp_path: Path) -> None:
    runs = read_transcripts(write_sample("pi", tmp_path))
    ratios = Baseline(runs, Terms()).ratios(Everything())

    assert (ratios.billed, ratios.geo_mean, ratios.quoted) == (1.0, 1.0, 1.0)
    assert ratios.worst[1] == 1.0


def test_every_policy_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    runs = [
        *read_transcripts(write_sample("pi", tmp_path / "a")),
        *read_transcripts(write_sample("cline", tmp_path / "b")),
    ]
    rows = policy_table(policies(runs)).splitlines()

    assert [row.split(" | ")[0] for row in rows[2:]] == [
        "| limit",
        "| last 5",
        "| last 5, moved every 10",
        "| clear above 100k, keep 3",
        "| prune 40k",
        "| trim",
        "| every-turn",
        "| priced",
    ]
    assert all(row.count("|") == 9 for row in rows)


def test_prices_and_ceilings_name_the_worst_run() -> None:
    row = {
        "ceiling": 8_000,
        "price": [0.1, 1.25],
        "priced": 0.5,
        "every_turn": 1.5,
        "worst": ["a/b", 1.1],
    }

    assert matrix_table([row]).splitlines()[2] == "| 8,000 | 0.1, 1.25 | 0.500 | 1.500 | a/b 1.10 |"


def test_terms_are_put_back() -> None:
    before = rewrite.TERMS
    with tuned(rewrite.Terms(patience=Fraction(9))):
        assert rewrite.TERMS.patience == 9

    assert rewrite.TERMS is before


def test_the_picture_is_well_formed_and_names_each_line() -> None:
    curve = {"kept": [[0.2, 0.7], [0.4, 0.9]], "a < b": [[0.6, 0.95]]}
    root = ET.fromstring(curve_svg(curve))
    named = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]

    assert {"kept", "a < b"} <= set(named)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 3
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 1


def test_the_page_has_a_place_for_every_table() -> None:
    page = (DOCS / "replay.md").read_text(encoding="utf-8")

    for name in ("policies", "left-out", "terms"):
        assert page.count(f"<!-- {name} -->") == page.count(f"<!-- /{name} -->") == 1
