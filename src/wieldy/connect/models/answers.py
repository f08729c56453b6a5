"""What the readers of answers share: their port, and what to make of a call that was cut in two.

Pure. `openai_answer` and `anthropic_answer` implement the port, `http` drives it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from wieldy.core.calls import AnyCall, InvalidToolCall
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.core.messages import read_call
from wieldy.core.ports import ModelReply

Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta


class Assembly(Protocol):
    """Puts the pieces of one answer together."""

    @property
    def is_complete(self) -> bool:
        """Whether the server has said how the answer ended."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        ...

    def feed(self, data: JsonObject) -> Iterable[Delta]:
        """What one event adds.

        Raises:
            ModelError: The event reports an error, or is not of the protocol.
        """
        ...

    def feed_whole(self, answer: JsonObject) -> Iterable[Delta]:
        """What an answer in one piece holds.

        Raises:
            ModelError: It reports an error, or is not of the protocol.
        """
        ...

    def end(self) -> None:
        """The server says that the stream is over."""
        ...

    def close(self) -> ModelReply:
        """The whole answer.

        Raises:
            ModelError: It is not complete, was filtered, or failed at the server.
        """
        ...

    def rest(self) -> Iterable[Delta]:
        """What is still to be told before the reply, once the answer is closed."""
        ...


def read_streamed_call(*, call_id: str, name: str, arguments: str, provider_id: str | None, was_cut: bool) -> AnyCall:
    """The call that a stream spelled out; an `InvalidToolCall` where it has no name, is no JSON, or was cut off.

    Args:
        call_id: The id of the call in the reply.
        name: The tool's name, empty if the stream gave none.
        arguments: JSON text, empty if the stream gave none.
        provider_id: The id on the wire.
        was_cut: Whether a token limit ended the answer here, so that missing arguments are lost ones.
    """
    error = None
    if not name:
        error = "Expected a call to name its tool, found a call without a name."
    elif was_cut and not arguments.strip():
        error = _cut_text(name)
    if error is not None:
        return InvalidToolCall(id=call_id, name=name or None, text=arguments, error=error, provider_id=provider_id)
    call = read_call(call_id=call_id, name=name, arguments=arguments, provider_id=provider_id)
    if was_cut and isinstance(call, InvalidToolCall):
        return InvalidToolCall(id=call_id, name=name, text=arguments, error=_cut_text(name), provider_id=provider_id)
    return call


def _cut_text(name: str) -> str:
    return f"The call of `{name}` was cut off by the limit on output tokens before its arguments ended."


def token_count(value: object) -> int:
    """A count of tokens as a wire gives it; what is no count is 0."""
    return value if isinstance(value, int) and value > 0 else 0
