"""A model in this process: its weights are fetched and loaded when they are first needed, and then kept.

Offers the port of every model (`stream`: the model says everything itself, in the chat protocol of llama.cpp) and
the guided one (`run.guided`: short questions with likelihoods and constraints). Deliberately not here: how a model is
led (`run.guided`), where weights come from (`weights`), what llama.cpp looks like (`llama`).
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import TypeVar

import anyio
from anyio import RunFinishedError
from anyio.from_thread import run_sync as run_in_loop
from anyio.lowlevel import current_token

from wieldy.connect.models.chat_template import template_in
from wieldy.connect.models.failures import ServerFacts
from wieldy.connect.models.gguf import read_metadata
from wieldy.connect.models.identifiers import ids_in
from wieldy.connect.models.llama import Answer, Engine
from wieldy.connect.models.openai import TEXT_ONLY, request_body
from wieldy.connect.models.openai_answer import ChatAssembly
from wieldy.connect.models.weights import EMBEDDED, fetch
from wieldy.core.json import JsonValue
from wieldy.core.messages import Message
from wieldy.core.ports import ModelEvent, ModelRequest
from wieldy.formats.templates.template import ChatTemplate
from wieldy.grammar import Grammar
from wieldy.run.guided import Completion, Weighed

_T = TypeVar("_T")

_MOST_OUTPUT_TOKENS = 2048
"""Where a request sets no limit: a small model that repeats itself would fill the whole context."""


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


class LocalModel:
    """A model on this machine.

    Args:
        path: Weights as a GGUF file; None: the embedded default, which is fetched if it is not here.
        name: What this model is called in records.
    """

    def __init__(self, *, path: Path | None = None, name: str | None = None) -> None:
        self._path = path
        self._name = name or (f"local:{path.name}" if path else "local")
        self._loading = threading.Lock()
        self._loaded: tuple[Engine, ChatTemplate] | None = None

    def __repr__(self) -> str:
        return f"LocalModel({self._name!r})"

    @property
    def name(self) -> str:
        """What this model is called in records."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas as they come, then exactly one `ModelReply`.

        Raises:
            ModelNotAvailableError: The weights cannot be had or loaded.
            ModelError: The model could not answer.
        """
        engine, template = await self._load()
        body = request_body(
            request,
            model=self._name,
            dialect=TEXT_ONLY,
            reasoning_field=TEXT_ONLY.reasoning_field,
            options={"temperature": 0},
        )
        body.setdefault("max_tokens", _MOST_OUTPUT_TOKENS)
        body["messages"] = _mapped(body["messages"], template.plain)
        facts = ServerFacts(address=self._name, key_help="", model=self._name)
        assembly = ChatAssembly(facts, taken_ids=ids_in(request.messages))

        def work(put: Callable[[Answer], bool], _: Callable[[], bool]) -> None:
            engine.chat(body, put)

        async with aclosing(_from_thread(work)) as chunks:
            async for chunk in chunks:
                for delta in assembly.feed(chunk):
                    yield delta
        assembly.end()
        yield assembly.close()

    async def chat_prompt(self, messages: Sequence[Message], *, begun: str = "") -> str:
        """The conversation in the model's own format, up to where its next words begin, and those already `begun`.

        Raises:
            ModelNotAvailableError: The weights cannot be had or loaded.
        """
        _, template = await self._load()
        return template.render(messages, begun=begun, now=datetime.now())

    async def write(
        self, prompt: str, *, max_tokens: int, grammar: Grammar | None = None, stop: Sequence[str] = ()
    ) -> AsyncGenerator[str | Completion]:
        """The likeliest continuation of a text piece by piece, then the `Completion`.

        Raises:
            ModelNotAvailableError: The weights cannot be had or loaded.
            ModelError: The model could not answer.
        """
        engine, _ = await self._load()

        def work(put: Callable[[str | Completion], bool], _: Callable[[], bool]) -> None:
            put(engine.complete(prompt, max_tokens=max_tokens, grammar=grammar, stop=stop, on_piece=put))

        async with aclosing(_from_thread(work)) as pieces:
            async for piece in pieces:
                if piece != "":
                    yield piece

    async def weigh(self, prompt: str, options: Sequence[str]) -> Weighed:
        """The log-probability of each option as the continuation of a text.

        Raises:
            ModelNotAvailableError: The weights cannot be had or loaded.
            ModelError: The model could not answer.
        """
        engine, _ = await self._load()
        return await _in_thread(lambda is_left: engine.weigh(prompt, options, is_unwanted=is_left))

    async def _load(self) -> tuple[Engine, ChatTemplate]:
        return self._loaded or await _in_thread(lambda _: self._load_once())

    def _load_once(self) -> tuple[Engine, ChatTemplate]:
        with self._loading:
            if self._loaded is None:
                path = self._path or fetch(EMBEDDED)
                template = template_in(read_metadata(path))
                self._loaded = (Engine(path), template)
            return self._loaded


def _mapped(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """The value with every text in it changed."""
    match value:
        case str():
            return change(value)
        case list():
            return [_mapped(item, change) for item in value]
        case dict():
            return {name: _mapped(item, change) for name, item in value.items()}
        case _:
            return value


async def _in_thread(work: Callable[[Callable[[], bool]], _T]) -> _T:
    """The work's result; whoever is cancelled does not wait for its end, and the work can ask whether that happened."""

    def put_result(put: Callable[[_T], bool], is_left: Callable[[], bool]) -> None:
        put(work(is_left))

    async with aclosing(_from_thread(put_result)) as results:
        return await anext(results)


async def _from_thread(work: Callable[[Callable[[_T], bool], Callable[[], bool]], None]) -> AsyncGenerator[_T]:
    """What the work puts, as it is put; whoever leaves early has the work told so, at its next piece."""
    # No task group: a generator may be closed by another task than the one that began it.
    sender, receiver = anyio.create_memory_object_stream[_T | _Failed](inf)
    token = current_token()
    is_left = threading.Event()

    def put(item: _T | _Failed) -> bool:
        if not is_left.is_set():
            run_in_loop(sender.send_nowait, item, token=token)
        return is_left.is_set()

    def run() -> None:
        with suppress(RunFinishedError):  # the event loop has ended, and with it whoever waited
            try:
                work(put, is_left.is_set)
            except RunFinishedError:
                raise
            except Exception as error:
                put(_Failed(error))
            run_in_loop(sender.close, token=token)

    threading.Thread(target=run, name="wieldy-local-model", daemon=True).start()
    try:
        with sender, receiver:
            async for item in receiver:
                if isinstance(item, _Failed):
                    raise item.error
                yield item
    finally:
        is_left.set()
