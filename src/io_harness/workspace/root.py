"""A directory that is opened once and pinned, and the opening of everything beneath it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import weakref
from typing import TYPE_CHECKING, Literal, TypeAlias

from io_harness.errors import ConfigError, HarnessError, NotRegularFile, PathOutside
from io_harness.workspace.flags import DIRECTORY, NO_FOLLOW, NO_WAIT, PATH_ONLY
from io_harness.workspace.folding import folds_case, true_name
from io_harness.workspace.openat2 import is_available, openat2
from io_harness.workspace.spelling import is_plain, is_temporary, join, outside, shown, split
from io_harness.workspace.walk import ENTERED, walk

if TYPE_CHECKING:
    from pathlib import Path

Containment: TypeAlias = Literal["auto", "kernel", "walk"]

_MAX_LINKS = 40  # as many as Linux follows: path_resolution(7)
ATTEMPTS = 64  # how often a path may change under our eyes before we give up on it
_FILE = os.O_RDONLY | NO_WAIT
_DENIED_CALL = frozenset({errno.ENOSYS, errno.EPERM})
_LEFT = frozenset({errno.EXDEV, errno.ELOOP})
_NO_FILE = frozenset({errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP})


class Root:
    """The pinned root. Descriptors it gives are the caller's to close.

    What is opened is opened by a path without links, which the kernel (or the walk) verifies:
    links are resolved by name first, so that the path a policy saw is the path opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        containment: Containment,
        one_device: bool,
        hard_links: Literal["allow", "refuse"],
    ) -> None:
        try:
            self.descriptor = os.open(path, PATH_ONLY | DIRECTORY)
        except OSError as error:
            raise ConfigError(
                f"the workspace root {path} cannot be opened: {error.strerror}: "
                "name a directory that exists"
            ) from None
        self.folds = folds_case(self.descriptor)
        self._release = weakref.finalize(self, os.close, self.descriptor)
        self._one_device, self._hard_links = one_device, hard_links
        available = containment != "walk" and is_available(self.descriptor)
        if containment == "kernel" and not available:
            self.close()
            raise ConfigError("openat2 is not available here; use containment='auto'")
        self.by_kernel = available
        self.hidden: set[tuple[int, int]] = set()
        self.reserved: set[tuple[int, int, str]] = set()
        self.swept: set[tuple[int, int]] = set()

    def close(self) -> None:
        """Let go of the directory; nothing can be opened afterwards."""
        self._release()
        self.descriptor = -1

    def open_names(self, names: tuple[str, ...], flags: int) -> int:
        """A descriptor for names of which none may be a link; OSError ELOOP where one is."""
        if self.by_kernel:
            try:
                return openat2(self.descriptor, join(names), flags, self._one_device)
            except OSError as error:
                # A filter may have come since; where EPERM is the file's own, so is the walk's.
                if error.errno not in _DENIED_CALL:
                    raise
        return walk(self.descriptor, names, flags, one_device=self._one_device)

    def open(self, path: str, flags: int, *, exact: bool = False) -> tuple[int, str]:
        """A descriptor for a path, and the canonical path.

        With `exact` a link anywhere in the path is refused. Raises PathOutside, or OSError with
        the path as it was given.
        """
        if self.by_kernel and not self.folds and is_plain(path):
            # One call for what nearly every path is.
            try:
                return openat2(self.descriptor, path, flags, self._one_device), path
            except OSError as error:
                if error.errno != errno.ELOOP and error.errno not in _DENIED_CALL:
                    raise self.told(error, path) from None
        names = split(path)
        for _ in range(ATTEMPTS):
            if ".." in names or self.folds:
                given, names = names, self.resolve(path, names)
                if exact and names != given:
                    break
            try:
                return self.open_names(names, flags), join(names)
            except OSError as error:
                if error.errno != errno.ELOOP or exact:
                    raise self.told(error, path) from None
            names = self.resolve(path, names)
        raise outside(path)

    def canonical(self, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names without links and `..`, by one look where there are none."""
        if ".." not in names and not self.folds:
            with contextlib.suppress(OSError):
                os.close(self.open_names(names, PATH_ONLY))
                return names
        return self.resolve(path, names)

    def resolve(self, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names without links and `..`; where nothing exists, by spelling alone.

        Raises PathOutside for what leaves the root, absolute links and more than 40 links.
        """
        pending, done, links = list(reversed(names)), list[str](), 0
        open_directories = [self.descriptor]
        try:
            while pending:
                name = pending.pop()
                if name == "..":
                    if not done:
                        raise outside(path)
                    done.pop()
                    if len(open_directories) > len(done) + 1:
                        os.close(open_directories.pop())
                    continue
                exists = len(open_directories) == len(done) + 1
                target = _link(open_directories[-1], name) if exists else None
                if target is None:
                    name = true_name(open_directories[-1], name) if exists and self.folds else name
                    done.append(name)
                    if exists and pending:
                        _enter(open_directories, name)
                    continue
                links += 1
                if target.startswith("/") or links > _MAX_LINKS:
                    raise _loop(path) if links > _MAX_LINKS else outside(path)
                pending += [part for part in reversed(target.split("/")) if part not in ("", ".")]
        finally:
            for descriptor in open_directories[1:]:
                os.close(descriptor)
        return tuple(done)

    def open_file(self, path: str, *, exact: bool = False) -> tuple[int, os.stat_result]:
        """A regular file open for reading, and its status.

        Raises PathOutside, NotRegularFile, FileNotFoundError and other OSErrors.
        """
        if self.hidden:
            # Closing any descriptor of a database drops its locks, but not one of O_PATH.
            os.close(self.regular(path, PATH_ONLY, exact=exact)[0])
        descriptor, canonical = self.open(path, _FILE, exact=exact)
        return descriptor, self._verified(descriptor, path, canonical)

    def regular(self, path: str, flags: int, *, exact: bool = False) -> tuple[int, os.stat_result]:
        """As `open`, for regular files only, with the status."""
        descriptor, canonical = self.open(path, flags, exact=exact)
        return descriptor, self._verified(descriptor, path, canonical)

    def open_child(self, directory: int, name: str, path: str) -> tuple[int, os.stat_result]:
        """A regular file of an open directory, open for reading; a link is OSError ELOOP."""
        descriptor = os.open(name, _FILE | NO_FOLLOW, dir_fd=directory)
        return descriptor, self._verified(descriptor, path, name)

    def _verified(self, descriptor: int, path: str, canonical: str) -> os.stat_result:
        """The status of a regular file that may be used; any other is closed and refused."""
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise not_regular(path, status.st_mode)
        refusal = self.refusal(path, canonical, status)
        if refusal is None:
            return status
        os.close(descriptor)
        raise refusal

    def refusal(self, path: str, canonical: str, status: os.stat_result | None) -> OSError | None:
        """The error for what nobody gets to see: as outside, or as if it were not there."""
        if is_temporary(canonical):
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if status is None:
            return None
        if status.st_dev == _PROC_DEVICE or (status.st_nlink > 1 and self._is_linked(status)):
            return outside(path)
        if self.hidden and (status.st_dev, status.st_ino) in self.hidden:
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return None

    def is_reserved(self, directory: int, name: str) -> bool:
        """Whether nobody may make what has this name in an open directory."""
        if not self.reserved:
            return False
        status = os.fstat(directory)
        return (status.st_dev, status.st_ino, name) in self.reserved

    def _is_linked(self, status: os.stat_result) -> bool:
        """Whether a second name of a file is one too many."""
        return self._hard_links == "refuse" and stat.S_ISREG(status.st_mode)

    @staticmethod
    def told(error: OSError, path: str) -> OSError:
        """The error under the name the caller used."""
        if isinstance(error, HarnessError):
            return error
        if error.errno in _LEFT:
            return outside(path)
        if error.errno in _NO_FILE:
            return not_regular(path, stat.S_IFSOCK)
        if error.errno == errno.EBADF:
            return OSError(errno.EBADF, "the workspace is closed: open it again", path)
        return OSError(error.errno, error.strerror, path)


def _device_of_proc() -> int | None:
    # /proc shows this process's environment, API keys included, to whoever may read it.
    try:
        return os.stat("/proc/self/environ").st_dev if sys.platform == "linux" else None
    except OSError:
        return None


_PROC_DEVICE = _device_of_proc()


def _link(directory: int, name: str) -> str | None:
    """Where a link points; None for what is no link, is not there or cannot be looked at."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError:
        return None


def _enter(open_directories: list[int], name: str) -> None:
    """Open one directory more, where it is one; what is beneath is by spelling alone if not."""
    try:
        open_directories.append(os.open(name, ENTERED, dir_fd=open_directories[-1]))
    except OSError:
        return


def _loop(path: str) -> PathOutside:
    error = outside(path)
    error.errno = errno.ELOOP
    return error


_KINDS = {
    stat.S_IFDIR: "a directory; list_dir shows what is in it",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket or a device",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def not_regular(path: str, mode: int) -> NotRegularFile:
    """The error for what is no regular file."""
    kind = _KINDS.get(stat.S_IFMT(mode), "of another kind")
    return NotRegularFile(f"{shown(path) or '.'} is not a regular file but {kind}")
