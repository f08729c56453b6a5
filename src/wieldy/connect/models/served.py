"""What all models behind servers have in common: a name, connections, and requests that ask for more than text.

What a request asks to be enforced is planned for the kind of server (`backends`), sent in its own fields, and what
comes back is read as what was asked for (`read_back`). A server that refuses such a request is asked once more without
them, and then always: an answer is only asked for in words. Kinds of servers are found out by asking, once, in bounded
time, and not before the first request that needs to know.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

from wieldy.connect.models.answers import Assembly
from wieldy.connect.models.backends import PLAIN, Asked, Backend, backend_named
from wieldy.connect.models.backends.plan import Plan, merged, plan_of
from wieldy.connect.models.deployment import MODELS, QUESTIONS, read
from wieldy.connect.models.fitting import grammar_of
from wieldy.connect.models.flavours import MODELS_PATH, OLLAMA_PATH, by_host, by_models, by_version
from wieldy.connect.models.http import HttpServer
from wieldy.connect.models.read_back import ReadBack
from wieldy.connect.models.telling import told
from wieldy.core.calls import AUTO, ToolChoice
from wieldy.core.errors import BudgetError, GrammarError, RequestRefusedError
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.core.ports import ModelEvent, ModelRequest
from wieldy.grammar import minimum_tokens
from wieldy.run.outputs import reader_of

if TYPE_CHECKING:
    from wieldy.formats import ChatFormat
    from wieldy.formats.reading.tool_index import ToolLike
    from wieldy.grammar import Tokenizer
    from wieldy.run.outputs import OutputSpec

LOOK_UP_S: Final = 3.0
"""How long finding out the kind of a server may take, for each of at most two questions."""

_REFUSALS: Final = (400, 422)
_logger = logging.getLogger(__name__)


class ServedModel:
    """A model behind a server. `async with` keeps its connections open between requests.

    Args:
        name: What it is called in records.
        server: How to talk to it.
        options: Fields of every request that the program sets.
        backend: The kind of server, by name; None: it is found out.
        chat_format: How the model is known to write calls; then servers that mask tokens hold it to that.
        tokenizer: The model's vocabulary, where the program has it: for what can be said before a request.
        constrained: Whether the server is asked to enforce outputs and tools.
    """

    def __init__(
        self,
        *,
        name: str,
        server: HttpServer,
        options: JsonObject,
        backend: str | None,
        chat_format: str | ChatFormat | None = None,
        tokenizer: Tokenizer | None = None,
        constrained: bool = True,
    ) -> None:
        self._name = name
        self._server = server
        self._options = options
        known = backend or by_host(server.host)
        self._backend: Backend | None = None if known is None else backend_named(known)
        self._chat_format = _format_named(chat_format) if isinstance(chat_format, str) else chat_format
        self._tokenizer = tokenizer
        self._constrained = constrained
        self._refused: set[str] = set()

    takes_options = True
    """Whether options of a request are sent."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    @property
    def name(self) -> str:
        """What this model is called in records."""
        return self._name

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._server.__aexit__(*details)

    @property
    def backend(self) -> str | None:
        """The kind of server, by name; None as long as it has not been found out."""
        return None if self._backend is None else self._backend.name

    async def find_backend(self) -> str:
        """The kind of server, by name: as given, by its host, or as it says itself; `plain` where nothing is known."""
        return (await self._found()).name

    async def deployment(self) -> JsonObject:
        """What the server tells of the model and of itself, which is None as long as nobody answers."""
        facts = self._server.facts
        known: JsonObject = {
            "served_model": facts.model,
            "address": facts.address,
            "backend": await self.find_backend(),
            "chat_format": None if self._chat_format is None else self._chat_format.name,
            "constraint": self._constrained,
            "options": self._options,
        }
        told, answers = dict[str, JsonValue](), False
        for question in QUESTIONS.get(str(known["backend"]), (MODELS,)):
            found = await self._server.look_up(question.path, at_root=question.at_root, seconds=LOOK_UP_S)
            answers |= found is not None
            told |= {} if found is None else read(question, found.body, facts.model)
        return {**known, "backend": known["backend"] if answers else None, "server": told or None}

    def takes(
        self, output: OutputSpec | None = None, tools: Iterable[ToolLike] = (), *, tool_choice: ToolChoice = AUTO
    ) -> Plan:
        """What the server takes of these, in which fields, and what it cannot enforce; nothing is sent.

        A server that has not been found out yet (`find_backend`) is taken for a plain one.

        Raises:
            UsageError: The output is no specification of one, or a tool is none.
        """
        from wieldy.formats.reading.tool_index import ToolIndex  # noqa: PLC0415  see `_format_named`

        asked = self._asked(
            ModelRequest(
                messages=(),
                tools=ToolIndex(tools).definitions,
                tool_choice=tool_choice,
                output=None if output is None else reader_of(output).output,
            )
        )
        return plan_of(self._backend or PLAIN, asked, options=self._options)

    async def _converse(
        self,
        request: ModelRequest,
        path: str,
        *,
        write: Callable[[ModelRequest, frozenset[str]], JsonObject],
        begin: Callable[[], Assembly],
    ) -> AsyncGenerator[ModelEvent]:
        """The answer as it comes, held to what is asked as hard as the server can.

        Args:
            request: What is asked.
            path: Where it is posted.
            write: Makes the body of a request and of the names of strict tools.
            begin: Makes a fresh assembly for each try.

        Raises:
            BudgetError: The shortest answer takes more tokens than the request allows.
            ModelError: The model could not answer.
        """
        plan = await self._planned(request)
        self._check_budget(request, plan)
        has_begun = False
        try:
            async with aclosing(self._once(request, path, plan, write=write, begin=begin)) as events:
                async for event in events:
                    has_begun = True
                    yield event
        except RequestRefusedError as error:
            if has_begun or not plan.is_constrained or error.status not in _REFUSALS:
                raise
            refusal = error
        else:
            return
        async with aclosing(self._once(request, path, Plan(), write=write, begin=begin)) as events:
            async for event in events:
                if not has_begun:
                    has_begun = True
                    self._refused.add(_key(plan))
                    _logger.warning("%s It was asked again without constraints, and answers.", refusal)
                yield event

    def _once(
        self,
        request: ModelRequest,
        path: str,
        plan: Plan,
        *,
        write: Callable[[ModelRequest, frozenset[str]], JsonObject],
        begin: Callable[[], Assembly],
    ) -> AsyncGenerator[ModelEvent]:
        sent = plan.request(request)
        if request.output is not None and not plan.answer.is_told and not self._asked(request).must_call:
            sent = replace(sent, messages=told(sent.messages, request.output))
        body = merged(write(sent, plan.strict), plan.fields)
        return self._server.converse(path, body, lambda: ReadBack(begin(), plan=plan, request=request))

    async def _planned(self, request: ModelRequest) -> Plan:
        asked = self._asked(request)
        if not self._constrained or (asked.output is None and not asked.may_call):
            return Plan()
        plan = plan_of(await self._found(), asked, options=self._options_of(request))
        return Plan() if _key(plan) in self._refused else plan

    def _options_of(self, request: ModelRequest) -> JsonObject:
        return {**self._options, **(request.options or {})}

    def _asked(self, request: ModelRequest) -> Asked:
        return Asked(
            output=request.output,
            tools=tuple(request.tools),
            tool_choice=request.tool_choice,
            chat_format=self._chat_format,
            token_of=None if self._tokenizer is None else self._token_of,
        )

    async def _found(self) -> Backend:
        if self._backend is None:
            self._backend = await self._looked_up()
        return self._backend or PLAIN  # which is not remembered of a server that is not there yet

    async def _looked_up(self) -> Backend | None:
        """The kind of server as it says itself; None if nobody answers."""
        listed = await self._server.look_up(MODELS_PATH, seconds=LOOK_UP_S)
        if listed is None:
            return None
        found = by_models(server=listed.server, body=listed.body)
        if found is None:
            version = await self._server.look_up(OLLAMA_PATH, at_root=True, seconds=LOOK_UP_S)
            found = None if version is None else by_version(version.body)
        return backend_named(found or PLAIN.name)

    def _token_of(self, text: str) -> int | None:
        tokens = None if self._tokenizer is None else self._tokenizer.tokenize(text.encode())
        return tokens[0] if tokens is not None and len(tokens) == 1 else None

    def _check_budget(self, request: ModelRequest, plan: Plan) -> None:
        """Only where an answer is all that may come, and only with the model's vocabulary, can anything be said."""
        budget, output = request.max_output_tokens, request.output
        if budget is None or output is None or self._tokenizer is None or self._asked(request).may_call:
            return
        grammar = grammar_of(output, plan.reading.answer)
        try:
            minimum = 0 if grammar is None else minimum_tokens(grammar, self._tokenizer)
        except GrammarError:
            return
        if minimum > budget:
            raise BudgetError(
                f"The shortest answer that fits takes {minimum} tokens, and {budget} are allowed. Nothing was sent. "
                "Allow more tokens, or ask for less.",
                minimum=minimum,
                budget=budget,
            )


def _format_named(name: str) -> ChatFormat:
    # Chat formats take 90 ms to load, and few programs name one.
    from wieldy.formats import get  # noqa: PLC0415

    return get(name)


def _key(plan: Plan) -> str:
    return canonical_json([plan.fields, sorted(plan.strict), plan.reading.shell])
