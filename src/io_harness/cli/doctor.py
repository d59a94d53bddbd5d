"""What this installation has and lacks, each with what to do about it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from dataclasses import dataclass

import typer

from io_harness import jsontext
from io_harness.cli.exits import ENDED_WITHOUT_SUCCESS, SUCCESS


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `ok` is `None` where it is optional and absent."""

    name: str
    ok: bool | None
    says: str


def version() -> str:
    """Return the installed version of this library."""
    return importlib.metadata.version("io-harness")


def findings() -> list[Finding]:
    """Look at the installation; nothing is changed and nothing is sent."""
    return [_python(), *(_extra(name) for name in ("anthropic", "openai"))]


def show(*, as_json: bool) -> int:
    """Print the findings; return the exit code."""
    found = findings()
    if as_json:
        rows = [{"name": f.name, "ok": f.ok, "says": f.says} for f in found]
        typer.echo(jsontext.dumps({"version": version(), "findings": rows}))
    else:
        typer.echo(f"io-harness {version()}")
        for finding in found:
            mark = {True: "ok", None: "--", False: "NO"}[finding.ok]
            typer.echo(f"  {mark}  {finding.name}: {finding.says}")
    return ENDED_WITHOUT_SUCCESS if any(f.ok is False for f in found) else SUCCESS


def _python() -> Finding:
    tested = (3, 11) <= sys.version_info[:2] <= (3, 13)
    says = f"{platform.python_version()} on {platform.system()}"
    return Finding("python", True, says if tested else f"{says}; tested are 3.11 to 3.13")


def _extra(name: str) -> Finding:
    if importlib.util.find_spec(name) is None:
        return Finding(
            name, None, f"not installed; pip install 'io-harness[{name}]' for its models"
        )
    return Finding(name, True, f"{importlib.metadata.version(name)}")
