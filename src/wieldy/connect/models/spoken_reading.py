"""What a model wrote, token by token, as deltas and at last as its reply; what the budget decided is pointed at. Pure.

A chat format's parser reads the text. Where a call's arguments stand in it as JSON, what the budget decided of them is
seen there. Otherwise it is seen by what the parser gives when it is fed a token that was forced: of values that are
told late, one more may be pointed at, and none too few. A call that the budget chose is forced as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json import JSONDecoder
from typing import Final, Literal

from wieldy.connect.models.answers import Delta
from wieldy.connect.models.decoding import Decoding
from wieldy.connect.models.unmarked_calls import UnmarkedCalls
from wieldy.connect.models.writing import Ending, Token
from wieldy.core.calls import AnyCall, ToolCall
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.forced import forced_pointers
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message
from wieldy.core.outputs import JsonOutput, Output
from wieldy.core.ports import ModelReply
from wieldy.formats.events import ArgumentsDelta, CallOpened, ParseEvent, TextWasReasoning, reply_of
from wieldy.formats.parser import Parser

_DECODER: Final = JSONDecoder()
_CLOSING: Final = ("}", "]", '"')
"""How JSON ends that could not go on; a number could."""


@dataclass(slots=True)
class _Stretch:
    """A text that grows, and where in it the budget decided."""

    text: str = ""
    forced: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def add(self, more: str, *, is_forced: bool) -> None:
        start = len(self.text)
        self.text += more
        if is_forced and more:
            self.forced.append((start, len(self.text)))


class SpokenReading:
    """One reply.

    Args:
        parser: Of the chat format that the model writes.
        marks: The special tokens that stand in marks of the format, by their ids; any other says nothing.
        stop: Texts at which the reply ends.
        output: What the text of an answer without calls had to be.
        is_held: Whether a constraint held it to that.
        unmarked: Reads calls without their marks; None where there can be none.
    """

    def __init__(
        self,
        parser: Parser,
        *,
        marks: Mapping[int, str],
        stop: Sequence[str] = (),
        output: Output | None = None,
        is_held: bool = False,
        unmarked: UnmarkedCalls | None = None,
    ) -> None:
        self._parser = parser
        self._marks = marks
        self._output = output
        self._is_held = is_held
        self._unmarked = unmarked
        self._decoding = Decoding(stop)
        self._events: list[ParseEvent] = []
        self._text = _Stretch()
        self._content = _Stretch()
        self._arguments: dict[int, _Stretch] = {}
        self._arguments_of: dict[str, _Stretch] = {}
        self._chosen_by_budget: set[str] = set()
        self._searched = 0
        self._was_forced = False
        self._is_pending = False
        """Whether the budget decided something since the last event."""

    @property
    def is_over(self) -> bool:
        """Whether a text was met at which the reply ends."""
        return self._decoding.is_over

    def feed(self, token: Token) -> list[Delta]:
        """The deltas that the token brings."""
        is_forced = token.is_forced or self._was_forced
        self._was_forced = token.is_forced
        if not token.is_special:
            return self._taken(self._read(self._decoding.feed(token), token), is_forced=is_forced)
        events = self._read(self._decoding.flush(), token)
        mark = self._marks.get(token.id)
        if mark is not None and not self.is_over:
            events += self._read(mark, token)
        return self._taken(events, is_forced=is_forced)

    def close(self) -> list[Delta]:
        """The deltas that the end brings."""
        rest = self._decoding.flush()
        deltas = self._taken([*self._parser.feed(rest), *self._parser.close()], is_forced=self._was_forced)
        if self._unmarked is None:
            return deltas
        held, self._unmarked = self._unmarked.close(), None
        return [*deltas, *self._taken(held, is_forced=self._was_forced)]

    def reply(self, ending: Ending) -> ModelReply:
        """The whole reply, once the text is closed.

        Args:
            ending: How the text ended.
        """
        read = reply_of(self._events)
        calls = tuple(map(self._marked, read.calls))
        is_answer = self._output is not None and not calls
        is_json = is_answer and isinstance(self._output, JsonOutput)
        content = read.content.strip() if is_json else read.content
        finish: Literal["stop", "length", "closed_by_budget"] = ending.finish
        forced = self._forced_of_answer(read.content) if is_answer else ()
        if finish != "stop" and ending.is_complete:
            # Prose is never whole where the budget ends it, whatever a grammar thinks of its length.
            finish = "closed_by_budget" if calls or is_answer else "length"
            if is_answer and not forced:  # it decided that the answer ends, or what stands before it
                is_over = ending.finish == "length" and is_json and content.endswith(_CLOSING)
                finish, forced = ("stop", ()) if is_over else (finish, ("",))
        return ModelReply(
            message=Message.assistant(content, calls, reasoning=read.reasoning),
            usage=ending.usage,
            finish=finish,
            forced=forced,
            held=is_answer and self._is_held and ending.is_complete,
        )

    def _read(self, text: str, token: Token) -> list[ParseEvent]:
        self._text.add(text, is_forced=token.is_forced)
        return self._parser.feed(text, is_token=token.is_special)

    def _taken(self, events: list[ParseEvent], *, is_forced: bool) -> list[Delta]:
        self._is_pending = self._is_pending or is_forced
        deltas: list[Delta] = []
        for event in events if self._unmarked is None else self._unmarked.feed(events):
            self._events.append(event)
            match event:
                case TextDelta(text=text):
                    self._content.add(text, is_forced=is_forced)
                    deltas.append(event)
                case ReasoningDelta():
                    deltas.append(event)
                case CallOpened(index=index, id=call_id, name=name):
                    self._arguments[index] = self._arguments_of[call_id] = _Stretch()
                    if self._is_pending:
                        self._chosen_by_budget.add(call_id)
                    deltas.append(CallDelta(index=index, name=name))
                case ArgumentsDelta(index=index, text=text):
                    self._arguments.setdefault(index, _Stretch()).add(text, is_forced=is_forced)
                    deltas.append(CallDelta(index=index, arguments=text))
                case TextWasReasoning():
                    self._content = _Stretch()
                case _:
                    pass
            self._is_pending = is_forced
        return deltas

    def _marked(self, call: AnyCall) -> AnyCall:
        """The call with the pointers of what the budget decided in it."""
        if not isinstance(call, ToolCall):
            return call
        place = _place_of(call.arguments, self._text.text, self._searched)
        if place is not None:
            start, end = place
            ranges = [(left - start, right - start) for left, right in self._text.forced if right > start]
            forced = forced_pointers(self._text.text[start:end], ranges)
            was_chosen = any(left < start and right > self._searched for left, right in self._text.forced)
            self._searched = end
        else:
            stretch = self._arguments_of.get(call.id, _Stretch())
            forced = forced_pointers(stretch.text, stretch.forced)
            was_chosen = call.id in self._chosen_by_budget
        if was_chosen:
            forced = ("",)
        return ToolCall(
            id=call.id, name=call.name, arguments=call.arguments, provider_id=call.provider_id, forced=forced
        )

    def _forced_of_answer(self, content: str) -> tuple[str, ...]:
        if not self._content.forced:
            return ()
        if isinstance(self._output, JsonOutput) and content == self._content.text:
            return forced_pointers(content, self._content.forced)
        return ("",)


def _place_of(value: JsonObject, text: str, start: int) -> tuple[int, int] | None:
    """Where the object stands as JSON in the text, from there on: its start and its end; None if nowhere."""
    while (start := text.find("{", start)) >= 0:
        try:
            found, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            found, end = None, start
        if found == value:
            return start, end
        start += 1
    return None
