"""Where the kernel's way is not to be had: the fallback takes over, and holds as well."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from io_harness.errors import ConfigError
from io_harness.workspace import Workspace
from io_harness.workspace import openat2 as module

if TYPE_CHECKING:
    from pathlib import Path

# A seccomp filter of four instructions: load the call's number; is it 437 (openat2)?; then fail
# with the errno given; else allow. Installed without privileges, by prctl(2).
DENY = """
import ctypes, struct, sys
code = int(sys.argv[1])
program = b"".join(struct.pack("HBBI", *one) for one in [
    (0x20, 0, 0, 0),                 # ld  [0]: seccomp_data.nr
    (0x15, 0, 1, 437),               # jeq openat2, next, skip one
    (0x06, 0, 0, 0x00050000 | code), # ret ERRNO
    (0x06, 0, 0, 0x7FFF0000),        # ret ALLOW
])
buffer = ctypes.create_string_buffer(program)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
filter = Program(4, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
def deny():
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0, ctypes.get_errno()
"""

BEHAVE = """
from io_harness.errors import ConfigError, PathOutside
from io_harness.workspace import Workspace
def behave(workspace):
    assert workspace.read("d/f").text == workspace.read("l/f").text == "inside"
    assert workspace.write("l/g", "made").created
    for path in ("../secret", "out", "outdir/secret", "loop"):
        for act in (workspace.read, lambda p: workspace.write(p, "x")):
            try:
                act(path)
            except PathOutside:
                continue
            raise SystemExit(f"{path} was not refused")
"""

BEFORE = """
deny()
with Workspace(sys.argv[2]) as workspace:
    behave(workspace)
try:
    Workspace(sys.argv[2], containment="kernel")
except ConfigError:
    print("ok")
"""

AFTER = """
with Workspace(sys.argv[2], containment="kernel") as workspace:
    deny()
    behave(workspace)
print("ok")
"""

linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="seccomp filters are Linux's, and this one knows two machines",
)


@linux
@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EPERM])
@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_a_filter_that_denies_openat2_changes_nothing(root: Path, code: int, when: str) -> None:
    (root / "d").mkdir()
    (root / "d" / "f").write_text("inside")
    for name, target in {"l": "d", "out": "../secret", "outdir": "..", "loop": "loop"}.items():
        (root / name).symlink_to(target)
    done = subprocess.run(
        [sys.executable, "-c", DENY + BEHAVE + when, str(code), str(root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")
    assert (root.parent / "secret").read_text() == "SECRET"


@linux
def test_this_machine_tests_the_kernels_way(root: Path) -> None:
    with Workspace(root) as workspace:
        assert workspace._root.by_kernel, "openat2 is not available: half the tests test nothing"


@linux
def test_eagain_is_retried(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "f").write_text("x")
    real, calls = module._syscall, []

    def flaky(*arguments: object) -> int:
        calls.append(arguments)
        if len(calls) < 3:
            ctypes.set_errno(errno.EAGAIN)
            return -1
        result: int = real(*arguments)
        return result

    with Workspace(root) as workspace:
        monkeypatch.setattr(module, "_syscall", flaky)
        assert workspace.read("f").text == "x"
        assert len(calls) == 3
        calls.clear()
        monkeypatch.setattr(module, "_TRANSIENT", frozenset())
        with pytest.raises(BlockingIOError):
            workspace.read("f")


def test_kernel_containment_can_be_demanded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("io_harness.workspace.root.is_available", lambda _directory: False)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ConfigError, match="openat2"):
        Workspace(root, containment="kernel")
    assert len(os.listdir("/proc/self/fd")) == before
