"""What both vendors' wires need: counts taken with care, and names that a server accepts."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from io_harness import jsontext
from io_harness.context.escape import clean
from io_harness.errors import ConfigError, ProviderError
from io_harness.providers import faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from io_harness.types import JSON, ToolCall

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_CHARS = 64
_FOR_CLIENTS = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)
_USER_INFO = re.compile(r"//[^/@]*@")
_LARGEST_COUNT = 2**53
_SECRET_CHARS = 8
"""From here on a key is one: a local server gets `none`, which is a word, too."""


def required_key(variable: str, given: str | None = None) -> str:
    """Return the key given, else the one in an environment variable; `ConfigError` without."""
    key = (given or os.environ.get(variable, "")).strip()
    if not key:
        raise ConfigError(f"there is no key: set {variable} and start again")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} has characters that no key has: copy it again")
    return key


@contextmanager
def kept_secret(key: str) -> Iterator[None]:
    """Take a key out of what a `ProviderError` says: some servers say it back, and it is kept."""
    try:
        yield
    except ProviderError as error:
        if len(key) >= _SECRET_CHARS:
            error.args = (str(error).replace(key, "[the key]"),)
        raise


@contextmanager
def usable_environment(who: str) -> Iterator[None]:
    """Raise a `ConfigError` for what an HTTP client raises while it is made."""
    try:
        yield
    except Exception as error:
        named = [name for name in os.environ if name.upper() in _FOR_CLIENTS]
        look = f": look at {', '.join(named)}" if named else ""
        raise ConfigError(f"{who} cannot be asked from this environment ({error}){look}") from error


@contextmanager
def understood(
    sdk: ModuleType, root: type[Exception], who: str, *, seconds: float
) -> Iterator[None]:
    """Raise `ProviderError` for what a vendor's SDK raises: these name their errors alike.

    `root` is what all its errors are, `seconds` how long an answer may take.
    """
    try:
        yield
    except sdk.APIStatusError as error:
        raise faults.answered(who, error.body, error.response) from error
    except (sdk.APITimeoutError, TimeoutError) as error:
        raise faults.late(who, seconds) from error
    except sdk.APIConnectionError as error:
        where = error.request.url.netloc.decode("ascii", "replace")
        raise faults.unreachable(who, where, error.__cause__ or error) from error
    except root as error:
        raise faults.unusable(who, str(error)) from error


def server_url(variable: str, given: str | None = None) -> str | None:
    """Return the URL given, else the one in an environment variable, or `None` without.

    Raises `ConfigError` where it can be no server's.
    """
    url = given or os.environ.get(variable, "").strip() or None
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        is_server = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_server = False
    if not is_server or not url.isprintable() or " " in url:
        shown = _USER_INFO.sub("//", url)
        raise ConfigError(f"{shown!r} is no server's URL: write one as http://HOST:PORT/v1")
    return url


def count(reported: object) -> int | None:
    """Return a reported number of tokens, or `None` for what is no such number."""
    if isinstance(reported, bool) or not isinstance(reported, int):
        return None
    return reported if 0 <= reported <= _LARGEST_COUNT else None


def accepted_name(name: str) -> str:
    """Return a tool's name as every vendor takes it back.

    A model can call a tool that does not exist by a name that its own server would refuse in
    the next request: one such call must not end the run.
    """
    return _NOT_IN_A_NAME.sub("_", name)[:_NAME_CHARS] or "_"


def parsed_arguments(text: str) -> dict[str, JSON] | str:
    """Return a call's arguments as an object, or the raw text where it is none."""
    try:
        value = jsontext.loads(text or "{}")
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def argument_object(call: ToolCall) -> dict[str, object]:
    """Return arguments that can be sent where only an object is accepted."""
    if isinstance(call.arguments, str):
        return {}
    arguments = dict(call.arguments)
    try:
        jsontext.dumps(arguments).encode()
    except UnicodeEncodeError:
        return {clean(key): _clean_value(value) for key, value in arguments.items()}
    except ValueError:  # numbers that are none, as NaN
        return {}
    return arguments


def blocks_of(value: object) -> list[dict[str, object]]:
    """Return the objects of a list that an answer holds; what is none of these is left out."""
    return [block for block in value if isinstance(block, dict)] if isinstance(value, list) else []


def text_of(content: object) -> str:
    """Return what an answer says: a text, or the texts of its blocks."""
    if isinstance(content, list):
        said = (block.get("text") for block in blocks_of(content) if block.get("type") == "text")
        return "".join(text for text in said if isinstance(text, str))
    return "" if content is None else str(content)


def called_with(arguments: object) -> dict[str, JSON] | str:
    """Return a call's arguments from what an answer has there: nothing, text, or an object."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        return parsed_arguments(arguments)
    return arguments if isinstance(arguments, dict) else jsontext.dumps(arguments)


def answer_object(text: str, *, who: str) -> dict[str, JSON]:
    """Return the object that a body holds; raises a malformed `ProviderError` where it is none."""
    try:
        value = jsontext.loads(text)
    except ValueError as error:
        raise faults.unusable(who, f"{error}, in {text[:200]!r}") from error
    if not isinstance(value, dict):
        raise faults.unusable(who, f"no JSON object: {text[:200]!r}")
    return value


def _clean_value(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): _clean_value(item) for key, item in value.items()}
    return value
