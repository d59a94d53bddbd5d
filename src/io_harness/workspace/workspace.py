"""The workspace: one pinned root, and every act on paths beneath it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from io_harness.errors import ConfigError, PathOutside
from io_harness.workspace.content import UTF_8, Encoding
from io_harness.workspace.flags import PATH_ONLY
from io_harness.workspace.listing import Listing, list_directory
from io_harness.workspace.pattern import LinePattern
from io_harness.workspace.reading import read_lines, signature_of
from io_harness.workspace.root import Containment, Root
from io_harness.workspace.searching import FindResult, Grep, GrepResult, find_files
from io_harness.workspace.spelling import join, split
from io_harness.workspace.tree import Gate, allow
from io_harness.workspace.whole import WholeText, read_whole
from io_harness.workspace.writing import WriteResult, write_file

if TYPE_CHECKING:
    from types import TracebackType

    from io_harness.types import ReadResult, Signature


def _is_whole(number: object, least: int) -> bool:
    return isinstance(number, int) and number >= least


def _real(root: str | os.PathLike[str]) -> Path:
    """A root as it really is; ConfigError for what can be no directory's name."""
    try:
        named = os.fspath(root)
        if named and "\0" not in named:
            return Path(os.path.realpath(named))
    except (TypeError, UnicodeError):
        pass
    raise ConfigError(f"the workspace root is {root!r:.80}: name a directory that exists")


class Workspace:
    """A root directory, pinned while it is open; a context manager.

    Every path is text relative to the root, with `/` between names. What leaves the root, by
    spelling or by a link, is PathOutside, whether or not anything is there. `containment` says
    how that is kept: by the kernel (openat2) where it can, or by walking; `one_device` refuses
    what is mounted beneath the root; `hard_links="refuse"` refuses files with a second name.
    Raises ConfigError where the root cannot be opened, and on systems that lack the means.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        containment: Containment = "auto",
        one_device: bool = False,
        hard_links: Literal["allow", "refuse"] = "allow",
    ) -> None:
        if sys.platform == "win32":
            raise ConfigError("a workspace needs Linux or macOS: Windows lacks the means")
        self.root = _real(root)
        self._root = Root(
            self.root, containment=containment, one_device=one_device, hard_links=hard_links
        )

    def __enter__(self) -> Workspace:
        """The workspace itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the root; the workspace is of no use afterwards."""
        self._root.close()

    def hide(self, device: int, inode: int) -> None:
        """Keep a file (`st_dev`, `st_ino`) from every act here, under whatever name."""
        self._root.hidden.add((device, inode))

    def reserve(self, file: Path) -> None:
        """Let nothing be made here where a file of the harness's own may come to be."""
        with suppress(OSError):
            status = file.parent.stat()
            self._root.reserved.add((status.st_dev, status.st_ino, file.name))

    def canonical(self, path: str) -> str:
        """The one spelling of a path, whether or not anything is there; `.` is the root.

        Raises PathOutside.
        """
        return join(self._root.canonical(path, split(path)))

    def signature(self, path: str, *, exact: bool = False) -> Signature:
        """What one look at a file's status says, without its content.

        Raises PathOutside, NotRegularFile, FileNotFoundError and other OSErrors.
        """
        descriptor, status = self._root.regular(path, PATH_ONLY, exact=exact)
        os.close(descriptor)
        return signature_of(status)

    def read(
        self, path: str, *, offset: int = 1, limit: int | None = None, exact: bool = False
    ) -> ReadResult:
        """Lines of a file from `offset` on (1-based), all or `limit` of them, at most 8 MiB.

        With `exact` the path must be canonical: a link anywhere in it is PathOutside, so that
        what a policy was asked about is what is read. Raises PathOutside, NotRegularFile,
        FileNotFoundError and other OSErrors, ValueError for an offset or limit out of range.
        """
        if not _is_whole(offset, 1) or not (limit is None or _is_whole(limit, 0)):
            raise ValueError(
                f"offset {offset} and limit {limit}: lines count from 1, a limit is 0 or more"
            )
        descriptor, status = self._root.open_file(path, exact=exact)
        try:
            return read_lines(descriptor, status, offset, limit)
        except OSError as error:
            raise self._root.told(error, path) from None
        finally:
            os.close(descriptor)

    def whole(self, path: str, *, exact: bool = False) -> WholeText:
        """All of a text file of at most 8 MiB, with what it takes to write it back.

        Raises as `read`, and ValueError for what is too big or no text.
        """
        return read_whole(self._root, path, exact=exact)

    def exists(self, path: str) -> bool:
        """Whether a regular file is there that may be read. Raises PathOutside."""
        try:
            self.signature(path)
        except PathOutside:
            raise
        except OSError:
            return False
        return True

    def write(
        self,
        path: str,
        text: str,
        *,
        encoding: Encoding = UTF_8,
        exact: bool = False,
        base: str | None = None,
    ) -> WriteResult:
        """Make a file hold this text, atomically; directories are made where missing.

        A link that stays inside has its target replaced. With `base` the file must still have
        that digest ("" for no file): OSError ESTALE if not. Raises PathOutside, NotRegularFile,
        OSErrors, ValueError for text with a lone surrogate; the file is then as it was.
        """
        try:
            data = encoding.encode(text)
        except AttributeError:
            raise ConfigError(f"what is written is text, not {type(text).__name__}") from None
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the text has a lone surrogate at character {error.start}, which no file can hold"
            ) from None
        return write_file(self._root, path, data, exact=exact, base=base)

    def list(self, path: str = ".", *, gate: Gate = allow, exact: bool = False) -> Listing:
        """What a directory holds, without what the gate denies; at most 2,000 entries.

        Raises PathOutside, FileNotFoundError, NotADirectoryError and other OSErrors.
        """
        return list_directory(self._root, path, gate, exact=exact)

    def find(
        self, pattern: str, path: str = ".", *, gate: Gate = allow, exact: bool = False
    ) -> FindResult:
        """Files beneath a directory by a glob, `.gitignore` respected; at most 5,000 paths.

        A pattern without `/` is tried on the base name, with one on the path relative to where
        the search begins. What the gate denies is not returned, what it asks about is counted.
        Raises as `list`, and PatternError (a ValueError).
        """
        return find_files(self._root, pattern, path, gate, exact=exact)

    def grep(
        self,
        pattern: str,
        path: str = ".",
        *,
        glob: str | None = None,
        ignore_case: bool = False,
        context: int = 0,
        gate: Gate = allow,
        exact: bool = False,
    ) -> GrepResult:
        """Lines that match an RE2 pattern, beneath a directory or in one file.

        At most 1,000 matching lines, `.gitignore` respected, no link followed. What the gate
        denies is not opened, what it asks about is counted. `context` is lines before and after,
        at most 20. Raises as `list`, and PatternError (a ValueError).
        """
        wanted = LinePattern(pattern, ignore_case=ignore_case)
        return Grep(self._root, wanted, context, gate).run(path, glob, exact=exact)
