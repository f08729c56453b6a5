"""Ports: what `run` needs from a model and from a journal, without knowing which it was handed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from wieldy.core.calls import AUTO, ToolChoice, ToolDefinition
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.core.limits import Usage
from wieldy.core.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model: the whole history, the tools on offer, and how much it may write."""

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    tool_choice: ToolChoice = AUTO
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A model's whole answer; the last item of its stream.

    Attributes:
        message: Role assistant. Call ids are the provider's; the run gives them ids of its own.
        finish: `length` when the answer was cut by a token limit; a call cut in two is an `InvalidToolCall`.
    """

    message: Message
    usage: Usage
    finish: Literal["stop", "length"] = "stop"


ModelEvent: TypeAlias = TextDelta | ReasoningDelta | ModelReply


class Model(Protocol):
    """Anything that answers messages. Implementations live in `connect.models` and `testing`."""

    @property
    def name(self) -> str:
        """`provider:name`, for the journal and for people."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas as they come, then exactly one `ModelReply`.

        Raises:
            ModelError: The model could not answer; its subclasses say why.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a journal.

    Attributes:
        sequence: 0, 1, 2, ... within the run.
        kind: One of the kinds in `run.journal`.
        time: Seconds since the epoch, by the writer's clock.
        data: What happened, as JSON.
    """

    run_id: str
    sequence: int
    kind: str
    time: float
    data: JsonObject


class Journal(Protocol):
    """An append-only record of runs: the only saved state there is."""

    def append(self, run_id: str, kind: str, data: JsonObject) -> Entry:
        """The entry is durable against the death of this process when this returns."""
        ...

    def read(self, run_id: str) -> Sequence[Entry]:
        """All entries of a run in order; empty if there is no such run."""
        ...

    def run_ids(self) -> Iterable[str]:
        """All runs, the newest first."""
        ...
