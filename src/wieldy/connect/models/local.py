"""A model in this process: its weights are fetched and loaded when they are first needed, and then kept.

Offers the port of every model (`stream`: the model says everything itself, in its own chat format and under its
grammar) and the guided one (`run.guided`: short questions with likelihoods and constraints). Deliberately not here: how
a model is led (`run.guided`), how it is spoken to (`spoken`), where weights come from (`weights`), what llama.cpp looks
like (`llama`).
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import datetime
from pathlib import Path

from wieldy.connect.models.chat_template import template_in
from wieldy.connect.models.completing import completed
from wieldy.connect.models.deployment import of_package, of_weights
from wieldy.connect.models.gguf import read_metadata
from wieldy.connect.models.llama import Engine
from wieldy.connect.models.spoken import Speech
from wieldy.connect.models.template_process import TemplateProcess
from wieldy.connect.models.threads import IsLeft, Put, from_thread, in_thread
from wieldy.connect.models.weights import EMBEDDED, fetch
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message
from wieldy.core.ports import ModelEvent, ModelRequest
from wieldy.formats import ChatFormat
from wieldy.grammar import Grammar
from wieldy.run.guided import Completion, Weighed


class LocalModel:
    """A model on this machine.

    Args:
        path: Weights as a GGUF file; None: the embedded default, which is fetched if it is not here.
        name: What this model is called in records.
        chat_format: How the model writes calls, as a format or by its name; None to find it out from the chat template
            in the weights, and to describe tools in plain words to a model whose template has none.
        constrained: Whether `stream` holds replies to the format, the tools' schemas and the output; guided, a model
            always is.
    """

    def __init__(
        self,
        *,
        path: Path | None = None,
        name: str | None = None,
        chat_format: str | ChatFormat | None = None,
        constrained: bool = True,
    ) -> None:
        self._path = path
        self._name = name or (f"local:{path.name}" if path else "local")
        self._format = chat_format
        self._constrained = constrained
        self._loading = threading.Lock()
        self._loaded: tuple[Engine, Speech] | None = None

    takes_images = False
    """Whether the model is shown images and files."""

    def __repr__(self) -> str:
        return f"LocalModel({self._name!r})"

    @property
    def name(self) -> str:
        """What this model is called in records."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas as they come, then exactly one `ModelReply`.

        Raises:
            BudgetError: No call and no answer that is allowed fits into the budget; nothing was generated.
            ModelNotAvailableError: The weights cannot be had or loaded.
            ModelError: The model could not answer.
        """
        _, speech = await self._load()

        def work(put: Put[ModelEvent], is_left: IsLeft) -> None:
            put(speech.reply(request, now=datetime.now(), on_delta=put))

        async with aclosing(from_thread(work)) as events:
            async for event in events:
                yield event

    async def chat_prompt(self, messages: Sequence[Message], *, begun: str = "") -> str:
        """The conversation in the model's own format, up to where its next words begin, and those already `begun`.

        Raises:
            ModelNotAvailableError: The weights cannot be had or loaded.
        """
        _, speech = await self._load()
        return await in_thread(lambda _: speech.template.render(messages, begun=begun, now=datetime.now()))

    async def write(
        self, prompt: str, *, max_tokens: int, grammar: Grammar | None = None, stop: Sequence[str] = ()
    ) -> AsyncGenerator[str | Completion]:
        """The likeliest continuation of a text piece by piece, then the `Completion`.

        Raises:
            BudgetError: Nothing that the grammar allows fits into the budget; nothing was generated.
            ModelNotAvailableError: The weights cannot be had or loaded.
            ModelError: The model could not answer.
        """
        engine, _ = await self._load()

        def work(put: Put[str | Completion], is_left: IsLeft) -> None:
            put(completed(engine, prompt, max_tokens=max_tokens, grammar=grammar, stop=stop, on_piece=put))

        async with aclosing(from_thread(work)) as pieces:
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
        return await in_thread(lambda is_left: engine.weigh(prompt, options, is_unwanted=is_left))

    async def deployment(self) -> JsonObject:
        """What answers: the weights by their checksum, the engine, the chat format.

        Raises:
            ModelNotAvailableError: The weights cannot be had or loaded.
        """
        engine, speech = await self._load()
        return {
            **await in_thread(lambda _: of_weights(engine.path, read_metadata(engine.path))),
            "engine": of_package("xllamacpp"),
            "constraint": self._constrained,
            "constraint_engine": of_package("llguidance"),
            "speculative_decoding": None,
            "chat_format": await in_thread(lambda _: speech.manner.chat_format.name),
        }

    async def _load(self) -> tuple[Engine, Speech]:
        return self._loaded or await in_thread(lambda _: self._load_once())

    def _load_once(self) -> tuple[Engine, Speech]:
        with self._loading:
            if self._loaded is None:
                path = self._path or fetch(EMBEDDED)
                template = TemplateProcess(template_in(read_metadata(path)))
                engine = Engine(path)
                speech = Speech(engine, template, chat_format=self._format, constrained=self._constrained)
                self._loaded = (engine, speech)
            return self._loaded
