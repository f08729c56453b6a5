"""Replies of a model that continues text: the prompt in its own chat format, a constraint, and what it wrote read back.

The weights' chat template writes the prompt and tells which chat format the model was taught. Its grammar holds what is
written to that format, to the tools' schemas and to what the answer must be; the same format's parser reads it. A model
without a format of its own is told of tools in plain words, and writes calls as JSON.
Constraints are made in the thread that then writes: 30 tools take 0.05 s once and a few milliseconds each further time,
which is nothing beside reading their prompt, so the two are not done at once.
Deliberately not here: how text is continued (`llama`, `transformers`), and waiting without blocking (`threads`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final

from wieldy.connect.models.answers import Delta
from wieldy.connect.models.identifiers import ids_in
from wieldy.connect.models.spoken_constraint import Constraint, constraint_of
from wieldy.connect.models.spoken_reading import SpokenReading
from wieldy.connect.models.telling import told
from wieldy.connect.models.template_process import TemplateProcess
from wieldy.connect.models.unmarked_calls import UnmarkedCalls
from wieldy.connect.models.writing import Token, Writer
from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import GrammarError, RequestRefusedError, UsageError
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.formats import ChatFormat, get
from wieldy.formats.format import Beside
from wieldy.run.actions.demands import demand_of
from wieldy.run.actions.retelling import Retelling

_LOG: Final = logging.getLogger(__name__)

MOST_OUTPUT_TOKENS: Final = 2048
"""Where a request sets no limit: a small model that repeats itself would fill the whole context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a model is spoken to.

    Attributes:
        chat_format: What it writes.
        has_template: Whether its own template writes that format, calls and all.
        is_own: Whether the format is one that the model was taught; any other is told in plain messages.
    """

    chat_format: ChatFormat
    has_template: bool
    is_own: bool


class Speech:
    """A loaded model with its template.

    Args:
        writer: The model.
        template: Its chat template.
        chat_format: The format to use, by name or as it is; None to find it out from the template.
        constrained: Whether replies are held to anything; if not, calls are read from what was written freely.
    """

    def __init__(
        self,
        writer: Writer,
        template: TemplateProcess,
        *,
        chat_format: str | ChatFormat | None = None,
        constrained: bool = True,
    ) -> None:
        self.writer = writer
        self._constrained = constrained
        self.template = template
        self._named = get(chat_format) if isinstance(chat_format, str) else chat_format

    @cached_property
    def manner(self) -> Manner:
        """How the model is spoken to.

        Raises:
            ModelNotAvailableError: The template cannot be used.
        """
        try:
            found = self.template.format_name()
        except UsageError as error:
            _LOG.debug("%s", error)
            if self._named is None or self._named.name == "json":
                return Manner(chat_format=get("json"), has_template=False, is_own=False)
            return Manner(chat_format=self._named, has_template=False, is_own=True)
        if self._named is None or self._named.name == found:
            return Manner(chat_format=self._named or get(found), has_template=True, is_own=True)
        return Manner(chat_format=self._named, has_template=False, is_own=self._named.name != "json")

    def reply(self, request: ModelRequest, *, now: datetime, on_delta: Callable[[Delta], bool]) -> ModelReply:
        """The model's answer; blocks.

        Args:
            request: What is asked.
            now: What the template is told of the clock.
            on_delta: Told each delta; returns whether to stop.

        Raises:
            BudgetError: No call and no answer that is allowed fits into the budget; nothing was generated.
            UsageError: The request demands what cannot be, such as a call of a tool that is not on offer.
            ModelNotAvailableError: The template cannot be used.
            ModelError: The model could not answer.
        """
        if request.output is not None:  # a mask alone tells a model nothing: it would only meet it
            request = replace(request, messages=told(request.messages, request.output))
        prompt = self._prompt(request, now)
        marks, chat = self._marks, self.manner.chat_format
        constraint = self._constraint(request, prompt)
        reading = SpokenReading(
            chat.parser(
                request.tools,
                prompt=prompt,
                id_prefix=_id_prefix(request.messages),
                special_tokens=marks,
                repair=None if constraint.grammar is None else 1,
            ),
            marks={number: text for text, number in marks.items()},
            stop=request.stop,
            output=request.output,
            is_held=constraint.holds_answer,
            unmarked=self._unmarked(request),
        )

        def take(token: Token) -> bool:
            is_left = False
            for delta in reading.feed(token):
                is_left = on_delta(delta)
            return is_left or reading.is_over

        budget = request.max_output_tokens or MOST_OUTPUT_TOKENS
        ending = self.writer.write(prompt, max_tokens=budget, grammar=constraint.grammar, on_token=take)
        for delta in reading.close():
            on_delta(delta)
        return reading.reply(ending)

    def _constraint(self, request: ModelRequest, prompt: str) -> Constraint:
        if not self._constrained:
            return Constraint(grammar=None)
        chat, beside = self.manner.chat_format, self._beside(request)
        return constraint_of(request, chat, prompt=prompt, special_tokens=self._marks, beside=beside)

    def _unmarked(self, request: ModelRequest) -> UnmarkedCalls | None:
        """What reads calls without marks: where there may be calls, and the text of an answer may be any."""
        if not request.tools or request.tool_choice.mode != "auto" or request.output is not None:
            return None
        parser = get("json").parser(request.tools, id_prefix=_id_prefix(request.messages), repair=1)
        return UnmarkedCalls(parser, {tool.name for tool in request.tools})

    def _prompt(self, request: ModelRequest, now: datetime) -> str:
        manner, tools = self.manner, request.tools
        if not manner.is_own:
            return self._rendered(self._retold(request), (), now)
        if manner.has_template or not (tools or any(message.calls for message in request.messages)):
            try:
                return self.template.render(request.messages, tools=tools, now=now)
            except UsageError as error:
                _LOG.info("The chat template is not used for these messages: %s", error)
        chat = manner.chat_format
        if self.writer.begins_texts:
            chat = replace(chat, turns=replace(chat.turns, begin=""))
        try:
            return chat.render(request.messages, tools)
        except UsageError as error:
            raise RequestRefusedError(f"The local model does not take this conversation: {error}") from error

    def _retold(self, request: ModelRequest) -> Sequence[Message]:
        if not request.tools and not any(message.calls for message in request.messages):
            return request.messages
        chat = self.manner.chat_format
        demand = demand_of(request.tool_choice, chat) if request.tools else ""
        return Retelling(chat, request.tools).told(request.messages, demand=demand)

    def _rendered(self, messages: Sequence[Message], tools: Sequence[ToolDefinition], now: datetime) -> str:
        try:
            return self.template.render(messages, tools=tools, now=now)
        except UsageError as error:
            raise RequestRefusedError(f"The local model does not take this conversation: {error}") from error

    def _beside(self, request: ModelRequest) -> tuple[Beside, ...]:
        """What the model may write beside calls and answers.

        A small model that is allowed to talk where there must be a call, or to think although it was not taught to,
        does so until its budget is gone.
        """
        mark = self.manner.chat_format.reasoning_mark
        thinks = mark is None or mark in self._marks or self.template.mentions(mark)
        must_call = bool(request.tools) and request.tool_choice.mode in ("required", "tool")
        return (*(() if must_call else ("text",)), *(("reasoning",) if thinks else ()))

    @cached_property
    def _marks(self) -> dict[str, int]:
        """The vocabulary's special tokens that stand in marks of the format, with their ids."""
        try:
            known = self.writer.tokenizer.special_tokens
        except GrammarError:  # text needs none, and for a constraint the model will say what is wrong
            return {}
        return {text: known[text] for text in self.manner.chat_format.special_tokens_of(known)}


def _id_prefix(messages: Sequence[Message]) -> str:
    """What the ids of this reply's calls begin with: those of no other call do."""
    taken = ids_in(messages)
    prefix = f"call_{sum(message.role == 'assistant' for message in messages)}_"
    while any(call_id.startswith(prefix) for call_id in taken):
        prefix += "_"
    return prefix
