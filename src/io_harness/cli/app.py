"""The commands and their options; the work is in the modules beside."""

from __future__ import annotations

from typing import Annotated

import typer

from io_harness.cli import demo as _demo
from io_harness.cli import doctor as _doctor

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Run tool-using agents with a hard ceiling on every request and a durable memory.",
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"io-harness {_doctor.version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options that belong to no command."""


@app.command()
def demo() -> None:
    """Show, with no key and no network, how a request grows."""
    _demo.show()


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Check this installation and say what would not work."""
    raise typer.Exit(_doctor.show(as_json=as_json))
