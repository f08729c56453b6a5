"""A server on this machine that keeps every request as it came, byte by byte, and answers what it was told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A request as it came: the target is what stands in its first line."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def header(self, name: str) -> str | None:
        found = [value for each, value in self.headers if each.lower() == name.lower()]
        assert len(found) <= 1, f"{name} was sent {len(found)} times"
        return found[0] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int = 200
    content: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)


def as_json(value: object, status: int = 200, **headers: str) -> Answer:
    named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Answer(
        status=status, content=json.dumps(value).encode(), headers=(("Content-Type", "application/json"), *named)
    )


def cut_off() -> Answer:
    """No answer at all: the connection is closed."""
    return Answer(status=0)


@dataclass(slots=True)
class Recorder:
    url: str
    requests: list[Recorded] = field(default_factory=list[Recorded])
    answers: list[Answer] = field(default_factory=list[Answer])
    answer: Callable[[Recorded], Answer] | None = None

    @property
    def last(self) -> Recorded:
        return self.requests[-1]


@contextmanager
def recording() -> Iterator[Recorder]:
    recorder = Recorder("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            request = Recorded(
                method=self.command,
                target=self.raw_requestline.decode("latin-1").split(" ")[1],
                headers=tuple((name, value.encode("latin-1").decode()) for name, value in self.headers.items()),
                body=self.rfile.read(size),
            )
            recorder.requests.append(request)
            if recorder.answer is not None:
                answer = recorder.answer(request)
            else:
                answer = recorder.answers.pop(0) if recorder.answers else Answer()
            self.close_connection = answer.status == 0
            if answer.status:
                self.reply(answer)

        def reply(self, answer: Answer) -> None:
            self.send_response_only(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.content)

        do_GET = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_HEAD = do_PATCH = do_TRACE = handle_any

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    recorder.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
