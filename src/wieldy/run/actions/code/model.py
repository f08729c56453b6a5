"""Code as the model of a run: each batch of calls that it issues is a reply with calls, its end is the answer.

So what holds for every run holds for code: the same pipeline, policy, scheduler, journal, approvals, taint and
recovery. A run that goes on in another process runs the code again, from the same seed and clock, and answers it from
the record. Deliberately not here: what code may call (`stubs`), and what its caller is told (`report`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING

from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply
from wieldy.run.actions.code.ended import Ended, ended_by, ended_to_text
from wieldy.run.actions.code.labels import asked
from wieldy.run.actions.code.levels import IS_EXACT, MODEL_NAMES
from wieldy.run.actions.code.namespace import NamesLostError
from wieldy.run.actions.code.replay import DivergedError, action_of, batches_in, replies_to
from wieldy.sandbox import Outcome

if TYPE_CHECKING:
    from wieldy.core.influence import Sources
    from wieldy.core.ports import ModelEvent, ModelRequest
    from wieldy.run.actions.code.levels import Level
    from wieldy.run.actions.code.namespace import Namespace
    from wieldy.run.results import ResultRules


class CodeModel:
    """Of one run.

    Args:
        namespace: In which the code runs.
        level: How exactly it is known there whose data is whose.
        run_id: The run.
        started: When it began, in seconds since the epoch; asked once it has.
        results: Say which of the files that it writes are kept.

    Attributes:
        level: As it was given.
        run_id: The run.
        is_live: Whether the code ended in this process, and the worker has the names that it has left.
    """

    def __init__(
        self,
        namespace: Namespace,
        *,
        level: Level = "run",
        run_id: str,
        started: Callable[[], float],
        results: ResultRules,
    ) -> None:
        self._namespace = namespace
        self.level: Level = level
        self.run_id = run_id
        self._started = started
        self._results = results
        self.is_live = False
        self._seen: int | None = None  # messages, when the code went on last; None where nobody knows where it is

    @property
    def tainted_by(self) -> Sources:
        """The untrusted sources that may have shaped all that it does, because of the names that it finds."""
        return () if IS_EXACT[self.level] else self._namespace.tainted_by

    @property
    def name(self) -> str:
        """For the journal."""
        return MODEL_NAMES[self.level]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """The next batch of calls, or how the code ended."""
        try:
            step = await self._next(request.messages, may_begin=request.tool_choice.mode != "none")
        except DivergedError as error:
            step = Ended(status="diverged", because=str(error))
        except NamesLostError as error:
            step = Ended(status="diverged", because=str(error), has_lost_names=True)
        if isinstance(step, Outcome) and step.waiting and request.tool_choice.mode == "none":
            step = Ended(status="limit")
        yield ModelReply(message=self._message(step), usage=Usage())

    async def _next(self, messages: Sequence[Message], *, may_begin: bool) -> Outcome | Ended:
        seen, self._seen = self._seen, None
        batches = () if seen is None else batches_in(messages[seen:])
        if len(batches) == 1:
            step = await self._namespace.interpreter.answer(replies_to(batches[0]))
        elif may_begin:
            action = action_of(messages, run_id=self.run_id, started=self._started())
            step = await self._namespace.begin(action)
        else:
            return Ended(status="limit")
        self._seen = len(messages)
        return step

    def _message(self, step: Outcome | Ended) -> Message:
        if isinstance(step, Outcome) and step.waiting:
            return Message.assistant(calls=list(map(asked, step.waiting)))
        ended = step if isinstance(step, Ended) else self._ended_by(step)
        self.is_live = isinstance(step, Outcome) and ended.keeps_names
        return Message.assistant(ended_to_text(ended))

    def _ended_by(self, outcome: Outcome) -> Ended:
        return ended_by(outcome, file_bytes=self._results.part_limit_bytes, files=self._results.parts)
