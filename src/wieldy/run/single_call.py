"""One call brought to its one outcome: asked whether it happened, tried, tried again, or answered by its fallback.

Law: each attempt is recorded before its code runs, and none follows another that may have had an effect, unless that is
harmless to repeat or carries the same key. Deliberately not here: when the call's turn comes (`executor`), and running
code (`attempts`).
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeGuard

from msgspec import structs

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.errors import ModelVisibleError, OutcomeUnknownError, ToolTimeoutError, TransientToolError
from wieldy.core.foreign import is_awaitable
from wieldy.run.attempts import Conditions, Ending, attempt, failed
from wieldy.run.failures import crashed, reworded
from wieldy.run.outcomes import Outcome, Rest, Step
from wieldy.run.results import with_note
from wieldy.run.retries import given_up, wait_before_retry
from wieldy.run.saying import Saying
from wieldy.run.threads import Raised, ThreadEnd
from wieldy.tools.callables import is_async

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.limits import Usage
    from wieldy.run.late import LateCalls
    from wieldy.run.recorder import Recorder
    from wieldy.run.results import Shaper

_HAPPENED: Final = (
    "An earlier attempt at this call had taken effect: the tool was asked, and says so. It was not run again."
)


@dataclass(slots=True, kw_only=True)
class Means:
    """What calls are carried out with.

    Attributes:
        sleep: Waits for so many seconds.
        chance: From 0 to 1, at random.
    """

    recorder: Recorder
    shaper: Shaper
    late: LateCalls
    on: Conditions
    sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]


class SingleCall:
    """A call whose first attempt is recorded."""

    __slots__ = ("_asked", "_means", "_saying", "_started", "_step", "_usage")

    def __init__(self, step: Step, means: Means) -> None:
        self._asked = step  # as the model asked for it
        self._step = step  # the attempt at it
        self._means = means
        self._saying: Saying | None = None
        self._usage: Usage | None = None
        self._started = means.on.clock()

    async def carry_out(self) -> Outcome | Rest:
        """How the call ended."""
        ending = await self._ask_what_happened() if self._step.reconcile else None
        if ending is None:
            ending = await self._try()
        while ending.error is not None and (fallback := self._fallback_after(ending)) is not None:
            self._fail_attempt(ending.error, wait_s=0.0, nothing_done=True)
            self._begin(fallback)
            ending = await self._try()
        if ending.error is not None:
            return self._failed(ending)
        return ending.value if _is_rest(ending.value) else await self._succeeded(ending.value)

    # Attempts

    async def _try(self) -> Ending:
        """The step's last attempt: the first that did not fail in a way that may pass, or that must not be repeated."""
        tool, values, on = self._step.tool, self._step.arguments.values, self._means.on
        failures = 0
        while True:
            ending = await self._attempt(lambda context: tool.bind(values, context), is_async=tool.is_async)
            error = ending.error
            if not isinstance(error, TransientToolError):
                return ending
            failures += 1
            wait_s = wait_before_retry(
                error, effect=tool.effect, failures=failures, retries=tool.retries, chance=self._means.chance()
            )
            if wait_s is None or wait_s >= on.left_s():
                return self._give_up(ending, error, failures)
            self._fail_attempt(error, wait_s=wait_s, nothing_done=self._had_no_effect(ending))
            await self._means.sleep(wait_s)
            if on.is_over:
                return self._give_up(ending, error, failures)
            self._begin(self._step)

    def _give_up(self, ending: Ending, error: TransientToolError, attempts: int) -> Ending:
        step = self._step
        gone = given_up(step.call.name, error, effect=step.tool.effect, attempts=attempts)
        return structs.replace(ending, error=gone)

    async def _attempt(self, bind: Callable[[Context], Callable[[], object]], *, is_async: bool) -> Ending:
        step, means = self._step, self._means
        if not step.tool.signature.contexts and not step.reconcile:  # code that is given no context says nothing
            return await attempt(step, lambda: bind(step.context), is_async=is_async, on=means.on)
        self._saying = saying = Saying(step, recorder=means.recorder, shaper=means.shaper)
        try:
            return await attempt(step, lambda: bind(saying.context), is_async=is_async, on=means.on)
        finally:
            saying.close()
            self._charge(saying.take_usage())

    def _fail_attempt(self, error: ModelVisibleError, *, wait_s: float, nothing_done: bool) -> None:
        masked = reworded(error, self._means.shaper.mask(str(error)))
        self._means.recorder.retry(self._step, masked, wait_s=wait_s, nothing_done=nothing_done)

    def _begin(self, step: Step) -> None:
        # Numbered through, also where a fallback takes over: an attempt's number is its name in the record.
        number = self._step.context.attempt + 1
        self._step = structs.replace(step, context=replace(step.context, attempt=number), reconcile=False)
        self._means.recorder.start((self._step,))

    def _charge(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usage = usage if self._usage is None else self._usage + usage

    def _fallback_after(self, ending: Ending) -> Step | None:
        fallback = self._step.fallback
        if fallback is None or ending.is_over or self._means.on.is_over or not self._had_no_effect(ending):
            return None
        return fallback if self._means.recorder.may_start(fallback) else None

    def _had_no_effect(self, ending: Ending) -> bool:
        return self._step.tool.effect == "read" or ending.nothing_done

    # What happened before

    async def _ask_what_happened(self) -> Ending | None:
        """How the call has ended already; None if it never took place."""
        tool, values = self._step.tool, self._step.arguments.values
        ending = await self._attempt(
            lambda context: tool.bind_reconcile(values, context),
            is_async=tool.reconcile is not None and is_async(tool.reconcile),
        )
        if ending.error is not None:
            return self._unknown(ending, ending.error)
        if ending.value is None or ending.value is False:
            return None
        return Ending(_HAPPENED) if ending.value is True else ending

    def _unknown(self, ending: Ending, error: ModelVisibleError) -> Ending:
        name = self._step.call.name
        text = str(error) if ending.is_quoted else ""
        why = f" ({text})" if text else ""
        text = (
            f"`{name}`: outcome unknown. It was started before, and asking whether it took effect failed{why}. "
            "Do not take it for done or undone: check if you can, or say so."
        )
        return Ending(error=OutcomeUnknownError(text, detail=error.detail), is_quoted=ending.is_quoted)

    # Outcomes

    async def _succeeded(self, value: object) -> Outcome:
        outcome = await self._shape_success(value, usage=self._usage)
        if value is _HAPPENED:  # words of ours, not the value that the tool says it returns
            return structs.replace(outcome, result=replace(outcome.result, structured_content=None))
        name = self._step.tool.name
        if name == self._asked.call.name:
            return outcome
        note = f"`{self._asked.call.name}` did not work; `{name}` was asked the same instead, and this is its answer."
        result = replace(outcome.result, content=with_note(outcome.result.content, note))
        return structs.replace(outcome, result=result, answered_by=name)

    async def _shape_success(self, value: object, *, usage: Usage | None) -> Outcome:
        step = self._step
        try:
            return await self._means.shaper.succeeded(step, value, duration_s=self._duration_s(), usage=usage)
        except Exception as error:  # a value that deceives whoever looks at it
            return self._shape_failure(Ending(error=crashed(error, step)), usage=usage)

    def _failed(self, ending: Ending) -> Outcome:
        if ending.thread is not None:
            self._means.late.expect(self._asked, ending.thread, self._shaper_of_late_end())
        outcome = self._shape_failure(ending, usage=self._usage)
        name = self._step.tool.name
        return outcome if name == self._asked.call.name else structs.replace(outcome, answered_by=name)

    def _shape_failure(self, ending: Ending, *, usage: Usage | None) -> Outcome:
        error, tool = ending.error, self._step.tool
        assert error is not None
        is_open = isinstance(error, ToolTimeoutError | OutcomeUnknownError | TransientToolError)
        return self._means.shaper.failed(
            self._asked.call.id,
            error,
            duration_s=self._duration_s(),
            is_unknown=is_open and not self._had_no_effect(ending),
            usage=usage,
            layer=ending.layer,
            tool=tool,
            is_quoted=ending.is_quoted,
        )

    def _shaper_of_late_end(self) -> Callable[[ThreadEnd], Awaitable[Outcome | None]]:
        saying, step = self._saying, self._step

        async def shape(end: ThreadEnd) -> Outcome | None:
            usage = None if saying is None else saying.take_usage()
            if isinstance(end, Raised):
                return self._shape_failure(failed(end.error, step), usage=usage)
            if _is_rest(end.value):
                return None
            if is_awaitable(end.value):
                return self._shape_failure(Ending(error=_cut_short(step, end.value)), usage=usage)
            return await self._shape_success(end.value, usage=usage)

        return shape

    def _duration_s(self) -> float:
        return self._means.on.clock() - self._started


def _is_rest(value: object) -> TypeGuard[Rest]:
    """Whether it is one that somebody can answer, and not something that looks like it."""
    if type(value) is not Rest or type(value.waiting) is not tuple:
        return False
    return bool(value.waiting) and all(type(request) is ApprovalRequest for request in value.waiting)


def _cut_short(step: Step, value: object) -> ToolTimeoutError:
    if type(value) is types.CoroutineType:
        with contextlib.suppress(BaseException):  # it may have been begun, and its code may not want to end
            value.close()
    return ToolTimeoutError(
        f"`{step.call.name}` ended too late to be waited for: what it began was not brought to its end."
    )
