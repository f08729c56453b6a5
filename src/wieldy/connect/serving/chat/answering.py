"""Asking the model until its reply may leave, or was asked for often enough.

Text and reasoning are told as they come, but for what must be an output, which is told once it is found to be one. What
was told of a reply that must not leave stays told: the next one follows it. Deliberately not here: what may leave
(`vetting`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from wieldy.connect.models.identifiers import ids_in
from wieldy.connect.serving.chat.stops import Stops
from wieldy.connect.serving.chat.vetting import Right, SentCall, Wrong, vet
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.limits import Usage
from wieldy.run.replies import ask

if TYPE_CHECKING:
    from wieldy.connect.serving.chat.requests import ChatRequest
    from wieldy.core.events import RunEvent
    from wieldy.core.ports import Model

Piece: TypeAlias = TextDelta | ReasoningDelta

_BETWEEN: Final = "\n\n"
"""What stands between the texts of two replies."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """What a request has come to so far, for the record also of one that fails.

    Attributes:
        usage: Of all replies.
        retries: How often the model was asked again.
        calls: How many calls left.
        repairs: How many changes made arguments fit.
    """

    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    calls: int = 0
    repairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What leaves after the pieces of text and reasoning.

    Attributes:
        calls: With the ids that they leave under.
    """

    right: Right
    calls: tuple[tuple[str, SentCall], ...]
    progress: Progress


class NotRightError(Exception):
    """The model was asked often enough, and its last reply must not leave.

    Attributes:
        wrong: What is wrong with it.
    """

    def __init__(self, wrong: Wrong, progress: Progress) -> None:
        super().__init__(wrong.message)
        self.wrong = wrong
        self.progress = progress


async def answer(
    model: Model,
    request: ChatRequest,
    *,
    retries: int,
    tell: Callable[[Piece], None],
    new_id: Callable[[], str],
    progress: Progress,
) -> Answer:
    """The model's answer, right.

    Args:
        model: Who is asked.
        request: The client's.
        retries: How often it may be asked again.
        tell: Told each piece as it comes.
        new_id: Makes ids that no other call has.
        progress: Kept up to date.

    Raises:
        NotRightError: It was asked often enough.
        ModelError: The model could not answer.
    """
    telling, asked = _Telling(tell, request), request.asked
    while True:
        reply = await ask(model, asked, emit=telling.take)
        telling.close()
        progress.usage += reply.usage
        vetted = vet(reply, request, history=asked.messages)
        if isinstance(vetted, Right):
            break
        if progress.retries >= retries:
            raise NotRightError(vetted, progress)
        progress.retries += 1
        asked = replace(asked, messages=(*asked.messages, *vetted.told))
    telling.give(vetted.text)
    calls = _named(vetted.calls, ids_in(request.asked.messages), new_id)
    progress.calls, progress.repairs = len(calls), len(vetted.repairs)
    return Answer(right=vetted, calls=calls, progress=progress)


class _Telling:
    """Text and reasoning on their way to the client, over all replies."""

    def __init__(self, tell: Callable[[Piece], None], request: ChatRequest) -> None:
        self._tell = tell
        self._stop = request.asked.stop
        self._is_held = request.output is not None
        self._stops = Stops(self._stop)
        self._was_told: set[type[Piece]] = set()
        self._is_next: set[type[Piece]] = set()

    def take(self, event: RunEvent) -> None:
        match event:
            case TextDelta(text=text) if not self._is_held:
                self.give(self._stops.feed(text))
            case ReasoningDelta(text=text):
                self._told(ReasoningDelta, text)
            case _:
                pass

    def give(self, text: str) -> None:
        self._told(TextDelta, text)

    def close(self) -> None:
        self.give(self._stops.close())
        self._stops = Stops(self._stop)
        self._is_next = set(self._was_told)

    def _told(self, kind: type[Piece], text: str) -> None:
        if not text:
            return
        if kind in self._is_next:
            self._is_next.discard(kind)
            text = _BETWEEN + text
        self._was_told.add(kind)
        self._tell(kind(text=text))


def _named(calls: tuple[SentCall, ...], taken: set[str], new_id: Callable[[], str]) -> tuple[tuple[str, SentCall], ...]:
    """Each call with an id that no other call of the conversation has; the provider's own, where it has one."""
    named: list[tuple[str, SentCall]] = []
    for call in calls:
        wanted = call.provider_id
        while not wanted or wanted in taken:
            wanted = f"call_{new_id()}"
        taken.add(wanted)
        named.append((wanted, call))
    return tuple(named)
