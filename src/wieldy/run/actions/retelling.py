"""A conversation with calls retold in plain messages, in the words of a chat format. Pure.

The model reads one system message (the instructions, and the tools with how they are called) and then turns that
alternate, the user's first: what it wrote itself, calls included, and what it was told: results and the user's words.
Laws: roles alternate; what it reads of a message of its own reads back as that message, as far as the format carries
it; what users and tools say never becomes a part of the form, for the format's marks in it are broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, Part, ReasoningPart, Role, TextPart
from wieldy.formats.format import ChatFormat
from wieldy.formats.turns.turns import ReplyPlace, Turns, Wrap

_BETWEEN: Final = "\n\n"
_STAND_IN: Final = ToolCall(id="", name="tool", arguments={})


class Retelling:
    """Conversations with certain tools, in the words of one format.

    Raises:
        UsageError: The format needs a model's own marks of turns, which plain messages cannot hold.
    """

    def __init__(self, chat_format: ChatFormat, tools: Iterable[ToolDefinition] = ()) -> None:
        self._format = chat_format
        self._tools = {tool.name: tool for tool in tools}
        self._turns = bare(chat_format)

    def told(self, messages: Iterable[Message], *, demand: str = "") -> tuple[Message, ...]:
        """The conversation in plain messages.

        Args:
            messages: A history that strict providers take.
            demand: What is asked of the next reply besides; it stands at the end.
        """
        history = tuple(messages)
        told = [Message.system(head)] if (head := self._head(history)) else []
        asked = Message.assistant()
        for is_reply, group in groupby(
            (message for message in history if message.role != "system"),
            key=lambda message: message.role == "assistant",
        ):
            together = tuple(group)
            if is_reply:
                asked = Message.assistant(calls=[call for message in together for call in message.calls])
                _add(told, "assistant", self._replies(together))
            else:
                _add(told, "user", self._told_to_model(together, asked))
        if demand:
            _add(told, "user", [TextPart(text=demand)])
        return tuple(told)

    def written(self, message: Message) -> str:
        """The text that the model wrote, or would have written, for this message of its own; empty for an empty one."""
        plain = self._format.turns.plain
        reasoning = "".join(part.text for part in _thoughts(message) if part.signature is None)
        said = Message.assistant(plain(message.text), reasoning=plain(reasoning))
        if not message.calls:
            return self._write(said) if message.text or reasoning else ""
        calls = [replace(call, name=plain(call.name)) if call.name else call for call in message.calls]
        if all(isinstance(call, ToolCall) for call in calls):
            return self._write(replace(said, parts=(*said.parts, *calls)))
        pieces = [self._before_calls(said)]
        for is_readable, group in groupby(calls, key=lambda call: isinstance(call, ToolCall)):
            if is_readable:
                pieces.append(self._write(Message.assistant(calls=list(group))))
            else:
                pieces += [self._unreadable(call) for call in group if isinstance(call, InvalidToolCall)]
        return "\n".join(text for text in map(str.strip, pieces) if text)

    def _write(self, message: Message) -> str:
        # Of the tools only those that are called matter here, and reading all their schemas takes time.
        names = dict.fromkeys(call.name for call in message.calls)
        return self._format.render_reply(message, [self._tools[name] for name in names if name in self._tools])

    def _before_calls(self, said: Message) -> str:
        """Text and reasoning as they are written before a call: without one the text would be an answer."""
        whole = self._write(replace(said, parts=(*said.parts, _STAND_IN)))
        return whole.removesuffix(self._write(Message.assistant(calls=[_STAND_IN])).strip())

    def _unreadable(self, call: InvalidToolCall) -> str:
        """A call that could not be read, as it was written if that was in this format; its result says the rest."""
        text = self._format.turns.plain(call.text.strip())
        read = self._format.parse(text, list(self._tools.values()), prompt="").calls if text else ()
        if len(read) == 1 and isinstance(read[0], InvalidToolCall):
            return text
        if call.name is None:
            return ""
        arguments: JsonObject = {"unreadable_arguments": text} if text else {}
        return self._write(Message.assistant(calls=[ToolCall(id="", name=call.name, arguments=arguments)]))

    def _head(self, messages: Sequence[Message]) -> str:
        instructions = _BETWEEN.join(text for each in messages if each.role == "system" and (text := each.text))
        return self._render([Message.system(instructions)] if instructions else [], list(self._tools.values()))

    def _replies(self, messages: Iterable[Message]) -> list[Part]:
        """What the model said; signed thoughts and pictures as they are."""
        parts: list[Part] = []
        for message in messages:
            parts += [part for part in _thoughts(message) if part.signature is not None]
            if text := self.written(message).strip():
                parts.append(TextPart(text=text))
            parts += _media(message.parts)
        return parts

    def _told_to_model(self, messages: Iterable[Message], asked: Message) -> list[Part]:
        """Results and the user's words; behind results it is said whose words they are."""
        parts: list[Part] = []
        label = ""
        for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
            together = tuple(group)
            if is_result:
                parts.append(TextPart(text=self._render([asked, *together])))
                shown = (part for message in together if message.result for part in message.result.parts)
                parts += [part for part in shown if isinstance(part, ImagePart) and part.is_common]
                label = self._format.turns.user.open
            else:
                for message in together:
                    parts += self._user(message, label)
        return parts

    def _user(self, message: Message, label: str) -> list[Part]:
        parts: list[Part] = []
        for is_text, group in groupby(message.parts, key=lambda part: isinstance(part, TextPart)):
            if is_text:
                text = "".join(part.text for part in group if isinstance(part, TextPart))
                # The beginning of a message is the beginning of a line, where marks may stand.
                parts.append(TextPart(text=label + self._format.turns.plain(f"\n{text}")[1:]))
                label = ""
            else:
                parts += _media(group)
        return parts

    def _render(self, messages: Sequence[Message], tools: Sequence[ToolDefinition] = ()) -> str:
        return self._turns.render(messages, tools, write_reply=_nothing, generation_prompt=False).strip()


def bare(chat_format: ChatFormat) -> Turns:
    """The format's turns without what marks them as turns: plain messages do that.

    Raises:
        UsageError: There is no saying how tools are called, or what is told holds marks of turns all the same.
    """
    # Programs without a type checker may hand over a name.
    if not isinstance(chat_format, ChatFormat):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"Expected a chat format, such as `formats.get('react')`, found {chat_format!r}.")
    turns, section = chat_format.turns, chat_format.turns.tools
    around = [turns.results.open, turns.results.close, *(part for part in turns.results.each if isinstance(part, str))]
    openings = [opening for wrap in (turns.user, turns.assistant) if (opening := wrap.open.strip())]
    # Marks that are labels of lines are words that any model reads and writes; others are tokens of a vocabulary.
    has_tokens = not all(mark.startswith("\n") for mark in turns.controls)
    has_turns = any(opening in text for opening in openings for text in around)
    if section is None or section.place not in ("system_end", "system_start") or has_tokens or has_turns:
        raise UsageError(
            f"Expected a format that any chat model can follow, such as 'react', 'json' or 'markers', found "
            f"{chat_format.name!r}: its turns are made of a model's own marks. A model that was taught them has tool "
            "calls of its own."
        )
    return replace(
        turns,
        system=Wrap(),
        user=Wrap(),
        assistant=Wrap(),
        begin="",
        prefill="",
        call_close=None,
        last_close=None,
        openings={},
    )


def _nothing(message: Message, place: ReplyPlace) -> str:
    del message, place
    return ""


def _add(told: list[Message], role: Role, parts: Iterable[Part]) -> None:
    """The parts are said in this role: in a message of their own, or in the last one, if that has the role."""
    last = told.pop() if told and told[-1].role == role else Message(role=role)
    joined = list(last.parts)
    for part in parts:
        if isinstance(part, TextPart) and joined and isinstance(before := joined[-1], TextPart):
            joined[-1] = TextPart(text=f"{before.text}{_BETWEEN}{part.text}")
        else:
            joined.append(part)
    if joined:
        told.append(replace(last, parts=tuple(joined)))


def _thoughts(message: Message) -> list[ReasoningPart]:
    return [part for part in message.parts if isinstance(part, ReasoningPart)]


def _media(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if isinstance(part, ImagePart | FilePart)]
