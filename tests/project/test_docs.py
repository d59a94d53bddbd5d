"""The documents say what is so: their code runs, their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks import report
from typer.main import get_group

from io_harness.cli.app import app
from tests.project import doc_fixtures
from tests.project.tree import ROOT

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIXTURE = re.compile(r"<!-- fixture: ([\w-]+) -->\s*\Z")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]+`|^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"\bio-harness ([a-z][\w-]*)")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block of Python in a document."""

    place: str
    line: int
    fixture: str
    code: str


def blocks(document: Path) -> Iterator[Block]:
    """Every Python block of a document, in order."""
    text = document.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        if found[1] == "python":
            before = text[: found.start()]
            asked = FIXTURE.search(before)
            place = str(document.relative_to(ROOT))
            line = before.count("\n") + 1
            yield Block(place, line, asked[1] if asked else "", found[2])


def outcome(block: Block, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as a program of its own in an empty directory."""
    arguments = [block.fixture, block.place, str(block.line)]
    return subprocess.run(
        [sys.executable, "-P", doc_fixtures.__file__, *arguments],
        input=block.code,
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=f"{block.place}:{block.line}")
        for document in DOCUMENTS
        for block in blocks(document)
    ],
)
def test_code_in_documents_runs(block: Block, tmp_path: Path) -> None:
    ran = outcome(block, tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_code_that_fails_is_noticed_where_it_stands(tmp_path: Path) -> None:
    ran = outcome(Block("docs/x.md", 41, "", "\nraise LookupError('no')\n"), tmp_path)
    assert ran.returncode == 1
    assert 'File "docs/x.md", line 43' in ran.stderr


def anchors(document: Path) -> set[str]:
    """The anchors that a document's headings give it."""
    prose = FENCE.sub("", document.read_text(encoding="utf-8"))
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose))
    return {heading.replace(" ", "-") for heading in words}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    prose = FENCE.sub("", document.read_text(encoding="utf-8"))
    for link in LINK.findall(prose):
        if link.startswith(("https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{link} leads nowhere"
        assert target.is_relative_to(ROOT), f"{link} leads out of the repository"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_exist(document: Path) -> None:
    known = set(get_group(app).commands)
    code = "\n".join(CODE.findall(document.read_text(encoding="utf-8")))
    assert set(COMMAND.findall(code)) <= known


def test_every_page_is_in_the_index() -> None:
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").glob("**/*.md")}
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert pages - {"README.md"} <= set(LINK.findall(index))


@pytest.mark.parametrize("mark", ["demo", "test"])
def test_readme_has_the_commands_that_integration_runs(mark: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"<!-- ci: {mark} -->\n```sh\n([^\n]+)\n```\n", readme)
    assert len(found) == 1


def test_documents_show_the_figures_that_were_measured() -> None:
    figures = report.recorded()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert report.with_table(readme, figures) == readme
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == report.page(figures)
