"""The one place that reads TOML files, which only their user names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from io_harness.errors import ConfigError

_MAX_BYTES = 8 * 2**20


def toml_table(file: Path, what: str) -> dict[str, object]:
    """Return what a TOML file holds; `ConfigError` names the file as a `what`, and the fault."""
    try:
        with file.open("rb") as opened:  # a pipe will do, and what never ends will not
            data = opened.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"the {what} {file} cannot be read: {error.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"the {what} {file} is over 8 MiB: name a TOML file")
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"the {what} {file} is no UTF-8 text: name a TOML file") from None
    except RecursionError:
        raise ConfigError(f"the {what} {file} is no TOML: it is nested too deep") from None
    except ValueError as error:
        raise ConfigError(f"the {what} {file} is no TOML: {error}") from None
