"""Any history made one that strict providers take, with every change said in a sentence.

Laws: what `check_history` takes is not changed; what comes out it takes; repairing twice is repairing once; no text is
lost but blank text and a second result that says the same as the first. What a tool said stays the result of a call and
never becomes the words of a user, who is obeyed: a result whose call is gone gets a call that stands for it, one that
can never be run. Deliberately not here: guessing what a lost call was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import HistoryError
from wieldy.core.history.answers import CallPlace, Found, Matched, match_results
from wieldy.core.history.checking import PARTS_OF, check_history, says_something
from wieldy.core.history.foreign import read_foreign
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import ROLES, Message, Part, ReasoningPart, Role, TextPart

_UNKNOWN: Final = (
    "Outcome unknown: no result of this call is recorded. It may have taken effect or not; find out before you repeat "
    "it."
)
_OPENING: Final = "(The beginning of this conversation is not recorded.)"
_GO_ON: Final = "Please go on."
_SYSTEM: Final = "System message:\n"
_SECOND: Final = "\n\nA second result was recorded for this call:\n"
_NO_CALL: Final = "The call that was made is not recorded; its result is."


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A history that `check_history` takes.

    Attributes:
        changes: What was done to the messages, one sentence each, with places in the messages as they were given; empty
            if and only if nothing was.
    """

    messages: tuple[Message, ...]
    changes: tuple[str, ...] = ()


def repair(messages: Iterable[Message | Mapping[str, Any]]) -> Repaired:
    """The messages as strict providers take them; as they are, if they take them already.

    Takes OpenAI-style dictionaries too, also such as lack ids or are of the time before `tool_calls`. Results are
    matched to calls by id, and by order where an id is missing or used twice. A call without a result gets an error
    result that says that its outcome is unknown. Where the assistant has the last word, the user asks it to go on;
    leave that last message out to add words of your own.

    Cost: linear in the number of parts.

    Raises:
        HistoryError: Nobody asks anything, so that there is nothing to answer.
        UsageError: An item is no message.
    """
    mending = _Mending()
    placed = mending.systems(mending.roles(read_foreign(messages)))
    rebuilt = mending.calls(placed)
    if not any(message.role in ("user", "tool") for message in rebuilt):
        raise HistoryError(
            "Expected something that can be answered, found no words of a user, no call and no result. "
            "Add `Message.user(...)`."
        )
    repaired = tuple(mending.end(mending.opening(rebuilt)))
    check_history(repaired)
    return Repaired(messages=repaired, changes=tuple(mending.changes))


class _Placed(NamedTuple):
    where: int
    message: Message


class _Mending:
    """One history on its way, and what was changed so far."""

    def __init__(self) -> None:
        self.changes: list[str] = []

    def _say(self, where: int, change: str) -> None:
        self.changes.append(f"messages[{where}]: {change}")

    # Parts and roles

    def roles(self, messages: Sequence[Message]) -> list[_Placed]:
        """Every message with a role that there is and parts that the role may hold; nothing that says nothing."""
        placed: list[_Placed] = []
        for where, message in enumerate(messages):
            for fitting in self._fitting(where, message):
                if fitting.role == "user" and not says_something(fitting):
                    self._say(where, "a message of the user without text, image or file was left out.")
                else:
                    placed.append(_Placed(where, fitting))
        return placed

    def _fitting(self, where: int, message: Message) -> list[Message]:
        if message.role not in ROLES:
            self._say(where, f"the role {message.role!r} is not known; its words are the user's now.")
            message = replace(message, role="user")
        if all(isinstance(part, PARTS_OF[message.role]) for part in message.parts) and (
            message.role != "tool" or len(message.parts) == 1
        ):
            return [message]
        return self._one_result_each(where, message) if message.role == "tool" else self._split(where, message)

    def _split(self, where: int, message: Message) -> list[Message]:
        split: list[Message] = []

        def role_of(part: Part) -> Role:
            return _role_of(part, within=message.role)

        for role, parts in groupby(message.parts, key=role_of):
            fitting = tuple(_text_of(part) if role != "assistant" else part for part in parts)
            groups = [(part,) for part in fitting] if role == "tool" else [fitting]
            split += [Message(role=role, parts=group) for group in groups]
        strange = _names(part for part in message.parts if not isinstance(part, PARTS_OF[message.role]))
        found = " and ".join(dict.fromkeys(part.role for part in split))
        self._say(
            where, f"a message of role {message.role!r} cannot hold {strange}; its parts are messages of {found}."
        )
        return split

    def _one_result_each(self, where: int, message: Message) -> list[Message]:
        """A tool's message as its results; what else it holds belongs to the result before it, or to the first."""
        results: list[ToolResult] = []
        strange: list[Part] = []
        calls = tuple(part for part in message.parts if isinstance(part, ToolCall | InvalidToolCall))
        for part in message.parts:
            if isinstance(part, ToolResult):
                results.append(_with_parts(part, strange) if not results else part)
            elif isinstance(part, ToolCall | InvalidToolCall):
                continue
            elif results:
                results[-1] = _with_parts(results[-1], [part])
            else:
                strange.append(part)
        if not results:
            results = [_with_parts(ToolResult(tool_call_id="", content=""), strange)]
        others = _names(part for part in message.parts if not isinstance(part, ToolResult)) or "no result"
        count = sum(isinstance(part, ToolResult) for part in message.parts)
        found = f"{count} results" if count > 1 else others
        self._say(where, f"a message of role 'tool' holds exactly one result; {found} became one message for each.")
        made = [Message(role="assistant", parts=calls)] if calls else []
        return [*made, *map(Message.tool, results)]

    def systems(self, placed: Sequence[_Placed]) -> list[_Placed]:
        """At most one system message, at the beginning; the others are said by the user where they stand."""
        first_other = next((at for at, each in enumerate(placed) if each.message.role != "system"), len(placed))
        leading, others = placed[:first_other], placed[first_other:]
        kept = list(leading[:1])
        if len(leading) > 1:
            said = [each.message.parts for each in leading if each.message.parts]
            parts = [part for parts in said for part in (TextPart(text="\n\n"), *parts)][1:]
            kept = [_Placed(leading[0].where, Message(role="system", parts=tuple(parts)))]
            for each in leading[1:]:
                self._say(each.where, "a second system message was joined to the first.")
        for each in others:
            if each.message.role != "system":
                kept.append(each)
            elif each.message.text.strip():
                parts = (TextPart(text=_SYSTEM), *each.message.parts)
                kept.append(_Placed(each.where, Message(role="user", parts=parts)))
                self._say(each.where, "a system message in the middle is said by the user now.")
            else:
                self._say(each.where, "an empty system message in the middle was left out.")
        return kept

    # Calls and results

    def calls(self, placed: Sequence[_Placed]) -> list[Message]:
        """Every call with an id of its own, and its one result right behind it."""
        matched = match_results([each.message for each in placed])
        ids = _Ids(each.message for each in placed)
        rebuilt: list[Message] = []
        for position, (where, message) in enumerate(placed):
            if message.result is None:
                rebuilt += self._answered(placed, position, matched, ids) if message.calls else [message]
            elif position in matched.strays:
                self._say(where, "a result of no recorded call got a call that stands for it and cannot be run.")
                call_id = ids.for_call(message.result.tool_call_id)
                call = InvalidToolCall(id=call_id, name=None, text="", error=_NO_CALL)
                rebuilt.append(Message(role="assistant", parts=(call,)))
                rebuilt.append(Message.tool(replace(message.result, tool_call_id=call_id)))
        return rebuilt

    def _answered(self, placed: Sequence[_Placed], position: int, matched: Matched, ids: _Ids) -> list[Message]:
        """The message with calls at this position, and their results."""
        where, message = placed[position]
        new_ids = [ids.for_call(call.id) for call in message.calls]
        results: list[Message] = []
        following, others = position + 1, matched.others
        for ordinal, (call, call_id) in enumerate(zip(message.calls, new_ids, strict=True)):
            if call.id != call_id:
                reason = f"the id {call.id!r} was used before" if call.id else "a call had no id"
                self._say(where, f"{reason}; this call of {call.name or 'no known tool'!r} is {call_id!r} now.")
            found = matched.results.get(CallPlace(position, ordinal))
            while following in others:
                following += 1
            if found is None:
                self._say(where, f"the call {call_id!r} has no result; an error result says so.")
                results.append(Message.tool(_missing(call, call_id)))
                continue
            if found.position == following:
                following += 1
            else:
                self._say(placed[found.position].where, f"the result of {call_id!r} stands right behind its call now.")
            result = self._result(placed, found, call, call_id, matched.seconds.get(found.position, ()))
            results.append(Message.tool(result))
        return [_renamed(message, new_ids), *results]

    def _result(
        self, placed: Sequence[_Placed], found: Found, call: AnyCall, call_id: str, seconds: Sequence[Found]
    ) -> ToolResult:
        result = found.result
        if result.tool_call_id != call.id:
            where = placed[found.position].where
            self._say(where, f"a result for {result.tool_call_id!r} is that of {call_id!r}, which had none.")
        for second in seconds:
            is_same = second.result.content == result.content and not second.result.parts
            result = result if is_same else _with_second(result, second.result)
            done = "says the same as the first and was left out" if is_same else "was added to the first"
            self._say(placed[second.position].where, f"a second result of {call_id!r} {done}.")
        return replace(result, tool_call_id=call_id)

    # The beginning and the end

    def opening(self, messages: Sequence[Message]) -> list[Message]:
        """The first who speaks is the user."""
        start = 1 if messages[0].role == "system" else 0
        if messages[start].role == "user":
            return list(messages)
        self.changes.append(
            "The user does not speak first; a message that says that the beginning is lost was put there."
        )
        return [*messages[:start], Message.user(_OPENING), *messages[start:]]

    def end(self, messages: list[Message]) -> list[Message]:
        """There is something to answer."""
        while messages[-1].role == "assistant" and not _holds_something(messages[-1]):
            self.changes.append("The empty answer at the end was left out.")
            messages = messages[:-1]
        if messages[-1].role != "assistant":
            return messages
        self.changes.append(f"The assistant has the last word; the user says {_GO_ON!r} after it.")
        return [*messages, Message.user(_GO_ON)]


class _Ids:
    """Ids that no two calls share."""

    def __init__(self, messages: Iterable[Message]) -> None:
        given = (
            (message.result.tool_call_id,) if message.result else tuple(call.id for call in message.calls)
            for message in messages
        )
        self._taken = {call_id for ids in given for call_id in ids}
        self._used: set[str] = set()
        self._last: dict[str, int] = {}

    def for_call(self, call_id: str) -> str:
        """The id itself if there is one and it is free, else one made from it; the same every time for one history."""
        chosen = call_id
        while not chosen or chosen in self._used or (chosen != call_id and chosen in self._taken):
            stem = call_id or "call"
            self._last[stem] = self._last.get(stem, 0) + 1
            chosen = f"{stem}_{self._last[stem]}"
        self._used.add(chosen)
        return chosen


def _role_of(part: Part, *, within: Role) -> Role:
    """Whose message the part belongs in, having been found in one of this role."""
    if isinstance(part, ToolResult):
        return "tool"
    if isinstance(part, ToolCall | InvalidToolCall):
        return "assistant"
    return "user" if within == "system" and isinstance(part, ImagePart | FilePart) else within


def _text_of(part: Part) -> Part:
    """What others than the assistant think is said."""
    return TextPart(text=part.text) if isinstance(part, ReasoningPart) else part


def _names(parts: Iterable[Part]) -> str:
    return " and ".join(dict.fromkeys(type(part).__name__ for part in parts))


def _with_parts(result: ToolResult, parts: Iterable[Part]) -> ToolResult:
    """The result with what else stood in its message."""
    given = tuple(parts)
    texts = [part.text for part in given if isinstance(part, TextPart | ReasoningPart) and part.text]
    media = tuple(part for part in given if isinstance(part, ImagePart | FilePart))
    content = "\n".join([result.content, *texts] if result.content else texts)
    return replace(result, content=content, parts=(*result.parts, *media))


def _with_second(result: ToolResult, second: ToolResult) -> ToolResult:
    trust = "untrusted" if "untrusted" in (result.trust, second.trust) else "trusted"
    content = f"{result.content}{_SECOND}{second.content}"
    return replace(result, content=content, parts=(*result.parts, *second.parts), trust=trust)


def _missing(call: AnyCall, call_id: str) -> ToolResult:
    """What is told of a call without a result; one that could not be read was never run."""
    if isinstance(call, InvalidToolCall):
        content = call.error or "The call could not be read, and was not run."
        return ToolResult(tool_call_id=call_id, content=content, is_error=True, layer="model")
    return ToolResult(tool_call_id=call_id, content=_UNKNOWN, is_error=True, layer="harness")


def _renamed(message: Message, call_ids: Sequence[str]) -> Message:
    """The message with these ids for its calls; what they were called stays known as the provider's id."""
    left = iter(call_ids)
    parts = tuple(
        _called(part, next(left)) if isinstance(part, ToolCall | InvalidToolCall) else part for part in message.parts
    )
    return replace(message, parts=parts)


def _called(call: AnyCall, call_id: str) -> AnyCall:
    if call.id == call_id:
        return call
    return replace(call, id=call_id, provider_id=call.provider_id or call.id or None)


def _holds_something(message: Message) -> bool:
    return any(not isinstance(part, TextPart | ReasoningPart) or part.text.strip() for part in message.parts)
