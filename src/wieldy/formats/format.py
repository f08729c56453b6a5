"""A chat format: one definition from which a model family's calls are rendered, parsed, streamed and constrained."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from wieldy.core.calls import AUTO, InvalidToolCall, ToolCall, ToolChoice
from wieldy.core.errors import UsageError
from wieldy.core.json import is_json
from wieldy.core.messages import Message, messages_from
from wieldy.formats.enforcement import enforced
from wieldy.formats.events import Reply, reply_of
from wieldy.formats.nodes.flat import WrittenCall, token_marks
from wieldy.formats.parser import Parser
from wieldy.formats.reading.tool_index import ToolIndex, ToolLike
from wieldy.formats.turns.parts import ReplyPlace, ReplySpan, WriteReply
from wieldy.formats.turns.turns import Turns
from wieldy.formats.values.expected import is_same
from wieldy.formats.wires.reply import CallsInReasoning, Choice, ReadOptions, Region, ReplyParts, WireLike
from wieldy.grammar import Grammar, Tokenizer
from wieldy.grammar.shape import Rules, Shape
from wieldy.schema.repair import RepairLevel

_MODES = ("auto", "none", "required", "tool")
Beside: TypeAlias = Literal["text", "reasoning"]
"""What may stand in a reply beside its calls or its answer."""
Messages: TypeAlias = str | Iterable[Message | Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFormat:
    """How one model family writes conversations with tools.

    Attributes:
        name: What it is called everywhere in Wieldy.
        models: The models that write it, for people.
        wire: What a reply looks like.
        turns: What a conversation around the replies looks like.
        notes: What its wire cannot carry, and other things to know.
        repair: Up to which level JSON that is nearly right is mended, unless a caller says otherwise.
    """

    name: str
    models: str
    wire: WireLike
    turns: Turns
    notes: tuple[str, ...] = ()
    repair: RepairLevel = 1

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that are special tokens where the model's own vocabulary is used, or have some in them."""
        return tuple(dict.fromkeys((*token_marks(self.wire), *self.turns.reply_end)))

    @property
    def reasoning_mark(self) -> str | None:
        """The mark with which reasoning begins; None where it needs none, or there is no reasoning."""
        region = getattr(self.wire, "reasoning", None)
        return region.open.text if isinstance(region, Region) else None

    def special_tokens_of(self, vocabulary: Iterable[str]) -> tuple[str, ...]:
        """Those special tokens of a vocabulary that stand in marks of this format: what `parser` and `grammar` take."""
        marks = self.marks
        return tuple(token for token in vocabulary if token and any(token in mark for mark in marks))

    def parser(
        self,
        tools: Iterable[ToolLike] = (),
        *,
        prompt: str | None = None,
        id_prefix: str = "call_",
        special_tokens: Iterable[str] = (),
        calls_in_reasoning: CallsInReasoning | None = None,
        repair: RepairLevel | None = None,
    ) -> Parser:
        """A parser for one reply that arrives in pieces.

        Args:
            tools: The tools on offer; their schemas say the types where the wire does not.
            prompt: What the model was given, or its end: it may have opened the reasoning already.
            id_prefix: Calls are called `{id_prefix}0`, `{id_prefix}1`, ... in order.
            special_tokens: Special tokens of the vocabulary that stand in marks (`special_tokens_of`). They count as
                such only when fed with `is_token=True`; as ordinary text they are text.
            calls_in_reasoning: Whether a call's mark within reasoning is text or a call; None for the family's policy.
            repair: Up to which level (1 to 3, see `schema.repair`) a call is mended whose JSON is nearly right; None
                for the family's. Above 1 a call's arguments come as one delta when it is complete.

        Raises:
            UsageError: One of the tools is none, or an option has a value that it does not know.
        """
        if calls_in_reasoning not in (None, "text", "calls"):
            raise UsageError(f'Expected calls_in_reasoning to be "text" or "calls", found {calls_in_reasoning!r}.')
        if repair not in (None, 1, 2, 3):
            raise UsageError(f"Expected a level of repair from 1 to 3, found {repair!r}.")
        if isinstance(special_tokens, str):
            raise UsageError(
                f"Expected special_tokens to be a collection of tokens, found the text {special_tokens!r}."
            )
        index, tokens = ToolIndex(tools), frozenset(special_tokens)
        options = ReadOptions(
            start=self.wire.start(prompt),
            tokens=tokens,
            ends=self.turns.reply_end,
            calls_in_reasoning=calls_in_reasoning,
        )
        return Parser(
            self.wire.reader(index, options),
            index,
            id_prefix=id_prefix,
            tokens=tokens,
            repair=self.repair if repair is None else repair,
        )

    def parse(
        self,
        text: str,
        tools: Iterable[ToolLike] = (),
        *,
        prompt: str | None = None,
        id_prefix: str = "call_",
        calls_in_reasoning: CallsInReasoning | None = None,
        repair: RepairLevel | None = None,
    ) -> Reply:
        """What a whole reply says; the parser fed once.

        A text that begins with a turn of the conversation is taken for prompt and reply together.

        Raises:
            UsageError: One of the tools is none.
        """
        if prompt is None:
            prompt, text = self.split_prompt(text)
        parser = self.parser(
            tools, prompt=prompt, id_prefix=id_prefix, calls_in_reasoning=calls_in_reasoning, repair=repair
        )
        events = [*parser.feed(text), *parser.close()]
        return reply_of(events, parser.spans)

    def split_prompt(self, text: str) -> tuple[str | None, str]:
        """What the model was given, and its reply: behind the last turn of others, if the text begins with a turn."""
        if not text.startswith(self.turns.openers):
            return None, text
        opening = self.turns.assistant.open
        others = [opener for opener in self.turns.openers if not opening.startswith(opener)]
        # Behind the opener: that of a result may begin as a reply does.
        said = max((text.rfind(opener) + len(opener) for opener in others if opener in text), default=0)
        start = text.find(opening, said)
        start = start if start >= 0 else text.rfind(opening)
        end = start + len(opening)
        return (text[:end], text[end:]) if opening and start >= 0 else ("", text)

    def render(
        self, messages: Messages, tools: Iterable[ToolLike] = (), *, generation_prompt: bool | None = None
    ) -> str:
        """The conversation as text.

        Control tokens of the family that stand in text, results or the tools' descriptions are written with a space in
        them, so that the model reads letters and obeys nothing; arguments of calls are written as they are.

        Args:
            messages: Messages, OpenAI-style dictionaries, or one text from the user.
            tools: The tools on offer.
            generation_prompt: Whether to go on to where the assistant's next words begin; None for: unless the last
                message is the assistant's.

        Raises:
            UsageError: One of the messages cannot be written so that it can be read back; the text names it.
        """
        conversation, index = messages_from(messages), ToolIndex(tools)
        if generation_prompt is None:
            generation_prompt = not conversation or conversation[-1].role != "assistant"

        return self.turns.render(
            conversation, index.definitions, write_reply=self._writer(index), generation_prompt=generation_prompt
        )

    def render_with_spans(
        self, messages: Messages, tools: Iterable[ToolLike] = ()
    ) -> tuple[str, tuple[ReplySpan, ...]]:
        """The conversation as `render` writes it, and where in it stands what the model itself writes.

        Known from how the text is made, and not looked for in it: content, reasoning and calls, and the mark that ends
        the turn. What a text of an assistant holds of the family's control tokens has a space in it here as well.

        Raises:
            UsageError: As `render`.
        """
        conversation, index = messages_from(messages), ToolIndex(tools)
        return self.turns.render_with_spans(conversation, index.definitions, write_reply=self._writer(index))

    def _writer(self, index: ToolIndex) -> WriteReply:
        def write(message: Message, place: ReplyPlace) -> str:
            return self._write_checked(self._defused(message), place, index)

        return write

    def render_reply(
        self, reply: Message | Mapping[str, Any], tools: Iterable[ToolLike] = (), *, prompt: str | None = None
    ) -> str:
        """The text that a model writes for this message, without what ends its turn; not checked for losses."""
        (message,) = messages_from([reply])
        return self._write(message, ToolIndex(tools), ReplyPlace(prefill=prompt or ""))

    def losses(
        self, reply: Message | Mapping[str, Any], tools: Iterable[ToolLike] = (), *, prompt: str | None = None
    ) -> tuple[str, ...]:
        """What of the message the wire cannot carry: what does not come back when it is written and read."""
        (message,) = messages_from([reply])
        index = ToolIndex(tools)
        text = self._write(message, index, ReplyPlace(prefill=prompt or ""))
        return self._differences(message, self.parse(text, index.definitions, prompt=prompt or ""))

    def grammar(
        self,
        tools: Iterable[ToolLike] = (),
        *,
        tool_choice: ToolChoice = AUTO,
        at_most: int | None = None,
        prompt: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        tokenizer: Tokenizer | None = None,
        answer: Shape | None = None,
        beside: Collection[Beside] = ("text", "reasoning"),
    ) -> Grammar:
        """A constraint that lets a model write only what the parser reads, calls of these tools included.

        Args:
            tools: The tools on offer.
            tool_choice: Whether it may, must or must not call, or which tool it must.
            at_most: How many calls; None for as many as the wire carries.
            prompt: What the model was given, or its end.
            special_tokens: Special tokens of the vocabulary that stand in marks, with their ids.
            tokenizer: The vocabulary, where it is known: its special tokens are used, and the grammar is compiled for
                it at once.
            answer: What the text of a reply without calls must be; None for any text.
            beside: What else may be written: text beside calls, and reasoning before all.

        Raises:
            UsageError: The tool that must be called is not on offer.
            GrammarError: The engine refuses the grammar.
        """
        # Compiling grammars needs the optional engine, which parsing does not.
        from wieldy.grammar.compiled import compiled, schemas_in  # noqa: PLC0415

        offered = ToolIndex(tools)
        rules = self.rules(
            offered.definitions,
            tool_choice=tool_choice,
            at_most=at_most,
            prompt=prompt,
            answer=answer,
            beside=beside,
        )
        if tokenizer is not None and special_tokens is None:
            known = tokenizer.special_tokens
            special_tokens = {token: known[token] for token in self.special_tokens_of(known)}
        grammar = compiled(rules, special_tokens=special_tokens, tokenizer=tokenizer)
        return replace(grammar, enforcement=tuple(enforced(offered.definitions, schemas_in(rules))))

    def rules(
        self,
        tools: Iterable[ToolLike] = (),
        *,
        tool_choice: ToolChoice = AUTO,
        at_most: int | None = None,
        prompt: str | None = None,
        answer: Shape | None = None,
        beside: Collection[Beside] = ("text", "reasoning"),
    ) -> Rules:
        """What `grammar` compiles, for other notations.

        Raises:
            UsageError: The tool that must be called is not on offer, or the choice is none.
        """
        _refuse_other_choices(tool_choice, at_most)
        definitions = ToolIndex(tools).definitions
        offered = tuple(tool.name for tool in definitions)
        if tool_choice.mode == "tool":
            definitions = tuple(tool for tool in definitions if tool.name == tool_choice.name)
            if not definitions:
                raise UsageError(f"The tool {tool_choice.name!r} must be called but is not among {list(offered)}.")
        calls = "required" if tool_choice.mode in ("required", "tool") else tool_choice.mode
        if calls == "required" and not definitions:
            raise UsageError("A call is required, but there is no tool to call.")
        named: dict[str, Shape] = {}
        ends = tuple(self.turns.reply_end)
        choice = Choice(
            calls=calls,
            at_most=at_most,
            offered=offered,
            ends=ends,
            answer=answer,
            has_text="text" in beside,
            has_reasoning="reasoning" in beside,
        )
        start = self.wire.shape(definitions, choice, named, self.wire.start(prompt))
        return Rules(start=start, named=named)

    def _write(self, message: Message, index: ToolIndex, place: ReplyPlace) -> str:
        calls: list[WrittenCall] = []
        for call in message.calls:
            number = place.calls_before + len(calls)
            ids = place.wire_ids[len(calls) : len(calls) + 1] or (self.turns.wire_id(call, number),)
            if isinstance(call, ToolCall):
                _refuse_what_is_no_json(call)
                calls.append(
                    WrittenCall(
                        name=call.name,
                        arguments=call.arguments,
                        index=len(calls),
                        number=number,
                        wire_id=ids[0],
                        came_with_id=bool(place.wire_ids) or call.provider_id is not None,
                        expected=index.expected(call.name),
                    )
                )
        parts = ReplyParts(reasoning=message.reasoning, content=message.text, calls=tuple(calls))
        try:
            return self.wire.write(parts, self.wire.start(place.prefill))
        except RecursionError as error:
            raise UsageError("The arguments of a call are nested too deeply to be written.") from error

    def _defused(self, message: Message) -> Message:
        plain = self.turns.plain
        return Message.assistant(plain(message.text), message.calls, reasoning=plain(message.reasoning))

    def _write_checked(self, message: Message, place: ReplyPlace, index: ToolIndex) -> str:
        text = self._write(message, index, place)
        lost = self._differences(message, self.parse(text, index.definitions, prompt=place.prefill))
        if lost:
            raise UsageError(
                f"The format {self.name!r} cannot carry this message so that it can be read back: "
                f"{'; '.join(lost).rstrip('.')}. Change the message, or choose another format."
            )
        return text

    def _differences(self, message: Message, reply: Reply) -> tuple[str, ...]:
        lost: list[str] = []
        calls = [call for call in message.calls if isinstance(call, ToolCall)]
        if len(calls) < len(message.calls):
            lost.append("a call that could not be read is left out")
        if len(reply.calls) != len(calls):
            lost.append(f"{len(calls)} calls were written, {len(reply.calls)} come back")
        for written, read in zip(calls, reply.calls, strict=False):
            if isinstance(read, InvalidToolCall):
                lost.append(f"the call of {written.name!r} cannot be read back: {read.error}")
            elif written.name != read.name or not is_same(written.arguments, read.arguments):
                lost.append(f"the call {written.name}({written.arguments}) comes back as {read.name}({read.arguments})")
        if reply.content != message.text:
            lost.append(f"the text {message.text!r} comes back as {reply.content!r}")
        if reply.reasoning != message.reasoning:
            lost.append(f"the reasoning {message.reasoning!r} comes back as {reply.reasoning!r}")
        return tuple(lost)


def _refuse_what_is_no_json(call: ToolCall) -> None:
    # Conversations come from outside, whatever a type checker was told of them.
    if not isinstance(call.arguments, dict) or not is_json(call.arguments):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"The arguments of {call.name!r} must be one JSON object; some of them JSON does not have.")


def _refuse_other_choices(tool_choice: ToolChoice, at_most: int | None) -> None:
    # Servers pass on what their clients say.
    mode = tool_choice.mode if isinstance(tool_choice, ToolChoice) else tool_choice  # pyright: ignore[reportUnnecessaryIsInstance]
    if not isinstance(tool_choice, ToolChoice) or mode not in _MODES:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"Expected a ToolChoice with a mode of {', '.join(_MODES)}, found {mode!r}.")
    if at_most is not None and at_most < 1:
        raise UsageError(f"Expected at_most to be at least 1, found {at_most}; for no calls say NO_TOOLS.")
