"""`replay`: what recorded runs would have sent and cost.

What reads and measures them is imported once it is needed: no other command needs it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from io_harness.cli.exits import WRONG_USE
from io_harness.cli.output import complain, out
from io_harness.context import CachePrice
from io_harness.errors import ConfigError

if TYPE_CHECKING:
    from io_harness.replay.report import ReplayReport, RunReport


_PAGE = b"<!doctype html>"


_MinSteps = Annotated[int, typer.Option(metavar="N", help="Leave shorter runs out of the total.")]
_Ceiling = Annotated[
    int, typer.Option(metavar="TOKENS", help="Most estimated tokens of a request.")
]


def replay(  # noqa: PLR0917 - a command's parameters are its options
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Recorded runs.")],
    min_steps: _MinSteps = 1,
    ceiling: _Ceiling = 24_000,
    price: Annotated[
        str, typer.Option(metavar="READ,WRITE", help="Cost of a cached and of a new token.")
    ] = "0.1,1.25",
    fixed: Annotated[
        int, typer.Option(metavar="TOKENS", help="System text and tool schemas.")
    ] = 4_000,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="PAGE", help="Write a page that needs no network.")
    ] = None,
) -> None:
    """Show what recorded runs would have sent and cost under each policy; no key, no network."""
    from io_harness.replay.report import replay_files

    if html is not None:
        _check_page(html)
    runs: list[RunReport] = []
    read = partial(
        replay_files, min_steps=min_steps, ceiling=ceiling, price=_price(price), fixed=fixed
    )
    report = read([])  # what is wrong with an option is wrong without a file, too
    refused = 0
    for file in files:
        try:
            runs += read([file]).runs
        except ConfigError as error:
            if len(files) == 1:
                raise
            refused += 1
            complain(f"io-harness: {error}")
    report = replace(report, runs=tuple(runs))
    if runs:
        _show(report, html, as_json=as_json)
    if refused:
        raise typer.Exit(WRONG_USE)


def _show(report: ReplayReport, html: Path | None, *, as_json: bool) -> None:
    if html is not None:
        from io_harness.replay.page import html_page

        _write(html, html_page(report))
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=True))
    else:
        from io_harness.replay.table import render

        out.print(render(report, width=out.width, broken=out.is_terminal))


def _price(text: str) -> CachePrice:
    """The two numbers of `--price`. `ConfigError`: not two numbers from 0 up."""
    try:
        read, write = (float(part) for part in text.split(","))
        return CachePrice(read, write)
    except ValueError:
        raise ConfigError(
            f"--price {text!r}: give the cost of a cached and of a new token, as in 0.1,1.25"
        ) from None


def _check_page(path: Path) -> None:
    """`ConfigError` where something else than a page lies: a recorded run, say, or a store."""
    try:
        if path.is_file() and path.stat().st_size:
            with path.open("rb") as file:
                if not file.read(len(_PAGE)).lower() == _PAGE:
                    raise ConfigError(f"--html {path}: it is there and no page; name another file")
    except OSError as error:
        raise ConfigError(f"--html {path}: cannot be written ({error.strerror})") from None


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--html {path}: cannot be written ({error.strerror})") from None
