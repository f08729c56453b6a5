"""A way to the server that breaks at the worst moment: while a statement is under way."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

Moment = Literal["never sent", "carried out", "carried out late"]

_READY = b"Z\x00\x00\x00\x05I"
"""The server's word that it is done with a statement and has committed it."""
_TIMEOUT_S = 30


class _Link:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.is_broken = False
        self.is_answered = threading.Event()

    def carry_out(self, statement: bytes) -> None:
        """The server has carried out the statement; its answer goes nowhere."""
        self.server.sendall(statement)
        assert self.is_answered.wait(_TIMEOUT_S)


class BreakingProxy:
    """Passes on what it gets; `break_at` makes it break the next connection that sends the mark.

    The statement with the mark is then never sent, or carried out without the client hearing of it, or carried out only
    when the client has connected anew and tries again.

    Attributes:
        url: The server's URL by way of this proxy.
        broken: How many connections it broke.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        credentials = parts.netloc.rpartition("@")[0]
        self.url = urlunsplit(parts._replace(netloc=f"{credentials}@127.0.0.1:{self._listener.getsockname()[1]}"))
        self.broken = 0
        self._mark: bytes | None = None
        self._moment: Moment = "never sent"
        self._late: tuple[_Link, bytes] | None = None
        self._links: list[_Link] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def break_at(self, mark: bytes, moment: Moment) -> None:
        self._mark, self._moment = mark, moment

    def close(self) -> None:
        _end(self._listener)
        self._threads[0].join(_TIMEOUT_S)
        for link in self._links:
            _end(link.client)
            _end(link.server)
        for thread in self._threads:
            thread.join(_TIMEOUT_S)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            link = _Link(client, socket.create_connection(self._server))
            self._links.append(link)
            for pump in (self._to_server, self._to_client):
                thread = threading.Thread(target=pump, args=(link,))
                self._threads.append(thread)
                thread.start()

    def _to_server(self, link: _Link) -> None:
        for chunk in _chunks(link.client):
            if self._late is not None and self._is_marked(chunk):
                (earlier, statement), self._late, self._mark = self._late, None, None
                earlier.carry_out(statement)
                _end(earlier.server)
            elif self._is_marked(chunk):
                self._break(link, chunk)
                return
            with suppress(OSError):
                link.server.sendall(chunk)
        _end(link.server)

    def _is_marked(self, chunk: bytes) -> bool:
        return self._mark is not None and self._mark in chunk

    def _break(self, link: _Link, statement: bytes) -> None:
        self.broken += 1
        link.is_broken = True
        if self._moment == "carried out late":
            self._late = (link, statement)
        else:
            self._mark = None
            if self._moment == "carried out":
                link.carry_out(statement)
            _end(link.server)
        _end(link.client)

    def _to_client(self, link: _Link) -> None:
        for chunk in _chunks(link.server):
            if not link.is_broken:
                with suppress(OSError):
                    link.client.sendall(chunk)
            elif _READY in chunk:
                link.is_answered.set()
        _end(link.client)


def _chunks(source: socket.socket) -> Iterator[bytes]:
    with suppress(OSError):
        while chunk := source.recv(65536):
            yield chunk


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def breaking_proxy(url: str) -> Iterator[BreakingProxy]:
    """A proxy until the end of the block."""
    proxy = BreakingProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
