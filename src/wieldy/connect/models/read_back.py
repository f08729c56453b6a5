"""What a server answers, read as what was asked for: out of the dialect, the shell or the text in which it came.

Stands around an assembly of either protocol. Pure. Laws: the deltas of text, joined, are the reply's text; calls that
a server left in the text are read by their chat format; an answer that was cut off and could be made whole is marked
as closed by the budget; a call that was cut off stays unreadable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from wieldy.connect.models.answers import Assembly, Delta
from wieldy.connect.models.backends.plan import Plan
from wieldy.connect.models.backends.strict_writer import MEMBER
from wieldy.connect.models.backends.taken import Reading
from wieldy.connect.models.fitting import fits, made_whole
from wieldy.connect.models.identifiers import ids_in, unique_id
from wieldy.connect.models.strict_json import json_text
from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.forced import forced_pointers
from wieldy.core.json import JsonObject, parse_json
from wieldy.core.messages import Message, Part, ReasoningPart, TextPart
from wieldy.core.outputs import JsonOutput, Output
from wieldy.core.ports import ModelReply, ModelRequest

if TYPE_CHECKING:
    from wieldy.connect.models.calls_in_text import CallsInText
    from wieldy.formats import ChatFormat

_CLOSING = ("}", "]", '"')


class ReadBack:
    """An assembly of what was asked for; see `answers.Assembly`.

    Args:
        inner: Puts together what the server says.
        plan: What was sent.
        request: What was asked for.
    """

    def __init__(self, inner: Assembly, *, plan: Plan, request: ModelRequest) -> None:
        self._inner = inner
        self._reading: Reading = plan.reading
        self._holds = plan.answer.holds
        self._output = request.output
        self._taken_ids = ids_in(request.messages)
        self._told = ""
        self._rest: list[Delta] = []
        self._shells: set[int] = set()
        chat = self._reading.chat_format
        self._in_text = None if chat is None else _reading_of(chat, request)

    @property
    def is_complete(self) -> bool:
        """Whether the server has said how the answer ended."""
        return self._inner.is_complete

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self._inner.is_over

    def feed(self, data: JsonObject) -> Iterator[Delta]:
        """What one event adds.

        Raises:
            ModelError: The event reports an error, or is not of the protocol.
        """
        return self._told_of(self._inner.feed(data))

    def feed_whole(self, answer: JsonObject) -> Iterator[Delta]:
        """What an answer in one piece holds.

        Raises:
            ModelError: It reports an error, or is not of the protocol.
        """
        return self._told_of(self._inner.feed_whole(answer))

    def end(self) -> None:
        """The server says that the stream is over."""
        self._inner.end()

    def close(self) -> ModelReply:
        """The whole answer.

        Raises:
            ModelError: It is not complete, was filtered, or failed at the server.
        """
        reply = self._inner.close()
        message = self._without_shell(self._with_calls_of_text(reply))
        message = replace(message, parts=tuple(map(self._in_own_terms, message.parts)))
        reply = replace(reply, message=message)
        if self._output is not None and not message.calls:
            reply = self._answered(reply, self._output)
        if reply.message.text.startswith(self._told) and reply.message.text != self._told:
            self._rest.append(TextDelta(text=reply.message.text[len(self._told) :]))
        return reply

    def rest(self) -> Iterable[Delta]:
        """What is still to be told before the reply."""
        return self._rest

    def _told_of(self, deltas: Iterable[Delta]) -> Iterator[Delta]:
        for delta in deltas:
            for seen in self._seen(delta):
                if isinstance(seen, TextDelta):
                    self._told += seen.text
                yield seen

    def _seen(self, delta: Delta) -> Iterable[Delta]:
        match delta:
            case TextDelta(text=text) if self._in_text is not None:
                return self._in_text.feed(text)
            case TextDelta() if self._is_rewritten:
                return ()
            case CallDelta(index=index) if self._is_shell(delta):
                self._shells.add(index)
                return ()
            case _:
                return (delta,)

    def _is_shell(self, delta: CallDelta) -> bool:
        return delta.index in self._shells or (bool(self._reading.shell) and delta.name == self._reading.shell)

    @property
    def _is_rewritten(self) -> bool:
        """Whether the text of an answer may become another one when it is whole."""
        answer = self._reading.answer
        return answer is not None and (self._reading.is_quoted or bool(self._reading.shell) or not answer.is_same)

    def _with_calls_of_text(self, reply: ModelReply) -> Message:
        if self._in_text is None:
            return reply.message
        self._rest += self._in_text.close()
        self._told += "".join(delta.text for delta in self._rest if isinstance(delta, TextDelta))
        read = self._in_text.message
        others = tuple(part for part in reply.message.parts if not isinstance(part, TextPart))
        return replace(read, parts=(*others, *map(self._renamed, read.parts)))

    def _renamed(self, part: Part) -> Part:
        if not isinstance(part, ToolCall | InvalidToolCall):
            return part
        call_id = unique_id(part.id, self._taken_ids)
        self._taken_ids.add(call_id)
        return replace(part, id=call_id)

    def _without_shell(self, message: Message) -> Message:
        """The arguments of the virtual tool as the text; what was said beside them are thoughts."""
        shell = next((call for call in message.calls if self._reading.shell and call.name == self._reading.shell), None)
        if shell is None:
            return message
        kept = [part for part in message.parts if part is not shell]
        if message.text:
            self._rest.append(ReasoningDelta(text=message.text))
        parts = [ReasoningPart(text=part.text) if isinstance(part, TextPart) else part for part in kept]
        return replace(message, parts=(*parts, TextPart(text=_text_of(shell))))

    def _in_own_terms(self, part: Part) -> Part:
        strict = self._reading.calls.get(part.name) if isinstance(part, ToolCall) else None
        if strict is None or not isinstance(part, ToolCall):
            return part
        arguments = strict.back(part.arguments)
        return replace(part, arguments=arguments) if isinstance(arguments, dict) else part

    def _answered(self, reply: ModelReply, output: Output) -> ModelReply:
        """The reply whose text is the answer, with what is known of how it came to fit."""
        raw = reply.message.text
        text = self._read(raw)
        is_cut = reply.finish == "length"
        if is_cut and not self._is_over(raw, text, output):
            return self._closed(reply, output, raw) or reply
        held = self._holds and fits(text, output)
        return replace(_with_text(reply, text), held=held, finish="stop" if is_cut else reply.finish)

    def _is_over(self, raw: str, text: str, output: Output) -> bool:
        """Whether nothing could follow what was written, so that it was whole when the tokens ran out."""
        is_json = isinstance(output, JsonOutput) or text != raw
        return is_json and raw.rstrip().endswith(_CLOSING) and fits(text, output)

    def _closed(self, reply: ModelReply, output: Output, raw: str) -> ModelReply | None:
        """The answer that was cut off, made whole and marked; None if it is the beginning of none."""
        answer = self._reading.answer
        for dialect in (None,) if answer is None else (answer, None):  # servers pass over what they were sent
            whole = made_whole(raw, output, dialect)
            text = None if whole is None else self._read(whole)
            if whole is None or text is None or not fits(text, output):
                continue
            forced: tuple[str, ...] = ("",)
            if isinstance(output, JsonOutput):
                forced = _existing(self._unwrapped(forced_pointers(whole, [(len(raw), len(whole))])), text)
            return replace(_with_text(reply, text), finish="closed_by_budget", forced=forced)
        return None

    def _unwrapped(self, pointers: Iterable[str]) -> Iterator[str]:
        answer = self._reading.answer
        prefix = f"/{MEMBER}" if answer is not None and answer.is_wrapped else ""
        return (pointer.removeprefix(prefix) for pointer in pointers)

    def _read(self, text: str) -> str:
        """The text of an answer, brought back from where it was written."""
        answer = self._reading.answer
        if answer is None:
            return text
        try:
            value = parse_json(text)
        except (ValueError, RecursionError):
            return text
        back = answer.back(value)
        if self._reading.is_quoted:
            return back if isinstance(back, str) else text
        return text if back == value else json_text(back)


def _reading_of(chat_format: ChatFormat, request: ModelRequest) -> CallsInText:
    # Chat formats take 90 ms to load, and few servers leave calls in the text.
    from wieldy.connect.models.calls_in_text import CallsInText  # noqa: PLC0415

    return CallsInText(chat_format, request)


def _text_of(call: AnyCall) -> str:
    return json_text(call.arguments) if isinstance(call, ToolCall) else call.text


def _with_text(reply: ModelReply, text: str) -> ModelReply:
    """The reply with this text instead of its own."""
    if text == reply.message.text:
        return reply
    others = tuple(part for part in reply.message.parts if not isinstance(part, TextPart))
    return replace(reply, message=replace(reply.message, parts=(*others, TextPart(text=text))))


def _existing(pointers: Iterable[str], text: str) -> tuple[str, ...]:
    """Those of the pointers that lead somewhere in the JSON; that of the whole if none does."""
    value: Any = json.loads(text)
    return tuple(dict.fromkeys(pointer for pointer in pointers if _leads(pointer, value))) or ("",)


def _leads(pointer: str, value: Any) -> bool:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            items = cast("list[Any]", value)
            if not name.isdecimal() or int(name) >= len(items):
                return False
            value = items[int(name)]
        elif isinstance(value, dict) and name in value:
            value = cast("dict[str, Any]", value)[name]
        else:
            return False
    return True
