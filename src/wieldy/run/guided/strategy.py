"""Three questions a step: what next, with which arguments, and at the end: the answer, from the results only.

1. *What next?* The names of the tools and `answer()` are weighed as the next line of a session. A tool must not only
   lead the answer: what the model is unsure of in its arguments counts against the call.
2. *With which arguments?* The likely tools are tried, each under the constraint of its schema. What a validator still
   refuses is written once more, below the error. The best call is the one whose tool and values the model is surest of.
   A call that is refused again, was made already, copies an example, invents facts or was closed by the budget is
   flawed: it is made only where a call is demanded and there is no other.
3. *The answer* is written from the request and the results alone.

Deliberately not here: running calls, limits, the record (`run.loop`); prompts (`session`); arguments (`candidates`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from math import inf
from typing import Final, cast

from wieldy.core.calls import ToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import BudgetError
from wieldy.core.events import TextDelta
from wieldy.core.messages import Message
from wieldy.core.outputs import Output
from wieldy.core.ports import ModelEvent, ModelReply, ModelRequest
from wieldy.run.guided.candidates import Candidate, Candidates
from wieldy.run.guided.meter import Meter
from wieldy.run.guided.port import Completion, GuidedModel
from wieldy.run.guided.session import Session, opening

ANSWER_MARGIN: Final = 2.75
"""How much likelier than the likeliest tool the answer must be, in nats, once there are results.

Small models stop too early: they add two numbers in their head rather than with the tool that they have.
"""

CALL_MARGIN: Final = 0.5
"""The same while there are no results. See `benchmarks/local_model.py` for the curve of what it costs and saves."""

_UNSURE: Final = -3.0
_MOST_ANSWER_TOKENS: Final = 512


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
        self._candidates = Candidates(model)

    @property
    def name(self) -> str:
        """The name of the model that is led."""
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call, or the answer.

        Raises:
            BudgetError: A call is demanded, or the answer must be something, and none that is allowed fits into the
                limit.
            RunError: The model could not answer.
        """
        session = Session.of(request)
        meter = Meter(request.max_output_tokens)
        call = await self._next_call(session, request.tool_choice, meter)
        if call is not None:
            finish = "closed_by_budget" if call.forced else "stop"
            yield ModelReply(message=Message.assistant(calls=[call]), usage=meter.usage, finish=finish)
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

    async def _output(self, session: Session, output: Output, meter: Meter) -> AsyncGenerator[ModelEvent]:
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
            BudgetError: No call fits into the request's limit.
            RunError: The model could not answer.
        """
        session, meter = Session.of(request), Meter(request.max_output_tokens)
        tools = {tool.name: tool for tool in session.tools}
        if not tools:
            return -inf
        prompt = await self._prompt(session)
        likelihoods, lead = await self._weigh_all(session, prompt, tools, meter)
        return lead + _sureness(await self._candidates.best(session, prompt, tools, likelihoods, meter))

    async def _prompt(self, session: Session) -> str:
        messages = [session.rules, *session.earlier, Message.user(session.request)]
        return await self._model.chat_prompt(messages, begun=session.transcript)

    async def _next_call(self, session: Session, choice: ToolChoice, meter: Meter) -> ToolCall | None:
        """The call that comes next; None if it is time to answer.

        Raises:
            BudgetError: A call is demanded, and none fits into the limit.
        """
        tools = {tool.name: tool for tool in session.tools if choice.mode != "tool" or tool.name == choice.name}
        if choice.mode == "none" or not tools:
            return None
        prompt = await self._prompt(session)
        if choice.mode != "auto":
            likelihoods = dict.fromkeys(tools, 0.0)
            if len(tools) > 1:
                likelihoods = await self._weigh(prompt, {name: opening(name) for name in tools}, meter)
            best = await self._candidates.best(session, prompt, tools, likelihoods, meter)
            return best and best.call(session)
        likelihoods, lead = await self._weigh_all(session, prompt, tools, meter)
        margin = ANSWER_MARGIN if session.steps else self._call_margin
        if lead < -margin:
            return None
        try:
            best = await self._candidates.best(session, prompt, tools, likelihoods, meter)
        except BudgetError:
            return None
        if best is None or best.is_flawed or lead + _sureness(best) < -margin:
            return None
        return best.call(session)

    async def _weigh_all(
        self, session: Session, prompt: str, tools: Mapping[str, ToolDefinition], meter: Meter
    ) -> tuple[dict[str, float], float]:
        """The log-probability of each tool, and how far the likeliest leads the answer."""
        options = {name: opening(name) for name in tools}
        likelihoods = await self._weigh(prompt, {**options, session.answer: session.answer}, meter)
        answer = likelihoods.pop(session.answer)
        return likelihoods, max(likelihoods.values()) - answer

    async def _weigh(self, prompt: str, options: Mapping[str, str], meter: Meter) -> dict[str, float]:
        weighed = await self._model.weigh(prompt, list(options.values()))
        meter.add(weighed.usage)
        return {name: weighed.logprobs[option] for name, option in options.items()}


def _sureness(candidate: Candidate | None) -> float:
    """What the values of a call add to its lead: nothing if the model is sure of them, at most a few nats less."""
    if candidate is None or candidate.is_flawed:
        return _UNSURE
    return max(_UNSURE, candidate.sureness)
