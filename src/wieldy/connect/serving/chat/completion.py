"""One answer on its way over HTTP: whole, or as it comes.

Law: the model is asked no further once the client is gone. The status of a stream is sent with its first piece, so what
fails before has a status of its own; what fails later ends the stream with an error and without its end mark.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final

import anyio

from wieldy.connect.models.strict_json import json_bytes
from wieldy.connect.serving.chat.answering import Answer, NotRightError, Piece, Progress, answer
from wieldy.connect.serving.chat.bodies import Receive, Send, send_json
from wieldy.connect.serving.chat.failures import STOPPING, Failure, failure_of
from wieldy.core.errors import WieldyError
from wieldy.core.foreign import single

if TYPE_CHECKING:
    from wieldy.connect.serving.chat.answers import Heading
    from wieldy.connect.serving.chat.requests import ChatRequest
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Model

_END: Final = b"data: [DONE]\n\n"


@dataclass(slots=True, kw_only=True, eq=False)
class Completion:
    """One answer; an ASGI application that is called once.

    Attributes:
        retries: How often the model may be asked again.
        new_id: Makes ids that no other call has.
        progress: What it comes to.
        failure: Why it failed, once it has.
        is_gone: Whether the client went away before its end.
        is_stopped: Whether the server was stopped before its end.
    """

    model: Model
    request: ChatRequest
    heading: Heading
    retries: int
    new_id: Callable[[], str]
    progress: Progress = field(default_factory=Progress)
    failure: Failure | None = None
    is_gone: bool = False
    is_stopped: bool = False
    _scope: anyio.CancelScope | None = None
    _is_begun: bool = False
    _is_over: bool = False

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        async with anyio.create_task_group() as group:
            self._scope = group.cancel_scope
            group.start_soon(self._watch, receive)
            await (self._stream(send) if self.request.is_streamed else self._whole(send))
            group.cancel_scope.cancel()
        if self.is_stopped and not self._is_over and not self.is_gone:
            await self._fail(send, STOPPING)

    def stop(self) -> None:
        """It ends at once, and the client is told that the server stops."""
        self.is_stopped = True
        if self._scope is not None:
            self._scope.cancel()

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.is_gone = not self._is_over
        if self._scope is not None:
            self._scope.cancel()

    async def _whole(self, send: Send) -> None:
        pieces: list[Piece] = []
        end = await self._answered(pieces.append)
        if isinstance(end, Failure):
            await self._fail(send, end)
            return
        self._is_over = True
        await send_json(send, self.heading.whole(pieces, end))

    async def _stream(self, send: Send) -> None:
        sender, receiver = anyio.create_memory_object_stream[Piece | Answer | Failure](inf)

        async def work() -> None:
            with sender:
                sender.send_nowait(await self._answered(sender.send_nowait))

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            with receiver:
                async for event in receiver:
                    await self._event(send, event)

    async def _event(self, send: Send, event: Piece | Answer | Failure) -> None:
        if isinstance(event, Failure):
            await self._fail(send, event)
            return
        if not self._is_begun:
            await self._begin(send)
        if not isinstance(event, Answer):
            await self._chunks(send, self.heading.piece(event))
            return
        await self._chunks(send, *self.heading.last(event, has_usage=self.request.has_usage))
        self._is_over = True  # what is heard of the client from here on is that the answer has ended
        await send({"type": "http.response.body", "body": _END})

    async def _answered(self, tell: Callable[[Piece], None]) -> Answer | Failure:
        try:
            return await answer(
                self.model,
                self.request,
                retries=self.retries,
                tell=tell,
                new_id=self.new_id,
                progress=self.progress,
            )
        except Exception as error:  # whatever a model raises: the client is told, and the others are served on
            found = single(error)
            if not isinstance(found, WieldyError | NotRightError):
                logging.getLogger(__name__).exception("A request could not be answered.")
            return failure_of(found if isinstance(found, Exception) else error)

    async def _begin(self, send: Send) -> None:
        self._is_begun = True
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._chunks(send, self.heading.first())

    async def _chunks(self, send: Send, *chunks: JsonObject) -> None:
        body = b"".join(b"data: " + json_bytes(chunk) + b"\n\n" for chunk in chunks)
        await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _fail(self, send: Send, failure: Failure) -> None:
        self.failure, self._is_over = failure, True
        if not self._is_begun:
            await send_json(send, failure.to_json(), status=failure.status, headers=failure.headers())
            return
        await self._chunks(send, failure.to_json())
        await send({"type": "http.response.body", "body": b""})
