"""The operations of an ASGI application in this process as tools: no socket, and its own document.

Deliberately not here: what a document says and a request is; that is as of any service (`toolset`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio

from wieldy.connect.rest.toolset import OpenApiToolset
from wieldy.core.errors import UsageError
from wieldy.core.foreign import single
from wieldy.core.json import JsonObject

SERVER: Final = "http://localhost"
"""What requests are addressed to: applications that ask for it find that they are called from this machine."""


class AppToolset(OpenApiToolset):
    """The operations of one application; its lifespan is that of the set.

    Args:
        app: An ASGI application.
        document: Its OpenAPI document; None to ask its `openapi()`, as applications of FastAPI have it.
        settings: As of `OpenApiToolset`.

    Raises:
        UsageError: It has no document, or a setting does not fit it.
    """

    def __init__(self, app: Any, document: JsonObject | None = None, **settings: Any) -> None:
        super().__init__(_document_of(app) if document is None else document, server=SERVER, **settings)
        self._app = app
        self._client.reach(app)

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """The application has started."""
        async with started(self._app), super().hold():
            yield


@asynccontextmanager
async def started(app: Any) -> AsyncGenerator[None]:
    """The application runs, if it wants to be told: the lifespan of ASGI around what is done within.

    Raises:
        UsageError: It says that it cannot start.
    """
    to_app, for_app = anyio.create_memory_object_stream[Mapping[str, Any]](2)
    has_started, is_over = anyio.Event(), anyio.Event()
    failures: list[str] = []

    async def hear(message: Mapping[str, Any]) -> None:
        if message["type"] == "lifespan.startup.failed":
            failures.append(str(message.get("message") or "it does not say why"))
        if message["type"].startswith("lifespan.startup."):
            has_started.set()

    async def live() -> None:
        try:
            await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, for_app.receive, hear)
        except Exception:
            return
        finally:
            has_started.set()
            is_over.set()

    try:
        async with to_app, for_app, anyio.create_task_group() as tasks:
            tasks.start_soon(live)
            await to_app.send({"type": "lifespan.startup"})
            await has_started.wait()
            if not failures:
                try:
                    yield
                finally:
                    with anyio.CancelScope(shield=True):
                        await to_app.send({"type": "lifespan.shutdown"})
                        await is_over.wait()
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:  # as groups of tasks raise what was raised among them
        raise single(group) from None
    if failures:
        raise UsageError(f"The application cannot be started: {failures[0]}")


def _document_of(app: Any) -> JsonObject:
    describe = getattr(app, "openapi", None)
    if not callable(describe):
        raise UsageError(
            "Expected an application that has an OpenAPI document, such as one of FastAPI, found "
            f"{type(app).__name__}. Give its document as `document=`."
        )
    document: Any = describe()
    return document
