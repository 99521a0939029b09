"""An HTTP server on this machine that answers what a test has written, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any


@dataclass
class Reply:
    """One answer. `body` is JSON or text as it is; `events` are streamed as server-sent events.

    `cut` breaks the connection after them, `stop` ends the stream there as if it were whole, `hang` never answers.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    events: Sequence[Any] | None = None
    cut: bool = False
    hang: bool = False
    kind: str = "application/json"


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: Any
    at: float
    """Seconds on this machine's monotonic clock."""


class FakeApi:
    """Answers each request with the next reply; the last one is given again and again."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies = list(replies)
        self.received: list[Received] = []
        self.released = threading.Event()
        self.url = ""

    @property
    def sent(self) -> Any:
        """The body of the only request."""
        (one,) = self.received
        return one.body

    @property
    def pauses(self) -> list[float]:
        """Seconds between the requests."""
        return [later - earlier for earlier, later in pairwise(request.at for request in self.received)]

    def next_reply(self, received: Received) -> Reply:
        self.received.append(received)
        return self.replies[min(len(self.received), len(self.replies)) - 1]


@contextmanager
def serving(*replies: Reply) -> Iterator[FakeApi]:
    api = FakeApi(replies)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with suppress(ConnectionError):  # the client went away, as the test wants it
                super().handle()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = api.next_reply(Received(self.path, headers, json.loads(raw), time.monotonic()))
            if reply.hang:
                api.released.wait(30)
                self.close_connection = True
            elif reply.events is not None:
                self.stream(reply)
            else:
                self.answer(reply)

        def answer(self, reply: Reply) -> None:
            text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            content = text.encode()
            self.send_response(reply.status)
            for name, value in {
                "content-type": reply.kind,
                "content-length": str(len(content)),
                **reply.headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def stream(self, reply: Reply) -> None:
            self.send_response(reply.status)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in reply.events or ():
                written = event if isinstance(event, str) else json.dumps(event)
                content = f"data: {written}\n\n".encode()
                self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
                self.wfile.flush()
            if reply.cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield api
    finally:
        api.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
