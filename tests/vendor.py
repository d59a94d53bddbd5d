"""A local HTTP server that stands in for a vendor: recorded-shape answers, and faults."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request; `cut` drops the connection in the middle.

    `delay` are the seconds before it, `drip` those before each byte of the body.
    """

    body: object = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    delay: float = 0.0
    drip: float = 0.0

    def payload(self) -> bytes:
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, object]:
        loaded: dict[str, object] = json.loads(self.raw)
        return loaded


@dataclass(slots=True)
class Vendor:
    """The server as a test holds it."""

    url: str
    answers: list[Reply] | Callable[[Seen], Reply]
    seen: list[Seen] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def answer(self, seen: Seen) -> Reply:
        self.seen.append(seen)
        if callable(self.answers):
            return self.answers(seen)
        return self.answers[min(len(self.seen), len(self.answers)) - 1]


@contextmanager
def vendor(answers: list[Reply] | Callable[[Seen], Reply]) -> Iterator[Vendor]:
    """Serve `answers` in order, the last one again and again."""
    server = _Server(("127.0.0.1", 0), _Handler)
    state = Vendor(f"http://127.0.0.1:{server.server_port}", answers)
    server.vendor = state  # type: ignore[attr-defined]  # the handler finds it here
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.stopping.set()
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that go away are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        state: Vendor = self.server.vendor  # type: ignore[attr-defined]  # set by vendor()
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        reply = state.answer(Seen(self.path, dict(self.headers), raw))
        state.stopping.wait(reply.delay)
        payload = reply.payload()
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for at in range(len(payload) if reply.drip else 0):
            self.wfile.write(payload[at : at + 1])
            if state.stopping.wait(reply.drip):
                return
        payload = b"" if reply.drip else payload
        self.wfile.write(payload[: len(payload) // 2] if reply.cut else payload)
        if reply.cut:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
