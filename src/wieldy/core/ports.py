"""Ports: what `run` needs from a model and from a journal, without knowing which it was handed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from wieldy.core.calls import AUTO, ToolChoice, ToolDefinition
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.outputs import Output
from wieldy.core.record import Record


class ModelRequest(Record, frozen=True, kw_only=True):
    """One question to a model: the whole history, the tools on offer, and how much it may write.

    Attributes:
        stop: Texts at which the answer ends and which are not part of it; a model that cannot stop there goes on.
        output: What the text of an answer without calls must be. A model holds itself to it by the hardest means that
            it has, and says by `ModelReply.held` whether that was one.
        parallel_calls: Whether a reply may make several calls. A model that can be held to one is; others are asked.
        options: Fields for the provider's own request, such as `temperature`; only models behind servers send them.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    tool_choice: ToolChoice = AUTO
    max_output_tokens: int | None = None
    stop: tuple[str, ...] = ()
    output: Output | None = None
    parallel_calls: bool = True
    options: JsonObject | None = None


class ModelReply(Record, frozen=True, kw_only=True):
    """A model's whole answer; the last item of its stream.

    Attributes:
        message: Role assistant. Call ids are the provider's; the run gives them ids of its own.
        finish: `length` when the answer was cut by a token limit; a call cut in two is an `InvalidToolCall`.
            `closed_by_budget` when it is whole, but how it ends was decided by how many tokens were left.
        forced: JSON pointers to what of a JSON answer the budget decided; that of the whole is "".
        held: Whether something hard, a mask or the provider's own enforcement, held the answer to `request.output`.
    """

    message: Message
    usage: Usage
    finish: Literal["stop", "length", "closed_by_budget"] = "stop"
    forced: tuple[str, ...] = ()
    held: bool = False


ModelEvent: TypeAlias = TextDelta | ReasoningDelta | CallDelta | ModelReply


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


class Draft(NamedTuple):
    """What is to become an entry."""

    kind: str
    data: JsonObject


class Entry(NamedTuple):
    """One line of a journal.

    Attributes:
        sequence: 0, 1, 2, ... within the run.
        kind: One of the kinds in `run.journal`.
        time: Seconds since the epoch, by the writer's clock.
        data: What happened, as JSON.
        digest: SHA-256 over the digest of the entry before it and all of this one, in hexadecimal.
    """

    run_id: str
    sequence: int
    kind: str
    time: float
    data: JsonObject
    digest: str


class Lease(Protocol):
    """The right to go on with a run, for as long as it is held and renewed."""

    @property
    def renew_after_s(self) -> float:
        """How long the holder may wait before it renews, in seconds."""
        ...

    def renew(self) -> None:
        """The lease is good for its full time again.

        Raises:
            RunBusyError: It ran out, and another process has taken it.
        """
        ...

    def release(self) -> None:
        """Others may take it; doing so twice is harmless."""
        ...


class Journal(Protocol):
    """An append-only record of runs: the only saved state there is. Usable from any thread."""

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        """The entries, all of them or none, are durable against the death of this process when this returns.

        Args:
            run_id: The run that they belong to.
            *drafts: What to add, in order.
            length: How many entries the run has, as far as the writer knows; None to add whatever there is.
            is_intent: Whether an effect follows. A journal that outlives its machine is sure to have written these
                before it returns; entries that only tell what happened may follow with the next ones.

        Raises:
            JournalConflictError: The run has another length; nothing was written.
            JournalError: They could not be written; what was there before is kept.
        """
        ...

    def read(self, run_id: str, *, start: int = 0) -> Sequence[Entry]:
        """The entries of a run in order, from this sequence number on; empty if there is no such run."""
        ...

    def run_ids(self) -> Iterable[str]:
        """All runs, the newest first."""
        ...

    def head(self) -> str | None:
        """The digest of the newest entry of all runs; None if there is none."""
        ...

    def lease(self, run_id: str) -> Lease:
        """The right to go on with the run is the caller's. A lease whose holder is dead is free.

        Raises:
            RunBusyError: Another one holds it, here or in another process; the error says who.
        """
        ...

    def holder(self, run_id: str) -> str | None:
        """Who holds the run's lease at this moment, for people; None if nobody alive does."""
        ...
