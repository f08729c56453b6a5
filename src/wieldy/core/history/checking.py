"""The rules that strict providers set for a list of messages before they answer it.

A lenient server takes a broken history and answers nonsense; a strict one refuses with a message of its own. Checking
here finds the mistake where it was made. Deliberately not here: mending a foreign history (`repairing`).
Law: a history is good if it starts with an optional system message and then a user message, if every call is answered
by exactly one result, in the order of the calls and before anything else is said, and if it ends with something to
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import HistoryError
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, Part, ReasoningPart, Role, TextPart

PARTS_OF: dict[Role, tuple[type[Part], ...]] = {
    "system": (TextPart,),
    "user": (TextPart, ImagePart, FilePart),
    "assistant": (TextPart, ReasoningPart, ImagePart, FilePart, ToolCall, InvalidToolCall),
    "tool": (ToolResult,),
}
"""What a message of each role may hold."""


def check_history(messages: Sequence[Message]) -> None:
    """A strict provider would take these messages and answer them.

    Cost: linear in the number of parts.

    Raises:
        HistoryError: The first rule that is broken, with the place.
    """
    if not messages:
        raise HistoryError("Expected at least one message, found none. Start with `Message.user(...)`.")
    ledger = _CallLedger()
    is_opening = True
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        _check_parts(where, message)
        ledger.enter(where, message)
        if message.role == "system":
            _check_system(where, is_first=index == 0)
        elif is_opening:
            _check_opening(where, message)
            is_opening = False
    ledger.close()
    _check_last(messages[-1])


class _CallLedger:
    """Which calls were made and which of them still wait for their result."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}
        self._open: list[str] = []

    def enter(self, where: str, message: Message) -> None:
        if message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult):
                    self._answer(where, part.tool_call_id)
            return
        self._check_nothing_open(f"before {where} (role {message.role})")
        for call in message.calls:
            self._make(where, call.id)

    def close(self) -> None:
        self._check_nothing_open("before the end of the messages")

    def _make(self, where: str, call_id: str) -> None:
        if not call_id:
            raise HistoryError(f"{where}: expected every call to have an id, found an empty one.")
        if call_id in self._places:
            raise HistoryError(
                f"{where}: the call id {call_id!r} was already used in {self._places[call_id]}. "
                "Give every call its own id."
            )
        self._places[call_id] = where
        self._open.append(call_id)

    def _answer(self, where: str, call_id: str) -> None:
        if call_id not in self._places:
            raise HistoryError(
                f"{where}: found a result for {call_id!r}, but no earlier message makes a call with that id."
            )
        if call_id not in self._open:
            raise HistoryError(f"{where}: found a second result for the call {call_id!r}; a call has exactly one.")
        if self._open[0] != call_id:
            raise HistoryError(
                f"{where}: expected the result of {self._open[0]!r}, found that of {call_id!r}. "
                "Results come in the order of their calls."
            )
        del self._open[0]

    def _check_nothing_open(self, before: str) -> None:
        if self._open:
            raise HistoryError(
                f"Expected the results of {', '.join(map(repr, self._open))} (called in {self._places[self._open[0]]}) "
                f"{before}, found none. Answer every call, if need be with an error result."
            )


def results_in_order_of_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages, the results that follow one another in the order of the calls that they answer.

    Where results have no ids they are matched by their order, so another order would be another answer.
    """
    order = {call.id: index for index, call in enumerate(call for message in messages for call in message.calls)}
    told: list[Message] = []
    for has_result, together in groupby(messages, key=lambda message: message.result is not None):
        found = list(together)
        told += (
            sorted(found, key=lambda m: order.get(m.result.tool_call_id, -1) if m.result else -1)
            if has_result
            else found
        )
    return tuple(told)


def _check_parts(where: str, message: Message) -> None:
    allowed = PARTS_OF.get(message.role)
    if allowed is None:
        raise HistoryError(f"{where}: expected a role of {', '.join(PARTS_OF)}, found {message.role!r}.")
    for part in message.parts:
        if not isinstance(part, allowed):
            names = ", ".join(kind.__name__ for kind in allowed)
            raise HistoryError(
                f"{where}: a message of role {message.role!r} holds {names}; found {type(part).__name__}."
            )
    if message.role == "tool" and len(message.parts) != 1:
        raise HistoryError(f"{where}: a tool message holds exactly one result, found {len(message.parts)}.")
    if message.role == "user" and not says_something(message):
        raise HistoryError(f"{where}: a user message needs text, an image or a file, found none.")


def says_something(message: Message) -> bool:
    """Whether there is text that is not blank, an image or a file."""
    return bool(message.text.strip()) or any(isinstance(part, ImagePart | FilePart) for part in message.parts)


def _check_system(where: str, *, is_first: bool) -> None:
    if not is_first:
        raise HistoryError(f"{where}: a system message must be the first message, and there can be only one.")


def _check_opening(where: str, message: Message) -> None:
    if message.role != "user":
        raise HistoryError(
            f"{where}: expected the conversation to open with a user message, found one of role {message.role!r}."
        )


def _check_last(message: Message) -> None:
    if message.role not in ("user", "tool"):
        raise HistoryError(
            f"Expected the last message to be a user message or a result, something that can be answered; "
            f"found one of role {message.role!r}."
        )
