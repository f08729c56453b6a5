"""A model as an ASGI application: `POST /v1/chat/completions`, `GET /v1/models` and `GET /health`.

Every error has the protocol's shape, also where nothing is at a path. Deliberately not here: where it listens
(`connect.serving.listening`), and how an answer is made (`completion`).
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wieldy.connect.serving.chat.answers import Heading
from wieldy.connect.serving.chat.bodies import Json, Receive, Refused, Send, read_body
from wieldy.connect.serving.chat.completion import Completion
from wieldy.connect.serving.chat.failures import Failure, bad_request, failure_of
from wieldy.connect.serving.chat.fields import FieldError
from wieldy.connect.serving.chat.requests import Abilities, read_request
from wieldy.connect.serving.chat.watching import COMPLETION, Told, Watched, tell_nobody
from wieldy.connect.serving.hosts import KnownHosts
from wieldy.connect.serving.keys import Guarded
from wieldy.connect.serving.listening import LOOPBACK
from wieldy.core.json import JsonObject

if TYPE_CHECKING:
    from starlette.requests import Request

    from wieldy.connect.serving.keys import Keys
    from wieldy.core.ports import Model

_PATHS: Final = "`POST /v1/chat/completions`, `GET /v1/models` or `GET /health`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRules:
    """How a model is served.

    Attributes:
        name: What clients call it; the model's own name if left out.
        retries: How often it is asked again where its reply is not right.
        tell: Told of each request.
        now: Seconds since the epoch.
        clock: Seconds that only grow.
        new_id: Makes ids that nothing else has.
    """

    name: str | None = None
    retries: int = 1
    tell: Callable[[Told], None] = tell_nobody
    now: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic
    new_id: Callable[[], str] = lambda: token_hex(12)


class Served(NamedTuple):
    """What is served.

    Attributes:
        app: The ASGI application; its lifespan keeps connections to the model's server open.
        stop: Ends all answers that are under way, before it stops.
    """

    app: Any
    stop: Callable[[], None]


def chat_application(
    model: Model, *, rules: ChatRules | None = None, keys: Keys | None = None, host: str = "127.0.0.1"
) -> Served:
    """The model as a server of the chat-completions protocol.

    Args:
        model: Who answers.
        rules: How it is served.
        keys: Who may ask; None for everybody who reaches it.
        host: Where it will listen: on the loopback, and without keys, only requests that name it are answered.
    """
    from starlette.applications import Starlette  # noqa: PLC0415 - comes with the MCP library
    from starlette.exceptions import HTTPException  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    settled = rules or ChatRules()
    service = _Service(model, settled)
    app: Any = Starlette(
        routes=[
            Route("/v1/chat/completions", service.complete, methods=["POST"]),
            Route("/v1/models", service.models, methods=["GET"]),
            Route("/v1/models/{name:path}", service.one_model, methods=["GET"]),
        ],
        lifespan=service.opened,
        exception_handlers={HTTPException: _not_here, Exception: _crashed},
    )
    app = Guarded(app, keys, refusal=lambda message: _unauthenticated(message).to_json())
    app = _Healthy(app)
    if keys is None and host in LOOPBACK:
        app = KnownHosts(app, LOOPBACK, refused=lambda message: Refused(bad_request(message, code="host")))
    watched = Watched(app, tell=settled.tell, clock=settled.clock, model=service.name)
    return Served(watched, service.stop)


class _Service:
    """The paths, and what answers them."""

    def __init__(self, model: Model, rules: ChatRules) -> None:
        self._model = model
        self._abilities = Abilities.of(model)
        self._since = int(rules.now())
        self._open: set[Completion] = set()
        self._rules = rules
        self.name = rules.name or model.name

    @asynccontextmanager
    async def opened(self, app: object) -> AsyncGenerator[None]:
        """The model's connections, if it has any, are kept until the end."""
        del app
        async with AsyncExitStack() as stack:
            model: Any = self._model
            if hasattr(model, "__aenter__"):
                await stack.enter_async_context(model)
            yield

    def stop(self) -> None:
        """Ends all answers that are under way."""
        for completion in tuple(self._open):
            completion.stop()

    async def complete(self, request: Request) -> Any:
        """Answers a conversation."""
        try:
            asked = read_request(await read_body(request), abilities=self._abilities)
        except FieldError as error:
            return Refused(failure_of(error))
        if asked.model not in (None, self.name):
            return self._unknown(asked.model)
        rules = self._rules
        heading = Heading(
            id=f"chatcmpl-{rules.new_id()}",
            created=int(rules.now()),
            model=self.name,
            fingerprint=f"wieldy-{version('wieldy')}",
            warnings=asked.warnings,
        )
        completion = Completion(
            model=self._model, request=asked, heading=heading, retries=rules.retries, new_id=rules.new_id
        )
        request.scope[COMPLETION].append(completion)
        return self._kept(completion)

    def _kept(self, completion: Completion) -> Any:
        async def app(scope: Any, receive: Receive, send: Send) -> None:
            self._open.add(completion)
            try:
                await completion(scope, receive, send)
            finally:
                self._open.discard(completion)

        return app

    async def models(self, request: Request) -> Any:
        """Lists the only model."""
        del request
        return Json({"object": "list", "data": [self._described()]})

    async def one_model(self, request: Request) -> Any:
        """Describes the model of that name."""
        found: str = request.path_params["name"]
        if found == self.name:
            return Json(self._described())
        return self._unknown(found)

    def _unknown(self, found: str | None) -> Any:
        message = f"Expected the model {self.name!r}, which is the only one here, found {found!r}."
        return Refused(bad_request(message, status=404, param="model", code="model_not_found"))

    def _described(self) -> JsonObject:
        return {"id": self.name, "object": "model", "created": self._since, "owned_by": "wieldy"}


class _Healthy:
    """`GET /health` says that the server answers, to everybody and without a key."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["path"] == "/health" and scope["method"] in ("GET", "HEAD")
        await (Json({"status": "ok"}) if is_asked else self._app)(scope, receive, send)


async def _not_here(request: Request, error: Any) -> Any:
    """Nothing is at this path, or it is asked in another way."""
    if error.status_code == 405:
        allowed: str = error.headers["Allow"]
        failure = bad_request(f"Expected {allowed}, found {request.method}.", status=405, code="method_not_allowed")
        return Refused(failure, more={"allow": allowed})
    message = f"Expected {_PATHS}, found {request.method} {request.url.path}."
    return Refused(bad_request(message, status=error.status_code, code="unknown_path"))


async def _crashed(request: Request, error: Exception) -> Any:
    del request
    return Refused(failure_of(error))


def _unauthenticated(message: str) -> Failure:
    return bad_request(message, status=401, code="invalid_api_key")
