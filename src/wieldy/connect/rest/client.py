"""Sends requests to a service and reads its answers. The only place here that waits for the network, besides `tokens`.

Law: secrets go to the servers that the document names and to no other: a redirect to another host takes none along, and
is followed only where nothing but reading was asked for, and from the open network never into a private one (`reach`).
Nothing that the service sets, such as a cookie, is kept
between requests. Deliberately not here: trying again (the runtime does, by what the errors say).
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from anyio.lowlevel import EventLoopToken, current_token

from wieldy.connect.rest.reach import LookUp, at_address, has_proxy, is_open, look_up, looks_private, open_address
from wieldy.connect.rest.requests import Request
from wieldy.connect.rest.responses import Response
from wieldy.connect.rest.security import Secrets
from wieldy.connect.rest.servers import origin_of
from wieldy.core.errors import UsageError

MAX_REDIRECTS: Final = 5
CONNECT_S: Final = 10.0
"""How long to wait for a connection, TLS included."""
DEFAULT_RESPONSE_BYTES: Final = 32 * 2**20
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_USER_AGENT: Final = ("User-Agent", "wieldy")


_Key: TypeAlias = tuple[EventLoopToken, bool, bool]
"""An event loop, whether connections are secure, and whether they are to this machine or network."""


_is_sending: ContextVar[bool] = ContextVar("_is_sending", default=False)


class _NotOurs(logging.Filter):
    """Passes what the client logs of others' requests: it logs whole addresses, in which a secret may stand."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _is_sending.get()


_NOT_OURS: Final = _NotOurs()


@contextmanager
def _unlogged() -> Generator[None]:
    logging.getLogger(httpx2.__name__).addFilter(_NOT_OURS)  # once, however often it is added
    token = _is_sending.set(True)
    try:
        yield
    finally:
        _is_sending.reset(token)


class TooLargeError(Exception):
    """The answer is larger than what is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One request on the way.

    Attributes:
        request: What is sent.
        has_secrets: Whether secrets go along.
        must_be_open: Whether its server has to be in the open network, since a server there redirected to it.
        address: Of its server, where it was looked up already.
    """

    request: Request
    has_secrets: bool
    must_be_open: bool = False
    address: str = ""


class ServiceClient:
    """One service over HTTP. Safe to use from several event loops.

    Args:
        timeout_s: How long one request may take in all, in seconds.
        max_bytes: How much of an answer is read.
        look: Looks up the names to which servers redirect.
    """

    def __init__(self, *, timeout_s: float, max_bytes: int, look: LookUp = look_up) -> None:
        self.timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._clients: dict[_Key, httpx2.AsyncClient] = {}
        self._tls: ssl.SSLContext | None = None
        self._held: set[EventLoopToken] = set()
        self._app: Any = None
        self._look = look

    def reach(self, app: Any) -> None:
        """All requests go to this ASGI application, in this process, and none to the network."""
        self._app = app

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Connections stay open between requests, in this event loop."""
        loop = current_token()
        self._held.add(loop)
        try:
            yield
        finally:
            self._held.discard(loop)
            with anyio.CancelScope(shield=True):
                for key in [key for key in self._clients if key[0] == loop]:
                    await self._clients.pop(key).aclose()

    async def send(self, request: Request, secrets: Secrets) -> Response:
        """The answer to the request, after redirects; outside `hold` the connection is closed afterwards.

        Args:
            request: What is sent.
            secrets: What is added to it for its own server.

        Raises:
            httpx2.RequestError: There is none; its class says how far it went.
            TimeoutError: There was none in time.
            TooLargeError: It is too large.
        """
        if current_token() in self._held:
            return await self._exchange(request, secrets)
        async with self.hold():
            return await self._exchange(request, secrets)

    async def _exchange(self, request: Request, secrets: Secrets) -> Response:
        with anyio.fail_after(self.timeout_s):
            hop = Hop(request=request, has_secrets=True)
            response, is_local = await self._once(hop, secrets)
            for _ in range(MAX_REDIRECTS):
                following = next_hop(hop, response, is_local=is_local)
                if following is not None and following.must_be_open:
                    following = await self._looked_up(following)
                if following is None:
                    break
                hop = following
                response, is_local = await self._once(hop, secrets)
            return response

    async def _looked_up(self, hop: Hop) -> Hop | None:
        """The hop with its server's address, if that is in the open network."""
        url = hop.request.url
        if self._app is not None:
            return hop
        try:
            address = await open_address(url, self._look)
        except (OSError, ValueError):
            # The proxy may know the name, and is the one to say who can be reached through it.
            return hop if has_proxy(url) else None
        if address is None:
            return None
        return hop if has_proxy(url) else replace(hop, address=address)

    async def _once(self, hop: Hop, secrets: Secrets) -> tuple[Response, bool]:
        """The answer, and whether its server is on this machine or in a private network."""
        client = self._client(hop.request.url)
        # Made by hand, so that nothing of the client's own is added: no cookies, no password out of a file.
        sent = written(hop, secrets if hop.has_secrets else NO_SECRETS, timeout_s=self.timeout_s)
        with _unlogged():
            answer = await client.send(sent, stream=True, auth=None, follow_redirects=False)
        try:
            is_local = looks_private(hop.request.url) or _is_local(answer)
            content = bytearray()
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > self._max_bytes:
                    raise TooLargeError
        finally:
            await answer.aclose()
            client.cookies.clear()
        headers = {name.lower(): value for name, value in answer.headers.items()}
        response = Response(status=answer.status_code, headers=headers, content=bytes(content), url=hop.request.url)
        return response, is_local

    def _client(self, url: str) -> httpx2.AsyncClient:
        is_secure, is_local = url[:6].lower() == "https:", looks_private(url)
        key = (current_token(), is_secure, is_local)
        if key not in self._clients:
            self._clients[key] = self._open(is_secure=is_secure, is_local=is_local)
        return self._clients[key]

    def _open(self, *, is_secure: bool, is_local: bool) -> httpx2.AsyncClient:
        if self._app is not None:
            # What the application raises is an answer with status 500, as its server would make it one.
            return httpx2.AsyncClient(transport=httpx2.ASGITransport(self._app, raise_app_exceptions=False))
        try:
            if is_secure and self._tls is None:
                # Loading the certificates takes 50 ms; a plain connection has no use for them.
                self._tls = httpx2.create_ssl_context()
            tls = self._tls if is_secure and self._tls is not None else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            return httpx2.AsyncClient(
                verify=tls,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
                # A proxy named in the environment cannot reach a server on this machine.
                trust_env=not is_local,
            )
        except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:
            raise UsageError(
                "The network settings of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE) "
                f"cannot be used: {error}"
            ) from error


NO_SECRETS: Final = Secrets(headers=[], query=[], cookies=[])


def next_hop(hop: Hop, response: Response, *, is_local: bool) -> Hop | None:
    """Where a redirect leads, if it is followed; the answer itself is then the last one otherwise.

    A redirect to the same host is followed as the protocol says. One to another host, or from TLS to none, is followed
    only by requests that read, without secrets, and never from the open network into a private one.

    Args:
        hop: What was sent.
        response: What came back.
        is_local: Whether it came from this machine or a private network.
    """
    location = response.headers.get("location")
    if response.status not in {301, 302, 303, 307, 308} or not location:
        return None
    request = hop.request
    try:
        url = urljoin(request.url, location).partition("#")[0]
        is_same = origin_of(url) == origin_of(request.url)
    except ValueError:
        return None
    if response.status == 303 and request.method not in _READING:
        request = replace(request, method="GET", content=None, headers=_without_content(request))
    if request.method not in _READING and response.status not in {307, 308}:
        return None
    if not is_same and (request.method not in _READING or not _may_leave(request.url, url, is_local=is_local)):
        return None
    kept = request if is_same else replace(request, headers=_public(request), cookies=())
    return Hop(
        request=replace(kept, url=url),
        has_secrets=hop.has_secrets and is_same,
        must_be_open=hop.must_be_open or not (is_same or is_local),
    )


def _may_leave(source: str, target: str, *, is_local: bool) -> bool:
    if urlsplit(target).scheme not in {"http", "https"} or (source.startswith("https:") and target.startswith("http:")):
        return False
    return is_local or not looks_private(target)


def _is_local(answer: httpx2.Response) -> bool:
    """Whether who answered is on this machine or in a private network; of a proxy that says nothing."""
    stream = answer.extensions.get("network_stream")
    address = None if stream is None else stream.get_extra_info("server_addr")
    try:
        return address is not None and not has_proxy(str(answer.request.url)) and not is_open(str(address[0]))
    except ValueError:
        return False


def _without_content(request: Request) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in request.headers if name.lower() != "content-type")


def _public(request: Request) -> tuple[tuple[str, str], ...]:
    """What says nothing of the caller: a header that the model filled may be meant for the first server only."""
    return tuple((name, value) for name, value in request.headers if name.lower() == "accept")


def written(hop: Hop, secrets: Secrets, *, timeout_s: float) -> httpx2.Request:
    """The request for the wire; to a server whose address was looked up it goes to that, and names it as before."""
    request = hop.request
    url = at_address(request.url, hop.address) if hop.address else request.url
    if secrets.query:
        url += ("&" if "?" in url else "?") + "&".join(secrets.query)
    cookies = "; ".join((*request.cookies, *secrets.cookies))
    headers = [_USER_AGENT, *request.headers, *secrets.headers, *([("Cookie", cookies)] if cookies else [])]
    extensions: dict[str, Any] = {}
    if hop.address:
        named = httpx2.URL(request.url)
        # A connection to an address is kept for no other name.
        headers += [("Host", named.netloc.decode("ascii")), ("Connection", "close")]
        extensions["sni_hostname"] = named.raw_host.decode("ascii")
    timeouts = httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s), pool=None)
    return httpx2.Request(
        request.method,
        url,
        headers=[(name.encode("utf-8"), value.encode("utf-8")) for name, value in headers],
        content=request.content,
        extensions={**extensions, "timeout": timeouts.as_dict()},
    )
