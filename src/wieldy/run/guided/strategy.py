"""Three questions a step: what next, with which arguments, and at the end: the answer, from the results only.

1. *What next?* The names of the tools and `answer()` are weighed as the next line of a session. A tool must not only
   lead the answer: what the model is unsure of in its arguments counts against the call.
2. *With which arguments?* The likely tools are tried, each under the constraint of its schema. The best call is the one
   whose tool and values the model is surest of. A call that was made already, copies an example, invents facts or was
   closed by the budget is flawed: it is made only where a call is demanded and there is no other.
3. *The answer* is written from the request and the results alone.

Deliberately not here: running calls, limits, the record (`run.loop`); prompts (`session`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from math import inf
from typing import Final, cast

from wieldy.core.calls import ToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import BudgetError, GrammarError, ProviderError
from wieldy.core.events import TextDelta
from wieldy.core.forced import forced_pointers
from wieldy.core.json import JsonObject
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.outputs import Output
from wieldy.core.ports import ModelEvent, ModelReply, ModelRequest
from wieldy.grammar import Grammar, json_schema
from wieldy.run.guided.grounding import choices_of, confidence, invented
from wieldy.run.guided.port import Completion, GuidedModel
from wieldy.run.guided.session import CALL_END, Session

ANSWER_MARGIN: Final = 2.75
"""How much likelier than the likeliest tool the answer must be, in nats, once there are results.

Small models stop too early: they add two numbers in their head rather than with the tool that they have.
"""

CALL_MARGIN: Final = 0.5
"""The same while there are no results. See `benchmarks/local_model.py` for the curve of what it costs and saves."""

_REACH: Final = 6.0
"""Tools this much less likely than the likeliest, in nats, are not tried."""

_VALUE_WEIGHT: Final = 1.5
_FLAWED: Final = -20.0
_UNSURE: Final = -3.0
_MOST_ARGUMENT_TOKENS: Final = 256
_MOST_ANSWER_TOKENS: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    name: str
    arguments: JsonObject
    likelihood: float
    sureness: float
    is_flawed: bool
    forced: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return self.likelihood + self.sureness + (_FLAWED if self.is_flawed else 0.0)

    def call(self, session: Session) -> ToolCall:
        return ToolCall(id=f"g{len(session.steps)}", name=self.name, arguments=self.arguments, forced=self.forced)


class Guided:
    """A model that is led through a run by short questions; itself a model for the loop.

    Args:
        model: The model that is asked.
        call_margin: How far the answer must lead the call (`lead`, with the sign turned) while there are no results, in
            nats; lower it to let more requests be answered without a call, raise it to let fewer.
    """

    def __init__(self, model: GuidedModel, *, call_margin: float = CALL_MARGIN) -> None:
        self._model = model
        self._call_margin = call_margin
        self._grammars: dict[str, Grammar] = {}

    @property
    def name(self) -> str:
        """The name of the model that is led."""
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call, or the answer.

        Raises:
            RunError: The model could not answer.
        """
        session = Session.of(request)
        meter = _Meter(request.max_output_tokens)
        call = await self._next_call(session, request.tool_choice, meter)
        if call is not None:
            yield ModelReply(message=Message.assistant(calls=[call]), usage=meter.usage)
            return
        if request.output is not None:
            async with aclosing(self._output(session, request.output, meter)) as events:
                async for event in events:
                    yield event
            return
        text, finish = "", "stop"
        async for event in self._model.write(
            await self._model.chat_prompt(session.question), max_tokens=meter.allow(_MOST_ANSWER_TOKENS)
        ):
            if isinstance(event, Completion):
                text, finish = event.text, event.finish
                meter.add(event.usage)
            else:
                yield TextDelta(text=event)
        yield ModelReply(message=Message.assistant(text), usage=meter.usage, finish=finish)

    async def _output(self, session: Session, output: Output, meter: _Meter) -> AsyncGenerator[ModelEvent]:
        """The answer, which the model itself holds to what it must be: it knows how, and what fits into the limit."""
        question = ModelRequest(messages=session.question, output=output, max_output_tokens=meter.left)
        events = self._model.stream(question)
        try:
            async for event in events:
                if isinstance(event, ModelReply):
                    meter.add(event.usage)
                    yield replace(event, usage=meter.usage)
                else:
                    yield event
        finally:
            # A generator that is left before its end is closed here, by the task that runs it.
            if isinstance(events, AsyncGenerator):
                await cast("AsyncGenerator[ModelEvent]", events).aclose()

    async def lead(self, request: ModelRequest) -> float:
        """How far the call that would be made leads the answer, in nats; what `call_margin` is compared with.

        Fit a margin to one's own tools with it: requests that need a call lead by more than those that do not.

        Raises:
            RunError: The model could not answer.
        """
        session, meter = Session.of(request), _Meter(request.max_output_tokens)
        tools = {tool.name: tool for tool in session.tools}
        if not tools:
            return -inf
        prompt = await self._prompt(session)
        likelihoods, lead = await self._weigh_all(session, prompt, tools, meter)
        return lead + _sureness(await self._best_call(session, prompt, tools, likelihoods, meter))

    async def _prompt(self, session: Session) -> str:
        messages = [session.rules, *session.earlier, Message.user(session.request)]
        return await self._model.chat_prompt(messages, begun=session.transcript)

    async def _next_call(self, session: Session, choice: ToolChoice, meter: _Meter) -> ToolCall | None:
        """The call that comes next; None if it is time to answer."""
        tools = {tool.name: tool for tool in session.tools if choice.mode != "tool" or tool.name == choice.name}
        if choice.mode == "none" or not tools:
            return None
        prompt = await self._prompt(session)
        if choice.mode != "auto":
            likelihoods = dict.fromkeys(tools, 0.0)
            if len(tools) > 1:
                likelihoods = await self._weigh(prompt, {name: _opening(name) for name in tools}, meter)
            best = await self._best_call(session, prompt, tools, likelihoods, meter)
            return best and best.call(session)
        likelihoods, lead = await self._weigh_all(session, prompt, tools, meter)
        margin = ANSWER_MARGIN if session.steps else self._call_margin
        if lead < -margin:
            return None
        best = await self._best_call(session, prompt, tools, likelihoods, meter)
        if best is None or best.is_flawed or lead + _sureness(best) < -margin:
            return None
        return best.call(session)

    async def _weigh_all(
        self, session: Session, prompt: str, tools: Mapping[str, ToolDefinition], meter: _Meter
    ) -> tuple[dict[str, float], float]:
        """The log-probability of each tool, and how far the likeliest leads the answer."""
        options = {name: _opening(name) for name in tools}
        likelihoods = await self._weigh(prompt, {**options, session.answer: session.answer}, meter)
        answer = likelihoods.pop(session.answer)
        return likelihoods, max(likelihoods.values()) - answer

    async def _weigh(self, prompt: str, options: Mapping[str, str], meter: _Meter) -> dict[str, float]:
        weighed = await self._model.weigh(prompt, list(options.values()))
        meter.add(weighed.usage)
        return {name: weighed.logprobs[option] for name, option in options.items()}

    async def _best_call(
        self,
        session: Session,
        prompt: str,
        tools: Mapping[str, ToolDefinition],
        likelihoods: Mapping[str, float],
        meter: _Meter,
    ) -> _Candidate | None:
        best: _Candidate | None = None
        likeliest = max(likelihoods.values())
        for name in sorted(likelihoods, key=lambda name: likelihoods[name], reverse=True):
            likelihood = likelihoods[name]
            if likelihood < likeliest - _REACH or (best is not None and likelihood <= best.score):
                break
            candidate = await self._try(session, prompt, tools[name], likelihood, meter)
            if candidate is not None and (best is None or candidate.score > best.score):
                best = candidate
        return best

    async def _try(
        self, session: Session, prompt: str, tool: ToolDefinition, likelihood: float, meter: _Meter
    ) -> _Candidate | None:
        """The call that the model would make with this tool; None if it was not finished."""
        try:
            completion = await self._complete(prompt + _opening(tool.name), self._grammar(tool), meter)
        except BudgetError:  # no call of the tool fits into what is left
            return None
        text = completion.text.removesuffix(CALL_END)
        if completion.finish == "length" or text == completion.text:
            return None
        arguments = cast("JsonObject", json.loads(text))
        forced = forced_pointers(text, completion.forced)
        known = "\n".join([session.conversation, *choices_of(tool.input_schema)])
        is_flawed = (
            bool(forced)
            or session.has_made(tool.name, arguments)
            or _is_copied(arguments, tool, session.conversation)
            or bool(invented(text, completion.tokens, conversation=known))
        )
        sureness = _VALUE_WEIGHT * confidence(text, completion.tokens)
        return _Candidate(
            name=tool.name,
            arguments=arguments,
            likelihood=likelihood,
            sureness=sureness,
            is_flawed=is_flawed,
            forced=forced,
        )

    async def _complete(self, prompt: str, grammar: Grammar, meter: _Meter) -> Completion:
        completion: Completion | None = None
        async for event in self._model.write(prompt, max_tokens=meter.allow(_MOST_ARGUMENT_TOKENS), grammar=grammar):
            if isinstance(event, Completion):
                completion = event
        if completion is None:
            raise ProviderError(f"The model {self.name!r} ended without a completion.")
        meter.add(completion.usage)
        return completion

    def _grammar(self, tool: ToolDefinition) -> Grammar:
        key = json.dumps(tool.input_schema)
        if key not in self._grammars:
            self._grammars[key] = _arguments(tool.input_schema).followed_by(CALL_END)
        return self._grammars[key]


def _arguments(schema: JsonObject) -> Grammar:
    """Arguments that fit the schema; any at all where no constraint can be made of it: they are validated anyway."""
    try:
        return json_schema({"type": "object", **schema})
    except GrammarError:
        return json_schema({"type": "object"})


def _sureness(candidate: _Candidate | None) -> float:
    """What the values of a call add to its lead: nothing if the model is sure of them, at most a few nats less."""
    if candidate is None or candidate.is_flawed:
        return _UNSURE
    return max(_UNSURE, candidate.sureness)


def _opening(name: str) -> str:
    return f" {name}("


class _Meter:
    """What one reply has used, and what it may still write."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        self.usage += usage

    @property
    def left(self) -> int | None:
        return None if self._limit is None else max(1, self._limit - self.usage.output_tokens)

    def allow(self, tokens: int) -> int:
        return tokens if self.left is None else min(tokens, self.left)


def _is_copied(arguments: JsonObject, tool: ToolDefinition, conversation: str) -> bool:
    """Whether the model repeats an example of the tool of which nothing was said."""
    said = conversation.casefold()
    return (
        bool(arguments)
        and arguments in tool.examples
        and not any(str(value).casefold() in said for value in arguments.values())
    )
