"""All of a text file at once, for an edit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from io_harness.workspace.content import Encoding, encoding_of, kind_of
from io_harness.workspace.reading import READ_MAX_BYTES, digest_of
from io_harness.workspace.spelling import shown

if TYPE_CHECKING:
    from io_harness.workspace.root import Root


@dataclass(frozen=True, slots=True)
class WholeText:
    """A file's text, how it was stored, and the digest of its bytes."""

    text: str
    encoding: Encoding
    digest: str


def read_whole(root: Root, path: str, *, exact: bool) -> WholeText:
    """The whole of a text file. Raises ValueError for what is over 8 MiB or no text."""
    descriptor, status = root.open_file(path, exact=exact)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(READ_MAX_BYTES + 1)
    if len(data) > READ_MAX_BYTES:
        raise ValueError(
            f"{shown(path)} has {status.st_size:,} bytes; at most 8 MiB can be edited as text"
        )
    encoding = encoding_of(data)
    try:
        if encoding is not None:
            return WholeText(encoding.decode(data), encoding, digest_of(data))
    except UnicodeDecodeError:
        pass
    raise ValueError(f"{shown(path)} is a {kind_of(data)}, not text that can be edited")
