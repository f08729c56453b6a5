"""One server over HTTP: requests, time-outs, retries and the reading of answers. The only place here that waits.

What an answer means is decided by an `Assembly`, which is pure: this module hands it the JSON of each server-sent
event, or the one JSON object of a server that does not stream. Law: a request is sent again only while nothing of its
answer has reached the caller but pieces of calls, which are for watching only. A client is shared by everything that
uses the server in one event loop, opened at the first use and closed with the last; `async with` counts as a use and
so keeps connections open between requests.
"""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Self, cast

import anyio
import httpx2
from anyio.lowlevel import EventLoopToken, current_token

from wieldy.connect.models.answers import Assembly, Delta
from wieldy.connect.models.failures import (
    ServerFacts,
    failure_in_answer,
    failure_of_event,
    failure_of_status,
    failure_of_transport,
    not_the_protocol,
)
from wieldy.connect.models.retries import Retries, Timeouts, parse_retry_after
from wieldy.connect.models.settings import Address
from wieldy.connect.models.strict_json import json_bytes
from wieldy.core.errors import ModelError, ModelUnreachableError, ProviderError, UsageError
from wieldy.core.events import CallDelta
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.ports import ModelEvent

EVENT_BYTES = 16 * 2**20
"""The largest single server-sent event: some servers send a whole call in one."""
ANSWER_BYTES = 64 * 2**20
"""The largest answer."""
ERROR_BYTES = 64 * 2**10
"""How much of an error page is read."""
DRAIN_S = 1.0
"""How long to wait for the last bytes after an answer is complete, so that its connection can be used again."""

_logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class _SharedClient:
    client: httpx2.AsyncClient
    users: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """What a server said of itself.

    Attributes:
        server: Its `server` header.
        body: What it answered, as text.
    """

    server: str = ""
    body: str = ""


class HttpServer:
    """A server and how to talk to it. Safe to use from several event loops, also one after another."""

    def __init__(
        self,
        *,
        address: Address,
        facts: ServerFacts,
        headers: Mapping[str, str],
        timeouts: Timeouts,
        retries: Retries,
    ) -> None:
        self.facts = facts
        self._address = address
        self._headers = {"accept": "application/json", "user-agent": "wieldy", **headers}
        self._timeouts = timeouts
        self._retries = retries
        self._clients: dict[EventLoopToken, _SharedClient] = {}
        self._tls: ssl.SSLContext | None = None

    def __repr__(self) -> str:
        return f"HttpServer({self._address.shown!r})"

    @property
    def host(self) -> str:
        """The server's host, in lower case."""
        return self._address.host

    async def __aenter__(self) -> Self:
        self._acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._release()

    async def converse(self, path: str, body: JsonObject, begin: Callable[[], Assembly]) -> AsyncGenerator[ModelEvent]:
        """Posts the body and gives the answer as it comes; `begin` makes a fresh assembly for each try.

        Raises:
            ModelError: After the last try, or at once where another one would not help.
        """
        content = json_bytes(body)
        attempt = 0
        while True:
            attempt += 1
            has_reached_caller = False
            try:
                async with aclosing(self._try_once(path, content, begin())) as events:
                    async for event in events:
                        has_reached_caller = has_reached_caller or not isinstance(event, CallDelta)
                        yield event
            except ModelError as error:
                if has_reached_caller:
                    raise
                failure = error
            else:
                return
            await self._pause(failure, attempt=attempt)

    async def get_json(self, path: str) -> JsonValue:
        """The JSON at a path.

        Raises:
            ModelError: After the last try, or at once where another one would not help.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self._request("GET", path) as response:
                    return self._decode(await self._read(response))
            except ModelError as error:
                failure = error
            await self._pause(failure, attempt=attempt)

    async def look_up(self, path: str, *, seconds: float, at_root: bool = False) -> LookedUp | None:
        """What the server says at a path, asked once: nothing if it is slow or refuses; None if it is not there."""
        base = self._address.root if at_root else self._address.url
        try:
            with anyio.move_on_after(seconds):
                async with self._request("GET", path, base=base) as response:
                    body = await self._read(response)
                    return LookedUp(server=response.headers.get("server", ""), body=body)
        except ModelUnreachableError:
            return None
        except ModelError as error:
            _logger.debug("%s", error)
        return LookedUp()

    async def _pause(self, failure: ModelError, *, attempt: int) -> None:
        """Waits before the next try, or raises the failure if there is to be none."""
        delay_s = self._retries.delay_s(failure, attempt=attempt)
        if delay_s is None:
            raise failure if attempt == 1 else _after_tries(failure, attempt) from failure
        _logger.warning("Try %d failed: %s Trying again in %.1f s.", attempt, failure, delay_s)
        await self._retries.sleep(delay_s)

    async def _try_once(self, path: str, content: bytes, assembly: Assembly) -> AsyncGenerator[ModelEvent]:
        async with self._request("POST", path, content) as response:
            kind = response.headers.get("content-type", "")
            if "text/event-stream" in kind.lower():
                async with aclosing(self._stream(response, assembly)) as deltas:
                    async for delta in deltas:
                        yield delta
            else:
                for delta in assembly.feed_whole(self._object(await self._read(response))):
                    yield delta
        reply = assembly.close()
        for delta in assembly.rest():
            yield delta
        yield reply

    async def _stream(self, response: httpx2.Response, assembly: Assembly) -> AsyncGenerator[Delta]:
        # Event streams are UTF-8 by definition, whatever the header says, and may start with a byte order mark.
        response.encoding = "utf-8-sig"
        # It is an async generator; its type says only that it can be iterated.
        source = cast("AsyncGenerator[httpx2.ServerSentEvent]", aiter(httpx2.EventSource(response, EVENT_BYTES)))
        size = 0
        async with aclosing(source) as events:
            try:
                async for event in events:
                    data = event.data.strip()
                    size = self._checked_size(size + len(data))
                    if data == "[DONE]":
                        assembly.end()
                    elif event.event == "error":
                        raise failure_of_event(self.facts, _error_in(data))
                    elif data:
                        for delta in assembly.feed(self._object(data)):
                            yield delta
                    if assembly.is_over:
                        break
                await _drain(events)
            except httpx2.RequestError as error:
                if not assembly.is_complete:
                    raise failure_in_answer(self.facts, error, timeouts=self._timeouts) from error

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, content: bytes | None = None, *, base: str | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """A successful response whose body has not been read.

        Raises:
            ModelError: There is none.
        """
        headers = {"content-type": "application/json"} if content is not None else {}
        client = self._acquire()
        try:
            url = (self._address.url if base is None else base) + path
            request = client.build_request(method, url, content=content, headers=headers)
            try:
                response = await client.send(request, stream=True)
            except httpx2.RequestError as error:
                raise failure_of_transport(self.facts, error, timeouts=self._timeouts) from error
            try:
                if not response.is_success:
                    raise await self._refusal(response)
                yield response
            finally:
                await response.aclose()
        finally:
            await self._release()

    async def _refusal(self, response: httpx2.Response) -> ModelError:
        body = bytearray()
        with suppress(httpx2.RequestError):  # the status alone says enough
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) >= ERROR_BYTES:
                    break
        return failure_of_status(
            self.facts,
            status=response.status_code,
            headers=response.headers,
            body=body[:ERROR_BYTES].decode("utf-8", "replace"),
            retry_after_s=parse_retry_after(response.headers, now=self._retries.now),
        )

    async def _read(self, response: httpx2.Response) -> str:
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                self._checked_size(len(body))
        except httpx2.RequestError as error:
            raise failure_in_answer(self.facts, error, timeouts=self._timeouts) from error
        return body.decode("utf-8-sig", "replace")

    def _checked_size(self, size: int) -> int:
        if size > ANSWER_BYTES:
            raise ProviderError(
                f"{self.facts.address} sent more than {ANSWER_BYTES} bytes in one answer; it was given up."
            )
        return size

    def _object(self, text: str) -> JsonObject:
        value = self._decode(text)
        if not isinstance(value, dict):
            raise not_the_protocol(self.facts, expected="a JSON object", found=text)
        return value

    def _decode(self, text: str) -> JsonValue:
        try:
            return cast("JsonValue", json.loads(text))
        except (ValueError, RecursionError) as error:
            raise not_the_protocol(self.facts, expected="JSON", found=text) from error

    def _acquire(self) -> httpx2.AsyncClient:
        # A client belongs to the event loop that opened its connections, so there is one for each loop.
        loop = current_token()
        shared = self._clients.get(loop)
        if shared is None:
            shared = self._clients[loop] = _SharedClient(client=self._open())
        shared.users += 1
        return shared.client

    async def _release(self) -> None:
        loop = current_token()
        shared = self._clients[loop]
        shared.users -= 1
        if shared.users == 0:
            del self._clients[loop]
            with anyio.CancelScope(shield=True):
                await shared.client.aclose()

    def _open(self) -> httpx2.AsyncClient:
        timeouts = self._timeouts
        try:
            if self._tls is None:
                # Loading the certificates takes 20 ms; a plain connection has no use for them.
                is_secure = self._address.url.startswith("https:")
                self._tls = httpx2.create_ssl_context() if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            return httpx2.AsyncClient(
                verify=self._tls,
                headers=self._headers,
                timeout=httpx2.Timeout(timeouts.read_s, connect=timeouts.connect_s, pool=None),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
                # A proxy named in the environment cannot reach a server on this machine.
                trust_env=not self._address.is_local,
            )
        except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:
            raise UsageError(
                "The network settings of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE) "
                f"cannot be used: {error}"
            ) from error


def _error_in(data: str) -> object:
    try:
        value: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return (value.get("error") or value) if isinstance(value, dict) else value


async def _drain(events: AsyncIterator[httpx2.ServerSentEvent]) -> None:
    with anyio.move_on_after(DRAIN_S):
        async for _ in events:
            pass


def _after_tries(failure: ModelError, attempts: int) -> ModelError:
    return type(failure)(
        f"{failure} Tried {attempts} times.",
        status=failure.status,
        retry_after_s=failure.retry_after_s,
        is_transient=True,
    )
