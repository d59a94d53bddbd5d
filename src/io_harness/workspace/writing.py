"""Atomic writes: the old file or the new one, whatever happens in between."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from io_harness.workspace.flags import DIRECTORY, NO_FOLLOW, NO_WAIT
from io_harness.workspace.reading import WHOLE_MAX_BYTES, digest_of
from io_harness.workspace.root import ATTEMPTS, not_regular
from io_harness.workspace.spelling import is_temporary, join, outside, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from io_harness.workspace.root import Root

_LEFTOVER_SECONDS = 3_600
_SWEEP_MAX_NAMES = 10_000
_LISTED = os.O_RDONLY | DIRECTORY
_OLD = os.O_RDWR | NO_FOLLOW | NO_WAIT
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a write did, to which canonical path, and the digest of the file's bytes now."""

    status: Literal["created", "changed", "unchanged"]
    path: str
    digest: str

    @property
    def created(self) -> bool:
        """Whether there was no such file before."""
        return self.status == "created"

    @property
    def changed(self) -> bool:
        """Whether a file was there and has other bytes now."""
        return self.status == "changed"

    @property
    def unchanged(self) -> bool:
        """Whether the file had these very bytes, and was left alone."""
        return self.status == "unchanged"


def write_file(
    root: Root, path: str, data: bytes, *, exact: bool = False, base: str | None = None
) -> WriteResult:
    """Make the file hold these bytes, following links that stay inside, creating directories.

    With `base` the file must still have that digest ("" for no file): OSError ESTALE if not.
    Raises PathOutside, NotRegularFile and OSErrors; the file is then as it was.
    """
    for _ in range(ATTEMPTS):
        names = split(path)
        if not exact or ".." in names:
            names = root.resolve(path, names)
        if not names:
            raise not_regular(path, stat.S_IFDIR)
        try:
            with _parent(root, names[:-1]) as directory:
                status = _Write(root, path, names, directory).put(data, base)
        except OSError as error:
            if error.errno == errno.ELOOP and not exact:
                continue  # a name became a link meanwhile: look again
            raise root.told(error, path) from None
        return WriteResult(status, join(names), digest_of(data))
    raise outside(path)


@contextlib.contextmanager
def _parent(root: Root, names: tuple[str, ...]) -> Iterator[int]:
    """The directory of a file to be, made where it is missing."""
    try:
        directory = root.open_names(names, _LISTED)
    except FileNotFoundError:
        for depth in range(len(names)):
            _make(root, names[:depth], names[depth])
        directory = root.open_names(names, _LISTED)
    try:
        _sweep(root, directory)
        yield directory
    finally:
        os.close(directory)


def _make(root: Root, names: tuple[str, ...], name: str) -> None:
    """One directory, unless it is there."""
    parent = root.open_names(names, _LISTED)
    try:
        if root.is_reserved(parent, name):
            raise _missing(name)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
            _sync(parent)
    finally:
        os.close(parent)


def _sweep(root: Root, directory: int) -> None:
    """Remove what a crash left in this directory over an hour ago; once for each directory."""
    status = os.fstat(directory)
    if (status.st_dev, status.st_ino) in root.swept:
        return
    root.swept.add((status.st_dev, status.st_ino))
    with os.scandir(directory) as entries:
        for entry in islice(entries, _SWEEP_MAX_NAMES):
            if is_temporary(entry.name):
                with contextlib.suppress(OSError):
                    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    if age > _LEFTOVER_SECONDS:
                        os.unlink(entry.name, dir_fd=directory)


class _Write:
    """One write of one name in an open directory."""

    def __init__(self, root: Root, path: str, names: tuple[str, ...], directory: int) -> None:
        self._root, self._path, self._names = root, path, names
        self._name, self._directory = names[-1], directory

    def put(self, data: bytes, base: str | None) -> Literal["created", "changed", "unchanged"]:
        """Write what differs from what is there."""
        old = self._existing()
        if old is None:
            if base:
                raise _stale()
            self._replace(data, None)
            return "created"
        try:
            # Only a file of the same size can be the same, and only a base asks for its digest.
            same = os.fstat(old).st_size == len(data)
            most = max(len(data), WHOLE_MAX_BYTES)  # larger ones have no digest
            content = _all(old, most) if same or base is not None else None
            if base is not None and (content is None or digest_of(content) != base):
                raise _stale()
            if content == data:
                return "unchanged"
            self._replace(data, old)
        finally:
            os.close(old)
        return "changed"

    def _existing(self) -> int | None:
        """The file that is there, open; None where there is none."""
        try:
            status = os.stat(self._name, dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            status = None
        refusal = self._root.refusal(self._path, self._name, status)
        if refusal is not None:
            raise refusal
        if status is None:
            if self._root.is_reserved(self._directory, self._name):
                raise _missing(self._path)
            return None
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not stat.S_ISREG(status.st_mode):
            raise not_regular(self._path, status.st_mode)
        old = os.open(self._name, _OLD, dir_fd=self._directory)
        if not os.path.samestat(os.fstat(old), status):
            os.close(old)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return old

    def _replace(self, data: bytes, old: int | None) -> None:
        """Put a new file in the place of the old one, or of none."""
        temporary = f".io-harness-{secrets.token_hex(8)}.tmp"
        directory = self._directory
        new = os.open(temporary, _NEW, 0o666 if old is None else 0o600, dir_fd=directory)
        try:
            try:
                _write_all(new, data)
                if old is not None:
                    _copy_attributes(old, new)
                os.fsync(new)
            finally:
                os.close(new)
            os.rename(temporary, self._name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=directory)
            raise
        _sync(directory)


def _missing(path: str) -> OSError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _stale() -> OSError:
    return OSError(errno.ESTALE, "the file changed meanwhile; read it again")


def _all(descriptor: int, most: int) -> bytes:
    """The bytes of an open file, and at most one more than `most`."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(most + 1)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _copy_attributes(old: int, new: int) -> None:
    """Owner, mode and extended attributes, as far as this process may set them."""
    status = os.fstat(old)
    with contextlib.suppress(PermissionError):
        os.fchown(new, status.st_uid, status.st_gid)
    # As the system does when a file is written: no set-id bit outlives a change of content.
    os.fchmod(new, stat.S_IMODE(status.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            for name in os.listxattr(old):
                with contextlib.suppress(OSError):
                    os.setxattr(new, name, os.getxattr(old, name))


def _sync(directory: int) -> None:
    """Make names durable, where the file system knows how."""
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
