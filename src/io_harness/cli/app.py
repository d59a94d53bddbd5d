"""The commands and their options; the work is in the modules beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from io_harness.cli import demo as _demo
from io_harness.cli import doctor as _doctor
from io_harness.cli import looking, notes, running
from io_harness.cli.options import (
    Common,
    ConfigOption,
    DirOption,
    JsonOption,
    KeyArgument,
    RootArgument,
    RootOption,
    RunArgument,
    StoreOption,
    with_common,
)
from io_harness.cli.replaying import replay

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Run tool-using agents with a hard ceiling on every request and a durable memory.",
    epilog="Exit codes: 0 success, 1 ended without success, 2 wrong use or input, 3 the provider "
    "failed, 4 awaiting approval, 130 interrupted, 141 nobody reads the output.",
)
memory = typer.Typer(no_args_is_help=True, help="See and rule the notes about a workspace.")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"io-harness {_doctor.version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options that belong to no command."""


@app.command()
def demo(place: DirOption = None) -> None:
    """Show everything at work, with no key and no network."""
    raise typer.Exit(_demo.show(place))


@app.command(
    epilog='As in: io-harness run "Make the tests pass." --verify "pytest -q" '
    "--model anthropic:claude-sonnet-4-5 --allow write"
)
@with_common
def run(  # noqa: PLR0917  (a command's parameters are its options)
    common: Common,
    goal: Annotated[str | None, typer.Argument(metavar="GOAL", help="What is to be done.")] = None,
    root: RootOption = None,
    verify: Annotated[
        str | None, typer.Option(metavar="CMD", help="Done when this command exits with 0.")
    ] = None,
    workspace_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The name its notes are kept under.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Work towards a goal until a check passes."""
    raise typer.Exit(
        running.start(
            common, goal=goal, root=root, verify=verify, workspace_id=workspace_id, config=config
        )
    )


@app.command()
@with_common
def resume(common: Common, run: RunArgument) -> None:
    """Go on with a run that stopped before its end."""
    raise typer.Exit(running.go_on(common, run))


@app.command(short_help="List the runs of a store.")
def runs(store: StoreOption = None, json: JsonOption = False) -> None:
    """List the runs of a store, newest last; a narrow terminal shows fewer columns."""
    looking.runs(store, json=json)


@app.command()
def show(
    run: RunArgument,
    step: Annotated[int | None, typer.Option(metavar="N", help="One step, whole.")] = None,
    request: Annotated[bool, typer.Option("--request", help="The request of that step.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a run did, step by step."""
    looking.show(store, run, step=step, request=request, json=json)


app.command(short_help="Show what recorded runs would have cost.")(replay)
app.add_typer(memory, name="memory")


@app.command()
def doctor(root: RootOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Check this installation and say what would not work."""
    raise typer.Exit(_doctor.show(store, root or Path(), as_json=as_json))


@memory.command("list")
def memory_list(root: RootArgument, store: StoreOption = None, json: JsonOption = False) -> None:
    """List the notes, oldest write first."""
    notes.show(root, store, json=json)


@memory.command("delete")
def memory_delete(root: RootArgument, key: KeyArgument, store: StoreOption = None) -> None:
    """Delete one note, pinned or not."""
    notes.delete(root, key, store)


@memory.command("clear")
def memory_clear(
    root: RootArgument,
    store: StoreOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete every note."""
    notes.clear(root, store, yes=yes)


@memory.command("pin")
def memory_pin(
    root: RootArgument,
    key: KeyArgument,
    store: StoreOption = None,
    off: Annotated[bool, typer.Option("--off", help="Let it go again.")] = False,
) -> None:
    """Keep a note: no agent evicts, rewrites or forgets it."""
    notes.pin(root, key, store, pinned=not off)
