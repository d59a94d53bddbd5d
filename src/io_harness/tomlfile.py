"""The one place that reads TOML files, which only their user names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from io_harness.errors import ConfigError


def toml_table(file: Path, what: str) -> dict[str, object]:
    """Return what a TOML file holds; `ConfigError` names the file as a `what`, and the fault."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"the {what} {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"the {what} {file} is no UTF-8 text: name a TOML file") from None
    except ValueError as error:
        raise ConfigError(f"the {what} {file} is no TOML: {error}") from None
