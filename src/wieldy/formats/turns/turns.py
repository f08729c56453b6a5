"""How a whole conversation is written around the replies: one record for each family, data only.

`Turns` says how system, user, assistant and tool turns are wrapped, where the tools are listed, how results are shown
and with what a reply begins and ends. The replies themselves are the format's: `write_reply` is handed in. Used where
the model's own chat template is not at hand. Deliberately not here: reading, dates, images.

Law: for messages that end with the assistant's, the rendering of the messages before it, with the generation prompt, is
the beginning of the rendering of all, and the rest is exactly the reply and the end of its turn.
Law: what users, tools and servers say never becomes markup. Wherever one of the family's markers stands in a message, a
result, a name or a tool's definition, a space is put after its first character, and where such text would complete a
marker together with the markup beside it, a space is put between. The model then reads letters and obeys nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal

from wieldy.core.calls import ToolDefinition, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, Role
from wieldy.formats.turns.markers import Piece, joined, plain, written
from wieldy.formats.turns.parts import (
    ReplyPlace,
    ReplySpan,
    Results,
    Slot,
    Template,
    ToolPlace,
    ToolSection,
    Wrap,
    WriteReply,
)
from wieldy.formats.turns.wire_ids import WireId, as_given

__all__ = ["ReplyPlace", "Results", "Slot", "Template", "ToolPlace", "ToolSection", "Turns", "Wrap", "WriteReply"]

_IN_SYSTEM: tuple[ToolPlace, ...] = ("system_end", "system_start")
_IN_USER: tuple[ToolPlace, ...] = ("first_user", "last_user")
_WITH_LAST: tuple[ToolPlace, ...] = ("last_user", "before_last_user")
_OWN_TURN: tuple[ToolPlace, ...] = ("before_system", "after_system", "before_last_user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How one family writes a conversation.

    Attributes:
        user: Around a user's text.
        assistant: Around a reply.
        results: How results are shown.
        system: Around a system message; or the user's turn that it becomes the beginning of.
        tools: How tools are listed; None if this family does not say.
        begin: The beginning of every conversation.
        prefill: What the generation prompt has beyond the opening of a turn; the beginning of the last reply.
        call_close: What ends a reply that calls, if that differs: it stands before the results and at the very end.
        last_close: What ends the last reply without calls, if that differs.
        openings: What opens a turn after another one where that differs, by (role before, role).
        markers: Texts that mean more than their letters to the model.
        stops: Texts with which the model ends its turn beyond those that are written there.
        wire_id: What a call is called on this wire.
    """

    user: Wrap
    assistant: Wrap
    results: Results
    system: Wrap | Literal["first_user", "last_user"] = field(default_factory=Wrap)
    tools: ToolSection | None = None
    begin: str = ""
    prefill: str = ""
    call_close: str | None = None
    last_close: str | None = None
    openings: Mapping[tuple[Role, Role], str] = field(default_factory=dict[tuple[Role, Role], str])
    markers: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    wire_id: WireId = as_given

    def __post_init__(self) -> None:
        if not isinstance(self.system, Wrap) and self.tools is not None and self.tools.place in _IN_SYSTEM:
            raise UsageError(
                f"Expected a place for the tools outside the system message, found {self.tools.place!r}: "
                "this family has no system turn. Use 'first_user', 'last_user' or 'before_last_user'."
            )

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition] = (),
        *,
        write_reply: WriteReply,
        generation_prompt: bool = True,
    ) -> str:
        """The conversation as text; with the generation prompt up to where the assistant's next words begin.

        Cost: linear in the text.

        Raises:
            UsageError: A message holds an image or a file, which text cannot carry.
        """
        return joined(
            self._rendering(messages, write_reply, awaits_reply=generation_prompt).pieces(self._listing(tools))
        )

    def render_with_spans(
        self, messages: Sequence[Message], tools: Sequence[ToolDefinition] = (), *, write_reply: WriteReply
    ) -> tuple[str, tuple[ReplySpan, ...]]:
        """The conversation as text, without a generation prompt, and where in it the model's own words stand.

        Law: what stands before a span is what the model is given before it writes that reply. A reply of which that
        does not hold, because it was begun otherwise, has no span.

        Raises:
            UsageError: As `render`.
        """
        rendering = self._rendering(messages, write_reply, awaits_reply=False)
        texts = written(rendering.pieces(self._listing(tools)))
        starts = [0, *accumulate(map(len, texts))]
        spans = [
            ReplySpan(
                reply.message,
                starts[reply.piece] + reply.prefilled,
                starts[reply.piece + 1],
                starts[reply.piece + 1] + reply.mark,
            )
            for reply in rendering.replies
        ]
        return "".join(texts), tuple(spans)

    def _rendering(self, messages: Sequence[Message], write_reply: WriteReply, *, awaits_reply: bool) -> _Rendering:
        for index, message in enumerate(messages):
            _check_is_text(index, message)
        return _Rendering(self, messages, write_reply, awaits_reply=awaits_reply)

    def _listing(self, tools: Sequence[ToolDefinition]) -> str:
        if self.tools is None:
            return ""
        section = self.tools
        return f"{section.open}{section.tools(self.defused(tools))}{section.close}" if tools else section.without

    def plain(self, text: str) -> str:
        """The text with a space in every marker, so that the model reads letters and obeys nothing.

        Halves of surrogate pairs, which are no text and which no engine takes, become question marks.
        """
        return plain(text, self.controls)

    @property
    def controls(self) -> tuple[str, ...]:
        """The texts that foreign words must not contain: the markers, and tokens among the beginning and the stops."""
        return _distinct([*self.markers, *(text for text in (self.begin, *self.stops) if _is_token(text))])

    def defused(self, tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
        """The same tools with `plain` done to everything that their authors wrote, names included."""
        return tuple(
            replace(
                tool,
                name=self.plain(tool.name),
                description=self.plain(tool.description),
                use_when=self.plain(tool.use_when) if tool.use_when else tool.use_when,
                avoid_when=self.plain(tool.avoid_when) if tool.avoid_when else tool.avoid_when,
                input_schema=self._defused_object(tool.input_schema),
                output_schema=None if tool.output_schema is None else self._defused_object(tool.output_schema),
                examples=tuple(map(self._defused_object, tool.examples)),
            )
            for tool in tools
        )

    def _defused_object(self, value: JsonObject) -> JsonObject:
        return {self.plain(key): self._defused(item) for key, item in value.items()}

    def _defused(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.plain(value)
        if isinstance(value, list):
            return [self._defused(item) for item in value]
        return self._defused_object(value) if isinstance(value, dict) else value

    @property
    def reply_end(self) -> tuple[str, ...]:
        """The texts that end an assistant's turn: those written there, without line breaks around them, and `stops`."""
        written = (self.assistant.close, self.call_close or "", self.last_close or "")
        return _distinct([*(end.strip("\n") for end in written), *self.stops])

    @property
    def openers(self) -> tuple[str, ...]:
        """The texts with which a conversation or a turn may begin; results within the assistant's turn are none."""
        wraps = (self.system, self.user, self.assistant)
        texts = [self.begin, *(wrap.open for wrap in wraps if isinstance(wrap, Wrap))]
        if self.tools is not None and self.tools.place in _OWN_TURN:
            texts.append(self.tools.open)
        if self.call_close is None or self.openings.get(("tool", "assistant")) != "":
            first = self.results.each[0] if self.results.each else ""
            texts.append(self.results.open or (first if isinstance(first, str) else ""))
        return _distinct([*texts, *self.openings.values()])


def _is_token(text: str) -> bool:
    return text.startswith("<") and text.endswith(">")


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A call that was made, as its result has to name it."""

    name: str
    wire_id: str
    ordinal: int
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """A reply among the pieces; how long the parts before and behind it are that count otherwise."""

    message: int
    piece: int
    prefilled: int
    mark: int


class _Rendering:
    """One conversation on its way to text: its pieces in order, and which calls were made so far."""

    def __init__(
        self, turns: Turns, messages: Sequence[Message], write_reply: WriteReply, *, awaits_reply: bool
    ) -> None:
        self._turns = turns
        self._messages = messages
        self._write_reply = write_reply
        self._awaits_reply = awaits_reply
        self._pieces: list[Piece] = []
        self._asked: dict[str, _Asked] = {}
        self._calls = 0
        self.replies: list[_Reply] = []
        self._moves = False  # whether the next user takes tools or a system message away from where they stand now
        users = [index for index, message in enumerate(messages) if message.role == "user"]
        self._first_user, self._last_user = (users[0], users[-1]) if users else (-1, -1)

    def pieces(self, listing: str) -> list[Piece]:
        """The whole conversation, the listed tools in their place."""
        self._moves = bool(listing and self._place in _WITH_LAST) or bool(
            self._turns.system in _WITH_LAST and self._merged()
        )
        self._markup(self._turns.begin)
        index = self._head(listing)
        before: Role | None = "system" if self._has_system(listing) else None
        while index < len(self._messages):
            role = self._messages[index].role
            end = self._group_end(index)
            if role == "user":
                self._user(index, before, listing)
            elif role == "assistant":
                self._reply(index, before)
            elif role == "tool":
                self._results(self._messages[index:end])
            elif isinstance(self._turns.system, Wrap):
                self._system(self._messages[index].text, "", place="system_end")
            before, index = role, end
        if self._awaits_reply:
            self._markup(self._opening(before, "assistant") + self._turns.prefill)
        return self._pieces

    def _markup(self, text: str) -> None:
        self._pieces.append(Piece(text=text))

    def _foreign(self, text: str, *, more: tuple[str, ...] = ()) -> None:
        self._pieces.append(Piece(text=text, markers=(*self._turns.controls, *more)))

    def _group_end(self, index: int) -> int:
        """Where the group of results that begins there ends; everything else stands alone."""
        end = index + 1
        while self._messages[index].role == "tool" and end < len(self._messages) and self._messages[end].role == "tool":
            end += 1
        return end

    def _opening(self, before: Role | None, role: Role) -> str:
        if before is not None and (before, role) in self._turns.openings:
            return self._turns.openings[before, role]
        return self._turns.user.open if role == "user" else self._turns.assistant.open

    @property
    def _place(self) -> ToolPlace:
        return self._turns.tools.place if self._turns.tools is not None else "system_end"

    @property
    def _leading(self) -> str | None:
        """The system message with which the conversation starts, if it is a turn of its own."""
        if not isinstance(self._turns.system, Wrap) or not self._messages or self._messages[0].role != "system":
            return None
        return self._messages[0].text

    def _has_system(self, listing: str) -> bool:
        return self._leading is not None or bool(listing and self._place in _IN_SYSTEM)

    def _head(self, listing: str) -> int:
        """Writes what stands before the first turn; says how many messages that took."""
        place, leading = self._place, self._leading
        if listing and place == "before_system":
            self._markup(listing)
        if self._has_system(listing):
            self._system(leading or "", listing if place in _IN_SYSTEM else "", place=place)
        if listing and (place == "after_system" or (place == "before_last_user" and self._last_user < 0)):
            self._markup(listing)
        if self._last_user < 0 and ((listing and place in _IN_USER) or self._merged()):
            self._user(-1, None, listing)
        return 0 if leading is None else 1

    def _system(self, text: str, listing: str, *, place: ToolPlace) -> None:
        wrap = self._turns.system
        between = self._turns.tools.between if self._turns.tools is not None and text and listing else ""
        if isinstance(wrap, Wrap):
            self._markup(wrap.open + (listing + between if place == "system_start" else ""))
            if text:
                self._markup(wrap.head)
                self._foreign(text)
                self._markup(wrap.tail)
            self._markup(("" if place == "system_start" else between + listing) + wrap.close)

    def _merged(self) -> str:
        """The system messages, where they have no turn of their own."""
        if isinstance(self._turns.system, Wrap):
            return ""
        return "\n\n".join(message.text for message in self._messages if message.role == "system" and message.text)

    def _user(self, index: int, before: Role | None, listing: str) -> None:
        """A user's turn, with what else stands in it; the index -1 if there is none and a turn is needed for that."""
        here = {"first_user": index == self._first_user, "last_user": index == self._last_user}
        if listing and self._place == "before_last_user" and here["last_user"] and index >= 0:
            self._markup(listing)
        self._markup(self._opening(before, "user"))
        if listing and self._place in _IN_USER and here[self._place]:
            self._markup(listing + (self._turns.tools.between if self._turns.tools is not None else ""))
        system = self._merged() if isinstance(self._turns.system, str) and here[self._turns.system] else ""
        text = self._messages[index].text if index >= 0 else ""
        self._foreign("\n\n".join(part for part in (system, text) if part))
        self._markup(self._turns.user.close)

    def _reply(self, index: int, before: Role | None) -> None:
        turns, message = self._turns, self._messages[index]
        following: Role | None = "assistant" if self._awaits_reply else None
        if index + 1 < len(self._messages):
            following = self._messages[index + 1].role
        place = ReplyPlace(
            user_follows=self._last_user > index,
            calls_before=self._calls,
            wire_ids=self._enter_calls(message),
            prefill=turns.prefill if following is None else "",
        )
        self._markup(self._opening(before, "assistant") + place.prefill)
        text = self._write_reply(message, place)
        self._note(index, text, place.prefill, following)
        self._pieces.append(Piece(text=text, is_reply=True))
        self._markup(self._closing(message, following))

    def _note(self, index: int, text: str, prefill: str, following: Role | None) -> None:
        """Where the reply stands, if the model was given what stands before it."""
        given = "" if prefill else self._turns.prefill  # stands in the reply's text then
        if not text.startswith(given) or (self._moves and self._last_user > index):
            return
        closing, own = self._closing(self._messages[index], following), self._closing(self._messages[index], None)
        is_own = closing.strip("\n") == own.strip("\n") != ""  # the history may end a turn otherwise than its model did
        mark = len(closing.rstrip("\n")) if is_own else 0
        self.replies.append(_Reply(message=index, piece=len(self._pieces), prefilled=len(given), mark=mark))

    def _enter_calls(self, message: Message) -> tuple[str, ...]:
        """The ids of the message's calls on the wire; their results will know them."""
        wire_ids: list[str] = []
        for ordinal, call in enumerate(message.calls, start=1):
            wire_id = self._turns.plain(self._turns.wire_id(call, self._calls))
            self._asked[call.id] = _Asked(
                name=call.name or "unknown", wire_id=wire_id, ordinal=ordinal, index=self._calls
            )
            wire_ids.append(wire_id)
            self._calls += 1
        return tuple(wire_ids)

    def _closing(self, message: Message, following: Role | None) -> str:
        turns = self._turns
        if message.calls and turns.call_close is not None and following in ("tool", None):
            return turns.call_close
        if following is None and turns.last_close is not None and not message.calls:
            return turns.last_close
        return turns.assistant.close

    def _results(self, messages: Sequence[Message]) -> None:
        """The group of results, in the order of their calls, so that a wire without ids matches them rightly."""
        results = [result for message in messages for result in _results_in(message)]
        results.sort(key=lambda result: self._answered(result).index)
        shape = self._turns.results
        self._markup(shape.open)
        for number, result in enumerate(results):
            self._markup(shape.between if number else "")
            for part in shape.each:
                if isinstance(part, str):
                    self._markup(part)
                else:
                    self._foreign(_slot_text(part, result, self._answered(result)), more=shape.markers)
        self._markup(shape.close)

    def _answered(self, result: ToolResult) -> _Asked:
        """The call that the result answers; a result of no known call stands last, under its own id."""
        known = self._asked.get(result.tool_call_id)
        return known or _Asked(name="unknown", wire_id=result.tool_call_id, ordinal=1, index=self._calls)


def _results_in(message: Message) -> Sequence[ToolResult]:
    """The results in the message; what else it says is a result of no known call, so that it is not lost."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    return results or [ToolResult(tool_call_id="", content=message.text)]


def _slot_text(slot: Slot, result: ToolResult, asked: _Asked) -> str:
    match slot:
        case Slot.CONTENT:
            return result.content
        case Slot.JSON_TEXT:
            return json.dumps(result.content, ensure_ascii=False)
        case Slot.JSON_VALUE:
            return result.content if _is_json(result.content) else json.dumps(result.content, ensure_ascii=False)
        case Slot.NAME:
            return asked.name
        case Slot.ID:
            return asked.wire_id
        case Slot.ORDINAL:
            return str(asked.ordinal)
        case Slot.ERROR:
            return "true" if result.is_error else "null"


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _check_is_text(index: int, message: Message) -> None:
    for part in message.parts:
        if isinstance(part, ImagePart):
            raise UsageError(
                f"messages[{index}]: expected text, found an image, which this format cannot write. "
                "Leave it out, or render with the model's own chat template."
            )
        if isinstance(part, FilePart):
            raise UsageError(
                f"messages[{index}]: expected text, found the file {part.name!r}, which no format can write. "
                "Put its words into the message."
            )
