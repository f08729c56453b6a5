"""A call of a server behind a URL that wants no handshake: one POST and its answer, by the task that waits for it.

Such a request is complete in itself. On the SDK's way its messages go through four streams and two more tasks, which
costs as much again as the request. Deliberately not here: what a request says and whether a result is one (the SDK,
`sdk_v2`), and what became of requests without an answer (`http`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

import httpx2
from mcp.shared.exceptions import MCPError
from opentelemetry.propagate import inject

from wieldy.connect.mcp.client.port import ConnectionLostError, UnreadableAnswerError
from wieldy.connect.mcp.client.unreadable import mended

if TYPE_CHECKING:
    from mcp.shared.dispatcher import CallOptions, ProgressFnT

_HEADERS: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_EVENTS: Final = "text/event-stream"


class Posts:
    """Calls of one server.

    Args:
        client: Whose failures are answers (`http_client`).
        url: Of the server.
        limit_bytes: The longest event that is read.

    Attributes:
        on_log: Hears what the server logs about a call.
    """

    def __init__(self, client: httpx2.AsyncClient, url: str, *, limit_bytes: int) -> None:
        self._client = client
        self._url = httpx2.URL(url)
        self._limit_bytes = limit_bytes
        self._numbers = count(1)
        self.on_log: Callable[[dict[str, Any]], None] = _ignore

    async def request(
        self, method: str, params: Mapping[str, Any] | None, options: CallOptions
    ) -> dict[str, Any] | None:
        """The result, as the server sent it; None if it is somewhere else, and has not looked at the request.

        A task that is cancelled closes the connection, by which the server hears of it.

        Raises:
            MCPError: The server answered with an error.
            ConnectionLostError: There was no answer.
            UnreadableAnswerError: The answer is none.
        """
        number = f"call-{next(self._numbers)}"  # the SDK counts its own by plain numbers
        on_progress = options.get("on_progress")
        sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": _params(params, number, on_progress)}
        headers = _HEADERS | (options.get("headers") or {})
        content = json.dumps(sent, separators=(",", ":")).encode()
        try:
            async with self._client.stream("POST", self._url, content=content, headers=headers) as response:
                if response.is_redirect:
                    return None
                return _result(await self._answer(response, number, on_progress))
        except httpx2.SSEError as error:
            raise UnreadableAnswerError(f"its stream cannot be read: {error}") from error
        except httpx2.DecodingError as error:
            raise UnreadableAnswerError(f"it cannot be decoded: {error}") from error
        except (httpx2.TransportError, httpx2.StreamError) as error:
            raise ConnectionLostError(f"the connection broke ({error or type(error).__name__})") from error

    async def _answer(self, response: httpx2.Response, number: str, on_progress: ProgressFnT | None) -> dict[str, Any]:
        if not response.headers.get("content-type", "").lower().startswith(_EVENTS):
            message = _message(await response.aread())  # the client has seen to its length
            if not _is_answer_to(number, message):
                raise UnreadableAnswerError(f"an answer to {message.get('id')!r:.100}, which is another request")
            return message
        events = aiter(httpx2.EventSource(response, max_event_size=self._limit_bytes))
        async for event in events:
            if event.event != "message" or not event.data:
                continue
            message = _message(event.data)
            if "method" not in message:
                if _is_answer_to(number, message):
                    return message
                continue  # to another request, which it is not for this one to hear
            await self._hear(message["method"], message.get("params"), on_progress)
        raise ConnectionLostError("the stream ended without an answer")

    async def _hear(self, method: object, params: object, on_progress: ProgressFnT | None) -> None:
        """What the server tells before it answers."""
        said: dict[str, Any] = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        if method == "notifications/message":
            self.on_log(said)
        if method != "notifications/progress" or on_progress is None:
            return
        progress, total, text = said.get("progress"), said.get("total"), said.get("message")
        if isinstance(progress, int | float):
            total = total if isinstance(total, int | float) else None
            await on_progress(progress, total, text if isinstance(text, str) else None)


def _ignore(said: object) -> None:
    del said


def _params(params: Mapping[str, Any] | None, number: str, on_progress: ProgressFnT | None) -> dict[str, Any]:
    meta: dict[str, Any] = dict((params or {}).get("_meta") or {})
    if on_progress is not None:
        meta["progressToken"] = number
    inject(meta)  # whose request this is part of, for who traces them
    return {**(params or {}), "_meta": meta}


def _message(text: str | bytes) -> dict[str, Any]:
    try:
        message: object = json.loads(mended(text.encode() if isinstance(text, str) else text))
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(f"no JSON: {error}") from error
    if not isinstance(message, dict):
        raise UnreadableAnswerError(f"no message, but {message!r:.100}")
    return cast("dict[str, Any]", message)


def _is_answer_to(number: str, message: dict[str, Any]) -> bool:
    """Whether the message answers the request; an error may come without an id, where the request was not read."""
    answered = message.get("id")
    return answered == number or (answered is None and "error" in message and "result" not in message)


def _result(message: dict[str, Any]) -> dict[str, Any]:
    result, error = message.get("result"), message.get("error")
    if isinstance(result, dict):
        return cast("dict[str, Any]", result)
    said: dict[str, Any] = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    code, text = said.get("code"), said.get("message")
    if isinstance(code, int) and isinstance(text, str):
        raise MCPError(code=code, message=text, data=said.get("data"))
    raise UnreadableAnswerError(f"neither a result nor an error, but {message!r:.100}")
