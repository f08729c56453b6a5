"""Asking a model and making its reply fit for the record.

Whatever the provider called them, calls get ids of the run's own (`c1`, `c2`, ...), so that an empty id or one used
twice does no harm. Arguments nested beyond reason become an `InvalidToolCall`. Deliberately not here: answering the
calls.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import ProviderError
from wieldy.core.events import RunEvent, TextDelta
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply

if TYPE_CHECKING:
    from wieldy.core.messages import Part
    from wieldy.core.ports import Model, ModelEvent, ModelRequest

NESTING_LIMIT: Final = 64
"""How deep arguments may be nested; what is deeper is a mistake or an attack, and exhausts its readers' stack."""


class CallNumbers:
    """Ids for the calls of one run, none of which its first messages use."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._taken = {call.id for message in messages for call in message.calls}
        self._last = 0

    def next(self) -> str:
        """An id that was not given before."""
        self._last += 1
        while f"c{self._last}" in self._taken:
            self._last += 1
        return f"c{self._last}"


async def ask(model: Model, request: ModelRequest, *, emit: Callable[[RunEvent], None]) -> ModelReply:
    """The model's reply; its text and reasoning were emitted as they came, or at the end if it does not stream.

    Raises:
        ModelError: The model could not answer, or breaks the rules of the port.
    """
    events = model.stream(request)
    try:
        return await _read(events, name=model.name, emit=emit)
    finally:
        # A generator that is left before its end is closed here, by the task that runs it.
        if isinstance(events, AsyncGenerator):
            await cast("AsyncGenerator[ModelEvent]", events).aclose()


async def _read(events: AsyncIterator[ModelEvent], *, name: str, emit: Callable[[RunEvent], None]) -> ModelReply:
    reply: ModelReply | None = None
    has_text = False
    async for event in events:
        if reply is not None:
            raise ProviderError(f"The model {name!r} went on after its reply was complete.")
        if isinstance(event, ModelReply):
            reply = event
            continue
        has_text = has_text or isinstance(event, TextDelta)
        emit(event)
    if reply is None:
        raise ProviderError(f"The model {name!r} ended without a reply.")
    if reply.message.role != "assistant":
        raise ProviderError(f"Expected a reply of role 'assistant' from {name!r}, found {reply.message.role!r}.")
    if reply.message.text and not has_text:
        emit(TextDelta(text=reply.message.text))
    return reply


def adopt(reply: ModelReply, numbers: CallNumbers, *, is_request: bool = True) -> ModelReply:
    """The reply with the run's own call ids, and at least one request counted if it came from a model."""
    parts = tuple([_adopt_part(part, numbers) for part in reply.message.parts if not isinstance(part, ToolResult)])
    usage = reply.usage if reply.usage.requests > 0 or not is_request else replace(reply.usage, requests=1)
    message = Message(role="assistant", parts=parts)
    return ModelReply(message=message, usage=usage, finish=reply.finish, forced=reply.forced, held=reply.held)


def is_nested_deeper(value: object, *, levels: int) -> bool:
    """Whether lists and dictionaries are nested deeper than this.

    Cost: linear in the number of values, and never deeper than `levels`.
    """
    if not isinstance(value, (dict, list)):
        return False
    if levels == 0:
        return True
    for item in cast("Iterable[object]", value.values() if isinstance(value, dict) else value):
        if isinstance(item, (dict, list)) and is_nested_deeper(cast("object", item), levels=levels - 1):
            return True
    return False


def too_deep(name: str) -> str:
    """What to tell a model whose arguments are nested too deeply."""
    return f"The arguments of `{name}` are nested more than {NESTING_LIMIT} levels deep. Write them flatter."


def _adopt_part(part: Part, numbers: CallNumbers) -> Part:
    if not isinstance(part, (ToolCall, InvalidToolCall)):
        return part
    provider_id = part.id if part.provider_id is None else part.provider_id
    if isinstance(part, InvalidToolCall):
        return replace(part, id=numbers.next(), provider_id=provider_id)
    if is_nested_deeper(part.arguments, levels=NESTING_LIMIT):
        return InvalidToolCall(
            id=numbers.next(),
            name=part.name,
            text="",
            error=too_deep(part.name),
            provider_id=provider_id,
            influence=part.influence,
        )
    return ToolCall(
        id=numbers.next(),
        name=part.name,
        arguments=part.arguments,
        provider_id=provider_id,
        forced=part.forced,
        influence=part.influence,
    )
