"""Tracked code behind the interface of every interpreter: its calls say who had a part in which of their arguments.

The code runs in this process, in a thread, by `wieldy.sandbox.tracked`; it is never compiled into something that runs.
Deliberately not here: which code is run so (`placing`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from wieldy.core.influence import Influence
from wieldy.run.actions.code.labels import (
    LabelledCall,
    LabelledFailure,
    LabelledOutcome,
    LabelledReply,
    by_path,
    sorted_sources,
)
from wieldy.run.replies import is_nested_deeper
from wieldy.sandbox import CodeError, Failure, Outcome, Reply
from wieldy.sandbox import tracked as language
from wieldy.sandbox.tracked import Calls, Done, Failed, ToolFailure, Tracked, TrackedCall, TrackedLimits

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.run.actions.code.stubs import Stub, Stubs
    from wieldy.sandbox.tracked import Answer, Step

_LIMIT: Final = "Limit"


class TrackedInterpreter:
    """Runs one piece of tracked code after the other.

    Args:
        stubs: The tools, as code calls them.
        limits: Of each action.
    """

    def __init__(self, stubs: Stubs, *, limits: TrackedLimits) -> None:
        self._stubs = stubs
        self._limits = limits
        self._tools = {
            name: [parameter.identifier for parameter in stub.parameters] for name, stub in stubs.by_identifier.items()
        }
        self._code: Tracked | None = None

    async def run(self, code: str, *, prelude: str, seed: int, clock: float, fresh: bool) -> Outcome:
        """As every interpreter does it; there is no prelude, no chance and no clock in tracked code."""
        del prelude, seed, clock
        try:
            self._code = Tracked(code, tools=self._tools, limits=self._limits, after=None if fresh else self._code)
        except language.UnsupportedCodeError as error:
            # Only where another version of this program took it for code that can be tracked.
            told = CodeError(type="SyntaxError", message=str(error), line=error.line or None, traceback=str(error))
            return Outcome(status="killed", killed_because="tracked", error=told)
        return await self._go(self._code.start)

    async def answer(self, answers: Sequence[Reply | Failure]) -> Outcome:
        """As every interpreter does it."""
        tracked = self._code
        assert tracked is not None, "no code waits for answers"
        told = [_told(each, self._limits) for each in answers]
        return await self._go(lambda: tracked.answer(told))

    async def _go(self, step: Callable[[], Step]) -> Outcome:
        # A million steps take seconds, in which others want to go on.
        came = await to_thread.run_sync(step)
        match came:
            case Calls(calls=calls):
                return Outcome(status="paused", waiting=tuple(map(self._call, calls)))
            case Done():
                return LabelledOutcome(
                    status="done",
                    value=came.value,  # pyright: ignore[reportArgumentType] - it is JSON
                    stdout=came.stdout,
                    tainted_by=sorted_sources(came.sources | came.stdout_sources),
                )
            case Failed():
                return _failed(came)

    def _call(self, call: TrackedCall) -> LabelledCall:
        stub = self._stubs.by_identifier[call.name]
        names = {parameter.identifier: parameter.name for parameter in stub.parameters}
        parts = {(names.get(path[0], path[0]), *path[1:]): sources for path, sources in call.parts.items()}
        influence = Influence(
            arguments=by_path(parts),
            decided_by=sorted_sources(call.decided_by),
            survived=sorted_sources(call.survived),
        )
        return LabelledCall(seq=call.seq + 1, name=stub.tool, arguments=_given(call, stub), influence=influence)


def _given(call: TrackedCall, stub: Stub) -> JsonObject:
    """The arguments by the names of the parameters; None is left out where it only means that."""
    parameters = {parameter.identifier: parameter for parameter in stub.parameters}
    given: JsonObject = {}
    for identifier, value in call.arguments.items():
        parameter = parameters.get(identifier)
        if parameter is None:
            given[identifier] = value  # pyright: ignore[reportArgumentType] - it is JSON
        elif value is not None or parameter.takes_null or parameter.is_required:
            given[parameter.name] = value  # pyright: ignore[reportArgumentType]
    return given


def _told(answer: Reply | Failure, limits: TrackedLimits) -> Answer:
    sources = frozenset(answer.tainted_by if isinstance(answer, LabelledReply | LabelledFailure) else ())
    if isinstance(answer, Failure):
        return ToolFailure(kind=answer.kind, message=answer.message, sources=sources)
    size = len(json.dumps(answer.value))
    if size > limits.size or is_nested_deeper(answer.value, levels=limits.nesting - 1):
        message = (
            f"The call took place. It brought {size} characters as JSON, and tracked code can take at most "
            f"{limits.size}, in {limits.nesting - 1} levels. Ask for less, such as a page or a filter."
        )
        return ToolFailure(kind="too_large", message=message, sources=sources)
    return language.Reply(value=answer.value, sources=sources)


def _failed(came: Failed) -> Outcome:
    line = came.line or None
    told = CodeError(type=came.error, message=came.message, line=line, traceback=f"{came.error}: {came.message}")
    if came.error == _LIMIT:
        return Outcome(status="killed", killed_because="tracked", stdout=came.stdout, error=told)
    return LabelledOutcome(
        status="error",
        stdout=came.stdout,
        error=told,
        tainted_by=sorted_sources(came.sources | came.stdout_sources),
    )
