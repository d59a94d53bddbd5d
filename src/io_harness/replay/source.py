"""A file's content as JSON: one value, or a value a line; damage is counted, never fatal."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from dataclasses import dataclass, field

import orjson

from io_harness.errors import ConfigError
from io_harness.types import JSON

MAX_BYTES = 512 * 1024 * 1024
_PROBE = 65_536
_MARK = b"\xef\xbb\xbf"
_MAGIC = {
    b"\x89PNG": "a PNG image, no transcript",
    b"\x1f\x8b": "compressed by gzip; decompress it first",
    b"(\xb5/\xfd": "compressed by zstd; decompress it first",
    b"\xfd7zXZ\0": "compressed by xz; decompress it first",
    b"BZh": "compressed by bzip2; decompress it first",
    b"PK\x03\x04": "a ZIP archive; give the recorded runs in it",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8 first",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8 first",
}


@dataclass(slots=True)
class Source:
    """What stood in a file: its JSON values in order, and counts of what could not be read.

    `whole` tells that the file is one JSON value and not a value a line.
    """

    path: str
    values: list[JSON]
    whole: bool
    notes: Counter[str] = field(default_factory=Counter)

    def runs(self) -> list[Source]:
        """One source for each run: evaluations write an object with a whole run on every line."""
        values = self.values
        if len(values) == 1 and isinstance(values[0], list):
            values = values[0]
        if len(values) < 2 or not any(map(_holds_a_run, values)) or any(map(_is_part, values)):
            return [self]
        return [
            Source(f"{self.path}#{number}", [value], True, self.notes if number == 1 else Counter())
            for number, value in enumerate(values, 1)
        ]


def _holds_a_run(value: JSON) -> bool:
    """Whether one value has a list of a run's parts under one of the usual names."""
    names = ("messages", "history", "trajectory", "events", "conversations")
    return isinstance(value, dict) and any(
        isinstance(value.get(name), list) and value.get(name) for name in names
    )


def _is_part(value: JSON) -> bool:
    """Whether one value is a part of a run itself: a message, an event, a line of a session."""
    return not isinstance(value, dict) or not {"role", "type", "action"}.isdisjoint(value)


def load(path: str) -> Source:
    """Read a file as JSON. `ConfigError`: it cannot hold a transcript; the message says why."""
    data = _content(path).removeprefix(_MARK)
    told = data.rstrip(b"\0")
    whole = _value(told)
    if whole is not None:
        zeros = Counter({"zero bytes at the end": 1} if told != data else {})
        return Source(path, [whole], whole=True, notes=zeros)
    return _lines(path, data)


def printable(text: str) -> str:
    """Text from a file's name or content with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text)


def starts_with(path: str, magic: bytes) -> bool:
    """Whether a regular file begins with these bytes; what cannot be read does not."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return file.read(len(magic)) == magic
    except (OSError, ValueError):
        return False


def _content(path: str) -> bytes:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; give the path of a recorded run") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be looked at ({error.strerror})") from None
    except ValueError as error:
        raise ConfigError(f"{path!r}: no path ({error})") from None
    if stat.S_ISDIR(status.st_mode):
        raise ConfigError(f"{path}: a directory; give the files of recorded runs in it")
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{path}: not a regular file; give the file of a recorded run")
    if status.st_size == 0:
        raise ConfigError(f"{path}: an empty file; a recorded run has at least one record")
    try:
        with open(path, "rb") as file:
            head = file.read(_PROBE)
            _refuse_binary(path, head)
            if status.st_size > MAX_BYTES:
                raise ConfigError(
                    f"{path}: {status.st_size:,} bytes; runs over {MAX_BYTES:,} are not replayed"
                )
            return head + file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None


def _refuse_binary(path: str, head: bytes) -> None:
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise ConfigError(f"{path}: {what}")
    # A machine that lost its power leaves zeros where the last lines were.
    text = head.rstrip(b"\0")
    if not text:
        raise ConfigError(f"{path}: nothing but zero bytes, no transcript")
    if text.count(b"\0") > len(text) // 100:
        raise ConfigError(f"{path}: binary data, no transcript (transcripts are JSON text)")


def _value(data: bytes) -> JSON:
    """The one JSON value the data is; `None` where it is not one."""
    try:
        value: JSON = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _lenient(data) if data.lstrip()[:1] in {b"{", b"["} else None
    return value


def _lenient(data: bytes) -> JSON:
    """The value where only control characters, surrogates or numbers offend orjson."""
    try:
        value: JSON = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _lines(path: str, data: bytes) -> Source:
    source = Source(path, [], whole=False)
    lines = data.split(b"\n")
    last = max((i for i, line in enumerate(lines) if line.strip()), default=-1)
    seen: set[bytes] = set()
    for number, raw in enumerate(lines):
        line = raw.strip()
        if not line:
            continue
        if line in seen and (b'"timestamp"' in line or b'"uuid"' in line):
            source.notes["duplicate line"] += 1
            continue
        seen.add(line)
        if line.startswith((b"//", b"#")):
            source.notes["comment line"] += 1
            continue
        value = _line(line)
        if value is not None:
            source.values.append(value)
        elif number == last:
            source.notes["truncated last line"] += 1
        else:
            source.notes["broken line"] += 1
    if not source.values:
        raise ConfigError(f"{path}: neither JSON nor JSON lines, no transcript")
    return source


def _line(line: bytes) -> JSON:
    """The object or list a line is; `None` for anything else, which no format has."""
    if line[:1] not in {b"{", b"["}:
        return None
    try:
        value: JSON = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _lenient(line)
    return value
