"""A model that says what its script says, and is as strict about what it is told as the strictest provider.

    ScriptedModel([[call("add", {"a": 1, "b": 2})], [text("3")]])
    ScriptedModel(lambda messages: [text(messages[-1].text.upper())])

Laws: a history that a strict provider would refuse is refused; text arrives in pieces whose sum is the text; an answer
never exceeds the token limit of the request (`CHARACTERS_PER_TOKEN` make one token). Deliberately not here: judging
whether the run was right.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias, cast

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.errors import UsageError
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.history import check_history
from wieldy.core.json import canonical_json
from wieldy.core.limits import Usage
from wieldy.core.messages import Message, Part, ReasoningPart, TextPart, read_call
from wieldy.core.ports import ModelEvent, ModelReply, ModelRequest

CHARACTERS_PER_TOKEN = 4
_PIECES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A call as a provider would write it.

    Attributes:
        arguments: JSON text, which need not be good JSON.
        id: What the provider calls it, which may be empty or used twice; None: an id that no other call has.
    """

    name: str
    arguments: str
    id: str | None = None


Item: TypeAlias = TextPart | ReasoningPart | ScriptedCall
Turn: TypeAlias = Sequence[Item]
Script: TypeAlias = Sequence[Turn] | Callable[[Sequence[Message]], Turn]


def text(content: str) -> TextPart:
    """The model writes text."""
    return TextPart(text=_checked_text("text", content))


def reasoning(content: str) -> ReasoningPart:
    """The model thinks."""
    return ReasoningPart(text=_checked_text("reasoning", content))


def call(name: str, arguments: Mapping[str, Any] | str | None = None, id: str | None = None) -> ScriptedCall:  # noqa: A002 (the wire's word)
    """The model calls a tool; arguments given as text are taken as they are, good JSON or not.

    Raises:
        UsageError: The arguments are neither text nor a dictionary of JSON values.
    """
    if isinstance(arguments, str):
        return ScriptedCall(name=name, arguments=arguments, id=id)
    try:
        written = canonical_json(dict(arguments or {}))
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"call({name!r}, ...): expected arguments as a dictionary of JSON values, found {arguments!r}: {error}"
        ) from error
    return ScriptedCall(name=name, arguments=written, id=id)


class ScriptedModel:
    """A model whose turns are known; use it in a `with` block, so that a turn nobody asked for is an error.

    Attributes:
        requests: What it was asked, for a test to look at.
    """

    def __init__(self, turns: Script, *, name: str = "scripted") -> None:
        """The script is checked at once if it is a list.

        Raises:
            UsageError: A turn is not a list of `text(...)`, `call(...)` and `reasoning(...)`.
        """
        self.requests: list[ModelRequest] = []
        self._name = name
        self._function = turns if callable(turns) else None
        self._turns = () if callable(turns) else _checked_script(turns)
        self._position = 0
        self._calls = 0

    def __repr__(self) -> str:
        turns = "a function" if self._function is not None else f"{self._position} of {len(self._turns)} turns used"
        return f"ScriptedModel({turns})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:  # an error that is already on its way matters more
            self.assert_consumed()

    @property
    def name(self) -> str:
        """What this model is called in records."""
        return self._name

    def close(self) -> None:
        """The script is over.

        Raises:
            UsageError: Turns are left that nobody asked for.
        """
        self.assert_consumed()

    def assert_consumed(self) -> None:
        """Every turn was asked for.

        Raises:
            UsageError: Turns are left that nobody asked for.
        """
        left = self._turns[self._position :]
        if left:
            raise UsageError(
                f"The script has {len(self._turns)} turns and only {self._position} were asked for. "
                f"The next would have been {_described(left[0])}."
            )

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas, then the reply of the next turn.

        Raises:
            HistoryError: A strict provider would refuse these messages.
            UsageError: The script has no turn left, or its function gave something that is no turn.
        """
        check_history(request.messages)
        self.requests.append(request)
        reply = self._reply(self._next_turn(request), request)
        for delta in deltas_of(reply.message):
            yield delta
        yield reply

    def _next_turn(self, request: ModelRequest) -> Turn:
        if self._function is not None:
            return _checked_turn(self._function(request.messages), where="the function's turn")
        if self._position >= len(self._turns):
            last = request.messages[-1]
            raise UsageError(
                f"The script has {len(self._turns)} turns and the run asks for one more. "
                f"Its last message is of role {last.role!r}: {last.text[:200]!r}. "
                "Add a turn, or find out why it goes on."
            )
        turn = self._turns[self._position]
        self._position += 1
        return turn

    def _reply(self, turn: Turn, request: ModelRequest) -> ModelReply:
        taken = {known.id for message in request.messages for known in message.calls}
        limit = request.max_output_tokens
        budget = None if limit is None else max(0, limit) * CHARACTERS_PER_TOKEN
        parts: list[Part] = []
        written = 0
        finish: Literal["stop", "length"] = "stop"
        for item in turn:
            room = None if budget is None else budget - written
            if room is not None and _size(item) > room:
                parts += self._cut(item, room, taken)
                written += room
                finish = "length"
                break
            parts.append(self._part(item, taken))
            written += _size(item)
        usage = Usage(
            input_tokens=_tokens(sum(len(message.text) for message in request.messages)),
            output_tokens=_tokens(written),
            requests=1,
        )
        return ModelReply(message=Message(role="assistant", parts=tuple(parts)), usage=usage, finish=finish)

    def _part(self, item: Item, taken: set[str]) -> Part:
        if not isinstance(item, ScriptedCall):
            return item
        call_id = self._id(item, taken)
        return read_call(call_id=call_id, name=item.name, arguments=item.arguments, provider_id=call_id)

    def _cut(self, item: Item, room: int, taken: set[str]) -> list[Part]:
        """What is written of an item before a token limit ends the answer."""
        if isinstance(item, TextPart):
            return [TextPart(text=item.text[:room])] if room else []
        if isinstance(item, ReasoningPart):
            return [ReasoningPart(text=item.text[:room])] if room else []
        if room <= len(item.name):
            return []
        error = f"The call of `{item.name}` was cut off by the limit on output tokens before its arguments ended."
        call_id = self._id(item, taken)
        rest = item.arguments[: room - len(item.name)]
        return [InvalidToolCall(id=call_id, name=item.name, text=rest, error=error, provider_id=call_id)]

    def _id(self, item: ScriptedCall, taken: set[str]) -> str:
        if item.id is not None:
            return item.id
        self._calls += 1
        while f"call_{self._calls}" in taken:
            self._calls += 1
        return f"call_{self._calls}"


def deltas_of(message: Message) -> Iterator[TextDelta | ReasoningDelta]:
    """Text and reasoning of a message in a few pieces each, as a server would send them."""
    for part in message.parts:
        if isinstance(part, TextPart):
            yield from (TextDelta(text=piece) for piece in _pieces(part.text))
        elif isinstance(part, ReasoningPart):
            yield from (ReasoningDelta(text=piece) for piece in _pieces(part.text))


def _pieces(content: str) -> Iterator[str]:
    size = max(1, -(-len(content) // _PIECES))
    return (content[start : start + size] for start in range(0, len(content), size))


def _size(item: Item) -> int:
    return len(item.name) + len(item.arguments) if isinstance(item, ScriptedCall) else len(item.text)


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


# Scripts are written by hand and often without a type checker, so what they hold is looked at item by item.


def _checked_text(function: str, content: object) -> str:
    if not isinstance(content, str):
        raise UsageError(f"{function}(...): expected text, found {content!r}")
    return content


def _checked_script(turns: object) -> tuple[Turn, ...]:
    if not isinstance(turns, list | tuple):
        raise UsageError(
            f"ScriptedModel(...): expected a list of turns or a function from messages to a turn, found {turns!r}"
        )
    items = cast("Sequence[object]", turns)
    return tuple(_checked_turn(turn, where=f"turns[{index}]") for index, turn in enumerate(items))


def _checked_turn(turn: object, *, where: str) -> Turn:
    if not isinstance(turn, list | tuple):
        raise UsageError(f"{where}: expected a list such as [text('...')], found {turn!r}")
    items = cast("Sequence[object]", turn)
    return tuple(_checked_item(item, where=f"{where}[{index}]") for index, item in enumerate(items))


def _checked_item(item: object, *, where: str) -> Item:
    if isinstance(item, ToolCall):
        return ScriptedCall(name=item.name, arguments=canonical_json(item.arguments), id=item.id)
    if not isinstance(item, TextPart | ReasoningPart | ScriptedCall):
        raise UsageError(f"{where}: expected text(...), call(...) or reasoning(...), found {item!r}")
    return item


def _described(turn: Turn) -> str:
    return ", ".join(
        f"call({item.name!r}, {item.arguments})" if isinstance(item, ScriptedCall) else repr(item.text) for item in turn
    )
