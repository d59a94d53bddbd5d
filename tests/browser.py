"""A page as a browser draws it, where Chromium is installed."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NO_CHROMIUM = "chromium is not installed (apt install chromium)"
# A profile of its own, and nothing of what a browser does by itself: it has no network in tests.
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-quic", "--disable-sync", "--disable-component-update",
    "--disable-background-networking",
)  # fmt: skip
SECONDS = 60


def screenshot(page: Path, *, width: int, dark: bool) -> Path:
    """Draw a page so many pixels wide; return the PNG beside it."""
    assert CHROMIUM is not None
    shot = page.with_suffix(".png")
    colors = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0") if dark else ()
    sizes = (f"--window-size={width},1600", f"--screenshot={shot}")
    profile = f"--user-data-dir={page.parent / 'profile'}"
    # What it says goes into a file: a pipe would be held open by processes that outlive it.
    with (page.parent / "browser.log").open("wb") as log:
        process = subprocess.Popen(
            [CHROMIUM, *QUIET, profile, *colors, *sizes, page.as_uri()],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(SECONDS)
        finally:
            _end(process)
    assert code == 0, Path(log.name).read_text("utf-8", "replace")
    return shot


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the browser and what it started."""
    with suppress(ProcessLookupError):  # all have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)


def png_colors(path: Path) -> Counter[tuple[int, ...]]:
    """How often each colour stands in an 8-bit RGB or RGBA image."""
    data = path.read_bytes()
    at, packed, header = 8, b"", b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, _, color = struct.unpack(">IIBB", header[:10])
    size = {2: 3, 6: 4}[color]
    raw, before = zlib.decompress(packed), bytearray(width * size)
    found: Counter[tuple[int, ...]] = Counter()
    for y in range(height):
        start = y * (width * size + 1)
        row = bytearray(raw[start + 1 : start + 1 + width * size])
        unfiltered(row, before, raw[start], size)
        found.update(zip(row[0::size], row[1::size], row[2::size], strict=True))
        before = row
    return found


def unfiltered(row: bytearray, up: bytearray, kind: int, size: int) -> None:
    """Undo a PNG row's filter in place."""
    if kind == 0:
        return
    for i in range(len(row)):
        left, above = (row[i - size], up[i]) if i >= size else (0, up[i])
        corner = up[i - size] if i >= size else 0
        guess = (0, left, above, (left + above) // 2, paeth(left, above, corner))[kind]
        row[i] = (row[i] + guess) & 255


def paeth(left: int, above: int, corner: int) -> int:
    near = left + above - corner
    a, b, c = abs(near - left), abs(near - above), abs(near - corner)
    if a <= b and a <= c:
        return left
    return above if b <= c else corner
