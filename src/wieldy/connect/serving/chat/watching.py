"""What an operator is told of each request once it has ended, also of those that no path answers."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wieldy.connect.serving.chat.bodies import Receive, Send
from wieldy.core.limits import Usage

if TYPE_CHECKING:
    from wieldy.connect.serving.chat.completion import Completion

COMPLETION: Final = "wieldy.completion"
"""Where an ASGI scope has a list for the completion that the request led to."""

GONE: Final = 499
"""What is told as the status of a request whose client did not wait for the answer."""


class Told(NamedTuple):
    """What is told of a request once it has ended.

    Attributes:
        status: Of HTTP; 499 if the client did not wait for the answer.
        code: What went wrong, for programs; None if nothing did. A stream that broke has status 200 and a code.
        usage: Of all replies of the model.
        calls: How many calls left for the client.
        repairs: How many changes made arguments fit.
        retries: How often the model was asked again.
    """

    method: str
    path: str
    model: str
    status: int
    seconds: float
    code: str | None = None
    is_streamed: bool = False
    usage: Usage = Usage()
    calls: int = 0
    repairs: int = 0
    retries: int = 0


def tell_nobody(told: Told) -> None:
    """For a server that nobody watches."""
    del told


class Watched:
    """An ASGI application of which each request is told.

    Args:
        app: The application.
        tell: Told of them.
        clock: Seconds that only grow.
        model: Who answers.
    """

    def __init__(self, app: Any, *, tell: Callable[[Told], None], clock: Callable[[], float], model: str) -> None:
        self._app = app
        self._tell = tell
        self._clock = clock
        self._model = model

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        completions: list[Completion] = []
        status = 0

        async def sent(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        begun_s = self._clock()
        try:
            await self._app({**scope, COMPLETION: completions}, receive, sent)
        finally:
            completion = completions[0] if completions else None
            self._tell(self._told(scope, completion, status=status, seconds=self._clock() - begun_s))

    def _told(self, scope: Any, completion: Completion | None, *, status: int, seconds: float) -> Told:
        told = Told(method=scope["method"], path=scope["path"], model=self._model, status=status, seconds=seconds)
        if completion is None:
            return told
        progress, failure = completion.progress, completion.failure
        code = None if failure is None else failure.code or failure.type
        return told._replace(
            status=GONE if completion.is_gone else status,
            code="client_gone" if completion.is_gone else code,
            is_streamed=completion.request.is_streamed,
            usage=progress.usage,
            calls=progress.calls,
            repairs=progress.repairs,
            retries=progress.retries,
        )
